"""K-SEQ on a batch: γ* of every request at once, by tangents of a convex function, and the tests at it.

Source: SpecTr, Alg. 2; the search is worked out here.
"""

from __future__ import annotations

import numpy as np

from spec_math.array_coin import ArrayCoin
from spec_math.arrays import Array, array_namespace, divide, is_exact, ones_like, positive_part, zeros_like
from spec_math.token_level import hull_edge
from spec_math.token_level.array_drafts import Emitted, drawn_or_target, left_over, mass_of, ratio, sizes, times
from spec_math.token_level.least_gamma import gamma_star

TANGENTS, INNER = 8, 8
"""Tangents of the excess, each a pass over the laws, and Newton's steps on each tangent, which are numbers [B]."""

SLACK = 2.0**-40
"""How far above 0 rounding may leave f(γ), times the overlap γβ, in float64; 8 units of a narrower type."""


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
    mass, drawn = coin.total(target), coin.total(draft)
    gamma = gammas(coin, size, target, draft)
    # t/γ on the scale of the draft's own sum.
    passed = xp.minimum(draft, times(target, drawn / (mass * gamma)))
    beta = coin.total(passed) / drawn
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
    left = left_over(target, passed, tests * mass / drawn)
    follows = drawn_or_target(coin, left, coin.total(left), target, ~accepted)
    return Emitted(xp.where(accepted, emitted, follows), accepted)


def gammas(coin: ArrayCoin, size: Array, target: Array, draft: Array) -> Array:
    """Return γ* [B] of `size` [B] drafts each: the least γ in [1, size] with f(γ) ≤ 0; 1 where there is none.

    The excess E(γ) = Σ (t − γd)+ is convex and piecewise a line A − Bγ, and f(γ) = E − (1 − (1 − E)/γ)^k rises with E.
    So a tangent in place of E has its root no later than γ*: tangent upon tangent climbs to γ* from below and ends
    there, once no ratio t/d lies between two of them. On a tangent f, as a function of x = 1/γ, is concave and rises,
    so that Newton's steps climb to its root from below: to γ from above. Where the steps did not suffice, the last of
    them goes along the chord to γ = k, above the excess, and ends at or above γ*: lossless all the same. On
    Fractions it is `k_sequential.gamma_star`, row by row.

    >>> coin = ArrayCoin(np.array([[0.5]]))
    >>> laws = np.array([[0.5, 0.5, 0.0, 0.0]]), np.array([[0.25, 0.25, 0.25, 0.25]])
    >>> gammas(coin, np.array([2]), *laws).tolist()
    [1.5]
    """
    xp = array_namespace(target)
    if is_exact(target):
        found = [gamma_star(t, d, max(1, int(k))) for t, d, k in zip(target, draft, size, strict=True)]
        return np.array(found, dtype=object)
    mass, drawn = coin.total(target), coin.total(draft)
    most = xp.astype(xp.where(size < 1, 1, size), mass.dtype)
    gamma = ones_like(most)
    least = 4 * float(xp.finfo(target.dtype).eps)
    slack, host = max(SLACK, 2 * least), hull_edge.on_host(target)
    for _ in range(TANGENTS):
        left = left_over(target, draft, gamma * mass / drawn)
        excess = coin.total(left) / mass
        slope = coin.total(_where_left(draft, left)) / drawn
        further = _on_a_tangent(excess, slope, gamma, most)
        # A further tangent would move nothing but by its rounding, and f is 0 up to its own.
        near = (further - gamma <= least * gamma) & (_f(excess, gamma, most) <= slack * (1 - excess))
        gamma = further
        if host and bool(near.all()):
            return gamma
    excess, last = (coin.total(left_over(target, draft, scale * mass / drawn)) / mass for scale in (gamma, most))
    chord = _on_a_tangent(excess, divide(excess - last, most - gamma, excess - excess), gamma, most)
    return xp.where(_f(excess, gamma, most) <= slack * (1 - excess), gamma, chord)


def _where_left(draft: Array, left: Array) -> Array:
    """Return draft [B, V] where anything is left, in the place of what is left."""
    return draft * np.sign(left) if isinstance(left, np.ndarray) else left.sign_().mul_(draft)


def _on_a_tangent(excess: Array, slope: Array, gamma: Array, k: Array) -> Array:
    """Return the root of f above γ, or γ itself where f ≤ 0, with the tangent E(γ) − slope·(γ' − γ) for E."""
    xp = array_namespace(gamma)
    going = _f(excess, gamma, k) > 0
    rest = 1 - (excess + slope * gamma)
    x = 1 / gamma
    for _ in range(INNER):
        missed = positive_part(1 - rest * x - slope)
        value = 1 - missed**k - rest - slope / x
        rises = k * missed ** (k - 1) * rest + slope / (x * x)
        x = xp.maximum(x - divide(value, rises, zeros_like(rises)), 1 / k)
    return xp.where(going, xp.maximum(gamma, 1 / x), gamma)


def _f(excess: Array, gamma: Array, k: Array) -> Array:
    return excess - positive_part(1 - (1 - excess) / gamma) ** k
