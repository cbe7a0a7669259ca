"""K-SEQ on a batch: γ* of every request at once, and the tests at it.

Source: SpecTr, Alg. 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.array_coin import ArrayCoin
from spec_math.arrays import Array, array_namespace, is_exact, ones_like, zeros_like
from spec_math.token_level import hull_edge
from spec_math.token_level.array_drafts import Emitted, drawn_rows, left_over, mass_of, or_else, ratio, sizes, times
from spec_math.token_level.excess import Excess, gamma_star
from spec_math.token_level.left_sums import sums_left

STEPS = 16
"""Passes over the laws of a search that looks at no value, on a device: the upper end of any bracket is lossless."""


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
    excess = _excess(coin, (target, draft), totals)
    gamma = _searched(excess, size, (target, draft), totals)
    # γβ = Σ min(t, γd) = 1 − E(γ), of which β only enters sums of numbers near 1.
    beta = (1 - excess.at(gamma)) / gamma
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
    """Return γ* [B] of `size` [B] drafts each, as `Excess.gamma_star`; 1 where there is none, and exact on Fractions.

    >>> coin = ArrayCoin(np.array([[0.5]]))
    >>> laws = np.array([[0.5, 0.5, 0.0, 0.0]]), np.array([[0.25, 0.25, 0.25, 0.25]])
    >>> gammas(coin, np.array([2]), *laws).round(12).tolist()
    [1.5]
    """
    laws, totals = (target, draft), (coin.total(target), coin.total(draft))
    return _searched(_excess(coin, laws, totals), size, laws, totals)


def _excess(coin: ArrayCoin, laws: tuple[Array, Array], totals: tuple[Array, Array]) -> Excess:
    """Return the excess of t and d [B, V] with these sums [B], in proportion to them."""
    mass, drawn = totals
    return Excess(lambda gamma: sums_left(coin, laws, gamma * mass / drawn) / mass)


def _searched(excess: Excess, size: Array, laws: tuple[Array, Array], totals: tuple[Array, Array]) -> Array:
    if is_exact(laws[0]):
        found = [gamma_star(t, d, max(1, int(k))) for t, d, k in zip(*laws, size, strict=True)]
        return np.array(found, dtype=object)
    xp = array_namespace(size)
    most = xp.astype(xp.where(size < 1, 1, size), totals[0].dtype)
    return excess.gamma_star(most, None if hull_edge.on_host(laws[0]) else STEPS)
