"""The optimal plan of i.i.d. drafts on a batch: the order of the ratios, and the pool at a uniform by tangents.

Source: SpecTr, Eq. 3, for the problem.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spec_math.array_coin import ArrayCoin, row_sums, running_sums, taken, wide
from spec_math.arrays import Array, array_namespace, divide, is_exact
from spec_math.distribution import gathered
from spec_math.token_level.batch import drafts
from spec_math.token_level.batch.drafts import Emitted, drawn_rows, left_over, mass_of, or_else, sizes, stable_order


class Curves(NamedTuple):
    """The tokens of each request by t/d ascending, and three functions of their prefixes i = 0..V, [B, V + 1] each.

    `tokens` [B, V], those without draft mass last; `drafted` [B] is the number of the others. `place` is the draft mass
    P_i of a prefix, `inside` g_i = P_i^k, `selected` C_i its mass under the selection law c = d·clip(t/d, low, high),
    `low` and `high` [B] on the scale of normalised laws.
    """

    tokens: Array
    drafted: Array
    place: Array
    inside: Array
    selected: Array
    low: Array
    high: Array


def decide_plan(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:
    """Put forward one of the drafts [B, k] in the highest pool hit, and keep it or not, as `plan.emit` does.

    The coins: component, choice in the pool, test, residual. The pools at the component's uniform u are the edges of
    the lower convex hull of (P_i, C_i − u·g_i); only the one above the highest draft is looked for. On
    floats the token put forward has the law c up to the rounding of these sums.
    """
    xp = array_namespace(target)
    some = tokens[:, 0] >= 0
    mass, drawn = coin.total(target), coin.total(draft)
    # Drafts from the pool's first token on are hits: none lies above the pool of the highest.
    below, lows, highs = _pool((target, draft), tokens, coin.take(some))
    hits = (tokens >= 0) & ~below
    token = taken(tokens, _chosen(coin, hits, some))
    t, d = mass_of(target, token) / mass, mass_of(draft, token) / drawn
    own = xp.minimum(xp.maximum(t, lows * d), highs * d)
    accepted = coin.flip(divide(t, own, t), some)
    factor = highs * mass / drawn

    def left(rows: Any) -> Array:
        return or_else(coin, left_over(target[rows], draft[rows], factor[rows]), target[rows])

    follows = drawn_rows(coin, left, target, some, ~accepted)
    return Emitted(xp.where(accepted, token, follows), accepted)


def _pool(laws: tuple[Array, Array], tokens: Array, u: Array) -> tuple[Array, Array, Array]:
    """Return which drafts [B, k] lie below the pool at u that holds the highest, and `low` and `high` [B]."""
    xp, key = array_namespace(tokens), ratios(*laws)
    curves = selection(key, *laws, sizes(tokens), tokens.shape[1])
    place = xp.argmax(xp.astype(curves.tokens == highest(key, tokens)[:, None], xp.int8), axis=1)
    first = taken(curves.tokens, edge(curves, u, place)[0])
    return before(key, tokens, first[:, None]), curves.low, curves.high


def ratios(target: Array, draft: Array) -> Array:
    """Return the keys [B, V] that put tokens in order: t/d, and infinity for tokens without draft mass, which go last.

    A ratio beyond all floats counts as the largest one. Floats are divided in the type that the masses are stored in:
    that keeps their order, but that ratios which it cannot tell apart stand by their index.
    """
    xp = array_namespace(target)
    t, d = target, draft
    if is_exact(t):
        return xp.where(d > 0, divide(t, d, t), np.inf)
    largest = xp.finfo(t.dtype).max
    if not isinstance(t, np.ndarray):  # in place: choosing element by element takes torch longer than all else here
        return (t / d).clamp_(max=largest).masked_fill_(d <= 0, xp.inf)
    with np.errstate(over="ignore"):
        found = divide(t, d, t)
    return xp.where(d > 0, xp.where(found > largest, largest, found), xp.inf)


def selection(key: Array, target: Array, draft: Array, size: Array, most: int) -> Curves:
    """Sort the tokens and work out the selection law, as `selection.selection_ratios` does.

    For `size` [B] drafts each, of which no request has more than `most`.
    """
    order = stable_order(key)
    t, d = (gathered(masses, order) for masses in (target, draft))
    t_below, d_below, t_above, d_above = _normalised(t), _normalised(d), _normalised(t, True), _normalised(d, True)
    scale = row_sums(d) / row_sums(t)
    xp = array_namespace(key)
    drafted = xp.sum(d > 0, axis=1)
    inside = _powers(d_below, size, most)
    lost = xp.max(inside - t_below, axis=1)

    # Keys of a narrow type are rounded, and only order the tokens.
    ranked = gathered(key, order)
    exactly = is_exact(key) or key.dtype == wide(key).dtype
    some, gap = d > 0, lost[:, None]
    reach = xp.where(some, ranked, ranked[:, :1]) if exactly else divide(wide(t), wide(d), wide(t))
    reach = reach * scale[:, None]
    # Both conditions are of the sums themselves, and not of the place where most is lost, which tokens of hardly any
    # mass can move: so what holds in front of a place bounds the ratios there, whatever the sums round to.
    raised = xp.sum(some & (reach * d_below[:, :-1] < t_below[:, :-1] + gap), axis=1)
    kept = xp.sum(some & (reach * d_above[:, 1:] <= t_above[:, 1:] - gap), axis=1)
    low = xp.where(raised > 0, divide(taken(t_below, raised) + lost, taken(d_below, raised), lost), lost - lost)
    most = divide(taken(t_above, kept) - lost, taken(d_above, kept), lost)
    largest = taken(reach, xp.where(kept > 0, kept - 1, kept))
    high = xp.maximum(xp.where(kept < drafted, most, xp.where(kept > 0, largest, lost)), low)
    # The prefix of all tokens that can be drafted, and those behind it, have all mass: 1 − high·0.
    stays = xp.minimum(kept, drafted - 1)
    selected = _selected((t_below, d_below, d_above), (raised, stays), lost, low, high)
    return Curves(order, drafted, d_below, inside, selected, low, high)


def _selected(
    sums: tuple[Array, Array, Array], stretch: tuple[Array, Array], lost: Array, low: Array, high: Array
) -> Array:
    """Return C [B, V + 1]: low·P up to the first prefix of the stretch, high from above behind its last, else T + lost.

    `sums` are T, P and the draft mass from above.
    """
    t_below, d_below, d_above = sums
    raised, stays = stretch
    xp = array_namespace(t_below)
    prefixes = xp.arange(t_below.shape[1], device=t_below.device)
    selected = xp.where(prefixes <= stays[:, None], t_below + lost[:, None], 1 - high[:, None] * d_above)
    return xp.where(prefixes < raised[:, None], low[:, None] * d_below, selected)


def edge(curves: Curves, u: Array, place: Array) -> tuple[Array, Array]:
    """Return the ends (a, b) [B] of the edge of the lower convex hull of (P, C − u·g) above `place` [B], a ≤ place < b.

    See `lower_edge`.
    """
    return lower_edge(curves.place, curves.selected - u[:, None] * curves.inside, curves.drafted, place)


def _chosen(coin: ArrayCoin, hits: Array, where: Array) -> Array:
    """Choose one of the hits [B, k], each index with the same chance."""
    xp = array_namespace(hits)
    one = coin.one
    shares = xp.where(hits, one[:, None], (one - one)[:, None])
    number = xp.sum(shares, axis=1, keepdims=True)
    chosen = coin.draw(divide(shares, number, shares), where)
    return xp.where(chosen < 0, chosen * 0, chosen)


def highest(key: Array, tokens: Array) -> Array:
    """Return the draft [B] of [B, k] whose place in the order is the highest; any token where there are none."""
    xp = array_namespace(tokens)
    keys = xp.take_along_axis(key, xp.where(tokens < 0, 0, tokens), axis=1)
    best, most = tokens[:, 0], keys[:, 0]
    for column in range(1, tokens.shape[1]):
        token, key = tokens[:, column], keys[:, column]
        above = (token >= 0) & ((key > most) | ((key == most) & (token > best)))
        best, most = xp.where(above, token, best), xp.where(above, key, most)
    return xp.where(best < 0, best * 0, best)


def before(key: Array, first: Array, second: Array) -> Array:
    """Say where token `first` comes before `second` in the order, [B, m] each: by key, then by index."""
    xp = array_namespace(key)
    ours, theirs = (xp.take_along_axis(key, xp.where(token < 0, 0, token), axis=1) for token in (first, second))
    return (ours < theirs) | ((ours == theirs) & (first < second))


def _normalised(masses: Array, from_above: bool = False) -> Array:
    """Return the masses [B, V + 1] of prefixes, or of all tokens behind them, divided by the mass of all tokens."""
    xp = array_namespace(masses)
    sums = running_sums(xp.flip(masses, axis=1) if from_above else masses)
    whole = sums[:, -1:]
    shares = sums / xp.where(whole > 0, whole, whole + 1)
    return xp.flip(shares, axis=1) if from_above else shares


def _powers(below: Array, size: Array, most: int) -> Array:
    """Return P^k for each request's own k, at most `most`: products, which take a tenth of the time of powers."""
    xp, found = array_namespace(below), below
    for place in range(1, most):
        found = xp.where((place < size)[:, None], found * below, found)
    return found


