"""Verifiers of one position that emit no law: no token, an exception, masses that are none, or memory between calls."""

from __future__ import annotations

from fractions import Fraction
from itertools import count
from typing import Any

from proofs_tests.wrong_choices import ratio
from spec_math.arrays import positive_part
from spec_math.chance import Coin
from spec_math.distribution import residual


def emits_no_token(_coin: Coin, _tokens: Any, _target: Any, _draft: Any) -> None:
    return None


def emits_a_float(_coin: Coin, tokens: Any, _target: Any, _draft: Any) -> float:
    return float(tokens[0])


def emits_beyond_the_vocabulary(coin: Coin, _tokens: Any, target: Any, _draft: Any) -> int:
    return coin.draw(target) + 1


def emits_a_placeholder(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    return x if coin.flip(ratio(target, draft, x)) else -1


def raises(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    if coin.flip(ratio(target, draft, x)):
        return x
    raise KeyError(x)


def divides_by_zero(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    return x if coin.flip(min(1, target[x] / positive_part(draft - target)[x])) else 0


def flips_more_than_one(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    return x if coin.flip(target[x] / draft[x]) else coin.draw(residual(target, draft))


def draws_from_a_residual_that_is_no_law(coin: Coin, tokens: Any, target: Any, draft: Any) -> int:
    (x,) = tokens
    return x if coin.flip(ratio(target, draft, x)) else coin.draw(positive_part(target - draft))


_calls = count()


def remembers(coin: Coin, tokens: Any, _target: Any, _draft: Any) -> int:
    return tokens[0] if coin.flip(Fraction(1, next(_calls) + 2)) else 0


def never_ends(coin: Coin, _tokens: Any, target: Any, _draft: Any) -> int:
    while coin.flip(Fraction(1)):
        pass
    return coin.draw(target)
