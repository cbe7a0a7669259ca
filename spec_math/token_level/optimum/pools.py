"""Nested pools: a convex selection law as a finite mixture of pool rules, one for each kink of it that vanishes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numba.extending import register_jitable

from spec_math.arrays import Array, is_exact
from spec_math.kernels import kernel
from spec_math.token_level.optimum.prefix_law import PrefixLaw
from spec_math.token_level.optimum.ratio_order import RatioOrder, unit_of

GRID = 2.0**53
"""Floats put times of death on multiples of 2^-53: differences and sums of such numbers in [0, 1] are exact."""


@dataclass(frozen=True, eq=False)
class KnotMixture:
    """Pools of n tokens in ratio order, for each of J components, and the law that the pool rule selects by them.

    Knots 0..n lie before, between and after the tokens; the pools of a component are the stretches between its living
    knots. `weights` [J] are the components' masses; knot i lives in the components before `dies[i]`, knots 0 and n
    always. `selection` [n] is the law of the token that the pool rule selects, whatever pools these are:
    c'_i = d_i Σ_j w_j (g_b − g_a)/(P_b − P_a), with (a, b] the pool of token i in component j.
    """

    weights: Array
    dies: np.ndarray[Any, Any]
    selection: Array

    @property
    def one(self) -> Any:
        """The number 1 of the mixture's number type."""
        return Fraction(1) if is_exact(self.selection) else self.selection.dtype.type(1)

    def pool(self, component: int, place: int) -> tuple[int, int]:
        """Return the pool [low, high) of the token at `place` in 0..n−1, in a component.

        Raises:
            IndexError: there is no such component or place.
        """
        if not (0 <= component < len(self.weights) and 0 <= place < len(self.dies) - 1):
            raise IndexError(
                f"a pool is that of a component 0..{len(self.weights) - 1} and a place 0..{len(self.dies) - 2}; "
                f"got {component} and {place}"
            )
        return _pool(self.dies, component, place)


@kernel
def _pool(dies: Any, component: int, place: int) -> tuple[int, int]:
    """Return the nearest knots on either side of a token that live in a component; 256 dead ones are passed at once."""
    low, high = place, place + 1
    while low >= 256 and dies[low - 255 : low + 1].max() <= component:
        low -= 256
    while dies[low] <= component:
        low -= 1
    while high + 256 <= len(dies) and dies[high : high + 256].max() <= component:
        high += 256
    while dies[high] <= component:
        high += 1
    return low, high


def knot_mixture(draft: Array, ratios: Array, gains: Array) -> KnotMixture:
    """Decompose the selection law d·ratios into nested pools of a convex g that gains `gains` over the draft masses.

    The problem: weights w_j and knot sets K_j with Σ_j w_j e_{K_j} = C, where C has the slopes `ratios` over the draft
    masses, e_K interpolates g at the knots K, and C ≥ g with equality at both ends. All arrays are [n] in ratio order;
    `ratios` ascending, in the unit of `selection.selection_ratios`. Knot i leaves the lower convex hull of C − u·g at
    the u where its two neighbouring pools have (difference of mean ratios) = u·(difference of mean slopes of g).
    O(n log n). Exact on Fractions. On floats the pools are those that rounding makes of the formula, and `.selection`
    is their true law, to a relative 8·2^-53 and the error of `gains`.
    """
    exactly, one = is_exact(draft), draft[0] / draft[0]
    return KnotMixture(*(pools_of if exactly else _fast_pools_of)(draft, ratios, gains, unit_of(draft), one))


@register_jitable
def pools_of(draft: Any, ratios: Any, gains: Any, unit: Any, one: Any) -> Any:
    """Return the fields of `knot_mixture`: on Fractions as it stands, on floats compiled."""
    order, into, when = _deaths(draft / unit, ratios, gains / (draft / unit), one, GRID if unit < 1 else 0.0)
    slopes = _settled(draft, gains * unit, order, into, when, one)
    weights, dies = _components(order, when, len(draft), one)
    return weights, dies, slopes * (draft / unit)


