"""One pair of float laws seen through its excess: K-SEQ's γ*, and the optimum of k drafts, at the price of buckets.

A power of many drafts goes through the logarithm of whichever of x and 1 − x is small: its rounding is not k-fold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.kernels import Delayed, inner_kernel, kernel
from spec_math.token_level.ratio_buckets import BUCKETS, EDGES, FLOAT, bucket_of, excess_of

GROUP = 16
"""Buckets that the search for the optimum excludes together."""

STEPWISE = 32
"""Up to this k powers are products; beyond it, they go through logarithms."""

MARGIN = 1.0 + 2.0**-30
"""What the search for the optimum adds to a bound that excludes buckets, for the rounding of its powers."""

STEPS = 400
"""More steps than K-SEQ's γ* ever takes: a third of them halve a bracket of [1, 2^63] down to 2^-40 of its end."""


@kernel
def none_of(chance: float, k: int) -> float:
    """Return (1 − chance)^k, the probability that none of k tests accepts.

    >>> none_of(0.5, 2), none_of(1.0, 1000)
    (0.25, 0.0)
    """
    # An excess may round to a little below 0, and the chance to above 1, of which there is no logarithm.
    return (1.0 - chance) ** k if k <= STEPWISE else np.exp(k * np.log1p(-min(chance, 1.0)))


@kernel
def f_at(left: float, k: int, gamma: float) -> float:
    """Return K-SEQ's f(γ) from the excess left = E(γ): E − (1 − (1 − E)/γ)^k.

    >>> f_at(0.5, 2, 1.0)
    0.25
    """
    return left - none_of((1.0 - left) / gamma, k)


@kernel
def gamma_of(k: int, arrays: Any) -> float:
    """Return K-SEQ's γ* of a gathered pair.

    >>> from spec_math.token_level.ratio_buckets import buckets_of, gather
    >>> arrays = buckets_of(1)
    >>> gather(np.array([1.0]), np.array([1.0]), 1.0, 1.0, arrays)
    >>> gamma_of(2, arrays)
    1.0
    """
    above = arrays[2]
    if f_at(excess_of(1.0, arrays), k, 1.0) <= 0.0:
        return 1.0
    # First the bucket, by its edges, where the excess needs no scan; a margin on either side for rounded keys. The last
    # bucket ends beyond every k.
    below, beyond = bucket_of(1.0), bucket_of(float(k)) + 1
    while beyond - below > 1:
        b = (below + beyond) // 2
        value = f_at(above[b, 0] - EDGES[b] * above[b, 1], k, EDGES[b])
        below, beyond = (b, beyond) if value > 0.0 else (below, b)
    low: Any = max(EDGES[below] * (1.0 - 2.0**-20), 1.0)
    high: Any = min(EDGES[beyond] * (1.0 + 2.0**-20), float(k))
    left = f_at(excess_of(low, arrays), k, low)
    right = f_at(excess_of(high, arrays), k, high)
    middle, value = high, right
    for step in range(STEPS):
        if high - low <= 2.0**-40 * high:
            break
        # In turn a chord, which lands next to the root, a small step across the root from there, and a bisection.
        if step % 3 == 0 and left > right:
            middle = low + (high - low) * (left / (left - right))
        elif step % 3 == 1:
            middle += middle * 2.0**-41 if value > 0.0 else -middle * 2.0**-41
        else:
            middle = low + (high - low) / 2
        if not low < middle < high:
            middle = low + (high - low) / 2
        value = f_at(excess_of(middle, arrays), k, middle)
        if value > 0.0:
            low, left = middle, value
        else:
            high, right = middle, value
    return high


def ends_below(arrays: Any) -> Any:
    """Return T and P at the lower edge of every bucket: sums from below, so that small prefixes keep their digits.

    >>> from spec_math.token_level.ratio_buckets import buckets_of, gather
    >>> arrays = buckets_of(1)
    >>> gather(np.array([1.0]), np.array([1.0]), 1.0, 1.0, arrays)
    >>> ends_below(arrays)[-1].tolist()
    [1.0, 1.0]
    """
    return _delayed_ends(arrays[2])


@kernel
def _ends(above: Any) -> Any:
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


_delayed_ends = Delayed(_ends, _ends_by_sums, calls=5000)


def optimum_of(k: int, arrays: Any, ends: Any) -> float:
    """Return the optimum of k i.i.d. drafts of a gathered pair.

    >>> from spec_math.token_level.ratio_buckets import buckets_of, gather
    >>> arrays = buckets_of(1)
    >>> gather(np.array([1.0]), np.array([1.0]), 1.0, 1.0, arrays)
    >>> optimum_of(2, arrays, ends_below(arrays))
    1.0
    """
    _, starts, above, pairs = arrays
    best: float = _best_edge(k, above, ends)
    # By now the best is nearly known, and few buckets have to be opened and sorted.
    b = _next_to_open(k, 0, best, arrays, ends)
    while b < BUCKETS:
        inside = pairs[starts[b] : starts[b + 1]]
        found: float = _best_inside(k, inside, by_ratio(inside)[0], ends[b, 0], ends[b, 1], above[b + 1, 1])
        best = max(best, found)
        b = _next_to_open(k, b + 1, best, arrays, ends)
    return 1.0 - best


def by_ratio(pairs: FLOAT) -> tuple[Any, FLOAT]:
    """Return the order of pairs (t, d) [n, 2] by t/d ascending, and the ratios in that order; without draft it is ∞.

    >>> [found.tolist() for found in by_ratio(np.array([[0.5, 0.0], [0.5, 1.0]]))]
    [[1, 0], [0.5, inf]]
    """
    with np.errstate(divide="ignore", over="ignore"):
        ratios = np.where(pairs[:, 1] > 0.0, pairs[:, 0] / np.maximum(pairs[:, 1], 5e-324), np.inf)
    order = np.argsort(ratios)
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
def _next_to_open(k: int, b: int, best: float, arrays: Any, ends: Any) -> int:
    """Return the first bucket from b on that may hold a better prefix strictly inside; BUCKETS where none does."""
    _, starts, above, _ = arrays
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
