"""SpecHub on a batch: of two drafts one is the draft's favourite, and takes what the other leaves.

Source: Sun et al. 2024 (SpecHub).
"""

from __future__ import annotations

from typing import Any

from spec_math.array_coin import ArrayCoin
from spec_math.arrays import Array, array_namespace, positive_part
from spec_math.token_level.array_drafts import (
    Emitted,
    drawn_rows,
    favourite,
    left_over,
    mass_of,
    ratio,
    remaining,
    without_tokens,
)
from spec_math.token_level.left_sums import sums_left


def decide_hub(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:
    """Accept the draft that is no favourite up to its target mass, else the favourite a, as `hub.emit` does.

    Tokens [B, 2]: (x, a), (a, x), or (a, −1) where the draft is certain. The draft: rows [B, V], or a `Remaining`.

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> coin = ArrayCoin(exact([["1/2", "1/2", 0]]))
    >>> laws = exact([["1/2", "1/4", "1/4"]]), exact([["1/2", "1/4", "1/4"]])
    >>> decide_hub(coin, np.array([[1, 0]]), *laws).token.tolist()
    [1]
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
