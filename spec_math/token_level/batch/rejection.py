"""Rejection on a batch: drafts are tested in turn against what the earlier ones left of the target.

One formula for maximal coupling, recursive rejection with and without replacement, greedy drafts and drafters of their
own: only the draft law of each test differs.

Source: SpecInfer, multi-step speculative sampling; Sequoia, for drafts without replacement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spec_math.array_coin import ArrayCoin
from spec_math.arrays import Array, array_namespace, is_exact, ones_like, positive_part, zeros_like
from spec_math.token_level.batch import drafts
from spec_math.token_level.batch.drafts import (
    Emitted,
    MassesOf,
    drawn_rows,
    favourite,
    left_over,
    mass_of,
    or_else,
    ratio,
    remaining,
    sizes,
    sums_left,
    times,
    with_mass,
    without_tokens,
)
from spec_math.token_level.excess import Excess, gamma_star


def decide_recursive(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:
    """Test the drafts [B, k] in turn as `recursive.emit` does, against draft rows [B, V], or [B, k, V] of k drafters.

    The law: r starts as t; x is accepted with chance min(1, r(x)/d(x)), else r becomes (r − d)+ / Σ. Here r keeps its
    own sum R: with draws from d in proportion to D = Σ d the chance is r(x)·D/(R·d(x)), and r becomes (r − (R/D)·d)+.
    """
    if draft.ndim == 3:
        return _tested(coin, tokens, target, lambda place: draft[:, place])
    return _tested_alike(coin, tokens, target, draft)


def decide_without_replacement(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:
    """Test distinct drafts [B, k] in turn as `without_replacement.emit` does: d loses each token that is rejected.

    The draft: rows [B, V], or a `Remaining`.
    """
    if not callable(draft):
        return _tested_alike(coin, tokens, target, draft, distinct=True)
    # What is left is on a scale of its own at every test, and no one λ serves.
    return _tested(coin, tokens, target, lambda place: draft(tokens[:, :place]))


def decide_greedy(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:
    """Test the last draft of each request alone, as `greedy.emit` does: the draft law is without the others.

    The draft: rows [B, V], or a `Remaining`.
    """
    xp = array_namespace(tokens)
    last = sizes(tokens) - 1
    places = xp.cumulative_sum(xp.ones_like(tokens), axis=1) - 1
    fixed = xp.where(places < last[:, None], tokens, -1)
    drawn = xp.take_along_axis(tokens, xp.where(last < 0, 0, last)[:, None], axis=1)
    return _tested_alike(coin, drawn, target, remaining(draft)(fixed))


def decide_one_hot(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:  # noqa: ARG001
    """Accept the one draft x [B, 1] with chance t(x), else draw from t without x, as `one_hot.emit` does."""
    xp = array_namespace(target)
    token = tokens[:, 0]
    there = token >= 0
    accepted = coin.flip(ratio(mass_of(target, token), coin.total(target)), where=there)
    rest = sums_left(coin, (target, target), zeros_like(coin.one), tokens[:, :1], there & ~accepted)
    follows = drawn_rows(coin, lambda rows: without_tokens(target[rows], tokens[rows, :1]), target, rest > 0, ~accepted)
    return Emitted(xp.where(accepted, token, follows), accepted)


def decide_match(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:  # noqa: ARG001
    """Draw from the target, and accept the one draft [B, 1] that is the same token, as `sample_and_match.emit` does."""
    token = coin.draw(target)
    return Emitted(token, (token == tokens[:, 0]) & coin.going)


def _tested(coin: ArrayCoin, tokens: Array, target: Array, law: Callable[[int], Array]) -> Emitted:
    xp = array_namespace(target)
    left, total = target, coin.total(target)
    emitted, accepted = tokens[:, 0], tokens[:, 0] < -1
    for place in range(tokens.shape[1]):
        token, draft = tokens[:, place], law(place)
        drawn, mass = coin.total(draft), mass_of(draft, token)
        there = (mass > 0) & ~accepted
        # r = d leaves nothing: no test rejects there but by a rounding, and the target stands in for the residual.
        passes = coin.flip(ratio(mass_of(left, token) * drawn, total * mass), there, total)
        rest = left_over(left, draft, ratio(total, drawn))
        sum_of_rest = coin.total(rest)
        rejected = there & ~passes & (sum_of_rest > 0)
        left, total = xp.where(rejected[:, None], rest, left), xp.where(rejected, sum_of_rest, total)
        emitted, accepted = xp.where(passes, token, emitted), accepted | passes
    return _or_drawn(coin, emitted, accepted, left, lambda rows: left[rows])


def _tested_alike(coin: ArrayCoin, tokens: Array, target: Array, draft: Array, distinct: bool = False) -> Emitted:
    """Test drafts of one law: what is left after some rejections is (t − λd)+, and λ is a number of each request.

    Where drafts are `distinct`, the law of the next one is d without those before. A token before it keeps what it had
    when d lost it, for ever. On all others one λ serves still, as ((t − λd)+ − κd)+ = (t − (λ + κ)d)+.
    """
    xp, laws = array_namespace(target), (target, draft)
    drawn, total = coin.total(draft), coin.total(target)
    scale = zeros_like(total)
    emitted, accepted = tokens[:, 0], tokens[:, 0] < -1
    kept: list[tuple[Array, Array]] = []
    for place in range(tokens.shape[1]):
        token = tokens[:, place]
        if distinct and place:
            token = xp.where(xp.any(tokens[:, :place] == token[:, None], axis=1), -1, token)
            drawn = sums_left(coin, (draft, draft), zeros_like(drawn), tokens[:, :place])
        t, d = mass_of(target, token), mass_of(draft, token)
        there = (d > 0) & ~accepted
        passes = coin.flip(ratio(positive_part(t - scale * d) * drawn, total * d), there, total)
        emitted, accepted = xp.where(passes, token, emitted), accepted | passes
        further, failed = scale + ratio(total, drawn), there & ~passes
        rest = sums_left(coin, laws, further, tokens[:, :place] if kept else None, failed)
        for _, mass in kept:
            rest = rest + mass
        rejected = failed & (rest > 0)
        scale, total = xp.where(rejected, further, scale), xp.where(rejected, rest, total)
        if distinct:
            kept.append((token, positive_part(t - scale * d)))

    def left(rows: Any) -> Array:
        found = left_over(target[rows], draft[rows], scale[rows])
        for token, mass in kept:
            found = with_mass(found, token[rows], mass[rows], own=True)
        return found

    return _or_drawn(coin, emitted, accepted, target, left)


def _or_drawn(coin: ArrayCoin, emitted: Array, accepted: Array, target: Array, left: MassesOf) -> Emitted:
    """Emit the accepted tokens [B], and elsewhere one drawn from what is left of every request."""
    xp = array_namespace(target)
    return Emitted(xp.where(accepted, emitted, drawn_rows(coin, left, target, coin.going, ~accepted)), accepted)


def decide_hub(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:
    """Accept the draft that is no favourite up to its target mass, else the favourite a, as `hub.emit` does.

    Tokens [B, 2]: (x, a), (a, x), or (a, −1) where the draft is certain. The draft: rows [B, V], or a `Remaining`.
    """
    xp = array_namespace(target)
    without = remaining(draft)
    whole = without(xp.full_like(tokens[:, :1], -1))
    mass, drawn = coin.total(target), coin.total(whole)
    some = tokens[:, 0] >= 0
    hub = favourite(draft, whole)
    first = tokens[:, 0] != hub
    x = xp.where(first, tokens[:, 0], tokens[:, 1])
    others = without(hub[:, None])
    left_out, weight = coin.total(others), mass_of(whole, hub) / drawn
    t, d, share = mass_of(target, x) / mass, mass_of(whole, x) / drawn, mass_of(others, x)
    pair = some & (xp.where(first, d, share) > 0)
    # In (a, x) the mass of x in its pairs is d(a)·d(x)/(1 − d(a)).
    second = ratio(positive_part(t - d) * left_out, weight * share)
    passes = coin.flip(xp.where(first, ratio(t, d), second), pair, xp.where(first, xp.ones_like(t), weight))
    taken = xp.where(pair, ratio(mass, left_out), mass * 0)
    tried = some & ~passes
    rest, own = sums_left(coin, (target, others), taken, hub[:, None], tried), mass_of(target, hub)
    left = rest + own
    sure = tried & (left == 0)
    stays = sure | coin.flip(ratio(own, left), tried & ~sure, left)
    accepted = passes | stays

    def lacking(rows: Any) -> Array:
        return without_tokens(left_over(target[rows], others[rows], taken[rows]), hub[rows][:, None])

    follows = drawn_rows(coin, lacking, target, tried & (rest > 0), ~accepted)
    return Emitted(xp.where(passes, x, xp.where(stays, hub, follows)), accepted)


STEPS = 16
"""Passes over the laws of a search that looks at no value, on a device: the upper end of any bracket is lossless."""


def decide_k_sequential(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:
    """Accept the first draft of [B, k] whose test passes, with chance min(1, t/(γ* d)), as `k_sequential.emit` does.

    γ* is that of each request's own number of drafts. The law: what is left over is t − min(d, t/γ)·Σ_{j<k} (1 − β)^j.
    """
    xp = array_namespace(target)
    size = sizes(tokens)
    mass, drawn = totals = coin.total(target), coin.total(draft)
    gamma, beta = _gamma_and_beta(coin, size, (target, draft), totals)
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


def _gamma_and_beta(
    coin: ArrayCoin, size: Array, laws: tuple[Array, Array], totals: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return γ* and β(γ*), [B] each, of t and d [B, V] with these sums [B], for `size` [B] drafts."""
    mass, drawn = totals
    excess = Excess(lambda gamma: sums_left(coin, laws, gamma * mass / drawn) / mass)
    if is_exact(mass):
        found = [gamma_star(t, d, max(1, int(k))) for t, d, k in zip(*laws, size, strict=True)]
        gamma = np.array(found, dtype=object)
    else:
        xp = array_namespace(size)
        most = xp.astype(xp.where(size < 1, 1, size), mass.dtype)
        gamma = excess.gamma_star(most, None if drafts.on_host(mass) else STEPS)
    # γβ = Σ min(t, γd) = 1 − E(γ), of which β only enters sums of numbers near 1.
    return gamma, (1 - excess.at(gamma)) / gamma
