"""Choose one of the drafts in the winning pool so that it is distributed as the draft restricted to the pool.

Drafts are without replacement. What the pool lemma asks for a check of drafts is P(some of k' draws lies outside H),
for one prefix H and draws without the tokens R that are gone: `prefix_law` of the tokens that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.arrays import Array, is_exact
from spec_math.chance import Coin
from spec_math.token_level.optimum.prefix_law import outsides_without_replacement
from spec_math.token_level.optimum.ratio_order import RatioOrder, ratio_order, running_sums


def choose(coin: Coin, places: Sequence[int], order: RatioOrder, pool: tuple[int, int]) -> int:
    """Choose the place of one draft in the pool [low, high), given that no draft lies above it and one in it.

    The law: with x successive draws without replacement and E that event, P(choice = y, E) = d(y)·P(E)/d(pool) for
    every y in the pool. The drafts are gone through backwards with a current choice z; an earlier draft y in the pool
    replaces it unless a coin of chance `keep` keeps z. `places` are the drafts' places in the ratio order, as drawn.
    """
    choice = -1
    for drawn in range(len(places) - 1, -1, -1):
        place = places[drawn]
        if place < pool[0]:
            continue
        left = len(places) - 1 - drawn
        if choice < 0 or not coin.flip(keep(order, places[:drawn], (place, choice), left, pool)):
            choice = place
    return choice


def keep(order: RatioOrder, before: Sequence[int], pair: tuple[int, int], left: int, pool: tuple[int, int]) -> Any:
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
        hit_y, above_y = _reached(order, (*before, y), left, pool)
        _, above_z = _reached(order, (*before, z), left, pool)
        if above_z <= above_y or hit_y <= above_y:
            return nothing
        chance = (above_z - above_y) / (hit_y - above_y) * (_mass(order, low, high, (*before, y)) / inside)
    # The lemma proves that it is at most 1; a float may round above.
    return chance if is_exact(order.draft) else min(1.0, float(chance))


def _reached(order: RatioOrder, gone: tuple[int, ...], draws: int, pool: tuple[int, int]) -> tuple[Any, Any]:
    """Return P(some draw lies in or above the pool), P(some draw lies above it), for draws without the gone tokens.

    All tokens above the pool count as one: only their total mass matters, as a draw among them ends the question.
    """
    low, high = pool
    masses = np.concatenate([np.delete(order.draft[:high], list(gone)), order.draft_above[high : high + 1]])
    (outside,) = outsides_without_replacement(_in_this_order(masses / masses.sum()), (draws,))
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
