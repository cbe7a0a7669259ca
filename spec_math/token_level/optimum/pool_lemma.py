"""Choose one of the drafts in the winning pool so that it is distributed as the draft restricted to the pool.

Drafts are without replacement, and the chances of the choice come from `Moments`, sums of powers that a plan keeps.
What the pool lemma asks for a check of drafts is P(some of k' draws lies outside H), for one prefix H and draws without
the tokens R that are gone:  ∫ c e^{−cs} P(N_{H−R}(s) < k') ds,  c the mass outside H, s on the scale of all masses.

One grid serves all: S is the time by which fewer than k − 1 of all tokens but the k − 2 heaviest have rung with
probability < 2^-60, and no set R that a check of k drafts asks for is run later.

Heavy tokens, with d S > 1/4, ring one by one, q = 1 − e^{−ds}. All but k − 2 of them share what the heaviest k − 2
leave, so that they are at most k − 2 + 4S times this mass. The light ones ring together: with w = e^{ds} − 1, the
products of j odds are e_j by Newton's identities  j e_j = Σ_{m≤j} (−1)^{m−1} W_m e_{j−m},  W_m = Σ w^m =
Σ_r a_{m,r} (s/S)^r M_r, with a_{m,r} the coefficients of (e^x − 1)^m and M_r = Σ (d S)^r, kept for every 64th prefix.

Truncation of the series. For every ρ > 1/4, Σ_{r>R} a_{m,r} x^r ≤ (x/ρ)^{R+1} (e^ρ − 1)^m, and Σ x^{R+1} ≤ 4^−R Σ x ≤
4^−R S. R is the least at which this is below 2^-62 for every m < k.

Rounding. The signs of Newton's identities lose digits, but no more than this: with all signs plus, e_j is at most
Π_{i<j} (W_1 + 0.29 i)/j! with W_1 ≤ 1.14 Σ ds, so that e^{−Σ ds} e_j ≤ 1.14^j e^{j/4} ≤ 1.47^j, and c e^{−cs} has the
integral 1. M_r is a compensated sum of sums of 64, W_m one of R terms ≥ 0. So the result is within an absolute
k'² 1.47^k' (3R + 4 heavy + 100)·2^-53, besides the quadrature's error: that is what the law of the choice takes of it
(`keep`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from spec_math.arrays import Array, is_exact
from spec_math.chance import Coin
from spec_math.kernels import inner_kernel, kernel
from spec_math.token_level.optimum import prefix_law
from spec_math.token_level.optimum.prefix_law import outside_without_replacement
from spec_math.token_level.optimum.ratio_order import RatioOrder, ratio_order, running_sums


def choose(
    coin: Coin, places: Sequence[int], order: RatioOrder, pool: tuple[int, int], race: Moments | None = None
) -> int:
    """Choose the place of one draft in the pool [low, high), given that no draft lies above it and one in it.

    The law: with x successive draws without replacement and E that event, P(choice = y, E) = d(y)·P(E)/d(pool) for
    every y in the pool. The drafts are gone through backwards with a current choice z; an earlier draft y in the pool
    replaces it unless a coin of chance `keep` keeps z. `places` are the drafts' places in the ratio order, as drawn;
    `race` is what a plan keeps of its drafts, without which every chance passes over the whole vocabulary.
    """
    choice = -1
    for drawn in range(len(places) - 1, -1, -1):
        place = places[drawn]
        if place < pool[0]:
            continue
        left = len(places) - 1 - drawn
        if choice < 0 or not coin.flip(keep(order, places[:drawn], (place, choice), left, pool, race)):
            choice = place
    return choice


def keep(
    order: RatioOrder,
    before: Sequence[int],
    pair: tuple[int, int],
    left: int,
    pool: tuple[int, int],
    race: Moments | None = None,
) -> Any:
    """Return the chance that the later draft z is kept against the earlier y, pair = (y, z), both in the pool.

    The law: (u_y − u_z)+ · (D − d_y) / (D·v_y), where R are the drafts `before` y, D = d(pool∖R), and for the `left`
    draws after y, drawn without R and w: u_w = P(none lies above the pool), v_w = P(that, and one lies in it). It is 0
    unless z is the heavier. For one draw left it is d(above)/D · (d_z − d_y)/(1 − d(R) − d_z).
    On floats an absolute rounding error of u or v enters the law of the choice with that size only, as the coin is
    flipped with a probability of at most v_y.
    """
    y, z = pair
    low, high = pool
    nothing = order.draft[y] - order.draft[y]
    if high == len(order) or order.draft[z] <= order.draft[y]:
        return nothing
    inside = _mass(order, low, high, before)
    if left == 1:
        others = _mass(order, 0, len(order), (*before, z))
        chance = order.draft_above[high] / others * ((order.draft[z] - order.draft[y]) / inside)
    else:
        rest, above = _mass(order, low, high, (*before, y)), order.draft_above[high]
        if race is None:
            hit_y, above_y = _reached(order, (*before, y), left, pool)
            _, above_z = _reached(order, (*before, z), left, pool)
        else:
            hit_y = race.outside(rest + above, low, (*before, y), left)
            above_y, above_z = (race.outside(above, high, (*before, w), left) for w in pair)
        if above_z <= above_y or hit_y <= above_y:
            return nothing
        chance = (above_z - above_y) / (hit_y - above_y) * (rest / inside)
    # The lemma proves that it is at most 1; a float may round above.
    return chance if is_exact(order.draft) else min(1.0, float(chance))


def _reached(order: RatioOrder, gone: tuple[int, ...], draws: int, pool: tuple[int, int]) -> tuple[Any, Any]:
    """Return P(some draw lies in or above the pool), P(some draw lies above it), for draws without the gone tokens.

    All tokens above the pool count as one: only their total mass matters, as a draw among them ends the question.
    """
    low, high = pool
    masses = np.concatenate([np.delete(order.draft[:high], list(gone)), order.draft_above[high : high + 1]])
    outside = outside_without_replacement(_in_this_order(masses / masses.sum()), draws)
    return outside[low - sum(place < low for place in gone)], outside[-2]


def _in_this_order(draft: Array) -> RatioOrder:
    """Return the ratio order of a draft law that is its own target: its tokens as they stand."""
    if is_exact(draft):
        return ratio_order(draft, draft)
    below, above = running_sums(draft), running_sums(draft[::-1])[::-1]
    return RatioOrder(np.arange(len(draft)), draft, draft, below, below, above, above)


def _mass(order: RatioOrder, low: int, high: int, gone: Sequence[int]) -> Any:
    """Return the draft mass of the places low..high−1 without the gone ones.

    On floats within a relative 100·2^-53: a difference of running sums, each within 6 units of itself, where it is at
    least an eighth of the larger one, else the sum of the masses.
    """
    among = [place for place in gone if low <= place < high]
    below, above = order.draft_below, order.draft_above
    difference, scale = (
        (below[high] - below[low], below[high]) if below[high] < above[low] else (above[low] - above[high], above[low])
    )
    for place in among:
        difference = difference - order.draft[place]
    if difference * 8 >= scale:
        return difference
    masses = np.delete(order.draft[low:high], [place - low for place in among])
    return masses.sum() if len(masses) else order.draft[low] - order.draft[low]


MOST = 16
"""The most drafts of a race by moments."""
_LAST = 2.0**40
_LIGHT = 0.25
_KEPT = 64


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of powers of n draft masses [n] in the order of prefixes, for checks of k drafts without replacement."""

    draft: Array
    nodes: Array
    """[N] the times of the quadrature, as shares of S."""
    weights: Array
    """[N] its weights."""
    series: Array
    """[k, R + 1] a_{m,r}."""
    sums: Array
    """[n // 64 + 1, R + 1] M_r of the light tokens before every 64th place; the masses are d S."""
    scale: float
    """S."""
    heavy: Array
    """Places of the heavy tokens, ascending."""
    rings: Array
    """[heavy, N] their q."""

    def rounding(self, draws: int) -> float:
        """Return what `outside` may be off by in float64, as derived above, for so many draws."""
        terms = 3 * self.series.shape[1] + 4 * len(self.heavy) + 100
        quadrature = (23 * 1.336 ** (draws - 1) + 11) / 16**16 + 2.0**-56
        return draws**2 * 1.47**draws * terms * 2.0**-53 + quadrature + prefix_law.TAIL

    def outside(self, mass: float, high: int, gone: tuple[int, ...], draws: int) -> float:
        """Return P(a draw lies outside the first `high` places), for draws without the gone places.

        `mass` is c, that of the tokens outside which are not gone.
        """
        listed = np.array([place for place in gone if place < high], dtype=np.int64)
        kept = (self.draft, self.nodes, self.weights, self.series, self.sums, self.scale)
        return _outside(mass, high, listed, draws, kept, (self.heavy, self.rings))


