"""Wrong choices among k drafts: stale residuals, distinct tokens, K-SEQ below γ*, the drafts of another scheme."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import positive_part
from spec_math.chance import Coin
from spec_math.distribution import normalised, residual, restricted
from spec_math.token_level import k_sequential, single


def ratio(target: Any, draft: Any, x: int) -> Any:
    return min(1, target[x] / draft[x])


def keeps_a_stale_residual(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    r = residual(target, draft)
    for x in tokens:
        if coin.flip(ratio(target, draft, x)):
            return x
    return coin.draw(r)


def leaves_the_residual_unnormalised(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    r = target
    for x in tokens:
        if coin.flip(ratio(r, draft, x)):
            return x
        r = positive_part(r - draft)
    return coin.draw(normalised(r, target))


def chooses_among_distinct_tokens(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    distinct = sorted(set(tokens))
    x = distinct[coin.draw([Fraction(1, len(distinct))] * len(distinct))]
    return single.verify(coin, x, target, draft)


def chooses_an_index(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """The right choice: one draft of the k, each as likely, has the draft's law."""
    x = tokens[coin.draw([Fraction(1, len(tokens))] * len(tokens))]
    return single.verify(coin, x, target, draft)


def verifies_the_likeliest_draft(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    return single.verify(coin, max(tokens, key=lambda x: (target[x] / draft[x], x)), target, draft)


def accepts_any_match_of_fresh_draws(coin: Coin, tokens: Any, target: Any, _draft: Any) -> int:
    for x in tokens:
        y = coin.draw(target)
        if y == x:
            return x
    return y


def k_sequential_below_gamma_star(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """γ = 1 and the residual as printed, which has negative masses there."""
    return _at_one(coin, tokens, target, draft, lambda left: left / left.sum())


def k_sequential_below_gamma_star_clipped(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """γ = 1, and the negative masses of the residual set to 0 in silence."""
    return _at_one(coin, tokens, target, draft, lambda left: normalised(positive_part(left), target))


def _at_one(coin: Coin, tokens: Any, target: Any, draft: Any, law_of: Callable[[Any], Any]) -> int:
    for x in tokens:
        if coin.flip(ratio(target, draft, x)):
            return x
    passed = np.minimum(target, draft)
    missed = 1 - passed.sum()
    return coin.draw(law_of(target - passed * sum(missed**j for j in range(len(tokens)))))


def k_sequential_with_the_plain_residual(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    gamma = k_sequential.gamma_star(target, draft, len(tokens))
    for x in tokens:
        if coin.flip(min(1, target[x] / (gamma * draft[x]))):
            return x
    return coin.draw(residual(target, draft))


def greedy_with_the_whole_draft(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    return single.verify(coin, tokens[-1], target, draft)


def hub_with_one_test_for_both_orders(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    favoured = int(np.argmax(draft))
    x = next(token for token in tokens if token != favoured)
    if coin.flip(ratio(target, draft, x)):
        return x
    rest = restricted(draft, np.arange(len(draft)) != favoured)
    return coin.draw(residual(target, rest))
