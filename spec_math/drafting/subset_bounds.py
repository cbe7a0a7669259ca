"""How much a reduced draft vocabulary of k tokens can accept: bounds, and the best part where it can be found.

Source: worked out here, on the question of SpecVocab, Section 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from spec_math.arrays import Array, as_laws, count
from spec_math.arrays import as_law as checked
from spec_math.distribution import top_k

ENUMERATED = 16
"""The largest vocabulary whose parts are all tried: 12,870 of 8 tokens."""


@dataclass(frozen=True)
class Subset:
    """A part of the vocabulary with what a draft restricted to it accepts, and how it was found.

    method: "enumeration", then no part of this size accepts more; or "greedy", then some part may.
    bound: what no draft law on any part of this size exceeds (`free`).

    >>> best(["1/4", "1/4", "1/2"], ["1/2", "1/4", "1/4"], 1).kept
    (2,)
    """

    kept: tuple[int, ...]
    acceptance: Any
    bound: Any
    method: str


def free(target: Any, k: int) -> Any:
    """Return t of the k most likely tokens: the most that any draft law on any k tokens accepts, for laws [..., V].

    max over K and d_K of Σ_K min(t, d_K); d_K = t/t(K) attains it.

    Raises:
        ValueError: k exceeds the vocabulary, or the target is not a probability distribution. TypeError: k is not a
            positive integer.

    >>> free(["1/4", "1/4", "1/2"], 2)
    Fraction(3, 4)
    """
    t = checked(target, "target")
    return (t * (top_k(t, k) > 0)).sum(axis=-1)


def best(target: Any, draft: Any, k: int) -> Subset:
    """Return a part K of exactly k tokens with large Σ_K min(t, d/d(K)): the largest up to V = 16, else greedily.

    Greedily: one token after the other, each time the one that leaves the largest acceptance, lowest index first among
    equals. Laws [V]. O(V k log k) steps.

    Raises:
        ValueError: k exceeds the vocabulary. TypeError: k is not a positive integer.

    >>> best(["1/4", "1/4", "1/2"], ["1/2", "1/4", "1/4"], 2)
    Subset(kept=(1, 2), acceptance=Fraction(3, 4), bound=Fraction(3, 4), method='enumeration')
    """
    t, d = as_laws(target, draft)
    bound = free(t, k)
    if len(t) <= ENUMERATED:
        kept = max(combinations(range(len(t)), k), key=lambda kept: _accepted(t, d, kept))
        return Subset(kept, _accepted(t, d, kept), bound, "enumeration")
    kept = greedily(t, d, k)
    return Subset(kept, _accepted(t, d, kept), bound, "greedy")


def greedily(target: Any, draft: Any, k: int) -> tuple[int, ...]:
    """Return k tokens found greedily, as `best` does for large vocabularies, in ascending order.

    >>> greedily(["1/4", "1/4", "1/2"], ["1/2", "1/4", "1/4"], 2)
    (1, 2)
    """
    t, d = as_laws(target, draft)
    zero = t[0] * 0
    # The kept tokens by t/d ascending: at scale s = 1/d(K) those with t ≤ s·d count t, the others s·d.
    ratios, own, drafted = [np.empty(0, dtype=t.dtype)] * 3
    kept: list[int] = []
    total = zero
    open_ = np.ones(len(t), dtype=bool)
    for _ in range(count(k)):
        choices = np.flatnonzero(open_ & (d > 0))
        if not len(choices):
            kept += np.flatnonzero(open_)[: k - len(kept)].tolist()
            break
        scale = 1 / (total + d[choices])
        met = np.searchsorted(ratios, scale, side="right")
        whole = np.concatenate([[zero], np.cumsum(own)])
        above = np.concatenate([np.cumsum(drafted[::-1])[::-1], [zero]])
        value = whole[met] + scale * above[met] + np.minimum(t[choices], scale * d[choices])
        token = int(choices[int(np.argmax(value))])
        kept.append(token)
        open_[token] = False
        total = total + d[token]
        ratio = t[token] / d[token]
        at = int(np.searchsorted(ratios, ratio))
        ratios, own, drafted = (
            np.insert(row, at, value) for row, value in ((ratios, ratio), (own, t[token]), (drafted, d[token]))
        )
    return tuple(sorted(kept))


def _accepted(t: Array, d: Array, kept: tuple[int, ...]) -> Any:
    places = list(kept)
    mass = d[places].sum()
    return np.minimum(t[places], d[places] / mass).sum() if mass > 0 else mass
