"""Rows of float laws gathered by their ratio t/d, so that thresholds of the ratio cost a bucket and not a row.

Every acceptance by thresholds is a function of the excess E(λ) = Σ (t − λd)+. A counting sort puts tokens of nearly one
ratio side by side; E(λ) is then two sums known beforehand and one short scan.
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
GROUP = 16
"""Buckets that the search for the optimum excludes together."""

EDGES = np.concatenate(
    [
        [0.0],
        [2.0**octave * (1 + step / STEPS) for octave in range(LOW, HIGH) for step in range(STEPS)],
        [2.0**HIGH, 1e300],
    ]
)
"""Bucket b holds the ratios in [EDGES[b], EDGES[b + 1])."""

_SHIFT = 52 - 5
_FIRST = ((1023 + LOW) << 5) - 1


class ExcessProfile:
    """A chunk of pairs of float laws [n, V], gathered by ratio, that answers for one scale a row.

    Targets and drafts may be unnormalised: the profile divides each row by its own sum, taken in float64, so that
    exponentials of logits can be handed over as they are.

    >>> profile = ExcessProfile(np.array([[0.25, 0.75]]), np.array([[0.5, 0.5]]))
    >>> profile.excess(np.array([1.0])).tolist()
    [0.25]
    """

    def __init__(self, targets: FLOAT, drafts: FLOAT) -> None:
        rows, size = targets.shape
        self.target = np.empty((rows, size))
        self.draft = np.empty((rows, size))
        self.starts = np.empty((rows, BUCKETS + 1), dtype=np.int32)
        # Mass of the buckets at or above each one, summed from the top: E needs what lies above.
        self.above = np.empty((rows, BUCKETS + 1, 2))
        self.sums = np.empty((rows, 2))
        self.products = np.empty(rows)
        self.refill(targets, drafts)

    def refill(self, targets: FLOAT, drafts: FLOAT) -> None:
        """Gather another chunk of the same shape in the same memory: fresh pages would cost more than the sorting.

        >>> profile = ExcessProfile(np.array([[0.25, 0.75]]), np.array([[0.5, 0.5]]))
        >>> profile.refill(np.array([[1.0, 1.0]]), np.array([[2.0, 2.0]]))
        >>> profile.excess(1.0).tolist(), profile.sums.tolist()
        ([0.0], [[2.0, 4.0]])
        """
        _gather(targets, drafts, self.target, self.draft, self.starts, self.above, self.sums, self.products)

    def excess(self, scale: Any) -> FLOAT:
        """Return E(scale) = Σ (t − scale·d)+ for each row; scale is a number or [n].

        >>> ExcessProfile(np.array([[0.25, 0.75]]), np.array([[0.5, 0.5]])).excess(0.5).tolist()
        [0.5]
        """
        scales = scale if isinstance(scale, np.ndarray) else np.full(len(self.target), float(scale))
        return _excesses(scales, self.target, self.draft, self.starts, self.above)

    def gamma_star(self, k: int) -> FLOAT:
        """Return K-SEQ's γ* for each row: the upper end of a bracket of relative width 2^-40.

        >>> ExcessProfile(np.array([[0.5, 0.5, 0.0, 0.0]]), np.full((1, 4), 0.25)).gamma_star(2).round(12).tolist()
        [1.5]
        """
        return _gammas(k, self.target, self.draft, self.starts, self.above)

    def optima(self, ks: tuple[int, ...]) -> FLOAT:
        """Return the optimum of k i.i.d. drafts, 1 − max_i [P_i^k − T_i] over prefixes of the ratio order: [n, ks].

        A bucket is opened and sorted only where its ends do not already exclude it.

        >>> ExcessProfile(np.array([[0.4, 0.6]]), np.array([[0.75, 0.25]])).optima((1, 2)).round(6).tolist()
        [[0.65, 0.8375]]
        """
        return _optima(np.array(ks), self.target, self.draft, self.starts, self.above)


@numba.njit(cache=True, error_model="numpy")
def _gather(
    targets: Any, drafts: Any, target: Any, draft: Any, starts: Any, above: Any, sums: Any, products: Any
) -> None:
    size = targets.shape[1]
    keys = np.empty(size, dtype=np.int16)
    ratio = np.empty(size)
    for row in range(targets.shape[0]):
        total_t, total_d, product = _row_sums(targets[row], drafts[row])
        sums[row, 0], sums[row, 1] = total_t, total_d
        products[row] = product / total_t / total_d
        _keys(targets[row], drafts[row], total_d / total_t, ratio, keys)
        _count(keys, starts[row])
        _scatter(keys, starts[row], targets[row], drafts[row], total_t, total_d, target[row], draft[row])
        _sum_from_above(target[row], draft[row], starts[row], above[row])


@numba.njit(cache=True, error_model="numpy")
def _keys(target: Any, draft: Any, scale: float, ratio: Any, keys: Any) -> None:
    for i in range(target.shape[0]):
        ratio[i] = target[i] * scale / draft[i]
    bits = ratio.view(np.int64)
    for i in range(target.shape[0]):
        keys[i] = min(max((bits[i] >> _SHIFT) - _FIRST, 0), BUCKETS - 1)


@numba.njit(cache=True)
def _count(keys: Any, starts: Any) -> None:
    starts[:] = 0
    for i in range(keys.shape[0]):
        starts[keys[i] + 1] += 1
    for b in range(BUCKETS):
        starts[b + 1] += starts[b]


@numba.njit(cache=True)
def _scatter(
    keys: Any, starts: Any, targets: Any, drafts: Any, total_t: float, total_d: float, target: Any, draft: Any
) -> None:
    places = starts.copy()
    over_t, over_d = 1.0 / total_t, 1.0 / total_d
    for i in range(keys.shape[0]):
        at = places[keys[i]]
        places[keys[i]] = at + 1
        target[at] = targets[i] * over_t
        draft[at] = drafts[i] * over_d


@numba.njit(cache=True)
def _sum_from_above(target: Any, draft: Any, starts: Any, above: Any) -> None:
    high_t, high_d = 0.0, 0.0
    above[BUCKETS, 0], above[BUCKETS, 1] = 0.0, 0.0
    for b in range(BUCKETS - 1, -1, -1):
        for i in range(starts[b], starts[b + 1]):
            high_t += target[i]
            high_d += draft[i]
        above[b, 0], above[b, 1] = high_t, high_d


@numba.njit(cache=True, fastmath={"reassoc", "contract"})
def _row_sums(target: Any, draft: Any) -> tuple[float, float, float]:
    total_t, total_d, product = 0.0, 0.0, 0.0
    for i in range(target.shape[0]):
        total_t += target[i]
        total_d += draft[i]
        product += target[i] * draft[i]
    return total_t, total_d, product


@numba.njit(cache=True)
def _bucket(ratio: float) -> int:
    cell = np.empty(1)
    cell[0] = ratio
    return min(max((cell.view(np.int64)[0] >> _SHIFT) - _FIRST, 0), BUCKETS - 1)


@numba.njit(cache=True)
def _excess(scale: float, target: Any, draft: Any, starts: Any, above: Any) -> float:
    # A ratio on an edge may have been rounded into the wrong bucket; its t − scale·d is then a rounding error itself.
    b = _bucket(scale)
    total = above[b + 1, 0] - scale * above[b + 1, 1]
    for i in range(starts[b], starts[b + 1]):
        total += max(target[i] - scale * draft[i], 0.0)
    return total


@numba.njit(cache=True)
def _excesses(scales: Any, target: Any, draft: Any, starts: Any, above: Any) -> Any:
    result = np.empty(scales.shape[0])
    for row in range(scales.shape[0]):
        result[row] = _excess(scales[row], target[row], draft[row], starts[row], above[row])
    return result


@numba.njit(cache=True)
def _gammas(k: int, target: Any, draft: Any, starts: Any, above: Any) -> Any:
    result = np.empty(target.shape[0])
    for row in range(target.shape[0]):
        result[row] = _gamma(k, target[row], draft[row], starts[row], above[row])
    return result


@numba.njit(cache=True)
def _gamma(k: int, target: Any, draft: Any, starts: Any, above: Any) -> float:
    if f_of_excess(_excess(1.0, target, draft, starts, above), k, 1.0) <= 0.0:
        return 1.0
    # First the bucket, by its edges, where the excess needs no scan; a margin on either side for rounded keys.
    below, beyond = _bucket(1.0), _bucket(float(k))
    while beyond - below > 1:
        b = (below + beyond) // 2
        value = f_of_excess(above[b, 0] - EDGES[b] * above[b, 1], k, EDGES[b])
        below, beyond = (b, beyond) if value > 0.0 else (below, b)
    low, high = max(EDGES[below] * (1.0 - 2.0**-20), 1.0), min(EDGES[beyond] * (1.0 + 2.0**-20), float(k))
    left = f_of_excess(_excess(low, target, draft, starts, above), k, low)
    right = f_of_excess(_excess(high, target, draft, starts, above), k, high)
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
        value = f_of_excess(_excess(middle, target, draft, starts, above), k, middle)
        if value > 0.0:
            low, left = middle, value
        else:
            high, right = middle, value
    return high


@numba.njit(cache=True)
def _optima(ks: Any, target: Any, draft: Any, starts: Any, above: Any) -> Any:
    result = np.empty((target.shape[0], ks.shape[0]))
    for row in range(target.shape[0]):
        _optima_of_row(ks, target[row], draft[row], starts[row], above[row], result[row])
    return result


@numba.njit(cache=True)
def _optima_of_row(ks: Any, target: Any, draft: Any, starts: Any, above: Any, result: Any) -> None:
    # T and P at the lower edge of every bucket: sums from below, so that small prefixes keep their digits.
    ends = np.empty((BUCKETS + 1, 2))
    ends[0] = 0.0
    for b in range(BUCKETS):
        ends[b + 1, 0] = ends[b, 0] + (above[b, 0] - above[b + 1, 0])
        ends[b + 1, 1] = ends[b, 1] + (above[b, 1] - above[b + 1, 1])
    for j, k in enumerate(ks):
        best = max(0.0, _power(ends[BUCKETS, 1], k) - ends[BUCKETS, 0])
        for first in range(0, BUCKETS, GROUP):
            best = max(best, _power(ends[first, 1], k) - ends[first, 0])
        # First the edges of the groups that may hold the best prefix, then what lies inside buckets: by then the best is
        # nearly known, and few buckets have to be opened and sorted.
        for inside in (False, True):
            for first in range(0, BUCKETS, GROUP):
                if _reach(k, first, min(first + GROUP, BUCKETS), ends) > best:
                    best = _best_of_group(k, first, inside, best, target, draft, starts, ends)
        result[j] = 1.0 - best


@numba.njit(cache=True)
def _best_of_group(
    k: int, first: int, inside: bool, best: float, target: Any, draft: Any, starts: Any, ends: Any
) -> float:
    for b in range(first, min(first + GROUP, BUCKETS)):
        if not inside:
            best = max(best, _power(ends[b, 1], k) - ends[b, 0])
        elif starts[b + 1] - starts[b] > 1 and _reach(k, b, b + 1, ends) > best:
            held = slice(starts[b], starts[b + 1])
            best = max(best, _best_inside(k, target[held], draft[held], ends[b, 0], ends[b, 1]))
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
def _best_inside(k: int, target: Any, draft: Any, t: float, d: float) -> float:
    order = np.argsort(np.where(draft > 0.0, target / np.maximum(draft, 5e-324), np.inf))
    best = 0.0
    for i in order:
        t += target[i]
        d += draft[i]
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
