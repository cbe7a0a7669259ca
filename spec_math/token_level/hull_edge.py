"""The edge of a lower convex hull above one place, for a whole batch: by lines, each one reduction over the points.

No hull is stored. A request whose edge the chords do not find soon is bisected by slope, which ends for every law.

Source: worked out here.
"""

from __future__ import annotations

import sys
from typing import Any

import array_api_compat
import numpy as np

from spec_math.array_coin import taken
from spec_math.arrays import Array, array_namespace, divide, is_exact

STEPS = 24
"""Lines that are tried before a request is bisected; softmax-like laws of 32,000 tokens took fewer than 20."""
BITS = 64
"""Halvings of all slopes that float64 has."""
_LEAST = -(2**63)
_LARGEST = int(np.array([np.finfo(np.float64).max]).view(np.int64)[0])


def lower_edge(place: Array, heights: Array, last: Array, at: Array) -> tuple[Array, Array]:
    """Return the ends (a, b) [B] of the hull's edge above point `at` [B] of 0..last, a ≤ at < b, points [B, n + 1].

    Places ascend; points behind `last` [B] repeat it. Start at both ends. Draw the chord from a to b, and let m be
    the point furthest below it: none, and the chord is the edge; else m is a vertex of the hull, and takes the place of
    a or of b. Where chords do not narrow the stretch fast, every second line is parallel to the curve at the middle of
    the stretch. On Fractions lines are drawn until one is the edge; on floats `STEPS` of them, and what has no edge
    then is bisected (`bisected`): 88 reductions at most, whatever the law. On the host each request goes on by itself,
    over its own stretch alone; on a device all of them go on together, as nothing may wait for it.

    >>> places, heights = np.array([[0.0, 0.5, 0.75, 1.0]]), np.array([[0.0, -0.5, -0.5, 0.0]])
    >>> lower_edge(places, heights, np.array([3]), np.array([1]))
    (array([1]), array([2]))
    """
    if is_exact(heights):
        return _by_chords(place, heights, last, at)
    return (_row_by_row if on_host(heights) else _by_lines)(place, heights, last, at)


def bisected(place: Array, heights: Array, last: Array, at: Array) -> tuple[Array, Array]:
    """Return the ends of the edges by bisection over all slopes of float64, 64 reductions for every law.

    The lowest point along a slope moves right as the slope rises. So there are two slopes, next to each other in
    float64, at the lower of which it lies at or before `at` and at the higher behind: a and b. No point lies below the
    chord from a to b by more than one unit of the slope times the distance of a and b, and the rounding of heights.

    >>> places, heights = np.array([[0.0, 0.5, 0.75, 1.0]]), np.array([[0.0, -0.5, -0.5, 0.0]])
    >>> bisected(places, heights, np.array([3]), np.array([1]))
    (array([1]), array([2]))
    """
    xp = array_namespace(place)
    a, b = xp.zeros_like(at), last
    low, high = xp.full_like(at, -_LARGEST), xp.full_like(at, _LARGEST)
    among = xp.arange(place.shape[1], device=array_api_compat.device(place)) <= last[:, None]
    beyond = xp.full_like(heights, float("inf"))
    for _ in range(BITS):
        # Half of the sum of whole numbers whose sum overflows.
        middle = low // 2 + high // 2 + ((low % 2) + (high % 2)) // 2
        slope = xp.where(middle < 0, _LEAST - middle, middle).view(heights.dtype)
        lowest = xp.where(among, _above_line(heights, slope[:, None], place), beyond).argmin(1)
        left = lowest <= at
        a, b = xp.where(left, lowest, a), xp.where(left, b, lowest)
        low, high = xp.where(left, middle, low), xp.where(left, high, middle)
    return a, b


def on_host(values: Array) -> bool:
    """Say whether a value may be looked at: in the host's memory, and in no graph that a compiler records.

    >>> on_host(np.zeros(1))
    True
    """
    if isinstance(values, np.ndarray):
        return True
    torch: Any = sys.modules["torch"]
    return values.device.type == "cpu" and not torch.compiler.is_compiling()


def in_numpy(*arrays: Array) -> tuple[Any, ...]:
    """Return tensors in the host's memory as NumPy arrays of the same memory, and all others as they are.

    >>> in_numpy(np.zeros(1))
    (array([0.]),)
    """
    return tuple(each if isinstance(each, np.ndarray) or not on_host(each) else each.numpy() for each in arrays)


