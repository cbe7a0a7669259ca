"""Closed forms of the schemes over chunks of float laws, by the excess profile: a pass over V for all schemes and k."""

# ruff: noqa: PLR0913 - numba kernels take their arrays one by one
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from spec_math.token_level.excess_profile import ends_below, gamma_of, optimum_of
from spec_math.token_level.ratio_buckets import FLOAT, buckets_of, excess_of, gather

GROUPS = 512
"""The draft's best tokens are looked for in the classes of indices modulo GROUPS whose maximum is high enough."""


class Chunk:
    """Every scheme's answers at the positions of one chunk, `capacity` of them at most.

    Target and draft masses [n, V], not yet divided by their sums, are taken in a few rows at a time: a row is gathered,
    asked everything and left while it is in cache. `ks` are the numbers of drafts that can be asked for.

    >>> chunk = Chunk(2, (1, 2))
    >>> chunk.take(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]]))
    >>> chunk.values("maximal coupling", 1)[1].tolist()
    [0.75]
    """

    def __init__(self, size: int, ks: tuple[int, ...], capacity: int = 64) -> None:
        # SpecHub's two drafts are asked whatever the ks are.
        self.ks = tuple(sorted({*ks, 2}))
        self.rows = 0
        self._buckets = buckets_of(size)
        self._numbers = np.array(self.ks)
        self._favourites = np.empty(min(max(self.ks), size), dtype=np.int64)
        self._overall, self._rejected = np.empty((capacity, 3)), np.empty((capacity, max(self.ks)))
        self._by_k = np.empty((4, capacity, len(self.ks)))

    def take(self, targets: FLOAT, drafts: FLOAT) -> None:
        """Take in the next positions.

        Raises:
            ValueError: more positions than the capacity left.

        >>> chunk = Chunk(2, (1,))
        >>> chunk.take(np.array([[1.0, 1.0]]), np.array([[1.0, 1.0]]))
        >>> chunk.rows
        1
        """
        first, last = self.rows, self.rows + len(targets)
        if last > len(self._overall):
            raise ValueError(f"a chunk of {len(self._overall)} positions cannot take {last}; clear it first")
        answers = self._overall[first:last], self._rejected[first:last], self._by_k[:, first:last]
        _ask(targets, drafts, self._numbers, self._favourites, self._buckets, answers)
        self.rows = last

    def clear(self) -> None:
        """Forget all positions.

        >>> chunk = Chunk(1, (1,))
        >>> chunk.take(np.ones((2, 1)), np.ones((2, 1)))
        >>> chunk.clear()
        >>> chunk.rows
        0
        """
        self.rows = 0

    def overall(self, which: int) -> FLOAT:
        """Return [n] of overlap (0), target mass of the draft's favourite (1), or Σ t·d (2).

        >>> chunk = Chunk(2, (1,))
        >>> chunk.take(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]]))
        >>> chunk.overall(1).tolist()
        [0.25]
        """
        return self._overall[: self.rows, which]

    def rejected(self, k: int) -> FLOAT:
        """Return the probability [n] that k tests of recursive rejection in a row reject.

        >>> chunk = Chunk(2, (2,))
        >>> chunk.take(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]]))
        >>> chunk.rejected(2).tolist()
        [0.125]
        """
        return self._rejected[: self.rows, k - 1]

    def by_k(self, which: int, k: int) -> FLOAT:
        """Return [n] of K-SEQ's acceptance (0), the optimum (1), t(Top) (2), or the drawn greedy draft's test (3).

        >>> chunk = Chunk(2, (2,))
        >>> chunk.take(np.array([[0.4, 0.6]]), np.array([[0.75, 0.25]]))
        >>> chunk.by_k(1, 2).round(6).tolist()
        [0.8375]
        """
        return self._by_k[which, : self.rows, self.ks.index(k)]

    def values(self, scheme: str, k: int) -> tuple[FLOAT, FLOAT]:
        """Return (acceptance, membership) [n] of a scheme named in STREAMED.

        >>> chunk = Chunk(2, (2,))
        >>> chunk.take(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]]))
        >>> chunk.values("recursive rejection", 2)[0].tolist()
        [0.875]
        """
        return STREAMED[scheme](self, k)


def _both(values: FLOAT) -> tuple[FLOAT, FLOAT]:
    return values, values


def _greedy(chunk: Chunk, k: int) -> tuple[FLOAT, FLOAT]:
    drawn = chunk.by_k(3, k)
    return drawn, drawn + chunk.by_k(2, k)


STREAMED: dict[str, Callable[[Chunk, int], tuple[FLOAT, FLOAT]]] = {
    "maximal coupling": lambda chunk, _: _both(chunk.overall(0)),
    "one-hot draft": lambda chunk, _: _both(chunk.overall(1)),
    "sample and match": lambda chunk, _: _both(chunk.overall(2)),
    "K-SEQ at γ*": lambda chunk, k: _both(chunk.by_k(0, k)),
    "recursive rejection": lambda chunk, k: _both(1 - chunk.rejected(k)),
    "greedy drafts": _greedy,
    "SpecHub": lambda chunk, _: _both(_greedy(chunk, 2)[1]),
    "optimal plan": lambda chunk, k: _both(chunk.by_k(1, k)),
}
"""The schemes whose closed form costs a few queries of the profile, by name."""


