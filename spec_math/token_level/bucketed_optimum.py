"""The optimum of k drafts of one pair of float laws gathered into buckets: few buckets are opened and sorted.

A power of many drafts goes through the logarithm of whichever of x and 1 − x is small: its rounding is not k-fold.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from spec_math.kernels import Delayed, inner_kernel, kernel
from spec_math.token_level.excess_profile import STEPWISE
from spec_math.token_level.ratio_buckets import BUCKETS, EDGES, FLOAT, pairs_between

GROUP = 16
"""Buckets that the search for the optimum excludes together."""

SMALL = 512
"""Buckets of up to so many tokens are sorted within the kernel; larger ones, as of tokens of one ratio, by NumPy."""

MARGIN = 1.0 + 2.0**-30
"""What the search for the optimum adds to a bound that excludes buckets, for the rounding of its powers."""


def ends_below(gathered: Any) -> Any:
    """Return T and P at the lower edge of every bucket: sums from below, so that small prefixes keep their digits.

    >>> from spec_math.token_level.ratio_buckets import buckets_of, gather
    >>> gathered = gather(np.array([1.0]), np.array([1.0]), 1.0, 1.0, buckets_of(1))
    >>> ends_below(gathered)[-1].tolist()
    [1.0, 1.0]
    """
    return _delayed_ends(gathered[1])


@kernel
def ends_of(above: Any) -> Any:
    """Return the same from the masses above, within kernels.

    >>> ends_of(np.zeros((BUCKETS + 1, 2)))[-1].tolist()
    [0.0, 0.0]
    """
    ends = np.empty((BUCKETS + 1, 2))
    t, d = 0.0, 0.0
    ends[0, 0], ends[0, 1] = t, d
    for b in range(BUCKETS):
        t += above[b, 0] - above[b + 1, 0]
        d += above[b, 1] - above[b + 1, 1]
        ends[b + 1, 0], ends[b + 1, 1] = t, d
    return ends


def _ends_by_sums(above: Any) -> Any:
    ends = np.zeros((BUCKETS + 1, 2))
    np.cumsum(above[:-1] - above[1:], axis=0, out=ends[1:])
    return ends


_delayed_ends = Delayed(ends_of, _ends_by_sums, calls=5000)


def optimum_of(k: int, gathered: Any, ends: Any) -> float:
    """Return the optimum of k i.i.d. drafts of a gathered pair.

    >>> from spec_math.token_level.ratio_buckets import buckets_of, gather
    >>> gathered = gather(np.array([1.0]), np.array([1.0]), 1.0, 1.0, buckets_of(1))
    >>> optimum_of(2, gathered, ends_below(gathered))
    1.0
    """
    best: float = _best_edge(k, gathered[1], ends)
    # By now the best is nearly known, and few buckets have to be opened and sorted.
    b = _next_to_open(k, 0, best, gathered, ends)
    while b < BUCKETS:
        best = max(best, _best_in(k, b, gathered, ends))
        b = _next_to_open(k, b + 1, best, gathered, ends)
    return 1.0 - best


@kernel
def optimum_or_nan(k: int, gathered: Any, ends: Any) -> float:
    """Return the same within kernels, bit by bit; NaN where a bucket that has to be opened is too large.

    >>> from spec_math.token_level.ratio_buckets import buckets_of, gather
    >>> gathered = gather(np.array([1.0]), np.array([1.0]), 1.0, 1.0, buckets_of(1))
    >>> optimum_or_nan(2, gathered, ends_below(gathered))
    1.0
    """
    starts, above, tokens, target, draft, over_t, over_d = gathered
    ratios, order, pairs = np.empty(SMALL), np.empty(SMALL, dtype=np.int64), np.empty((SMALL, 2))
    best = _best_edge(k, above, ends)
    b = _next_to_open(k, 0, best, gathered, ends)
    while b < BUCKETS:
        many = starts[b + 1] - starts[b]
        if many > SMALL:
            return np.nan
        for i in range(many):
            token = tokens[starts[b] + i]
            pairs[i, 0], pairs[i, 1] = target[token] * over_t, draft[token] * over_d
        inside = pairs[:many]
        _sort_by_ratio(inside, ratios, order)
        found = _best_inside(k, inside, order[: len(inside)], ends[b, 0], ends[b, 1], above[b + 1, 1])
        best = max(best, found)
        b = _next_to_open(k, b + 1, best, gathered, ends)
    return 1.0 - best


def _best_in(k: int, b: int, gathered: Any, ends: Any) -> float:
    starts, above = gathered[:2]
    inside = pairs_between(gathered, starts[b], starts[b + 1])
    return float(_best_inside(k, inside, by_ratio(inside, "stable")[0], ends[b, 0], ends[b, 1], above[b + 1, 1]))


@inner_kernel(error_model="numpy")
def _sort_by_ratio(pairs: Any, ratios: Any, order: Any) -> None:
    """Fill the order of a few pairs by t/d, the lower index first among equals: Shell's sort is soon compiled."""
    for i in range(len(pairs)):
        order[i] = i
        # As `by_ratio`, whose quotients these are.
        ratios[i] = pairs[i, 0] / max(pairs[i, 1], 5e-324) if pairs[i, 1] > 0.0 else np.inf
    for gap in (301, 132, 57, 23, 10, 4, 1):
        for i in range(gap, len(pairs)):
            ratio, place, j = ratios[i], order[i], i
            while j >= gap and (ratios[j - gap] > ratio or (ratios[j - gap] == ratio and order[j - gap] > place)):
                ratios[j], order[j] = ratios[j - gap], order[j - gap]
                j -= gap
            ratios[j], order[j] = ratio, place


