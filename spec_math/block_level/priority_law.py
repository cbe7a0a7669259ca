"""The law of a priority in [0, 1]: uniform pieces side by side, refined token by token down a drafted chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from spec_math.arrays import Array, is_exact, ones_like, zeros_like
from spec_math.block_level.batch.array_tree import sums_below
from spec_math.block_level.batch.decide_priorities import highest
from spec_math.kernels import kernel
from spec_math.token_level.optimum.pools import clipped, knot_mixture, nested, nested_of, pools_of, selection_ratios
from spec_math.token_level.optimum.prefix_law import mixed_powers
from spec_math.token_level.optimum.ratio_order import UNIT, RatioOrder


@dataclass(frozen=True)
class PriorityLaw:
    """A law on [0, 1] made of uniform pieces: masses [m] > 0 on the intervals from low [m] to high [m], ascending.

    The intervals do not overlap; there may be gaps between them. Fractions or float64.
    """

    masses: Array
    low: Array
    high: Array

    def mean_power(self, k: int) -> Any:
        """Return E[k U^(k−1)]: how much likelier than its draft a chain of this priority is to be the highest of k."""
        return (self.masses * mixed_powers(self.low, self.high, k)).sum()

    def slopes(self, ends: Array, k: int) -> Array:
        """Return the mean of k U^(k−1) over each of n consecutive stretches of quantiles, which end at `ends` [n].

        With Φ(p) = ∫_0^p k U(q)^(k−1) dq, U(q) the quantile of q, these are its chords
        (Φ(P_i) − Φ(P_{i−1})) / (P_i − P_{i−1}), as means of positive terms: no difference of Φ is taken.
        """
        found = zeros_like(ends)
        walk = means if is_exact(ends) else fast_means
        walk((self.masses, self.low, self.high), self.above, ends, k, found)
        return found

    def given(self, weights: Array, starts: Array, stops: Array) -> PriorityLaw:
        """Return the mixture, with these weights [r], of this law given that its quantile lies in (start, stop].

        The stretches of quantiles are nested, the innermost first: the pools of one token.
        """
        made = np.empty((3, len(self.masses) + 2 * len(weights)), weights.dtype)
        walk = mixture if is_exact(weights) else fast_mixture
        pieces, stretches = (self.masses, self.low, self.high), (weights, starts, stops)
        number = walk(pieces, self.above, stretches, _least_width(weights), made)
        return _of_pieces(made, number)

    @cached_property
    def above(self) -> Array:
        """The quantiles [m] at which the pieces end, the last of them 1."""
        above = np.cumsum(self.masses)
        return above / above[-1]


def uniform(like: Array) -> PriorityLaw:
    """Return the uniform law on [0, 1], in the number type of an array."""
    one = ones_like(like[:1])
    return PriorityLaw(one, one - one, one)


def winner(laws: Sequence[PriorityLaw]) -> Array:
    """Return, for independent priorities U_1..U_k of these laws, the probability [k] that each is the highest.

    The law: P(U_j highest) = ∫ Π_{i≠j} F_i(u) dF_j(u). Between neighbouring ends of pieces every F_i is linear, so that
    the integrand is a polynomial with positive coefficients: exact on Fractions, free of cancellation in floats.
    """
    edges = np.unique(np.concatenate([ends for law in laws for ends in (law.low, law.high)]))
    shares = [_masses_between(law, edges)[None] for law in laws]
    return highest([sums_below(share)[:, :-1] for share in shares], shares)[0]


def mixed(parts: Sequence[tuple[Any, PriorityLaw]]) -> PriorityLaw:
    """Return the mixture of laws, each with its weight."""
    edges = np.unique(np.concatenate([ends for _, law in parts for ends in (law.low, law.high)]))
    masses = np.stack([weight * _masses_between(law, edges) for weight, law in parts]).sum(0)
    there = masses > 0
    return _joined(masses[there], edges[:-1][there], edges[1:][there])


def _masses_between(law: PriorityLaw, edges: Array) -> Array:
    lower, upper = edges[:-1], edges[1:]
    piece = np.maximum(np.searchsorted(law.low, lower, side="right") - 1, 0)
    inside = (law.low[piece] <= lower) & (upper <= law.high[piece])
    shares = law.masses[piece] * ((upper - lower) / (law.high - law.low)[piece])
    return np.where(inside, shares, zeros_like(shares))


def _joined(masses: Array, low: Array, high: Array) -> PriorityLaw:
    """Join the pieces that floats cannot tell from a point to the one below them, if there is one."""
    wide = high - low > _least_width(low)
    if wide.all():
        return PriorityLaw(masses, low, high)
    if not wide.any():
        return PriorityLaw(masses.sum(keepdims=True), *_near(high[-1:]))
    joined = zeros_like(masses[wide])
    np.add.at(joined, np.maximum(np.cumsum(wide) - 1, 0), masses)
    return PriorityLaw(joined, low[wide], high[wide])


LEAST_WIDTH = 2.0**-960
"""What an interval of floats must exceed, so that neither 1/width nor a density overflows."""


def _least_width(like: Array) -> Any:
    return 0 if is_exact(like) else LEAST_WIDTH


def _of_pieces(made: Array, number: int) -> PriorityLaw:
    """Return the law of what `mixture` wrote: so many pieces, or a point."""
    if number == 0:
        return PriorityLaw(made[0, :1], *_near(made[2, :1]))
    masses, low, high = made[:, :number]
    return PriorityLaw(masses, low, high)


def _near(place: Array) -> tuple[Array, Array]:
    """Return an interval of floats that ends at a place, no wider than needed: what has no width of its own."""
    high = np.maximum(place, 2.0**-900)
    return high * (1 - 2.0**-50), high


def means(pieces: Any, above: Any, ends: Any, k: int, found: Any) -> None:
    """Write the means of k U^(k−1) over the stretches of quantiles that end at `ends` [n] into `found` [n].

    A float mass may be too small to move the running sum: its stretch is a point, and has the mean of the last one
    below it that is none, or at the bottom of the first above. Pieces: masses, low and high [m]; they end at `above`.
    """
    masses, lows, highs = pieces
    last, one = len(ends) - 1, above[-1]
    zero = one - one
    piece, start, at, filled = 0, zero, zero, 0
    for stretch in range(last + 1):
        end = min(ends[stretch], one) if stretch < last else one
        total, width = zero, zero
        while at < end:
            upper = min(end, above[piece])
            if upper > at:
                pace = (highs[piece] - lows[piece]) / masses[piece]
                low = lows[piece] + (at - start) * pace
                # Rounding must not carry a priority past the end of its piece.
                high = min(lows[piece] + (upper - start) * pace, highs[piece])
                slope, power = one, one
                for _ in range(k - 1):
                    power = power * low
                    slope = slope * high + power
                total, width = total + (upper - at) * slope, width + (upper - at)
                at = upper
            if at == above[piece] and at < one:
                piece, start = piece + 1, at
        if width > 0:
            found[stretch] = total / width
            if filled == 0:
                found[:stretch] = found[stretch]
            filled = stretch + 1
        elif filled > 0:
            found[stretch] = found[stretch - 1]


def mixture(pieces: Any, above: Any, stretches: Any, least: Any, made: Any) -> int:
    """Write the mixture of a law given that its quantile lies in one of nested stretches; return how many pieces it is.

    Stretches: weights, starts and stops [r], the innermost first. The density over quantiles falls from the innermost
    outwards: sums of positive terms. What is no wider than `least` counts as a point: a stretch leaves its weight to
    the next one around it, or to the last that is wider, a piece its mass to the one below it, or to the first. Where
    all are points, 0 is returned, and the mass and its place stand in the first column. `made` is [3, m + 2r].
    """
    masses, lows, highs = pieces
    edges, density, wide = _densities(stretches, least)
    one = above[-1]
    zero = one - one
    piece, begin, number, waiting = 0, zero, 0, zero
    for cell in range(2 * wide - 1):
        at, end = max(edges[cell], zero), min(edges[cell + 1], one)
        while at < end:
            while above[piece] <= at:
                begin, piece = above[piece], piece + 1
            upper = min(end, above[piece])
            pace = (highs[piece] - lows[piece]) / masses[piece]
            low = lows[piece] + (at - begin) * pace
            # Rounding must not carry a priority past the end of its piece.
            high = min(lows[piece] + (upper - begin) * pace, highs[piece])
            mass, at = (upper - at) * density[cell], upper
            if high - low > least:
                made[0, number], made[1, number], made[2, number] = waiting + mass, low, high
                number, waiting = number + 1, zero
            elif number > 0:
                made[0, number - 1] += mass
            else:
                waiting = waiting + mass
                made[0, 0], made[2, 0] = waiting, high
    return number


@register_jitable
def _densities(stretches: Any, least: Any) -> Any:
    """Return the edges [2w] of the w stretches that are wide, ascending, and the density between them [2w − 1], and w.

    Where none is, floats get one that ends where the outermost does, no wider than needed.
    """
    weights, starts, stops = stretches
    edges, density, wide = np.empty(2 * len(weights), weights.dtype), np.empty(2 * len(weights), weights.dtype), 0
    held = weights[0] - weights[0]
    # From the middle outwards: first the stretches' own densities, then the sums of those around.
    middle = len(weights)
    for stretch in range(len(weights)):
        held = held + weights[stretch]
        width = stops[stretch] - starts[stretch]
        if width > least:
            edges[middle - 1 - wide], edges[middle + wide] = starts[stretch], stops[stretch]
            density[wide] = held / width
            held, wide = held - held, wide + 1
    if wide == 0:
        stop = max(stops[-1], 2.0**-900)
        edges[0], edges[1] = stop * (1 - 2.0**-50), stop
        density[0] = held / (edges[1] - edges[0])
        return edges, density, 1
    density[wide - 1] = density[wide - 1] + held / (edges[middle + wide - 1] - edges[middle - wide])
    for stretch in range(wide - 2, -1, -1):
        density[stretch] = density[stretch] + density[stretch + 1]
    level = density[:wide].copy()
    for stretch in range(wide):
        density[wide - 1 - stretch] = density[wide - 1 + stretch] = level[stretch]
    return edges[middle - wide : middle + wide], density, wide


fast_means = kernel(means)
fast_mixture = kernel(mixture)


def node_selection(order: RatioOrder, weight: Any, priority: PriorityLaw, k: int) -> tuple[Array, Array]:
    """Return c/d [n], in the unit of `selection_ratios`, and what Φ/Z gains [n], for the tokens of an order.

    The law: Φ(p) = ∫_0^p k F^{-1}(q)^(k−1) dq for a priority of the law F, Z = Φ(1), and the target is weight·t, what
    is left of 1 being that of a token never drafted.
    """
    gains = priority.slopes(order.draft_below[1:], k) * order.draft
    gains = gains / gains.sum()
    inside = np.concatenate([zeros_like(gains[:1]), np.cumsum(gains)])
    return selection_ratios(weighted(order, weight), inside), gains


def weighted(order: RatioOrder, weight: Any) -> RatioOrder:
    """Return the order with the target weight·t; what is left of 1 belongs to a token that is never drafted."""
    target, below = weight * order.target, weight * order.target_below
    return replace(order, target=target, target_below=below, target_above=weight * order.target_above + (1 - weight))


class Step(NamedTuple):
    """One token of a path below a node: what the selection gives its class, and the priority that follows.

    `mass` is the selection's of the class. Its pools have `weights` [r] and lie between the quantiles `starts` and
    `stops` [r] of the draft.
    """

    mass: Any
    weights: Array
    starts: Array
    stops: Array
    below: PriorityLaw


def step(order: RatioOrder, weight: Any, priority: PriorityLaw, k: int, place: int) -> Step:
    """Return the step of a path to the class at a place of the order, from a node of this weight and priority.

    Of a uniform priority and weight 1 the pools are those of the optimal plan of k drafts. On floats it is one compiled
    function.
    """
    if is_exact(order.draft):
        pools = knot_mixture(order.draft, *node_selection(order, weight, priority, k))
        weights, low, high = nested(pools, place)
        starts, stops = order.draft_below[low], order.draft_below[high]
        return Step(pools.selection[place], weights, starts, stops, priority.given(weights, starts, stops))
    below, above = (order.target_below, order.draft_below), (order.target_above, order.draft_above)
    pieces = priority.masses, priority.low, priority.high
    made: Any = _fast_step((order.target, order.draft), below, above, weight, pieces, k, place)
    mass, weights, starts, stops, *pieces = made
    return Step(mass, weights, starts, stops, _of_pieces(pieces[0], pieces[1]))


@kernel
def _fast_step(  # noqa: PLR0913
    masses: Any, below: Any, above: Any, weight: Any, pieces: Any, k: int, place: int
) -> Any:
    target, draft = masses
    quantiles = np.cumsum(pieces[0])
    quantiles = quantiles / quantiles[-1]
    gains = draft - draft
    fast_means(pieces, quantiles, below[1][1:], k, gains)
    gains = gains * draft
    gains = gains / gains.sum()
    inside = np.concatenate((np.zeros(1), np.cumsum(gains)))
    above = weight * above[0] + (1.0 - weight), above[1]
    ratios = clipped((weight * target, draft), (weight * below[0], below[1]), above, inside, UNIT)
    weights, dies, selection = pools_of(draft, ratios, gains, UNIT, 1.0)
    weights, low, high = nested_of(weights, dies, place)
    starts, stops = below[1][low], below[1][high]
    made = np.empty((3, len(quantiles) + 2 * len(weights)))
    number = fast_mixture(pieces, quantiles, (weights, starts, stops), LEAST_WIDTH, made)
    return max(selection[place], 2.0**-1000) / selection.sum(), weights, starts, stops, made, number
