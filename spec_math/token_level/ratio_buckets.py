"""Tokens of a target and a draft gathered by their ratio t/d into buckets, by a counting sort.

Every acceptance by thresholds of t/d is a function of the excess E(λ) = Σ (t − λd)+. With tokens of nearly one ratio
side by side, E(λ) is two sums known beforehand and one short scan.

Sums and ratios keep their range: a row whose sum could over- or underflow in a product is first scaled by a power of
two, and a bucket is read off the exponent and the leading bits of the float64 ratio of two proportional masses. A ratio
is off by 4·2^-53 at most, so that a token on the wrong side of an edge has a t − λd that is wrong by as little of its
mass, and only where λ lies as near to the same edge; a mass below 2^-1022 of its row's sum may lie in any bucket.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from spec_math.kernels import Delayed, bits_of, inner_kernel, kernel

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

LOW, HIGH, STEPS = -8, 8, 64
"""Ratios in [2^LOW, 2^HIGH) fall in STEPS buckets an octave; smaller ones in the first, larger ones in the last."""

BUCKETS = (HIGH - LOW) * STEPS + 2
BLOCK = 2048
"""Ratios are taken by so many at once: a whole row of them would push the row itself out of cache."""

LEAST_SUM, LARGEST_SUM = 2.0**-400, 2.0**400
"""Sums between these leave every product of two masses in range; rows beyond are scaled first."""

EDGES = np.concatenate(
    [[0.0], *(2.0**octave * (1 + np.arange(STEPS) / STEPS) for octave in range(LOW, HIGH)), [2.0**HIGH, 1e300]]
)
"""Bucket b holds the ratios in [EDGES[b], EDGES[b + 1])."""

# A bucket's number is what is left of a ratio's bits above its leading log2(STEPS) bits of mantissa, counted from LOW.
_SHIFT = np.int64(52 - 6)
_FIRST = np.int64(((1023 + LOW) << 6) - 1)


def buckets_of(size: int) -> tuple[Any, ...]:
    """Return the arrays that `gather` fills for a vocabulary of `size`: keys, starts, masses above, tokens in order.

    `above[b]` is the target and the draft mass of the buckets from b on: each is summed by itself, and then they are
    summed from the top, as E needs what is above.

    >>> [array.shape for array in buckets_of(3)][0]
    (3,)
    """
    return (
        np.empty(size, dtype=np.uint16),
        np.empty(BUCKETS + 1, dtype=np.int32),
        np.empty((BUCKETS + 1, 2)),
        np.empty(size, dtype=np.uint32),
    )


def ranged(target: Any, draft: Any) -> Any:
    """Return a target and a draft [V] with their sums and Σ t·d before division, scaled where these would leave range.

    Scaling is by a power of two: exact, but for masses that are less than 2^-1000 of their row's sum.

    Raises:
        ValueError: a row without a positive, finite mass, so that there is not a probability distribution in proportion
            to it.

    >>> ranged(np.array([1.0, 3.0]), np.array([1.0, 1.0]))[2:]
    (4.0, 2.0, 4.0)
    >>> ranged(np.array([1.0, 3.0]), np.array([5e-324, 5e-324]))[1:]
    (array([0.5, 0.5]), 4.0, 1.0, 2.0)
    """
    total_t, total_d, product = sums_of(target, draft)
    if LEAST_SUM < total_t < LARGEST_SUM and LEAST_SUM < total_d < LARGEST_SUM:
        return target, draft, total_t, total_d, product
    if not LEAST_SUM < total_t < LARGEST_SUM:
        target = _scaled(target)
    if not LEAST_SUM < total_d < LARGEST_SUM:
        draft = _scaled(draft)
    total_t, total_d, product = sums_of(target, draft)
    return target, draft, total_t, total_d, product


def _scaled(masses: Any) -> Any:
    """Divide masses by a power of two, so that the largest lies in [1/2, 1)."""
    largest = float(masses.max())
    if not 0.0 < largest < math.inf:
        raise ValueError("masses in proportion to which there is a law have a positive, finite largest one")
    return np.ldexp(masses, -math.frexp(largest)[1])


def gather(target: Any, draft: Any, total_t: float, total_d: float, arrays: Any) -> Any:
    """Fill the buckets from a target and a draft [V] with these sums, as `ranged` returns them.

    Return what is asked of later: starts, masses above, tokens in order, both rows and what each is multiplied with.
    Pairs are taken from there when a bucket is looked into: few are, and side by side they would take up the cache.

    >>> gathered = gather(np.array([1.0, 3.0]), np.array([1.0, 1.0]), 4.0, 2.0, buckets_of(2))
    >>> pairs_between(gathered, 0, 2).tolist()
    [[0.25, 0.5], [0.75, 0.5]]
    """
    _delayed(target, draft, total_t, total_d, arrays)
    return arrays[1], arrays[2], arrays[3], target, draft, 1.0 / total_t, 1.0 / total_d


def pairs_between(gathered: Any, start: int, stop: int) -> FLOAT:
    """Return the pairs (t, d) [n, 2] of the tokens from one place in order to another.

    >>> pairs_between(gather(np.array([1.0, 3.0]), np.array([1.0, 1.0]), 4.0, 2.0, buckets_of(2)), 1, 2).tolist()
    [[0.75, 0.5]]
    """
    _, _, order, target, draft, over_t, over_d = gathered
    tokens = order[start:stop]
    return np.stack([target[tokens] * over_t, draft[tokens] * over_d], axis=1)


@kernel
def _gather(target: Any, draft: Any, total_t: float, total_d: float, arrays: Any) -> None:
    keys, starts, above, order = arrays
    over_t, over_d = 1.0 / total_t, 1.0 / total_d
    _keys(target, draft, over_t, over_d, keys)
    _count(target, draft, over_t, over_d, arrays)
    # Unsigned as the keys: a number that may be negative costs a test at every use as an index.
    places = starts.astype(np.uint32)
    for i in range(keys.shape[0]):
        at = places[keys[i]]
        places[keys[i]] = at + np.uint32(1)
        order[at] = i
    for b in range(BUCKETS - 1, -1, -1):
        above[b, 0] += above[b + 1, 0]
        above[b, 1] += above[b + 1, 1]


def _gather_by_sorting(target: Any, draft: Any, total_t: float, total_d: float, arrays: Any) -> None:
    keys, starts, above, order = arrays
    t, d = target * (1.0 / total_t), draft * (1.0 / total_d)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        ratios = t / d
    np.clip((ratios.view(np.int64) >> _SHIFT) - _FIRST, 0, BUCKETS - 1, out=keys, casting="unsafe")
    starts[0] = 0
    np.cumsum(np.bincount(keys, minlength=BUCKETS), out=starts[1:])
    order[:] = np.argsort(keys, kind="stable")
    # Of a bucket from its first token on, as `bincount` adds weights: sums are taken in the order of the kernel.
    above[BUCKETS] = 0.0
    for side, masses in enumerate((t, d)):
        sums = np.bincount(keys, weights=masses, minlength=BUCKETS)
        np.cumsum(sums[::-1], out=above[BUCKETS - 1 :: -1, side])


_delayed = Delayed(_gather, _gather_by_sorting, calls=4000)


@kernel(fastmath={"reassoc", "contract"})
def sums_of(masses: Any, numbers: Any) -> tuple[float, float, float]:
    """Return the sums of two arrays [V], and of their products, in one pass.

    >>> sums_of(np.array([1.0, 3.0]), np.array([2.0, 1.0]))
    (4.0, 3.0, 5.0)
    """
    first, second, product = 0.0, 0.0, 0.0
    for i in range(masses.shape[0]):
        first += masses[i]
        second += numbers[i]
        product += masses[i] * numbers[i]
    return first, second, product


@inner_kernel
def _keys(target: Any, draft: Any, over_t: float, over_d: float, keys: Any) -> None:
    ratios = np.empty(BLOCK)
    for first in range(0, target.shape[0], BLOCK):
        last = min(first + BLOCK, target.shape[0])
        _ratios(target[first:last], draft[first:last], over_t, over_d, ratios)
        _keys_of_ratios(ratios, keys[first:last])


# Loops of their own over whole arrays: only so do they become vector instructions.
@inner_kernel(error_model="numpy")
def _ratios(target: Any, draft: Any, over_t: float, over_d: float, ratios: Any) -> None:
    for i in range(target.shape[0]):
        ratios[i] = (target[i] * over_t) / (draft[i] * over_d)


@inner_kernel
def _keys_of_ratios(ratios: Any, keys: Any) -> None:
    for i in range(keys.shape[0]):
        keys[i] = min(max((bits_of(ratios[i]) >> _SHIFT) - _FIRST, np.int64(0)), np.int64(BUCKETS - 1))


@inner_kernel
def _count(target: Any, draft: Any, over_t: float, over_d: float, arrays: Any) -> None:
    """Find where each bucket starts, and sum each: the tables are small and in cache."""
    keys, starts, above, _ = arrays
    counts = np.zeros(BUCKETS, dtype=np.int32)
    above[:] = 0.0
    for i in range(keys.shape[0]):
        key = keys[i]
        counts[key] += 1
        above[key, 0] += target[i] * over_t
        above[key, 1] += draft[i] * over_d
    total = 0
    for b in range(BUCKETS):
        starts[b] = total
        total += counts[b]
    starts[BUCKETS] = total


@kernel
def bucket_of(ratio: float) -> int:
    """Return the bucket of a ratio.

    >>> bucket_of(1.0) - bucket_of(0.5) == STEPS
    True
    """
    return min(max((bits_of(ratio) >> _SHIFT) - _FIRST, 0), BUCKETS - 1)


@kernel
def excess_of(scale: float, gathered: Any) -> float:
    """Return E(scale) of a gathered pair.

    >>> excess_of(0.25, gather(np.array([1.0]), np.array([1.0]), 1.0, 1.0, buckets_of(1)))
    0.75
    """
    starts, above, order, target, draft, over_t, over_d = gathered
    b = bucket_of(scale)
    total = above[b + 1, 0] - scale * above[b + 1, 1]
    for i in range(starts[b], starts[b + 1]):
        token = order[i]
        total += max(target[token] * over_t - scale * (draft[token] * over_d), 0.0)
    return total
