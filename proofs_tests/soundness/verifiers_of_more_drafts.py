"""Verifiers that differ by the number of drafts: right for some, wrong for others, or written for one number alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec_math import Scheme
from spec_math.arrays import positive_part
from spec_math.chance import Coin
from spec_math.distribution import residual
from spec_math.scheme import draw_independent
from spec_math.token_level import hub, recursive, single


def several(coin: Coin, tokens: Any, target: Any, draft: Any, wrong_from: int) -> int:
    """Test each draft against what the ones before it left, up to the number from which it is no longer taken off."""
    left = target
    for place, x in enumerate(tokens):
        if coin.flip(min(1, left[x] / draft[x])):
            return x
        if place + 1 < wrong_from:
            left = residual(left, draft)
    return coin.draw(left)


def right_for_all(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    return several(coin, tokens, target, draft, 99)


def wrong_from_the_second(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    return several(coin, tokens, target, draft, 2)


def wrong_from_the_third(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    return several(coin, tokens, target, draft, 3)


def keeps_the_second(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """Right for one draft; the second is emitted untested."""
    return tokens[1] if len(tokens) > 1 else single.verify(coin, tokens, target, draft)


def prefers_the_heavier(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """Test the draft that the target likes best, as if it had been drawn: right for one draft."""
    return single.verify(coin, max(tokens, key=lambda x: target[x]), target, draft)


def stops_where_two_are_equal(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """Wrong for two equal drafts only."""
    if len(tokens) > 1 and tokens[0] == tokens[1]:
        return tokens[0]
    return recursive.verify(coin, tokens, target, draft)


def wrong_from_the_second_at_a_tie(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """Wrong for two drafts where the draft is uniform over its first two tokens, right elsewhere."""
    if len(tokens) > 1 and draft[0] == draft[1]:
        return tokens[-1]
    return recursive.verify(coin, tokens, target, draft)


def slightly_wrong_from_the_second(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """A coin of one in a million leaks the second draft."""
    if len(tokens) > 1 and coin.flip(Fraction(1, 10**6)):
        return tokens[1]
    return recursive.verify(coin, tokens, target, draft)


WRONG = {
    wrong_from_the_second: 2,
    keeps_the_second: 2,
    prefers_the_heavier: 2,
    stops_where_two_are_equal: 2,
    wrong_from_the_second_at_a_tie: 2,
    slightly_wrong_from_the_second: 2,
    wrong_from_the_third: 3,
}
"""Verifiers that are right for fewer drafts, and the number from which they are wrong."""


def for_one_alone(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    if coin.flip(min(1, target[x] / draft[x])):
        return x
    left = positive_part(target - draft)
    return coin.draw(left / left.sum())


def for_two_alone(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    first, second = tokens
    return recursive.verify(coin, (first, second), target, draft)


def for_none(_coin: Coin, _tokens: Any, _target: Any, _draft: Any) -> int:
    raise NotImplementedError("there is no body yet")


def hashes_from_the_second(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    """Right, and so that symbols do not follow it for two drafts."""
    if len(tokens) > 1:
        hash(target[0])
    return recursive.verify(coin, tokens, target, draft)


OF_THE_HUB = Scheme("of the hub", hub.draw, hub.verify, hub.acceptance, drafts=2)
WRONG_OF_TWO = Scheme("always its second", draw_independent, keeps_the_second, recursive.acceptance, drafts=2)