@register_jitable
def _components(order: Array, when: Array, n: int, one: Any) -> tuple[Array, Array]:
    """Number the stretches between distinct times of death, 0 and 1 included: their lengths, and each knot's last.

    A death at time zero comes before component 0, one at the time that starts component j before component j.
    """
    times = np.concatenate((np.array([one - one]), when))
    later = times[1:] > times[:-1]
    ends = np.concatenate((times[:1], when[later], np.array([one])))
    weights = ends[1:] - ends[:-1] if one > ends[-2] else ends[1:-1] - ends[:-2]
    dies = np.full(n + 1, len(weights))
    dies[order] = np.cumsum(later)
    return weights, dies


@register_jitable
def _deaths(mass: Any, ratios: Any, slopes: Any, one: Any, grid: float) -> Any:
    """Kill the knots in the order of their times: arrays (knot, right end of the pool it merges into, time).

    Runs on Fractions as it stands and on floats compiled. A pool is stored at its right end b, row b − 1, as its mass,
    its mean ratio and its mean slope. Means too small for floats do no harm: a pool with a wrong mean splits the kink
    and the bend between its neighbours wrongly, but one of its two knots dies no later than their own knot would, and
    the other takes over the right sums.
    """
    n, zero = len(mass), one - one
    pools, ends = np.empty((n, 3), mass.dtype), np.empty((n + 1, 2), np.int64)
    pools[:, 0], pools[:, 1], pools[:, 2] = mass, ratios, slopes
    ends[:, 0], ends[:, 1] = np.arange(-1, n), np.arange(1, n + 2)
    order, into, when = np.empty(n, np.int64), np.empty(n, np.int64), mass.copy()
    heap, times, place = np.empty(n, np.int64), mass.copy(), np.full(n + 1, -1)
    dead = 0
    # No kink of C at a knot: it dies at 0. One sweep finds most of them, on clipped stretches all.
    for knot in range(1, n):
        end = ends[knot, 1]
        if pools[end - 1, 1] <= pools[knot - 1, 1]:
            order[dead], into[dead], when[dead] = knot, end, zero
            dead += 1
            _merge(knot, ends, pools)
    size = 0
    knot = ends[0, 1]
    while knot < n:
        time = _death(pools, knot, ends[knot, 1], zero, one, grid)
        if time < one:
            heap[size], times[size], place[knot] = knot, time, size
            size += 1
        knot = ends[knot, 1]
    for at in range(size // 2 - 1, -1, -1):
        _sink(heap[at], times[at], at, size, (heap, times, place))
    while size > 0:
        knot, now = heap[0], times[0]
        before, end = ends[knot, 0], ends[knot, 1]
        size -= 1
        if size > 0:
            _sink(heap[size], times[size], 0, size, (heap, times, place))
        order[dead], into[dead], when[dead] = knot, end, now
        dead += 1
        _merge(knot, ends, pools)
        for neighbour in (before, end):
            if 0 < neighbour < n:
                time = _death(pools, neighbour, ends[neighbour, 1], now, one, grid)
                at = place[neighbour]
                if at < 0:
                    if time < one:
                        _rise(neighbour, time, size, (heap, times, place))
                        size += 1
                elif time < times[at]:
                    _rise(neighbour, time, at, (heap, times, place))
                else:
                    _sink(neighbour, time, at, size, (heap, times, place))
    return order[:dead], into[:dead], when[:dead]


@register_jitable
def _merge(knot: Any, ends: Any, pools: Any) -> None:
    """Join the pool that ends at the knot to the next one."""
    before, end = ends[knot, 0], ends[knot, 1]
    ends[end, 0], ends[before, 1] = before, end
    total = pools[knot - 1, 0] + pools[end - 1, 0]
    for mean in (1, 2):
        weighted = pools[knot - 1, 0] * pools[knot - 1, mean] + pools[end - 1, 0] * pools[end - 1, mean]
        pools[end - 1, mean] = weighted / total
    pools[end - 1, 0] = total


@register_jitable
def _death(pools: Any, knot: Any, end: Any, now: Any, one: Any, grid: float) -> Any:
    """Return the u in [now, 1] where the kink of C − u·g at a knot is 0; the next pool ends at `end`."""
    kink = pools[end - 1, 1] - pools[knot - 1, 1]
    bend = pools[end - 1, 2] - pools[knot - 1, 2]
    if kink <= 0:  # only a rounding error makes it negative
        return now
    if kink >= bend:
        return one
    time = kink / bend
    if grid > 0:
        time = np.rint(time * grid) / grid
    return time if time > now else now


@register_jitable
def _rise(knot: Any, time: Any, at: Any, queue: Any) -> None:
    """Put a knot into the heap at `at` or above, earlier times on top."""
    heap, times, place = queue
    while at > 0 and time < times[(at - 1) // 2]:
        heap[at], times[at] = heap[(at - 1) // 2], times[(at - 1) // 2]
        place[heap[at]] = at
        at = (at - 1) // 2
    heap[at], times[at], place[knot] = knot, time, at


@register_jitable
def _sink(knot: Any, time: Any, at: Any, size: Any, queue: Any) -> None:
    """Put a knot into the heap at `at` or below."""
    heap, times, place = queue
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and times[child + 1] < times[child]:
            child += 1
        if times[child] >= time:
            break
        heap[at], times[at] = heap[child], times[child]
        place[heap[at]] = at
        at = child
    heap[at], times[at], place[knot] = knot, time, at


@register_jitable
def _settled(mass: Any, gains: Any, order: Any, into: Any, when: Any, one: Any) -> Any:
    """Return Σ_j w_j (mean slope of its pool) for each token, by one pass up and one down the tree of merges.

    Node i < n is the pool of token i alone, born at 0; node n + e the pool that death e makes. A pool's slope is
    Σ gains / Σ mass. Sums of two-float numbers with errors of a few 2^-106 times the number of terms, all positive:
    a quotient is within 3 roundings of the true one, its product with an exact lifetime 4, the final sum rounded 5.
    """
    n, dead = len(mass), len(order)
    wide, wide_rest = np.concatenate((mass, when)), np.concatenate((mass, when))
    rise, rise_rest = np.concatenate((gains, when)), np.concatenate((gains, when))
    wide_rest[:n] = mass - mass
    rise_rest[:n] = mass - mass
    parent, top = np.full(n + dead, -1), np.arange(-1, n)
    for event in range(dead):
        node, lower, upper = n + event, top[order[event]], top[into[event]]
        wide[node], wide_rest[node] = _sum(wide[lower], wide_rest[lower], wide[upper], wide_rest[upper])
        rise[node], rise_rest[node] = _sum(rise[lower], rise_rest[lower], rise[upper], rise_rest[upper])
        parent[lower] = parent[upper] = top[into[event]] = node
    # From here on `rise` becomes the running total of lifetime · slope from the root down.
    for node in range(n + dead - 1, -1, -1):
        slope = rise[node] / wide[node]
        end = when[parent[node] - n] if parent[node] >= 0 else one
        life = end - when[node - n] if node >= n else end
        if parent[node] >= 0:
            above = parent[node]
            rise[node], rise_rest[node] = _sum(rise[above], rise_rest[above], life * slope, mass[0] - mass[0])
        else:
            rise[node], rise_rest[node] = life * slope, mass[0] - mass[0]
    return rise[:n]


@register_jitable
def _sum(x: Any, x_rest: Any, y: Any, y_rest: Any) -> Any:
    """Add two numbers held as (float, rest below its last place); on Fractions the rest is 0."""
    total = x + y
    shift = total - x
    rest = (x - (total - shift)) + (y - shift) + (x_rest + y_rest)
    result = total + rest
    return result, rest - (result - total)


_fast_pools_of = kernel(pools_of)


def nested(pools: KnotMixture, place: int) -> tuple[Array, Array, Array]:
    """Return the pools of the token at `place`, innermost first: weights [r], first knots [r] and last knots [r]."""
    return nested_of(pools.weights, pools.dies, place)


@register_jitable
def nested_of(weights: Any, dies: Any, place: int) -> Any:
    """Return `nested` of the components' masses, and the component before which each knot dies."""
    stops, low, high = _pools_around(dies, place, len(weights))
    # Components end where the weights up to them do: each pool lasts from one such end to another.
    ends = np.cumsum(weights)[stops - 1]
    ends[1:] = ends[1:] - ends[:-1]
    return ends, low, high


@kernel
def _pools_around(dies: Any, place: int, components: int) -> Any:
    """Return the pools of the token at `place`, innermost first: before which component each ends, and its two knots.

    Going away from the token, only a knot that outlives all before it ever ends a pool of it.
    """
    found = np.empty((3, len(dies)), np.int64)
    low, high, age, number = place, place + 1, 0, 0
    while age < components:
        until = min(dies[low], dies[high])
        if until > age:
            found[0, number], found[1, number], found[2, number] = until, low, high
            number, age = number + 1, until
        while age < components and dies[low] <= age:
            low -= 1
        while age < components and dies[high] <= age:
            high += 1
    return found[0, :number], found[1, :number], found[2, :number]


def selection_ratios(order: RatioOrder, inside: Array) -> Array:
    """Return c/d for the tokens of a ratio order, [n] ascending; on floats in units of 2^100.

    The law: c = d·clip(t/d, μ, λ), with μ such that the tokens below it gain D in all, and λ such that those above it
    lose, with the target mass where d = 0, D in all. Then Σ c = 1 and Σ (t − c)+ = D, over all tokens. The cumulative
    law of c is the greatest convex function through (0, 0) and (1, 1) below all points (P_i, T_i + D), and never
    below g. Where D = 0 it is t itself, and d for k = 1 and D > 0.
    """
    masses, below = (order.target, order.draft), (order.target_below, order.draft_below)
    return clipped(masses, below, (order.target_above, order.draft_above), inside, unit_of(order.draft))


@register_jitable
def clipped(masses: Any, below: Any, above: Any, inside: Any, unit: Any) -> Any:
    """Return the ratios of `selection_ratios` from the masses of tokens and of prefixes, (target, draft) each."""
    ratios = masses[0] / (masses[1] / unit)
    lost = (inside - below[0]).max()
    # Token i is raised if lifting all tokens before it to its own ratio, r_i P_i − T_i, gains less than D, and lowered
    # if bringing all after it down to its ratio, 1 − T_{i+1} − r_i (1 − P_{i+1}), loses less. Both are monotone in i.
    raised = np.count_nonzero(ratios * below[1][:-1] < (below[0][:-1] + lost) * unit)
    kept = np.count_nonzero(ratios * above[1][1:] <= (above[0][1:] - lost) * unit)
    if raised > 0:
        least = (below[0][raised] + lost) * unit / below[1][raised]
        # Where a rounding error would put a bound beyond the last ratio that it moves, that ratio is the bound.
        ratios = np.maximum(ratios, max(least, ratios[raised - 1]))
    if kept < len(ratios):
        most = (above[0][kept] - lost) * unit / above[1][kept]
        ratios = np.minimum(ratios, max(most, ratios[kept - 1]) if kept > 0 else most)
    return ratios


def gains(order: RatioOrder, law: PrefixLaw) -> Array:
    """Return g_{i+1} − g_i, [n], from the slopes; on floats a difference only where the slope overflows.

    That takes a draft mass below 2^-1020 that gains more than 2^-51, next to which a rounding of g is small.
    """
    if is_exact(law.slopes) or (finite := np.isfinite(law.slopes)).all():
        return law.slopes * order.draft
    return np.where(finite, np.where(finite, law.slopes, 0.0) * order.draft, np.diff(law.inside))
