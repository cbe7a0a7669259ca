"""A toy engine's step in two halves, a drafter and a verifier; each known bug replaces the half that it breaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.audit.zoo import toy
from spec_math.chance import Coin
from spec_math.distribution import residual_of

Text = tuple[int, ...]
Generate = Callable[[Coin, Text], Text]
Drafter = Callable[[Coin, Text], tuple[int | None, Array]]
"""From a coin and a prefix to a token, or None to stop drafting, and the law that it is reported to come from."""
Verify = Callable[[Coin, Text, Sequence[Array], Sequence[Array]], Text]
"""From a coin, drafted tokens [L], target rows [L+1, V] and reported rows [L, V] to the emitted tokens."""
Rows = Callable[[Text], Array]


def engine(drafter: Drafter, verify: Verify, target: Rows = toy.target) -> Generate:
    """Return the generator that drafts token by token and verifies the chain.

    >>> from spec_math.block_level import check_lossless_block
    >>> bool(check_lossless_block(engine(sampled, by_ratio()), toy.target, 2))
    True
    """

    def generate(coin: Coin, prefix: Text) -> Text:
        tokens: Text = ()
        reported: list[Array] = []
        for _ in range(toy.LOOKAHEAD):
            token, law = drafter(coin, prefix + tokens)
            if token is None:
                break
            tokens, reported = (*tokens, token), [*reported, law]
        return verify(coin, tokens, [target(prefix + tokens[:n]) for n in range(len(tokens) + 1)], reported)

    return generate


def sampled(coin: Coin, prefix: Text) -> tuple[int, Array]:
    """Sample a token from the draft and report the draft's law, as a drafter should.

    >>> from spec_math.chance import replay
    >>> replay(lambda coin: sampled(coin, ())[0], [0.4])
    1
    """
    law = toy.draft(prefix)
    return coin.draw(law), law


def favourite(_coin: Coin, prefix: Text) -> tuple[int, Array]:
    """Draft the likeliest token and report it as one-hot, as a greedy drafter should.

    >>> favourite(None, ())[0]
    2
    """
    token = int(np.argmax(toy.draft(prefix)))
    return token, one_hot(token, toy.draft(prefix))


def one_hot(token: int, like: Array) -> Array:
    """Return the law that is all on one token, of the kind of a given law.

    >>> one_hot(0, toy.DRAFT[0])[0]
    Fraction(1, 1)
    """
    hot = like - like
    hot[token] += 1
    return hot


Chance = Callable[[Array, Array, int], Any]
Rest = Callable[[Array, Array, int], Array]


def ratio(t: Array, d: Array, x: int) -> Any:
    """Return min(1, t(x)/d(x)), and 1 where the reported law has no mass on x: u·d < t then always holds.

    >>> ratio(toy.TARGET[0], toy.TARGET[0], 1)
    1
    """
    return 1 if d[x] == 0 or t[x] >= d[x] else t[x] / d[x]


def left(t: Array, d: Array, _x: int) -> Array:
    """Return the residual law (t − d)+ / Σ(t − d)+.

    >>> left(toy.TARGET[0], toy.DRAFT[0], 0)[2]
    Fraction(0, 1)
    """
    return residual_of(t, d)


def by_ratio(chance: Chance = ratio, rest: Rest = left) -> Verify:
    """Return the verifier that goes through the chain with a test each, redraws at the first rejection, and adds one.

    >>> from spec_math.chance import law
    >>> rows = [toy.TARGET[0], toy.TARGET[1]]
    >>> law(lambda coin: by_ratio()(coin, (0,), rows, [toy.TARGET[0]]))[0, 2] == toy.TARGET[1][2]
    True
    """

    def verify(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
        for place, token in enumerate(tokens):
            t, d = targets[place], reported[place]
            if not coin.flip(chance(t, d, token)):
                return (*tokens[:place], coin.draw(rest(t, d, token)))
        return (*tokens, coin.draw(targets[-1]))

    return verify
