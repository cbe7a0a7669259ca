"""The tokens of a position by their ratio t/d, as cells: each token a cell of its own, or rounded to a fixed grid."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from spec_math.array_coin import taken, wide
from spec_math.arrays import Array, array_namespace, divide, is_exact, ones_like, positive_part, zeros_like
from spec_math.block_level.batch.array_tree import places, running_max, sums_above, sums_at, sums_below
from spec_math.block_level.batch.decide_walk import put_back
from spec_math.token_level.batch.drafts import stable_order, written
from spec_math.token_level.batch.plan import ratios

BITS = 4
"""The grid has 2^4 points from 0 to 1, and as many from each 2^i − 1 to the next."""
OCTAVES = 5
"""It ends at 2^5 − 1."""


class Cells(NamedTuple):
    """Tokens grouped by t/d: M cells by ratio ascending; a token lies in one, or in two neighbours with shares.

    `key` [R, M] are the ratios, `target` and `draft` [R, M] the masses, of laws that sum to 1; `never` [R] is the
    target mass in no cell, which no draft can bring; `scale` [R] is what t/d of the rows as given is multiplied by. A
    token x lies in `cell` [R, V] with 1 − share, and in the next one with `share` [R, V]; which cell it is where d = 0
    does not matter.
    """

    key: Array
    target: Array
    draft: Array
    never: Array
    scale: Array
    cell: Array
    share: Array

    def mean(self, values: Array) -> Array:
        """Return for each token [R, V] the mean of values [R, M] over its cells."""
        xp = array_namespace(values)
        last = xp.full_like(self.cell, self.key.shape[1] - 1)
        cells = self.cell, xp.minimum(self.cell + 1, last)
        own, following = (xp.take_along_axis(values, cell, axis=1) for cell in cells)
        return own + (following - own) * self.share


CellsOf = Callable[[Array, Array], Cells]
"""(target [R, V], draft [R, V]), in proportion to their sums -> the cells."""


def by_ratio(target: Array, draft: Array) -> Cells:
    """Give each token a cell of its own, sorted by t/d, lower index first among equals; those with d = 0 go last."""
    xp = array_namespace(target)
    whole, drawn = total(target), total(draft)
    order = stable_order(ratios(target, draft))
    t, d = (xp.take_along_axis(wide(rows), order, axis=1) for rows in (target, draft))
    t, d = t / whole[:, None], d / drawn[:, None]
    among = d > 0
    never = xp.where(among, zeros_like(t), t).sum(1)
    t = xp.where(among, t, zeros_like(t))
    key = divide(t, d, zeros_like(t))
    # Tokens that cannot be drafted are cells of no mass at the upper end.
    key = xp.where(among, key, key.max(1, keepdims=True) if isinstance(key, np.ndarray) else key.amax(1, True))
    own = put_back(order, xp.broadcast_to(places(order, order.shape[1]), order.shape))
    return Cells(key, t, d, never, drawn / whole, own, zeros_like(t))


def rounded(target: Array, draft: Array) -> Cells:
    """Round each token's t/d at random to one of the two points of a fixed grid around it, so that its mean stays.

    The law: a token x lies at e_j with 1 − share, at e_{j+1} with share, where t/d = (1 − share) e_j + share e_{j+1}.
    The cells have exactly the ratios of the grid, their masses are Σ_x d(x) P(j | x) and e_j times that: no token is
    sorted. Target mass above the last point is never brought. Whatever the shares are in floats, what is made of the
    cells is lossless: masses and shares agree.
    """
    xp = array_namespace(target)
    points = _points(draft)
    whole = total(target)
    scale = total(draft) / whole
    factor = _like(scale, draft)[:, None]
    cell, share = _position(_ratio(target, draft, factor, points[-1]), points)
    masses, upper = wide(draft), wide(draft * share)
    size, none = len(points) - 1, zeros_like(whole)[:, None]
    mass = xp.concat([sums_at(masses - upper, cell, size), none], axis=1)
    mass = mass + xp.concat([none, sums_at(upper, cell, size)], axis=1)
    mass = mass / mass.sum(1)[:, None]
    key = zeros_like(mass) + wide(points)
    never = total(positive_part(target - draft * (points[-1] / factor))) / whole
    return Cells(key, mass * key, mass, never, scale, cell, share)


def grid() -> tuple[Fraction, ...]:
    """Return the points of the grid: 2^i (1 + j/16) − 1, sixteen for each i = 0..4, and the last one, 31."""
    each = 1 << BITS
    return tuple(Fraction(2) ** (i // each) * (1 + Fraction(i % each, each)) - 1 for i in range(OCTAVES * each + 1))


def total(masses: Array) -> Array:
    """Return the sums [R] of masses [R, V], in float64 where they float."""
    return wide(masses.sum(1))


def _points(like: Array) -> Any:
    if isinstance(like, np.ndarray):
        points = np.array(grid(), dtype=object)
        return points if is_exact(like) else points.astype(like.dtype)
    each = 1 << BITS
    place = places(like, OCTAVES * each + 1)
    return 2.0 ** (place // each).to(like.dtype) * (1 + (place % each).to(like.dtype) / each) - 1


def _ratio(target: Array, draft: Array, factor: Array, top: Any) -> Array:
    """Return t/d [R, V] times a factor [R, 1]; where that is above `top`, or only d is 0, no less than it.

    In floats no smaller a d is divided by than the smallest normal number.
    """
    if is_exact(draft):
        return divide(target * factor, draft, zeros_like(target) + top)
    if not isinstance(draft, np.ndarray):
        return (target / draft.clamp(min=array_namespace(draft).finfo(draft.dtype).tiny)).mul_(factor)
    with np.errstate(over="ignore"):
        return target / np.maximum(draft, np.finfo(draft.dtype).tiny) * factor


def _position(ratio: Array, points: Array) -> tuple[Array, Array]:
    """Return for ratios [R, V] the point below, the last one but one at most, and how far they lie to the next, 0 to 1.

    In floats both stand in the bits of 1 + t/d: its octave and the first `BITS` of its fraction are the point. A ratio
    beyond the last point is taken to be next below it.
    """
    xp = array_namespace(ratio)
    if is_exact(ratio):
        ratio = xp.minimum(ratio, zeros_like(ratio) + points[-1])
        cell = np.searchsorted(points[1:-1], ratio, side="right")
        return cell, (ratio - points[cell]) / (points[cell + 1] - points[cell])
    single = ratio.dtype == xp.float32
    fraction, bias, kind = (23, 127, xp.int32) if single else (52, 1023, xp.int64)
    below = 2.0**OCTAVES * (1 - 2.0 ** (-1 - fraction))
    bits, shift = xp.clip(ratio + 1, 1, below).view(kind), fraction - BITS
    # The bits of what is no number lie beyond the last octave: one request's row must not stop a batch.
    cell = _at_most(xp.astype(bits >> shift, xp.int64) - (bias << BITS), len(points) - 2)
    return cell, xp.astype(bits & ((1 << shift) - 1), ratio.dtype) * 2.0**-shift


def _at_most(cell: Array, last: int) -> Array:
    return np.clip(cell, 0, last, out=cell) if isinstance(cell, np.ndarray) else cell.clamp_(0, last)


def _like(values: Array, rows: Array) -> Array:
    return values if is_exact(rows) else array_namespace(rows).astype(values, rows.dtype, copy=False)


LEAST = 2.0**-900
"""A mass of floats that is divided by is taken to be no smaller."""


def selection_heights(cells: Cells, weight: Array, inside: Array) -> Array:
    """Return c/d of each cell [R, M] for the targets weight·t, as `selection.selection_ratios` does.

    `weight` [R] in [0, 1], `inside` [R, M + 1] what the law of prefixes has at each of them, from 0 to 1.
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
    """Return the masses [R, M + 1] of the first i cells, i = 0..M, over that of all."""
    sums = sums_below(masses)
    return sums / sums[:, -1:]


