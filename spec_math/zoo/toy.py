"""The toy case and the toy engine that every known bug runs on: five tokens, two drafts, a drafter and a verifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec_math.arrays import Array, exact, proportional_to
from spec_math.chance import Coin
from spec_math.distribution import one_hot, residual_of

LOOKAHEAD = 2
HORIZON = 3
"""Specimens are judged on the joint law of three tokens, the target completing short blocks."""

_TARGET = (
    ("0.75781518", "0.04836624", "0.00285983", "0.17619516", "0.01476356"),
    ("0.01930981", "0.28816313", "0.55310398", "0.05349670", "0.08592641"),
    ("0.05513431", "0.17728877", "0.03732686", "0.70319307", "0.02705696"),
)
_DRAFT = (
    ("0.32088310", "0.11415404", "0.46717176", "0.07003759", "0.02775354"),
    ("0.09051140", "0.46157259", "0.21263996", "0.16602837", "0.06924767"),
)
# Rounded to eight digits, a row is off by up to 3e-8: it is divided by its sum.
TARGET: tuple[Array, ...] = tuple(proportional_to(exact(row)) for row in _TARGET)
DRAFT: tuple[Array, ...] = tuple(proportional_to(exact(row)) for row in _DRAFT)

DRAFT_LOGITS = np.array(
    [[0.18359375, -0.84765625, 0.55859375, -1.3359375, -2.265625], [0.5546875, 2.1875, 1.40625, 1.1640625, 0.287109375]]
)
"""The draft's logits as bfloat16 holds them; before rounding, their softmax is DRAFT."""


Text = tuple[int, ...]
Generate = Callable[[Coin, Text], Text]
Drafter = Callable[[Coin, Text], tuple[int | None, Array]]
"""From a coin and a prefix to a token, or None to stop drafting, and the law that it is reported to come from."""
Verify = Callable[[Coin, Text, Sequence[Array], Sequence[Array]], Text]
"""From a coin, drafted tokens [L], target rows [L+1, V] and reported rows [L, V] to the emitted tokens."""
Rows = Callable[[Text], Array]


@dataclass(frozen=True)
class Laws:
    """The laws that a program runs on: rows [V] of target and draft by position, again and again, and its drafts."""

    targets: tuple[Array, ...]
    drafts: tuple[Array, ...]
    lookahead: int = 1

    def target(self, prefix: Text) -> Array:
        """Return the target's law [V] after a prefix.

        >>> TOY.target(()) is TARGET[0]
        True
        """
        return self.targets[len(prefix) % len(self.targets)]

    def draft(self, prefix: Text) -> Array:
        """Return the draft's law [V] after a prefix.

        >>> TOY.draft((0, 0)) is DRAFT[0]
        True
        """
        return self.drafts[len(prefix) % len(self.drafts)]


TOY = Laws(TARGET, DRAFT, LOOKAHEAD)
target, draft = TOY.target, TOY.draft


def engine(drafter: Drafter, verify: Verify, target: Rows = target, lookahead: int = LOOKAHEAD) -> Generate:
    """Return the generator that drafts token by token and verifies the chain.

    >>> from spec_math.block_level import check_lossless_block
    >>> bool(check_lossless_block(engine(sampled, by_ratio()), target, 2))
    True
    """

    def generate(coin: Coin, prefix: Text) -> Text:
        tokens: Text = ()
        reported: list[Array] = []
        for _ in range(lookahead):
            token, law = drafter(coin, prefix + tokens)
            if token is None:
                break
            tokens, reported = (*tokens, token), [*reported, law]
        return verify(coin, tokens, [target(prefix + tokens[:n]) for n in range(len(tokens) + 1)], reported)

    return generate


Processed = Callable[[Array], Array]
Sampled = Callable[[Coin, Text], tuple[int, Array]]


def processed(process: Processed) -> Rows:
    """Return the target's rows [5] as a function of a law makes them.

    >>> processed(likeliest)(()).tolist() == one_hot(0, target(())).tolist()
    True
    """
    return lambda prefix: process(target(prefix))


def drawing(drawn: Processed = np.asarray, reported: Processed = np.asarray, given: Laws = TOY) -> Sampled:
    """Return the drafter that samples from one function of the draft's law and reports another.

    >>> from spec_math.chance import replay
    >>> replay(lambda coin: drawing(likeliest)(coin, ())[0], [0.4])
    2
    """

    def drafter(coin: Coin, prefix: Text) -> tuple[int, Array]:
        law = given.draft(prefix)
        return coin.draw(drawn(law)), reported(law)

    return drafter


sampled = drawing()
"""Samples a token from the draft and reports the draft's law, as a drafter should."""


def favourite(_coin: Coin, prefix: Text) -> tuple[int, Array]:
    """Draft the likeliest token and report it as one-hot, as a greedy drafter should.

    >>> favourite(None, ())[0]
    2
    """
    token = int(np.argmax(draft(prefix)))
    return token, one_hot(token, draft(prefix))


def likeliest(t: Array) -> Array:
    """Return the law that is all on the likeliest token.

    >>> int(likeliest(DRAFT[0]).argmax())
    2
    """
    return one_hot(int(np.argmax(t)), t)


Chance = Callable[[Array, Array, int], Any]
Rest = Callable[[Array, Array, int], Array]


def ratio(t: Array, d: Array, x: int) -> Any:
    """Return min(1, t(x)/d(x)), and 1 where the reported law has no mass on x: u·d < t then always holds.

    >>> ratio(TARGET[0], TARGET[0], 1)
    1
    """
    return 1 if d[x] == 0 or t[x] >= d[x] else t[x] / d[x]


def left(t: Array, d: Array, _x: int) -> Array:
    """Return the residual law (t − d)+ / Σ(t − d)+.

    >>> left(TARGET[0], DRAFT[0], 0)[2]
    Fraction(0, 1)
    """
    return residual_of(t, d)


def by_ratio(chance: Chance = ratio, rest: Rest = left) -> Verify:
    """Return the verifier that goes through the chain with a test each, redraws at the first rejection, and adds one.

    >>> from spec_math.chance import law
    >>> rows = [TARGET[0], TARGET[1]]
    >>> law(lambda coin: by_ratio()(coin, (0,), rows, [TARGET[0]]))[0, 2] == TARGET[1][2]
    True
    """

    def verify(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
        for place, token in enumerate(tokens):
            t, d = targets[place], reported[place]
            if not coin.flip(chance(t, d, token)):
                return (*tokens[:place], coin.draw(rest(t, d, token)))
        return (*tokens, coin.draw(targets[-1]))

    return verify


def on_rows(changed: Callable[[Text, Sequence[Array], Sequence[Array]], Any], verify: Verify | None = None) -> Verify:
    """Return a verifier, by default `by_ratio()`, that gets the rows `changed(tokens, targets, reported)`.

    >>> from spec_math.chance import law
    >>> shifted = on_rows(lambda tokens, targets, reported: (targets[1:], reported[1:]))
    >>> law(lambda coin: shifted(coin, (), [TARGET[0], TARGET[1]], [DRAFT[0]]))[2,] == TARGET[1][2]
    True
    """
    return lambda coin, tokens, t, d: (verify or by_ratio())(coin, tokens, *changed(tokens, t, d))
