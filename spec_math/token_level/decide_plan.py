"""The optimal plan of i.i.d. drafts on a batch: the order of the ratios, and the pool at a uniform by tangents.

Source: SpecTr, Eq. 3, for the problem; the construction is worked out here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import array_api_compat
import numpy as np

from spec_math.array_coin import ArrayCoin, running_sums, taken, wide
from spec_math.arrays import Array, array_namespace, divide, is_exact
from spec_math.token_level import hull_edge, part_plan
from spec_math.token_level.array_drafts import Emitted, drawn_rows, left_over, mass_of, or_else, sizes
from spec_math.token_level.left_sums import is_host
from spec_math.token_level.stable_order import stable_order

BISECTIONS = 24
"""Halvings that find a place among up to 2^24 − 1 tokens."""


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

    >>> from spec_math.arrays import exact
    >>> coin = ArrayCoin(exact([["1/2", 0, "1/2", 0]]))
    >>> decide_plan(coin, np.array([[0, 1]]), exact([["2/5", "3/5"]]), exact([["3/4", "1/4"]])).token.tolist()
    [1]
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
    """Return which drafts [B, k] lie below the pool at u that holds the highest, and `low` and `high` [B].

    On the host no row of floats is sorted as a whole (`part_plan`).
    """
    xp = array_namespace(tokens)
    if is_host(laws[0]):
        there = xp.where(tokens < 0, 0, tokens)
        drafted = ratios(*(wide(xp.take_along_axis(masses, there, axis=1)) for masses in laws))
        best = _highest(drafted, tokens)
        given = hull_edge.in_numpy(*laws, sizes(tokens), u, best)
        first, low, high = hull_edge.out_of_numpy(best, *part_plan.pools(*given))
        own = ratios(*(wide(xp.take_along_axis(masses, first[:, None], axis=1)) for masses in laws))
        return (drafted < own) | ((drafted == own) & (tokens < first[:, None])), low, high
    key = ratios(*laws)
    curves = selection(key, *laws, sizes(tokens), tokens.shape[1])
    place = xp.argmax(xp.astype(curves.tokens == highest(key, tokens)[:, None], xp.int8), axis=1)
    first = taken(curves.tokens, edge(curves, u, place)[0])
    return before(key, tokens, first[:, None]), curves.low, curves.high


def ratios(target: Array, draft: Array) -> Array:
    """Return the keys [B, V] that put tokens in order: t/d, and infinity for tokens without draft mass, which go last.

    A ratio beyond all floats counts as the largest one. Floats are divided in the type that the masses are stored in:
    that keeps their order, but that ratios which it cannot tell apart stand by their index.

    >>> ratios(np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]])).tolist()
    [[0.5, inf]]
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

    >>> from spec_math.arrays import exact
    >>> laws = exact([["2/5", "3/5"]]), exact([["3/4", "1/4"]])
    >>> curves = selection(ratios(*laws), *laws, np.array([2]), 2)
    >>> curves.selected.tolist()
    [[Fraction(0, 1), Fraction(9, 16), Fraction(1, 1)]]
    """
    order = stable_order(key)
    t, d = (_gathered(masses, order) for masses in (target, draft))
    t_below, d_below, t_above, d_above = _normalised(t), _normalised(d), _normalised(t, True), _normalised(d, True)
    scale = _whole(d) / _whole(t)
    xp = array_namespace(key)
    drafted = xp.sum(d > 0, axis=1)
    inside = _powers(d_below, size, most)
    lost = xp.max(inside - t_below, axis=1)

    def reach(at: Array) -> Array:
        bound = wide(taken(key, taken(order, at)))
        # Keys of a narrow type are rounded, and only order the tokens.
        if is_exact(key) or key.dtype == bound.dtype:
            return bound * scale
        return divide(wide(taken(t, at)), wide(taken(d, at)), bound) * scale

    # Both conditions are of the sums themselves, and not of the place where most is lost, which tokens of hardly any
    # mass can move: so what holds in front of a place bounds the ratios there, whatever the sums round to.
    raised = _first_failing(lambda at: reach(at) * taken(d_below, at) < taken(t_below, at) + lost, drafted)
    kept = _first_failing(lambda at: reach(at) * taken(d_above, at + 1) <= taken(t_above, at + 1) - lost, drafted)
    low = xp.where(raised > 0, divide(taken(t_below, raised) + lost, taken(d_below, raised), lost), lost - lost)
    most = divide(taken(t_above, kept) - lost, taken(d_above, kept), lost)
    largest = reach(xp.where(kept > 0, kept - 1, kept))
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
    prefixes = xp.arange(t_below.shape[1], device=array_api_compat.device(t_below))
    selected = xp.where(prefixes <= stays[:, None], t_below + lost[:, None], 1 - high[:, None] * d_above)
    return xp.where(prefixes < raised[:, None], low[:, None] * d_below, selected)


def edge(curves: Curves, u: Array, place: Array) -> tuple[Array, Array]:
    """Return the ends (a, b) [B] of the edge of the lower convex hull of (P, C − u·g) above `place` [B], a ≤ place < b.

    See `hull_edge.lower_edge`.

    >>> from spec_math.arrays import exact
    >>> laws = exact([["1/2", "1/2"]]), exact([["1/2", "1/2"]])
    >>> edge(selection(ratios(*laws), *laws, np.array([2]), 2), exact(["1/2"]), np.array([1]))
    (array([0]), array([2]))
    """
    return hull_edge.lower_edge(curves.place, curves.selected - u[:, None] * curves.inside, curves.drafted, place)


def _chosen(coin: ArrayCoin, hits: Array, where: Array) -> Array:
    """Choose one of the hits [B, k], each index with the same chance."""
    xp = array_namespace(hits)
    one = coin.one
    shares = xp.where(hits, one[:, None], (one - one)[:, None])
    number = xp.sum(shares, axis=1, keepdims=True)
    chosen = coin.draw(divide(shares, number, shares), where)
    return xp.where(chosen < 0, chosen * 0, chosen)


def highest(key: Array, tokens: Array) -> Array:
    """Return the draft [B] of [B, k] whose place in the order is the highest; any token where there are none.

    >>> highest(np.array([[0.5, 0.25, 0.5]]), np.array([[0, 1, 2]])).tolist()
    [2]
    """
    xp = array_namespace(tokens)
    return _highest(xp.take_along_axis(key, xp.where(tokens < 0, 0, tokens), axis=1), tokens)


def _highest(keys: Array, tokens: Array) -> Array:
    """Return the token [B] of [B, k] with the highest key of its own [B, k]: by key, then by index."""
    xp = array_namespace(tokens)
    best, most = tokens[:, 0], keys[:, 0]
    for column in range(1, tokens.shape[1]):
        token, key = tokens[:, column], keys[:, column]
        above = (token >= 0) & ((key > most) | ((key == most) & (token > best)))
        best, most = xp.where(above, token, best), xp.where(above, key, most)
    return xp.where(best < 0, best * 0, best)


def before(key: Array, first: Array, second: Array) -> Array:
    """Say where token `first` comes before `second` in the order, [B, m] each: by key, then by index.

    >>> before(np.array([[0.5, 0.5]]), np.array([[0]]), np.array([[1]])).tolist()
    [[True]]
    """
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


def _whole(masses: Array) -> Array:
    return array_namespace(masses).sum(wide(masses), axis=1)


def _first_failing(holds: Callable[[Array], Array], high: Array) -> Array:
    """Return the first of 0..high − 1 [B] for which a condition that only ever ends fails, or high: by bisection."""
    xp, low = array_namespace(high), high - high
    for _ in range(BISECTIONS):
        middle = (low + high) // 2
        going = low < high
        if isinstance(going, np.ndarray) and not going.any():
            break
        passes = holds(xp.where(going, middle, low - low))
        low, high = xp.where(going & passes, middle + 1, low), xp.where(going & ~passes, middle, high)
    return low


def _gathered(rows: Array, order: Array) -> Array:
    """Gather [B, V] from rows; torch's own way along an axis wraps every index first."""
    return np.take_along_axis(rows, order, axis=1) if isinstance(rows, np.ndarray) else rows.gather(1, order)


def _powers(below: Array, size: Array, most: int) -> Array:
    """Return P^k for each request's own k, at most `most`: products, which take a tenth of the time of powers."""
    xp, found = array_namespace(below), below
    for place in range(1, most):
        found = xp.where((place < size)[:, None], found * below, found)
    return found
