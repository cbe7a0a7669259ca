"""The pool of the highest draft under the optimal plan, for one request after another, sorting only the parts it needs.

The functions of `decide_plan.selection` are wanted in few places: where P^k − T is the largest, where the selection law
leaves the ratios' bounds, and at the ends of one edge of a hull. Each is found among the borders of buckets first, and
then in those buckets alone that a bound does not rule out (`part_sorted`): P^k and −u·P^k are convex and concave in P,
so that a line for T puts the best of a bucket at one of its ends.

Source: SpecTr, Eq. 3, for the problem; the construction is worked out here.
"""

# ruff: noqa: PLR0913 - numba kernels take their arrays one by one
from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.kernels import inner_kernel, kernel
from spec_math.token_level.hull_edge import STEPS
from spec_math.token_level.part_sorted import BUCKETS, EDGES, WIDER, bucket_at, gather, ratio_of, room, sort_bucket

_TINY = 2.0**-48
"""A bound must rule a bucket out by so much: by less, its sums in one order or another round to either answer."""

_AT_ONCE = 2**18
"""How many masses of a narrow type are widened at once."""

_BITS = int(np.array([np.finfo(np.float64).max]).view(np.int64)[0])
_LEAST = -(2**63)


def pools(target: Any, draft: Any, sizes: Any, u: Any, best: Any) -> tuple[Any, Any, Any]:
    """Return the first token [B] of the pool at u [B] that holds token `best` [B], and the bounds `low`, `high` [B].

    Masses [B, V] in NumPy; requests of no drafts have the pool of all tokens, from token 0.

    >>> found = pools(*np.array([[[0.4, 0.6]], [[0.75, 0.25]]]), np.array([2]), np.array([0.5]), np.array([1]))
    >>> [each.tolist() for each in found]
    [[1], [0.75], [1.75]]
    """
    found = np.zeros(len(best), dtype=np.int64), np.zeros(len(best)), np.zeros(len(best))
    part, many = room(target.shape[1]), max(1, _AT_ONCE // target.shape[1])
    for first in range(0, len(best), many):
        rows = slice(first, first + many)
        # One type for all that is compiled: compiling it for another takes longer than widening millions of rows.
        masses = (np.ascontiguousarray(each[rows], dtype=np.float64) for each in (target, draft))
        _fill(*masses, sizes[rows], u[rows], best[rows], part, tuple(each[rows] for each in found))
    return found


@kernel
def _fill(target: Any, draft: Any, sizes: Any, u: Any, best: Any, part: Any, found: Any) -> None:
    first, lows, highs = found
    for row in range(len(best)):
        if sizes[row] > 0:
            laws = target[row], draft[row]
            totals = gather(laws[0], laws[1], part)
            if part[2][BUCKETS] > 0:
                given = laws[0], laws[1], totals, part
                law = selection_law(sizes[row], given)
                lows[row], highs[row] = law[3], law[4]
                a = _edge(u[row], best[row], sizes[row], law, given)
                _sort(bucket_at(a, part[2]), given)
                first[row] = part[1][a]


@inner_kernel
def _sort(b: int, given: Any) -> None:
    target, draft, totals, part = given
    sort_bucket(b, target, draft, totals, part)


@inner_kernel
def _sort_at(place: int, given: Any) -> None:
    """Sort what is about a place, so that its sums are there, and the token's before it."""
    starts = given[3][2]
    if place < starts[BUCKETS]:
        _sort(bucket_at(place, starts), given)
    if place > 0:
        _sort(bucket_at(place - 1, starts), given)


@inner_kernel
def _reach(place: int, given: Any) -> float:
    """Return the ratio t/d of laws of the token at a place that is sorted."""
    target, draft, totals, part = given
    return ratio_of(part[1][place], target, draft) * (totals[1] / totals[0])


@inner_kernel
def _power(base: float, exponent: int) -> float:
    found = base
    for _ in range(exponent - 1):
        found *= base
    return found


@inner_kernel
def _most_lost(k: int, given: Any) -> float:
    """Return the largest P^k − T."""
    _, _, starts, _done, below, _ = given[3]
    scale = given[2][1] / given[2][0]
    lost = 0.0
    for b in range(1, BUCKETS + 1):
        lost = max(lost, _power(below[starts[b], 1], k) - below[starts[b], 0])
    for b in range(BUCKETS):
        p, q = below[starts[b]], below[starts[b + 1]]
        # Convex in P on the lower line of T: the most is at an end.
        most = _power(q[1], k) - p[0] - EDGES[b] * scale * (q[1] - p[1]) * (1.0 - WIDER)
        if starts[b + 1] > starts[b] + 1 and most + _TINY > lost:
            _sort(b, given)
            for place in range(starts[b] + 1, starts[b + 1]):
                lost = max(lost, _power(below[place, 1], k) - below[place, 0])
    return lost


@inner_kernel
def _raised(lost: float, given: Any) -> int:
    """Return the first place whose token is not raised, or the number of those that can be drafted."""
    _, _, starts, _, below, _ = given[3]
    scale = given[2][1] / given[2][0]
    for b in range(BUCKETS):
        p, q = below[starts[b]], below[starts[b + 1]]
        if starts[b + 1] == starts[b] or EDGES[b + 1] * scale * q[1] * (1.0 + WIDER) < p[0] + lost - _TINY:
            continue
        _sort(b, given)
        for place in range(starts[b], starts[b + 1]):
            if not _reach(place, given) * below[place, 1] < below[place, 0] + lost:
                return place
    return starts[BUCKETS]


@inner_kernel
def _kept(lost: float, given: Any) -> int:
    """Return the first place whose token is lowered, or the number of those that can be drafted."""
    _, _, starts, _, _, above = given[3]
    scale = given[2][1] / given[2][0]
    for b in range(BUCKETS):
        p, q = above[starts[b]], above[starts[b + 1]]
        if starts[b + 1] == starts[b] or EDGES[b + 1] * scale * p[1] * (1.0 + WIDER) <= q[0] - lost - _TINY:
            continue
        _sort(b, given)
        for place in range(starts[b], starts[b + 1]):
            if not _reach(place, given) * above[place + 1, 1] <= above[place + 1, 0] - lost:
                return place
    return starts[BUCKETS]


@kernel
def selection_law(k: int, given: Any) -> tuple[int, int, float, float, float]:
    """Return the selection law: how many tokens are raised, the last place kept, what is lost, low and high.

    `given` are t and d [V], the sums of all t and of all d, and `part_sorted.room` as `gather` filled it.

    >>> laws, part = (np.array([0.4, 0.6]), np.array([0.75, 0.25])), room(2)
    >>> [round(float(each), 4) for each in selection_law(2, (*laws, gather(*laws, part), part))]
    [1.0, 1.0, 0.1625, 0.75, 1.75]
    """
    _, _, starts, _, below, above = given[3]
    drafted = starts[BUCKETS]
    lost = _most_lost(k, given)
    raised, kept = _raised(lost, given), _kept(lost, given)
    _sort_at(raised, given)
    _sort_at(kept, given)
    low = 0.0
    if raised > 0:
        low = (below[raised, 0] + lost) / below[raised, 1] if below[raised, 1] > 0.0 else lost
    high = _reach(kept - 1, given) if kept > 0 else lost
    if kept < drafted:
        high = (above[kept, 0] - lost) / above[kept, 1] if above[kept, 1] > 0.0 else lost
    high = max(high, low)
    return raised, min(kept, drafted - 1), lost, low, high


@inner_kernel
def _height(place: int, u: float, k: int, law: Any, given: Any) -> float:
    """Return C − u·P^k at a place whose sums are there."""
    raised, stays, lost, low, high = law
    p = given[3][4][place]
    inside = u * _power(p[1], k)
    if place < raised:
        return low * p[1] - inside
    if place <= stays:
        return p[0] + lost - inside
    return 1.0 - high * given[3][5][place, 1] - inside


@inner_kernel
def _edge(u: float, best: int, k: int, law: Any, given: Any) -> int:
    """Return the place at which the hull's edge above the token `best` begins; see `hull_edge.lower_edge`."""
    keys, order, starts, _, below, _ = given[3]
    last = starts[BUCKETS]
    at = last - 1
    if keys[best] < BUCKETS:
        _sort(keys[best], given)
        at = starts[keys[best]]
        while order[at] != best:
            at += 1
    heights = np.empty(BUCKETS + 1)
    for b in range(BUCKETS + 1):
        p = below[starts[b]]
        heights[b] = p[0] + law[2] - u * _power(p[1], k)
    _sort_at(law[0], given)
    _sort_at(min(law[1] + 1, last), given)
    _sort_at(law[1], given)
    shape = u, k, law, heights
    a, b = 0, last
    for step in range(STEPS):
        chord = step % 2 == 0 or step < STEPS // 3
        p = a if chord else (a + b) // 2
        q = b if chord else min(p + 1, b)
        _sort_at(p, given)
        _sort_at(q, given)
        width = below[q, 1] - below[p, 1]
        rise = _height(q, u, k, law, given) - _height(p, u, k, law, given)
        lowest = _lowest(rise / width if width != 0.0 else 0.0, a, b, shape, given)
        if a < lowest < b:
            a, b = (lowest, b) if lowest <= at else (a, lowest)
        elif chord:
            return a
    return _bisected(at, shape, given)


@inner_kernel
def _bisected(at: int, shape: Any, given: Any) -> int:
    """Return the same by bisection over all slopes of float64; see `hull_edge.bisected`."""
    last = given[3][2][BUCKETS]
    bits = np.empty(1, dtype=np.int64)
    a, low, high = 0, -_BITS, _BITS
    for _ in range(64):
        middle = low // 2 + high // 2 + ((low % 2) + (high % 2)) // 2
        bits[0] = _LEAST - middle if middle < 0 else middle
        lowest = _lowest(bits.view(np.float64)[0], 0, last, shape, given)
        if lowest <= at:
            a, low = lowest, middle
        else:
            high = middle
    return a


@inner_kernel
def _lowest(slope: float, a: int, b: int, shape: Any, given: Any) -> int:
    """Return the place from a to b of the lowest point along a slope; its own end where none is lower."""
    u, k, law, heights = shape
    _, _, starts, done, below, _ = given[3]
    found = a
    least = _height(a, u, k, law, given) - slope * below[a, 1]
    # Where the law is low·d or high·d, C − u·P^k is concave: only the ends of these stretches can be low.
    for place in (law[0] - 1, law[0], law[1], law[1] + 1, b):
        if a < place <= b:
            here = _height(place, u, k, law, given) - slope * below[place, 1]
            if here < least:
                found, least = place, here
    first, stop = max(a, law[0]), min(b, law[1])
    if first >= stop:
        return found
    buckets = range(bucket_at(first, starts), min(bucket_at(stop, starts), BUCKETS - 1) + 1)
    for bucket in buckets:
        place = starts[bucket]
        if first < place < stop:
            here = heights[bucket] - slope * below[place, 1]
            if here < least:
                found, least = place, here
    scale = given[2][1] / given[2][0]
    for bucket in buckets:
        if starts[bucket + 1] <= starts[bucket] + 1:
            continue
        if not done[bucket]:
            p, q = below[starts[bucket]], below[starts[bucket + 1]]
            start, end = heights[bucket] - slope * p[1], heights[bucket + 1] - slope * q[1]
            t, d = q[0] - p[0], (q[1] - p[1]) * scale
            over = t - EDGES[bucket] * d * (1.0 - WIDER) + _TINY
            under = EDGES[bucket + 1] * d * (1.0 + WIDER) - t + _TINY
            if max(min(start, end - over), min(start - under, end)) >= least:
                continue
            _sort(bucket, given)
        for place in range(max(starts[bucket], first) + 1, min(starts[bucket + 1], stop)):
            here = below[place, 0] + law[2] - u * _power(below[place, 1], k) - slope * below[place, 1]
            if here < least:
                found, least = place, here
    return found