STEPS = 24
"""Chords that are drawn before a request is bisected."""
BITS = 64
"""Halvings of all slopes that float64 has."""
_LEAST = -(2**63)
_LARGEST = int(np.array([np.finfo(np.float64).max]).view(np.int64)[0])


def lower_edge(place: Array, heights: Array, last: Array, at: Array) -> tuple[Array, Array]:
    """Return the ends (a, b) [B] of the hull's edge above point `at` [B] of 0..last, a ≤ at < b, points [B, n + 1].

    Places ascend; points behind `last` [B] repeat it. Start at both ends. Draw the chord from a to b, and let m be the
    point furthest below it: none, and the chord is the edge; else m is a vertex of the hull, and takes the place of a
    or of b. On Fractions chords are drawn until all are edges; on floats `STEPS` of them, and what has no edge then is
    bisected (`bisected`), as all are on a device, where nothing may wait for what is found.
    """
    xp, exactly = array_namespace(place), is_exact(heights)
    if not (exactly or drafts.on_host(heights)):
        return bisected(place, heights, last, at)
    a, b, found, step = xp.zeros_like(at), last, at >= 0, 0
    while bool(found.any()):
        if step == STEPS and not exactly:
            low, high = bisected(place, heights, last, at)
            return xp.where(found, low, a), xp.where(found, high, b)
        lowest = _above_line(heights, _slope(place, heights, a, b)[:, None], place).argmin(1)
        # No point outside the stretch lies below a line between two vertices, but by a rounding; its ends are no news.
        found = (lowest > a) & (lowest < b)
        left = found & (lowest <= at)
        a, b, step = xp.where(left, lowest, a), xp.where(found & ~left, lowest, b), step + 1
    return a, b


def bisected(place: Array, heights: Array, last: Array, at: Array) -> tuple[Array, Array]:
    """Return the ends of the edges by bisection over all slopes of float64, 64 reductions for every law.

    The lowest point along a slope moves right as the slope rises. So there are two slopes, next to each other in
    float64, at the lower of which it lies at or before `at` and at the higher behind: a and b. No point lies below the
    chord from a to b by more than one unit of the slope times the distance of a and b, and the rounding of heights.
    """
    xp = array_namespace(place)
    a, b = xp.zeros_like(at), last
    low, high = xp.full_like(at, -_LARGEST), xp.full_like(at, _LARGEST)
    among = xp.arange(place.shape[1], device=place.device) <= last[:, None]
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


def _slope(place: Array, heights: Array, a: Array, b: Array) -> Array:
    rise = taken(heights, b) - taken(heights, a)
    return divide(rise, taken(place, b) - taken(place, a), rise - rise)


def _above_line(heights: Array, slope: Array, place: Array) -> Array:
    if isinstance(heights, np.ndarray):
        return heights - slope * place
    return heights.addcmul(slope, place, value=-1)  # one pass in place of two