def moments(draft: Array, k: int) -> Moments | None:
    """Return what a check of k drafts asks of masses [n] that sum to 1; nothing for k > 16, nor where S exceeds 2^40.

    O(n R), R about 28 for k = 8.
    """
    if not 2 < k <= min(MOST, len(draft) - 1):
        return None
    lighter = np.partition(draft, len(draft) - (k - 2))[: len(draft) - (k - 2)]
    found = _grid(lighter, k - 1)
    if found is None:
        return None
    nodes, weights, last = found
    series = _series(k, last).copy()  # a kernel compiled anew would be the price of an array that cannot be written
    heavy = np.flatnonzero(draft * last > _LIGHT)
    sums = np.zeros((len(draft) // _KEPT + 1, series.shape[1]))
    _power_sums(draft, last, sums)
    rings = -np.expm1(-draft[heavy, None] * nodes)
    return Moments(draft, nodes / last, weights, series, sums, last, heavy, rings)


def _grid(draft: Array, k: int) -> tuple[Array, Array, float] | None:
    """Return times, weights and the last time, for masses that sum to 1 or less."""
    if prefix_law.fewer(draft, k, _LAST) >= prefix_law.TAIL:
        return None
    points, widths, octaves = prefix_law.grid(draft, k)
    half = len(widths)
    starts = 2.0 ** np.arange(octaves - 1)
    nodes = np.concatenate([points[:half], (starts[:, None] * points[half:]).ravel()])
    return nodes, np.concatenate([widths, (starts[:, None] * widths).ravel()]), float(2 * starts[-1])


@lru_cache(64)
def _series(k: int, last: float) -> Array:
    size = k
    while any(_lost(m, size) * last >= 2.0**-62 for m in range(1, k)):
        size += 1
    rows = np.zeros((k, size + 1))
    rows[0, 0] = 1.0
    exponential = np.concatenate([[0.0], 1 / np.cumprod(np.arange(1.0, size + 1))])
    for m in range(1, k):
        rows[m] = np.convolve(rows[m - 1], exponential)[: size + 1]
    return rows


def _lost(m: int, size: int) -> float:
    """Return the least bound over ρ = 1/2, 1, 3/2, … of what the series of (e^x − 1)^m leaves out, for Σ x = 1."""
    return min(4.0**-size * rho ** -(size + 1.0) * np.expm1(rho) ** m for rho in np.arange(0.5, 8.5, 0.5))


@kernel
def _power_sums(draft: Any, scale: float, sums: Any) -> None:
    size = sums.shape[1]
    total, rest, part = np.zeros(size), np.zeros(size), np.empty(size)
    for at in range(1, len(sums)):
        part[:] = 0.0
        for place in range((at - 1) * _KEPT, at * _KEPT):
            _count(draft[place] * scale, 1.0, part)
        for r in range(size):  # Kahan's sum over the stretches
            term = part[r] - rest[r]
            raised = total[r] + term
            total[r], rest[r] = raised, (raised - total[r]) - term
        sums[at] = total


@inner_kernel
def _count(x: float, sign: float, total: Any) -> None:
    """Add the powers of a light token, or take them away."""
    if x <= _LIGHT:
        power = sign
        for r in range(len(total)):
            total[r] += power
            power *= x


@kernel
def _outside(mass: float, high: int, gone: Any, draws: int, kept: Any, heavies: Any) -> float:
    draft, nodes, weights, series, sums, scale = kept
    heavy, rings = heavies
    lanes, size = len(nodes), series.shape[1]
    total = sums[high // _KEPT].copy()
    for place in range(high // _KEPT * _KEPT, high):
        _count(draft[place] * scale, 1.0, total)
    for place in gone:
        _count(draft[place] * scale, -1.0, total)
    odds, rung, powers = np.zeros((draws, lanes)), np.zeros((draws, lanes)), np.ones(lanes)
    for r in range(1, size):
        for lane in range(lanes):
            powers[lane] *= nodes[lane]
        for m in range(1, min(draws, r + 1)):
            share = series[m, r] * total[r]
            for lane in range(lanes):
                odds[m, lane] += share * powers[lane]
    for lane in range(lanes):
        rung[0, lane] = np.exp(-nodes[lane] * (mass * scale + total[1]))
    for j in range(1, draws):
        for m in range(1, j + 1):
            share = (1.0 if m % 2 else -1.0) / j
            for lane in range(lanes):
                rung[j, lane] += share * odds[m, lane] * rung[j - m, lane]
    for at in range(len(heavy)):
        if heavy[at] >= high:
            break
        if not np.any(gone == heavy[at]):
            _ring(rings[at], rung)
    found = 0.0
    for lane in range(lanes):
        few = 0.0
        for j in range(draws):
            few += rung[j, lane]
        found += weights[lane] * few
    return mass * found


@inner_kernel
def _ring(q: Any, rung: Any) -> None:
    for j in range(len(rung) - 1, 0, -1):
        for lane in range(len(q)):
            rung[j, lane] += q[lane] * (rung[j - 1, lane] - rung[j, lane])
    for lane in range(len(q)):
        rung[0, lane] -= q[lane] * rung[0, lane]
