"""K-SEQ on a batch: γ* of every request at once, by lines below a convex function, and the tests at it.

Source: SpecTr, Alg. 2; the search is worked out here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.array_coin import ArrayCoin
from spec_math.arrays import Array, array_namespace, divide, is_exact, ones_like, positive_part, zeros_like
from spec_math.token_level import hull_edge
from spec_math.token_level.array_drafts import Emitted, drawn_rows, left_over, mass_of, or_else, ratio, sizes, times
from spec_math.token_level.least_gamma import gamma_star
from spec_math.token_level.left_sums import is_host, slopes_left, sums_left

LINES, INNER = 12, 8
"""Lines below the excess, each a pass over the laws, and Newton's steps on each line, which are numbers [B]."""

ROUNDING = 2.0**-50
"""A step of Newton's that is shorter, times the place, is a rounding: the host ends there."""

SLACK, NEAR = 2.0**-40, 2.0**-46
"""How far above 0 rounding may leave f(γ), times the overlap γβ, in float64, and the gap to γ*, times γ, at which the
search ends; 8 and 4 units of a narrower type."""


def decide_k_sequential(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:
    """Accept the first draft of [B, k] whose test passes, with chance min(1, t/(γ* d)), as `k_sequential.emit` does.

    γ* is that of each request's own number of drafts. The law: what is left over is t − min(d, t/γ)·Σ_{j<k} (1 − β)^j.

    >>> from spec_math.arrays import exact
    >>> coin = ArrayCoin(exact([["3/5", "1/5", 0]]))
    >>> laws = exact([["1/4", "3/4"]]), exact([["1/2", "1/2"]])
    >>> decide_k_sequential(coin, np.array([[0, 1]]), *laws).token.tolist()
    [1]
    """
    xp = array_namespace(target)
    size = sizes(tokens)
    mass, drawn = totals = coin.total(target), coin.total(draft)
    gamma, excess = _searched(coin, size, (target, draft), totals)
    # γβ = Σ min(t, γd) = 1 − E(γ), of which β only enters sums of numbers near 1.
    beta = (1 - excess) / gamma
    emitted, accepted = tokens[:, 0], tokens[:, 0] < -1
    for place in range(tokens.shape[1]):
        token = tokens[:, place]
        chance = ratio(mass_of(target, token) * drawn, gamma * mass * mass_of(draft, token))
        passes = coin.flip(chance, (token >= 0) & ~accepted, gamma * beta)
        emitted, accepted = xp.where(passes, token, emitted), accepted | passes
    tests, power = zeros_like(beta), ones_like(beta)
    for place in range(tokens.shape[1]):
        tests = tests + xp.where(place < size, power, zeros_like(power))
        power = power * (1 - beta)
    # t/γ on the scale of the draft's own sum.
    scale, factor = drawn / (mass * gamma), tests * mass / drawn

    def left(rows: Any) -> Array:
        whole = target[rows]
        passed = xp.minimum(draft[rows], times(whole, scale[rows]))
        return or_else(coin, left_over(whole, passed, factor[rows]), whole)

    follows = drawn_rows(coin, left, target, coin.going, ~accepted)
    return Emitted(xp.where(accepted, emitted, follows), accepted)


def gammas(coin: ArrayCoin, size: Array, target: Array, draft: Array) -> Array:
    """Return γ* [B] of `size` [B] drafts each: the least γ in [1, size] with f(γ) ≤ 0; 1 where there is none.

    The excess E(γ) = Σ (t − γd)+ is convex, and f(γ) = E − (1 − (1 − E)/γ)^k rises with E. So a line that is nowhere
    above E from γ on has its root no later than γ*: the tangent at 1, and then the line through the last two places,
    continued, climb to γ* from below. On a line f, as a function of x = 1/γ, is concave and rises, so that Newton's
    steps climb to its root from below: to γ from above. As E falls, the root for E(γ) held fast lies at or above γ*:
    the search has ended where that is next to γ. Where the lines did not suffice, the last of them goes along the chord
    to γ = k, above the excess, and ends at or above γ*: lossless all the same. On Fractions it is
    `k_sequential.gamma_star`, row by row.

    >>> coin = ArrayCoin(np.array([[0.5]]))
    >>> laws = np.array([[0.5, 0.5, 0.0, 0.0]]), np.array([[0.25, 0.25, 0.25, 0.25]])
    >>> gammas(coin, np.array([2]), *laws).tolist()
    [1.5]
    """
    return _searched(coin, size, (target, draft), (coin.total(target), coin.total(draft)))[0]


def _searched(
    coin: ArrayCoin, size: Array, laws: tuple[Array, Array], totals: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return γ* [B] and the excess E(γ*) [B] there, for t and d [B, V] with these sums [B].

    On the host the numbers of requests are NumPy's, which takes a third of the time for so few.
    """
    numbers = hull_edge.in_numpy(size, *totals) if is_host(laws[0]) else (size, *totals)
    gamma, excess = hull_edge.out_of_numpy(laws[0], *_climbed(coin, laws, *numbers))
    return gamma, excess


def _climbed(coin: ArrayCoin, laws: tuple[Array, Array], size: Array, mass: Array, drawn: Array) -> tuple[Array, Array]:
    target, draft = laws
    xp = array_namespace(mass)

    def excess_at(gamma: Array, where: Array | None = None) -> Array:
        return sums_left(coin, laws, gamma * mass / drawn, where=where) / mass

    if is_exact(target):
        found = [gamma_star(t, d, max(1, int(k))) for t, d, k in zip(target, draft, size, strict=True)]
        gamma = np.array(found, dtype=object)
        return gamma, excess_at(gamma)
    most = xp.astype(xp.where(size < 1, 1, size), mass.dtype)
    gamma = before = ones_like(most)
    unit, host = float(array_namespace(target).finfo(target.dtype).eps), hull_edge.on_host(target)
    near, slack = max(NEAR, 4 * unit), max(SLACK, 8 * unit)
    slope = higher = none = zeros_like(most)
    for line in range(LINES):
        moved = gamma > before
        excess = xp.where(moved, excess_at(gamma, moved), higher) if line else excess_at(gamma)
        if host and _has_ended(excess, gamma, most, near, slack):
            return gamma, excess
        if line:  # of two slopes that differ by their rounding the lower one, as slopes of lines fall
            found = divide(higher - excess, xp.where(moved, gamma - before, none), slope)
            slope = xp.maximum(none, xp.minimum(slope, found))
        else:
            slope = slopes_left(coin, laws, gamma * mass / drawn) / drawn
        before, higher, gamma = gamma, excess, _on_a_line(excess, slope, gamma, most)
    excess, last = excess_at(gamma), excess_at(most)
    chord = _on_a_line(excess, divide(excess - last, most - gamma, excess - excess), gamma, most)
    gamma = xp.where(_f(excess, gamma, most) <= slack * (1 - excess), gamma, chord)
    return gamma, excess_at(gamma)


def _has_ended(excess: Array, gamma: Array, k: Array, near: float, slack: float) -> bool:
    """Say whether γ* lies next to every γ: between it and the root for an excess that does not fall any more."""
    if not bool((_f(excess, gamma, k) <= slack * (1 - excess)).all()):
        return False
    return bool((_on_a_line(excess, excess - excess, gamma, k) - gamma <= near * gamma).all())


def _on_a_line(excess: Array, slope: Array, gamma: Array, k: Array) -> Array:
    """Return the root of f above γ, or γ itself where f ≤ 0, with the line E(γ) − slope·(γ' − γ) for E."""
    xp = array_namespace(gamma)
    going = _f(excess, gamma, k) > 0
    rest = 1 - (excess + slope * gamma)
    x = 1 / gamma
    for _ in range(INNER):
        missed = positive_part(1 - rest * x - slope)
        value = 1 - missed**k - rest - slope / x
        rises = k * missed ** (k - 1) * rest + slope / (x * x)
        last, x = x, xp.maximum(x - divide(value, rises, zeros_like(rises)), 1 / k)
        if isinstance(x, np.ndarray) and bool((abs(last - x) <= ROUNDING * last).all()):
            break
    return xp.where(going, xp.maximum(gamma, 1 / x), gamma)


def _f(excess: Array, gamma: Array, k: Array) -> Array:
    return excess - positive_part(1 - (1 - excess) / gamma) ** k
