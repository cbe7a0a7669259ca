"""One pair of float laws gathered by the ratio t/d, so that thresholds of the ratio cost a bucket and not a row.

Every acceptance by thresholds is a function of the excess E(λ) = Σ (t − λd)+. A counting sort puts tokens of nearly one
ratio side by side; E(λ) is then two sums known beforehand and one short scan.

Bucket keys are taken from the ratio in float32. A token on the wrong side of an edge has t/d within 2^-22 of it, so
that its t − λd is wrong by at most 2^-22 of its mass, and only where λ lies as near to the same edge.
"""

# ruff: noqa: PLR0913 - numba kernels take their arrays one by one
from __future__ import annotations

from typing import Any

import numba
import numpy as np

from spec_math.token_level.k_sequential import f_of_excess

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

LOW, HIGH, STEPS = -24, 24, 32
"""Ratios in [2^LOW, 2^HIGH) fall in STEPS buckets an octave; smaller ones in the first, larger ones in the last."""

BUCKETS = (HIGH - LOW) * STEPS + 2
BLOCK = 2048
GROUP = 16
"""Buckets that the search for the optimum excludes together."""

EDGES = np.concatenate(
    [[0.0], *(2.0**octave * (1 + np.arange(STEPS) / STEPS) for octave in range(LOW, HIGH)), [2.0**HIGH, 1e300]]
)
"""Bucket b holds the ratios in [EDGES[b], EDGES[b + 1])."""

_SHIFT = np.int32(23 - 5)
_FIRST = np.int32(((127 + LOW) << 5) - 1)


