"""Rejection on a batch: drafts are tested in turn against what the earlier ones left of the target.

One formula for maximal coupling, recursive rejection with and without replacement, greedy drafts and drafters of their
own: only the draft law of each test differs.

Source: SpecInfer, multi-step speculative sampling; Sequoia, for drafts without replacement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spec_math.array_coin import ArrayCoin
from spec_math.arrays import Array, array_namespace, positive_part, zeros_like
from spec_math.token_level.array_drafts import (
    Emitted,
    MassesOf,
    drawn_rows,
    left_over,
    mass_of,
    ratio,
    remaining,
    sizes,
    with_mass,
    without_tokens,
)
from spec_math.token_level.left_sums import sums_left


def decide_recursive(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:
    """Test the drafts [B, k] in turn as `recursive.emit` does, against draft rows [B, V], or [B, k, V] of k drafters.

    The law: r starts as t; x is accepted with chance min(1, r(x)/d(x)), else r becomes (r − d)+ / Σ. Here r keeps its
    own sum R: with draws from d in proportion to D = Σ d the chance is r(x)·D/(R·d(x)), and r becomes (r − (R/D)·d)+.

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> coin = ArrayCoin(exact([["3/5", "1/5", 0]]))
    >>> decide_recursive(coin, np.array([[0, 1]]), exact([["1/4", "3/4"]]), exact([["1/2", "1/2"]])).token.tolist()
    [1]
    """
    if draft.ndim == 3:
        return _tested(coin, tokens, target, lambda place: draft[:, place])
    return _tested_alike(coin, tokens, target, draft)


def decide_without_replacement(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:
    """Test distinct drafts [B, k] in turn as `without_replacement.emit` does: d loses each token that is rejected.

    The draft: rows [B, V], or a `Remaining`.

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> coin = ArrayCoin(exact([["3/5", "1/5", 0]]))
    >>> laws = exact([["1/4", "3/4"]]), exact([["1/2", "1/2"]])
    >>> decide_without_replacement(coin, np.array([[0, 1]]), *laws).accepted.tolist()
    [True]
    """
    if not callable(draft):
        return _tested_alike(coin, tokens, target, draft, distinct=True)
    # What is left is on a scale of its own at every test, and no one λ serves.
    return _tested(coin, tokens, target, lambda place: draft(tokens[:, :place]))


def decide_greedy(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:
    """Test the last draft of each request alone, as `greedy.emit` does: the draft law is without the others.

    The draft: rows [B, V], or a `Remaining`.

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> coin = ArrayCoin(exact([["2/5", 0]]))
    >>> laws = exact([["1/4", "1/2", "1/4"]]), exact([["1/4", "1/2", "1/4"]])
    >>> decide_greedy(coin, np.array([[1, 2]]), *laws).token.tolist()
    [2]
    """
    xp = array_namespace(tokens)
    last = sizes(tokens) - 1
    places = xp.cumulative_sum(xp.ones_like(tokens), axis=1) - 1
    fixed = xp.where(places < last[:, None], tokens, -1)
    drawn = xp.take_along_axis(tokens, xp.where(last < 0, 0, last)[:, None], axis=1)
    return _tested_alike(coin, drawn, target, remaining(draft)(fixed))


def decide_one_hot(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:  # noqa: ARG001
    """Accept the one draft x [B, 1] with chance t(x), else draw from t without x, as `one_hot.emit` does.

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> coin = ArrayCoin(exact([["1/4", 0]]))
    >>> decide_one_hot(coin, np.array([[0]]), exact([["1/4", "3/4"]]), exact([[1, 0]])).token.tolist()
    [1]
    """
    xp = array_namespace(target)
    token = tokens[:, 0]
    there = token >= 0
    accepted = coin.flip(ratio(mass_of(target, token), coin.total(target)), where=there)
    rest = sums_left(coin, (target, target), zeros_like(coin.one), tokens[:, :1], there & ~accepted)
    follows = drawn_rows(coin, lambda rows: without_tokens(target[rows], tokens[rows, :1]), target, rest > 0, ~accepted)
    return Emitted(xp.where(accepted, token, follows), accepted)


def decide_match(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:  # noqa: ARG001
    """Draw from the target, and accept the one draft [B, 1] that is the same token, as `sample_and_match.emit` does.

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> coin = ArrayCoin(exact([["1/2"]]))
    >>> decide_match(coin, np.array([[1]]), exact([["1/4", "3/4"]]), exact([[1, 0]])).accepted.tolist()
    [True]
    """
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