def deaths(draft: Array, heights: Array, slopes: Array) -> Array:
    """Return the times u in [0, 1] at which knots leave the lower convex hull of C − u·g, [R, M − 1], 1 for never.

    `draft` [R, M] are the masses of cells, `heights` the slopes of C and `slopes` those of g over them, both ascending.
    Knot i lies behind cell i. The next knot to die is killed in all rows at once, M − 1 times; the two pools beside it
    are joined. Next to a pool of no mass a knot dies at once: the one on its other side stands at the same place.
    """
    xp = array_namespace(draft)
    rows, size = draft.shape
    one = ones_like(draft[:, :1])
    # Pools [R, M + 2, 3], one that ends at each knot: mass, and what C and g gain; none at knot 0, nor beyond the last,
    # where the writes of rows go in which no knot dies any more.
    pools = xp.stack([draft, draft * heights, draft * slopes], axis=-1)
    none = zeros_like(pools[:, :1])
    pools = xp.concat([none, pools, none], axis=-2)
    knots = xp.broadcast_to(places(draft, size + 2), (rows, size + 2))
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
    """
    xp = array_namespace(draft)
    behind = places(draft, died.shape[1]) < cell[:, None]
    none = zeros_like(draft[:, :1])
    rightwards = running_max(xp.concat([none, xp.where(behind, zeros_like(died), died)], axis=1))
    leftwards = xp.concat([xp.where(behind, died, zeros_like(died)), none], axis=1)
    leftwards = xp.flip(running_max(xp.flip(leftwards, axis=1)), axis=1)
    joins = xp.maximum(rightwards, leftwards)
    order = xp.argsort(joins, axis=1, stable=True)
    starts = xp.take_along_axis(joins, order, axis=1)
    mass = xp.take_along_axis(draft, order, axis=1).cumsum(1)
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
    _ = written(rows, at, values, own=True)