def by_ratio(pairs: FLOAT, kind: Literal["stable"] | None = None) -> tuple[Any, FLOAT]:
    """Return the order of pairs (t, d) [n, 2] by t/d ascending, and the ratios in that order; without draft it is ∞.

    With kind "stable" the lower index comes first among equals.

    >>> [found.tolist() for found in by_ratio(np.array([[0.5, 0.0], [0.5, 1.0]]))]
    [[1, 0], [0.5, inf]]
    """
    with np.errstate(divide="ignore", over="ignore"):
        ratios = np.where(pairs[:, 1] > 0.0, pairs[:, 0] / np.maximum(pairs[:, 1], 5e-324), np.inf)
    order = np.argsort(ratios, kind=kind)
    return order, ratios[order]


@kernel
def _best_edge(k: int, above: Any, ends: Any) -> float:
    """Return the largest P^k − T at an edge of a bucket: first between groups, then inside those that may hold it."""
    best = 0.0
    for first in range(0, BUCKETS, GROUP):
        best = max(best, _power(ends[first, 1], above[first, 1], k) - ends[first, 0])
    for first in range(0, BUCKETS, GROUP):
        last = min(first + GROUP, BUCKETS)
        if _reach(k, first, last, above, ends) > best:
            for b in range(first, last):
                best = max(best, _power(ends[b, 1], above[b, 1], k) - ends[b, 0])
    return best


@kernel
def _next_to_open(k: int, b: int, best: float, gathered: Any, ends: Any) -> int:
    """Return the first bucket from b on that may hold a better prefix strictly inside; BUCKETS where none does."""
    starts, above = gathered[0], gathered[1]
    while b < BUCKETS:
        if b % GROUP == 0 and not _reach(k, b, min(b + GROUP, BUCKETS), above, ends) > best:
            b += GROUP
        elif starts[b + 1] - starts[b] > 1 and _reach(k, b, b + 1, above, ends) > best:
            return b
        else:
            b += 1
    return BUCKETS


@inner_kernel
def _reach(k: int, first: int, last: int, above: Any, ends: Any) -> float:
    """Bound x^k − T over prefixes that end strictly inside buckets first..last−1.

    There the least T at draft mass x lies above the two lines of the least and the largest ratio, through the ends; x^k
    minus each is convex, so largest at the ends, which are looked at anyway, or where the lines cross.
    """
    low, high = EDGES[first], EDGES[last]
    width = above[first, 1] - above[last, 1]
    share = (high * width - (above[first, 0] - above[last, 0])) / (high - low)
    power = _power(ends[first, 1] + share, above[last, 1] + (width - share), k)
    # Rounded up: a logarithm, down to e^-700, is off by less than 2^-30 in all.
    return power * MARGIN - ends[first, 0] - low * share


@kernel
def _best_inside(k: int, pairs: Any, order: Any, t: float, d: float, beyond: float) -> float:
    """Return the largest P^k − T over the prefixes that end inside a bucket, from T and P at its lower edge.

    `beyond` is the draft mass of all later buckets: 1 − P is summed from above, as P is from below.
    """
    outside = np.empty(len(order))
    for place in range(len(order) - 1, -1, -1):
        outside[place] = beyond
        beyond += pairs[order[place], 1]
    best = 0.0
    for place in range(len(order)):
        t += pairs[order[place], 0]
        d += pairs[order[place], 1]
        best = max(best, _power(d, outside[place], k) - t)
    return best


@inner_kernel
def _power(x: float, rest: float, k: int) -> float:
    """Return x^k for x in [0, 1], whose 1 − x is `rest`."""
    if k <= STEPWISE:
        return _product(x, k)
    return np.exp(k * (np.log1p(-rest) if rest < 0.5 else np.log(x)))


@inner_kernel
def _product(x: float, k: int) -> float:
    result = 1.0
    while k > 0:
        if k & 1:
            result *= x
        x *= x
        k >>= 1
    return result
