"""The draft's likeliest tokens, which greedy drafts always hold, and what is left for the one token that is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.kernels import Delayed, inner_kernel, kernel

GROUPS = 512
"""The draft's best tokens are looked for in the classes of indices modulo GROUPS whose maximum is high enough."""

SORTED = 64
"""More of them than this are found by sorting the whole row."""

FAR = 2.0**200
"""A draft with a smaller share than 1/FAR outside its favourites is gone through token by token."""


def find(draft: Any, tokens: Any) -> float:
    """Fill the best tokens in descending order, lowest index first among equals; return the mass of all others.

    The largest of each class of indices is one vector instruction for many; a class whose largest is no favourite holds
    none.

    >>> tokens = np.empty(2, dtype=np.int64)
    >>> find(np.array([0.25, 0.5, 0.25]), tokens), tokens.tolist()
    (0.25, [1, 0])
    """
    (_by_sorting if len(tokens) > SORTED else _by_classes)(draft, tokens)
    return _sum_without(draft, np.sort(tokens))


def _by_sorting(draft: Any, tokens: Any) -> None:
    tokens[:] = np.argsort(-draft, kind="stable")[: len(tokens)]


@kernel
def _find(draft: Any, tokens: Any) -> None:
    size, wanted = draft.shape[0], tokens.shape[0]
    groups = min(GROUPS, size)
    largest, best = np.zeros(groups), np.empty(wanted)
    for first in range(0, size, groups):
        _raise(largest, draft[first : first + groups])
    _forget(best, tokens)
    for g in range(groups):
        if largest[g] > best[wanted - 1]:
            _insert(largest[g], g, best, tokens)
    # The wanted-th best is at least the wanted-th largest of the classes.
    least = best[wanted - 1]
    _forget(best, tokens)
    for g in range(groups):
        if largest[g] >= least:
            for i in range(g, size, groups):
                if draft[i] >= least:
                    _insert(draft[i], i, best, tokens)


_by_classes = Delayed(_find, _by_sorting, calls=1500)


@inner_kernel
def _forget(best: Any, tokens: Any) -> None:
    for j in range(best.shape[0]):
        best[j], tokens[j] = -1.0, 0


@inner_kernel
def _raise(largest: Any, masses: Any) -> None:
    # Not max(): its rule for NaN would keep the loop from being vector instructions.
    for g in range(masses.shape[0]):
        largest[g] = masses[g] if masses[g] > largest[g] else largest[g]


@inner_kernel
def _insert(mass: float, token: int, best: Any, tokens: Any) -> None:
    j = best.shape[0] - 1
    if mass < best[j] or (mass == best[j] and token > tokens[j]):
        return
    while j > 0 and (best[j - 1] < mass or (best[j - 1] == mass and tokens[j - 1] > token)):
        best[j], tokens[j] = best[j - 1], tokens[j - 1]
        j -= 1
    best[j], tokens[j] = mass, token


@kernel
def _sum_without(draft: Any, ordered: Any) -> float:
    """Sum the masses of all tokens but these, not as a difference: a peaked draft leaves next to nothing."""
    total, first = 0.0, 0
    for token in ordered:
        total += _sum(draft[first:token])
        first = token + 1
    return total + _sum(draft[first:])


@inner_kernel(fastmath={"reassoc"})
def _sum(masses: Any) -> float:
    total = 0.0
    for i in range(masses.shape[0]):
        total += masses[i]
    return total


def outside_top(
    k: int, target: Any, draft: Any, favourites: Any, rest: float, total_t: float
) -> tuple[float, int, float, float]:
    """Return d(not Top), how many are Top, t(Top), and Σ over Top of min(t, d/d(not Top)).

    Top are the best k − 1 tokens that have mass, `rest` the draft mass outside all favourites.

    >>> found = outside_top(2, np.array([0.25, 0.75]), np.array([0.75, 0.25]), np.array([0, 1]), 0.0, 1.0)
    >>> [float(value) for value in found]
    [0.25, 1.0, 0.25, 0.25]
    """
    return _delayed(k, target, draft, favourites, rest, total_t)


def _outside_top(k: int, target: Any, draft: Any, favourites: Any, rest: float, total_t: float) -> Any:
    fixed = min(k - 1, len(favourites))
    while fixed > 0 and draft[favourites[fixed - 1]] == 0.0:
        fixed -= 1
    outside = rest
    for j in range(len(favourites) - 1, fixed - 1, -1):
        outside += draft[favourites[j]]
    # Nothing outside: the last favourite is the drawn one.
    while outside == 0.0:
        fixed -= 1
        outside += draft[favourites[fixed]]
    top, clipped = 0.0, 0.0
    for j in range(fixed):
        mass = target[favourites[j]] / total_t
        top += mass
        # The quotient may be beyond all floats where next to nothing is outside.
        clipped += mass if draft[favourites[j]] >= mass * outside else draft[favourites[j]] / outside
    return outside, fixed, top, clipped


def _in_python(k: int, target: Any, draft: Any, favourites: Any, rest: float, total_t: float) -> Any:
    """Take the same steps on the masses of the favourites alone, as Python's own numbers."""
    masses = target[favourites].tolist(), draft[favourites].tolist()
    return _outside_top(k, *masses, range(len(favourites)), rest, total_t)


compiled_outside_top: Any = kernel(_outside_top)
"""`outside_top` within kernels."""

_delayed = Delayed(compiled_outside_top, _in_python, calls=15_000)


def drawn(target: Any, draft: Any, top: Any, total_t: float, outside: float) -> float:
    """Return Σ min(t, d/d(not Top)) outside Top, token by token: for a draft with next to nothing outside.

    >>> drawn(np.array([0.25, 0.75]), np.array([1.0, 5e-324]), np.array([0]), 1.0, 5e-324)
    0.75
    """
    return _drawn(target, draft, np.append(np.sort(top), len(draft)), total_t, outside)


@kernel
def _drawn(target: Any, draft: Any, ends: Any, total_t: float, outside: float) -> float:
    total, first = 0.0, 0
    for last in ends:
        for token in range(first, last):
            total += min(target[token] / total_t, draft[token] / outside)
        first = last + 1
    return total