def out_of_numpy(like: Array, *arrays: Array) -> tuple[Any, ...]:
    """Return NumPy arrays as arrays of the kind of `like`, the same memory; all others as they are.

    >>> out_of_numpy(np.zeros(1), np.ones(1))
    (array([1.]),)
    """
    if isinstance(like, np.ndarray):
        return arrays
    xp = array_namespace(like)
    return tuple(xp.from_numpy(each) if isinstance(each, np.ndarray) else each for each in arrays)


def _by_lines(place: Array, heights: Array, last: Array, at: Array) -> tuple[Array, Array]:
    """Draw the lines of all requests together: on a device, where nothing may wait for what they find."""
    xp = array_namespace(place)
    a, b, done = xp.zeros_like(at), last, at < 0
    for step in range(STEPS):
        chord = _is_chord(step)
        slope = _slope(place, heights, a, b) if chord else _middle_slope(place, heights, a, b)
        lowest, found = _below(place, heights, slope, (a, b))
        found = found & ~done
        left = found & (lowest <= at)
        a, b = xp.where(left, lowest, a), xp.where(found & ~left, lowest, b)
        done = done | ~found if chord else done
    low, high = bisected(place, heights, last, at)
    return xp.where(done, a, low), xp.where(done, b, high)


def _row_by_row(place: Array, heights: Array, last: Array, at: Array) -> tuple[Array, Array]:
    """Draw the lines of each request in its own time, over what is left of its stretch; then bisect what has no edge.

    The lowest point between two vertices of the hull, along any line, is a vertex of the hull or one of the two: what
    lies outside of the stretch need not be looked at again.
    """
    xp = array_namespace(place)
    a, b = xp.zeros_like(at), xp.zeros_like(at) - 1
    ends = in_numpy(a, b)
    for row, (xs, ys, end, here) in enumerate(zip(*in_numpy(place, heights, last, at), strict=True)):
        found = _edge_of(xs, ys, int(end), int(here))
        if found is not None:
            ends[0][row], ends[1][row] = found
    rest = xp.nonzero(b < 0)[0]
    if len(rest):
        a[rest], b[rest] = bisected(*(each[rest] for each in (place, heights, last, at)))
    return a, b


def _edge_of(place: Any, heights: Any, last: int, at: int) -> tuple[int, int] | None:
    """Return the edge of one curve [n + 1], or None where `STEPS` lines do not find it."""
    a, b = 0, last
    for step in range(STEPS):
        chord = _is_chord(step)
        p = a if chord else (a + b) // 2
        q = b if chord else min(p + 1, b)
        width, rise = place[q] - place[p], heights[q] - heights[p]
        slope = rise / width if width else 0.0 * rise
        lowest = a + int((heights[a : b + 1] - slope * place[a : b + 1]).argmin())
        if a < lowest < b:
            a, b = (lowest, b) if lowest <= at else (a, lowest)
        elif chord:
            return a, b
    return None


def _is_chord(step: int) -> bool:
    return step % 2 == 0 or step < STEPS // 3


def _by_chords(place: Array, heights: Array, last: Array, at: Array) -> tuple[Array, Array]:
    a, b = np.zeros_like(at), last
    while True:
        lowest, found = _below(place, heights, _slope(place, heights, a, b), (a, b))
        if not found.any():
            return a, b
        left = found & (lowest <= at)
        a, b = np.where(left, lowest, a), np.where(found & ~left, lowest, b)


def _below(place: Array, heights: Array, slope: Array, ends: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return the lowest point along a line, and whether it lies between the ends.

    No point outside the stretch lies below a line between two vertices of the hull, but by a rounding; its ends are no
    news either.
    """
    lowest = _above_line(heights, slope[:, None], place).argmin(1)
    return lowest, (lowest > ends[0]) & (lowest < ends[1])


def _middle_slope(place: Array, heights: Array, a: Array, b: Array) -> Array:
    middle = (a + b) // 2
    return _slope(place, heights, middle, array_namespace(middle).where(middle < b, middle + 1, b))


def _slope(place: Array, heights: Array, a: Array, b: Array) -> Array:
    rise = taken(heights, b) - taken(heights, a)
    return divide(rise, taken(place, b) - taken(place, a), rise - rise)


def _above_line(heights: Array, slope: Array, place: Array) -> Array:
    if isinstance(heights, np.ndarray):
        return heights - slope * place
    return heights.addcmul(slope, place, value=-1)  # one pass in place of two