@numba.njit(cache=True)
def _ask(targets: Any, drafts: Any, ks: Any, favourites: Any, arrays: Any, answers: Any) -> None:
    overall, rejected, by_k = answers
    for row in range(targets.shape[0]):
        target, draft = targets[row], drafts[row]
        total_t, total_d, product = gather(target, draft, arrays)
        rest = _favourites(draft, favourites)
        overall[row, 0] = 1.0 - excess_of(1.0, arrays)
        overall[row, 1] = target[favourites[0]] / total_t
        overall[row, 2] = product / total_t / total_d
        _reject(arrays, rejected[row])
        ends = ends_below(arrays)
        for j, k in enumerate(ks):
            gamma = gamma_of(k, arrays)
            by_k[0, row, j] = 1.0 - (1.0 - (1.0 - excess_of(gamma, arrays)) / gamma) ** k
            # With one draft the optimum is the overlap.
            by_k[1, row, j] = overall[row, 0] if k == 1 else optimum_of(k, arrays, ends)
            scale, by_k[2, row, j], clipped = _outside_top(k, target, draft, favourites, rest, total_t, total_d)
            by_k[3, row, j] = 1.0 - excess_of(scale, arrays) - clipped


@numba.njit(cache=True)
def _reject(arrays: Any, rejected: Any) -> None:
    """Fill the probabilities that 1, 2, … tests in a row reject: `recursive.rejections_by`, compiled."""
    scale, left = 0.0, 1.0
    for i in range(rejected.shape[0]):
        scale += left
        left = excess_of(scale, arrays)
        rejected[i] = left


@numba.njit(cache=True)
def _favourites(draft: Any, tokens: Any) -> float:
    """Fill the best tokens in descending order, lowest index first among equals; return the mass of all others.

    The largest of each class of indices is one vector instruction for many; a class whose largest is no favourite holds
    none.
    """
    size, wanted = draft.shape[0], tokens.shape[0]
    groups = min(GROUPS, size)
    largest = np.zeros(groups)
    for first in range(0, size, groups):
        _raise(largest, draft[first : first + groups])
    best = np.full(wanted, -1.0)
    tokens[:] = 0
    for g in range(groups):
        if largest[g] > best[wanted - 1]:
            _insert(largest[g], g, best, tokens)
    # The wanted-th best is at least the wanted-th largest of the classes.
    least = best[wanted - 1]
    best[:] = -1.0
    tokens[:] = 0
    for g in range(groups):
        if largest[g] >= least:
            for i in range(g, size, groups):
                if draft[i] >= least:
                    _insert(draft[i], i, best, tokens)
    return _sum_without(draft, tokens)


@numba.njit(cache=True)
def _raise(largest: Any, masses: Any) -> None:
    # Not max(): its rule for NaN would keep the loop from being vector instructions.
    for g in range(masses.shape[0]):
        largest[g] = masses[g] if masses[g] > largest[g] else largest[g]


@numba.njit(cache=True)
def _insert(mass: float, token: int, best: Any, tokens: Any) -> None:
    j = best.shape[0] - 1
    if mass < best[j] or (mass == best[j] and token > tokens[j]):
        return
    while j > 0 and (best[j - 1] < mass or (best[j - 1] == mass and tokens[j - 1] > token)):
        best[j], tokens[j] = best[j - 1], tokens[j - 1]
        j -= 1
    best[j], tokens[j] = mass, token


@numba.njit(cache=True)
def _sum_without(draft: Any, tokens: Any) -> float:
    """Sum the masses of all other tokens, not as a difference: a peaked draft leaves next to nothing."""
    ordered = np.sort(tokens)
    total, first = 0.0, 0
    for token in ordered:
        total += _sum(draft[first:token])
        first = token + 1
    return total + _sum(draft[first:])


@numba.njit(cache=True, fastmath={"reassoc"})
def _sum(masses: Any) -> float:
    total = 0.0
    for i in range(masses.shape[0]):
        total += masses[i]
    return total


@numba.njit(cache=True)
def _outside_top(
    k: int, target: Any, draft: Any, favourites: Any, rest: float, total_t: float, total_d: float
) -> tuple[float, float, float]:
    """Return 1/d(not Top), t(Top), and Σ over Top of min(t, d/d(not Top)), Top the best k − 1 tokens that have mass."""
    fixed = min(k - 1, favourites.shape[0])
    while fixed > 0 and draft[favourites[fixed - 1]] == 0.0:
        fixed -= 1
    outside = rest
    for j in range(favourites.shape[0] - 1, fixed - 1, -1):
        outside += draft[favourites[j]]
    # Nothing outside: the last favourite is the drawn one.
    while outside == 0.0:
        fixed -= 1
        outside += draft[favourites[fixed]]
    top, clipped = 0.0, 0.0
    for j in range(fixed):
        mass = target[favourites[j]] / total_t
        top += mass
        clipped += min(mass, draft[favourites[j]] / outside)
    return total_d / outside, top, clipped
