"""The optimal plan below many nodes at once: the selection law of their cells, and the pools that it is made of.

The array form of `selection` and `knot_mixture` of the token level: rows are nodes, cells stand by t/d ascending.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.array_coin import taken
from spec_math.arrays import Array, array_namespace, divide, is_exact, ones_like, zeros_like
from spec_math.block_level.array_sums import running_max, running_sum, sums_above, sums_below
from spec_math.block_level.decide_selected import put_back
from spec_math.block_level.ratio_cells import Cells

LEAST = 2.0**-900
"""A mass of floats that is divided by is taken to be no smaller."""


def selection_heights(cells: Cells, weight: Array, inside: Array) -> Array:
    """Return c/d of each cell [R, M] for the targets weight·t, as `selection.selection_ratios` does.

    `weight` [R] in [0, 1], `inside` [R, M + 1] what the law of prefixes has at each of them, from 0 to 1.

    >>> from spec_math.arrays import exact
    >>> from spec_math.block_level.ratio_cells import by_ratio
    >>> cells = by_ratio(exact([["1/4", "3/4"]]), exact([["1/2", "1/2"]]))
    >>> selection_heights(cells, exact([1]), exact([[0, "1/4", 1]])).tolist()
    [[Fraction(1, 2), Fraction(3, 2)]]
    """
    xp = array_namespace(inside)
    size = cells.key.shape[1]
    key, one = cells.key * weight[:, None], ones_like(weight)
    t_below, t_above = sums_below(cells.target), sums_above(cells.target) + cells.never[:, None]
    whole = t_above[:, :1]
    t_below, t_above = weight[:, None] * t_below / whole, weight[:, None] * t_above / whole + (one - weight)[:, None]
    d_below, d_above = prefixes(cells.draft), sums_above(cells.draft)
    d_above = d_above / d_above[:, :1]
    worst = (inside - t_below).argmax(1)
    lost = taken(inside - t_below, worst)
    raised = xp.sum(key * d_below[:, :-1] < t_below[:, :-1] + lost[:, None], axis=1)
    # Only cells before the worst prefix are raised, and only cells behind it lowered, whatever the sums round to.
    raised = xp.minimum(raised, worst)
    kept = xp.maximum(xp.sum(key * d_above[:, 1:] <= t_above[:, 1:] - lost[:, None], axis=1), worst)
    least = divide(taken(t_below, raised) + lost, taken(d_below, raised), lost)
    low = xp.maximum(least, taken(key, xp.where(raised > 0, raised - 1, raised)))
    low = xp.where(raised > 0, low, zeros_like(low))
    most = divide(taken(t_above, kept) - lost, taken(d_above, kept), lost)
    floor = xp.maximum(taken(key, xp.where(kept > 0, kept - 1, kept)), low)
    high = xp.where(kept < size, xp.where(kept > 0, xp.maximum(most, floor), most), floor)
    return xp.minimum(xp.maximum(key, low[:, None]), high[:, None])


def prefixes(masses: Array) -> Array:
    """Return the masses [R, M + 1] of the first i cells, i = 0..M, over that of all.

    >>> prefixes(np.array([[1.0, 3.0]])).tolist()
    [[0.0, 0.25, 1.0]]
    """
    sums = sums_below(masses)
    return sums / sums[:, -1:]


def deaths(draft: Array, heights: Array, slopes: Array) -> Array:
    """Return the times u in [0, 1] at which knots leave the lower convex hull of C − u·g, [R, M − 1], 1 for never.

    `draft` [R, M] are the masses of cells, `heights` the slopes of C and `slopes` those of g over them, both ascending.
    Knot i lies behind cell i. The next knot to die is killed in all rows at once, M − 1 times; the two pools beside it
    are joined. Next to a pool of no mass a knot dies at once: the one on its other side stands at the same place.

    >>> from spec_math.arrays import exact
    >>> masses, heights, slopes = exact([["1/4", "3/4"]]), exact([["1/2", "7/6"]]), exact([["1/4", "5/4"]])
    >>> deaths(masses, heights, slopes).tolist()
    [[Fraction(2, 3)]]
    """
    xp = array_namespace(draft)
    rows, size = draft.shape
    one = ones_like(draft[:, :1])
    # Pools [R, M + 2, 3], one that ends at each knot: mass, and what C and g gain; none at knot 0, nor beyond the last,
    # where the writes of rows go in which no knot dies any more.
    pools = xp.stack([draft, draft * heights, draft * slopes], axis=-1)
    none = zeros_like(pools[:, :1])
    pools = xp.concat([none, pools, none], axis=-2)
    knots = xp.broadcast_to(xp.arange(size + 2, **_device(draft))[None, :], (rows, size + 2))
    links = xp.stack([xp.clip(knots - 1, min=0), xp.clip(knots + 1, max=size)], axis=-1)
    first, never = one - one, one + one
    times = xp.concat([never, _times(pools[:, 1:-1], first), never, never], axis=1)
    died = times * 0 + one
    for _ in range(size - 1):
        knot = times.argmin(1)[:, None]
        time = xp.take_along_axis(times, knot, axis=1)
        dies = time < one
        sides = _entries(links, knot)
        left, right = sides[:, :, 0], sides[:, :, 1]
        beyond = _entries(links, right)[:, :, 1]
        near = _entries(pools, xp.concat([left, knot, right, beyond], axis=1))
        joined = xp.stack([near[:, 0], near[:, 1] + near[:, 2], near[:, 3]], axis=-2)
        found = xp.where((left > 0), _times(joined[:, :2], time), never)
        other = xp.where((right < size), _times(joined[:, 1:], time), never)
        spare = knot * 0 + size + 1
        left, right, knot = (xp.where(dies, at, spare) for at in (left, right, knot))
        _put(died, knot, time)
        _put(times, xp.concat([left, right, knot], axis=1), xp.concat([found, other, never], axis=1))
        _put(pools, right, joined[:, 1:2])
        # Of both the further link stays.
        _put(links[:, :, 1], left, right)
        _put(links[:, :, 0], right, left)
        _put(times, spare, never)
    return died[:, 1:-2]


def density(draft: Array, died: Array, cell: Array) -> Array:
    """Return the density [R, M] over quantiles of what a cell [R] is put into: ∫ du 1[i in its pool at u] / its mass.

    The pool of a cell at u reaches to the next knots on either side that are not dead yet: the cells from which no knot
    that lives parts it.

    >>> from spec_math.arrays import exact
    >>> density(exact([["1/4", "3/4"]]), exact([["2/3"]]), np.array([1])).tolist()
    [[Fraction(1, 3), Fraction(11, 9)]]
    """
    xp = array_namespace(draft)
    knots = xp.arange(died.shape[1], **_device(draft))[None, :]
    behind = knots < cell[:, None]
    none = zeros_like(draft[:, :1])
    rightwards = running_max(xp.concat([none, xp.where(behind, zeros_like(died), died)], axis=1))
    leftwards = xp.concat([xp.where(behind, died, zeros_like(died)), none], axis=1)
    leftwards = xp.flip(running_max(xp.flip(leftwards, axis=1)), axis=1)
    joins = xp.maximum(rightwards, leftwards)
    order = xp.argsort(joins, axis=1, stable=True)
    starts = xp.take_along_axis(joins, order, axis=1)
    mass = running_sum(xp.take_along_axis(draft, order, axis=1))
    if not is_exact(mass):
        mass = xp.maximum(mass, xp.full_like(mass, LEAST))
    stops = xp.concat([starts[:, 1:], ones_like(none)], axis=1)
    gains = divide(stops - starts, mass, stops - stops)
    return put_back(order, sums_above(gains)[:, :-1])


def _times(pools: Array, now: Array) -> Array:
    """Return the u in [now, 1) at which the kinks of C − u·g between neighbouring pools are 0, or 2 if no u does it.

    Pools [R, n, 3], now [R, 1]; [R, n − 1].
    """
    xp = array_namespace(now)
    mass = pools[:, :, 0]
    means = divide(pools[:, :, 1:], mass[:, :, None], zeros_like(pools[:, :, 1:]))
    steps = means[:, 1:] - means[:, :-1]
    kink, bend = steps[:, :, 0], steps[:, :, 1]
    time = xp.maximum(divide(kink, bend, kink), now)
    at_once = (kink <= 0) | (mass[:, 1:] == 0) | (mass[:, :-1] == 0)
    return xp.where(at_once, now, xp.where(kink < bend, time, ones_like(time) + ones_like(time)))


def _entries(rows: Array, at: Array) -> Array:
    """Return the entries [R, n, c] of rows [R, m, c] at the places [R, n]."""
    xp = array_namespace(rows)
    return xp.take_along_axis(rows, xp.broadcast_to(at[:, :, None], (*at.shape, rows.shape[-1])), axis=1)


def _put(rows: Array, at: Array, values: Array) -> None:
    """Write values [R, n] or [R, n, c] into rows [R, m] or [R, m, c] at the places [R, n]."""
    at = at if rows.ndim == 2 else array_namespace(rows).broadcast_to(at[:, :, None], values.shape)
    if isinstance(rows, np.ndarray):
        np.put_along_axis(rows, at, values, 1)
    else:
        rows.scatter_(1, at, values)


def _device(like: Array) -> dict[str, Any]:
    return {} if isinstance(like, np.ndarray) else {"device": like.device}