class ExcessProfile:
    """A target and a draft [V], gathered by ratio; both may still be divided by their sums, which is done here.

    The sums are taken in float64, so that exponentials of logits can be handed over as they are. `gather` takes in the
    next pair in the same memory: fresh pages would cost more than the sorting.

    >>> profile = ExcessProfile(2)
    >>> profile.gather(np.array([1.0, 3.0]), np.array([1.0, 1.0]))
    >>> profile.excess(1.0)
    0.25
    """

    def __init__(self, size: int) -> None:
        self.keys = np.empty(size, dtype=np.int16)
        self.starts = np.empty(BUCKETS + 1, dtype=np.int32)
        # Per bucket: target and draft mass at or above it, summed from the top, as E needs what lies above.
        self.above = np.empty((BUCKETS + 1, 2))
        self.pairs = np.empty((size, 2))

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the compiled queries take.

        >>> len(ExcessProfile(1).arrays)
        4
        """
        return self.keys, self.starts, self.above, self.pairs

    def gather(self, target: FLOAT, draft: FLOAT) -> None:
        """Gather a target and a draft [V] by their ratio.

        >>> ExcessProfile(2).gather(np.array([1.0, 3.0]), np.array([1.0, 1.0]))
        """
        gather(target, draft, self.arrays)

    def excess(self, scale: float) -> float:
        """Return E(scale) = Σ (t − scale·d)+.

        >>> profile = ExcessProfile(2)
        >>> profile.gather(np.array([0.25, 0.75]), np.array([0.5, 0.5]))
        >>> profile.excess(0.5)
        0.5
        """
        return excess_of(float(scale), self.arrays)

    def gamma_star(self, k: int) -> float:
        """Return K-SEQ's γ*: the upper end of a bracket of relative width 2^-40.

        >>> profile = ExcessProfile(4)
        >>> profile.gather(np.array([0.5, 0.5, 0.0, 0.0]), np.full(4, 0.25))
        >>> round(profile.gamma_star(2), 11)
        1.5
        """
        return gamma_of(k, self.arrays)

    def optimum(self, k: int) -> float:
        """Return the optimum of k i.i.d. drafts, 1 − max_i [P_i^k − T_i] over prefixes of the ratio order.

        A bucket is opened and sorted only where its ends do not already exclude it.

        >>> profile = ExcessProfile(2)
        >>> profile.gather(np.array([0.4, 0.6]), np.array([0.75, 0.25]))
        >>> round(profile.optimum(2), 6)
        0.8375
        """
        return optimum_of(k, self.arrays)


@numba.njit(cache=True)
def gather(target: Any, draft: Any, arrays: Any) -> tuple[float, float, float]:
    """Fill the arrays of a profile from a pair [V]; return both sums and Σ t·d before division.

    >>> profile = ExcessProfile(2)
    >>> gather(np.array([1.0, 3.0]), np.array([1.0, 1.0]), profile.arrays)
    (4.0, 2.0, 4.0)
    """
    keys, starts, above, pairs = arrays
    total_t, total_d, product = _sums(target, draft)
    _keys(target, draft, total_d / total_t, keys)
    _count(keys, starts)
    _scatter(keys, starts, target, draft, 1.0 / total_t, 1.0 / total_d, pairs)
    _sum_from_above(pairs, starts, above)
    return total_t, total_d, product


@numba.njit(cache=True, fastmath={"reassoc", "contract"})
def _sums(target: Any, draft: Any) -> tuple[float, float, float]:
    total_t, total_d, product = 0.0, 0.0, 0.0
    for i in range(target.shape[0]):
        total_t += target[i]
        total_d += draft[i]
        product += target[i] * draft[i]
    return total_t, total_d, product


@numba.njit(cache=True, error_model="numpy")
def _keys(target: Any, draft: Any, scale: float, keys: Any) -> None:
    # Ratios by the block: a whole row of them would push the row itself out of cache.
    ratios = np.empty(BLOCK, dtype=np.float32)
    bits = ratios.view(np.int32)
    for first in range(0, target.shape[0], BLOCK):
        size = min(BLOCK, target.shape[0] - first)
        for i in range(size):
            ratios[i] = np.float32(target[first + i] * scale) / np.float32(draft[first + i])
        for i in range(size):
            keys[first + i] = min(max((bits[i] >> _SHIFT) - _FIRST, np.int32(0)), np.int32(BUCKETS - 1))


@numba.njit(cache=True)
def _count(keys: Any, starts: Any) -> None:
    # Four tables, so that equal keys in a row need not wait for each other.
    counts = np.zeros((4, BUCKETS), dtype=np.int32)
    whole = keys.shape[0] // 4 * 4
    for i in range(0, whole, 4):
        counts[0, keys[i]] += 1
        counts[1, keys[i + 1]] += 1
        counts[2, keys[i + 2]] += 1
        counts[3, keys[i + 3]] += 1
    for i in range(whole, keys.shape[0]):
        counts[0, keys[i]] += 1
    total = 0
    for b in range(BUCKETS):
        starts[b] = total
        total += counts[0, b] + counts[1, b] + counts[2, b] + counts[3, b]
    starts[BUCKETS] = total


@numba.njit(cache=True)
def _scatter(keys: Any, starts: Any, target: Any, draft: Any, over_t: float, over_d: float, pairs: Any) -> None:
    places = starts.copy()
    for i in range(keys.shape[0]):
        key = keys[i]
        at = places[key]
        places[key] = at + 1
        pairs[at, 0] = target[i] * over_t
        pairs[at, 1] = draft[i] * over_d


@numba.njit(cache=True)
def _sum_from_above(pairs: Any, starts: Any, above: Any) -> None:
    high_t, high_d = 0.0, 0.0
    above[BUCKETS, 0], above[BUCKETS, 1] = 0.0, 0.0
    for b in range(BUCKETS - 1, -1, -1):
        for i in range(starts[b], starts[b + 1]):
            high_t += pairs[i, 0]
            high_d += pairs[i, 1]
        above[b, 0], above[b, 1] = high_t, high_d


@numba.njit(cache=True)
def _bucket(ratio: float) -> int:
    cell = np.empty(1, dtype=np.float32)
    cell[0] = ratio
    return min(max((cell.view(np.int32)[0] >> _SHIFT) - _FIRST, 0), BUCKETS - 1)


@numba.njit(cache=True)
def excess_of(scale: float, arrays: Any) -> float:
    """Return E(scale) of a gathered pair.

    >>> profile = ExcessProfile(1)
    >>> profile.gather(np.array([1.0]), np.array([1.0]))
    >>> excess_of(0.25, profile.arrays)
    0.75
    """
    _, starts, above, pairs = arrays
    b = _bucket(scale)
    total = above[b + 1, 0] - scale * above[b + 1, 1]
    for i in range(starts[b], starts[b + 1]):
        total += max(pairs[i, 0] - scale * pairs[i, 1], 0.0)
    return total


@numba.njit(cache=True)
def gamma_of(k: int, arrays: Any) -> float:
    """Return K-SEQ's γ* of a gathered pair.

    >>> profile = ExcessProfile(1)
    >>> profile.gather(np.array([1.0]), np.array([1.0]))
    >>> gamma_of(2, profile.arrays)
    1.0
    """
    above = arrays[2]
    if f_of_excess(excess_of(1.0, arrays), k, 1.0) <= 0.0:
        return 1.0
    # First the bucket, by its edges, where the excess needs no scan; a margin on either side for rounded keys.
    below, beyond = _bucket(1.0), _bucket(float(k))
    while beyond - below > 1:
        b = (below + beyond) // 2
        value = f_of_excess(above[b, 0] - EDGES[b] * above[b, 1], k, EDGES[b])
        below, beyond = (b, beyond) if value > 0.0 else (below, b)
    low, high = max(EDGES[below] * (1.0 - 2.0**-20), 1.0), min(EDGES[beyond] * (1.0 + 2.0**-20), float(k))
    left = f_of_excess(excess_of(low, arrays), k, low)
    right = f_of_excess(excess_of(high, arrays), k, high)
    middle, value = high, right
    for step in range(96):
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
        value = f_of_excess(excess_of(middle, arrays), k, middle)
        if value > 0.0:
            low, left = middle, value
        else:
            high, right = middle, value
    return high


@numba.njit(cache=True)
def optimum_of(k: int, arrays: Any) -> float:
    """Return the optimum of k i.i.d. drafts of a gathered pair.

    >>> profile = ExcessProfile(1)
    >>> profile.gather(np.array([1.0]), np.array([1.0]))
    >>> optimum_of(2, profile.arrays)
    1.0
    """
    above = arrays[2]
    # T and P at the lower edge of every bucket: sums from below, so that small prefixes keep their digits.
    ends = np.empty((BUCKETS + 1, 2))
    ends[0] = 0.0
    for b in range(BUCKETS):
        ends[b + 1, 0] = ends[b, 0] + (above[b, 0] - above[b + 1, 0])
        ends[b + 1, 1] = ends[b, 1] + (above[b, 1] - above[b + 1, 1])
    best = max(0.0, _power(ends[BUCKETS, 1], k) - ends[BUCKETS, 0])
    for first in range(0, BUCKETS, GROUP):
        best = max(best, _power(ends[first, 1], k) - ends[first, 0])
    # First the edges inside groups that may hold the best prefix, then what lies inside buckets: by then the best is
    # nearly known, and few buckets have to be opened and sorted.
    for opened in (False, True):
        for first in range(0, BUCKETS, GROUP):
            if _reach(k, first, min(first + GROUP, BUCKETS), ends) > best:
                best = _best_of_group(k, first, opened, best, arrays, ends)
    return 1.0 - best


@numba.njit(cache=True)
def _best_of_group(k: int, first: int, opened: bool, best: float, arrays: Any, ends: Any) -> float:
    _, starts, _, pairs = arrays
    for b in range(first, min(first + GROUP, BUCKETS)):
        if not opened:
            best = max(best, _power(ends[b, 1], k) - ends[b, 0])
        elif starts[b + 1] - starts[b] > 1 and _reach(k, b, b + 1, ends) > best:
            best = max(best, _best_inside(k, pairs[starts[b] : starts[b + 1]], ends[b, 0], ends[b, 1]))
    return best


@numba.njit(cache=True)
def _reach(k: int, first: int, last: int, ends: Any) -> float:
    """Bound x^k − T over prefixes that end strictly inside buckets first..last−1.

    There the least T at draft mass x lies above the two lines of the least and the largest ratio, through the ends; x^k
    minus each is convex, so largest at the ends, which are looked at anyway, or where the lines cross.
    """
    low, high = EDGES[first], EDGES[last]
    width = ends[last, 1] - ends[first, 1]
    share = (high * width - (ends[last, 0] - ends[first, 0])) / (high - low)
    return _power(ends[first, 1] + share, k) - ends[first, 0] - low * share


@numba.njit(cache=True)
def _best_inside(k: int, pairs: Any, t: float, d: float) -> float:
    ratios = np.where(pairs[:, 1] > 0.0, pairs[:, 0] / np.maximum(pairs[:, 1], 5e-324), np.inf)
    best = 0.0
    for i in np.argsort(ratios):
        t += pairs[i, 0]
        d += pairs[i, 1]
        best = max(best, _power(d, k) - t)
    return best


@numba.njit(cache=True)
def _power(x: float, k: int) -> float:
    result = 1.0
    while k > 0:
        if k & 1:
            result *= x
        x *= x
        k >>= 1
    return result
