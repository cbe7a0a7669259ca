"""Bugs of what a tree keeps for a text: tokens that overwrite each other, and coins that are used again."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.audit.zoo import toy
from spec_math.audit.zoo.engine import Generate, Text, ratio
from spec_math.audit.zoo.small_case import TOY, Laws, SmallCase, laws
from spec_math.audit.zoo.specimen import Specimen
from spec_math.chance import Coin
from spec_math.distribution import residual_of, restricted
from spec_math.pathwise.exploration import as_generator


def _bonus_first(given: Laws) -> Generate:
    """M51: two paths in one array of tokens; the bonus token is written before the accepted ones are moved.

    The root is slot 0, its two children, drafted without replacement, are slots 1 and 2, and slot n + 2 follows slot n.
    """

    def generate(coin: Coin, prefix: Text) -> Text:
        law, draft = given.target(prefix), given.draft(prefix)
        accepted, tokens = [0], [-1] * (2 * given.lookahead + 2)
        for slot in (1, 2):
            tokens[slot] = x = coin.draw(draft)
            if coin.flip(ratio(law, draft, x)):
                accepted.append(slot)
                break
            law, draft = residual_of(law, draft), restricted(draft, np.arange(len(draft)) != x)
        while len(accepted) > 1:  # a path goes on without siblings
            text = (*prefix, *(tokens[slot] for slot in accepted[1:]))
            law, draft, slot = given.target(text), given.draft(text), accepted[-1] + 2
            if len(accepted) > given.lookahead:
                break
            tokens[slot] = x = coin.draw(draft)
            if not coin.flip(ratio(law, draft, x)):
                law = residual_of(law, draft)
                break
            accepted.append(slot)
        tokens[len(accepted)] = coin.draw(law)
        return (*(tokens[slot] for slot in accepted[1:]), tokens[len(accepted)])

    return generate


def _drawn(law: Array) -> int:
    u = random.random()
    return next(token for token, total in enumerate(accumulate(law)) if total > u)


Key = Callable[[int, int], Any]
"""From a coin's place and its round to what it is kept under: coins of one key are one number."""
Rounds = Callable[[Key, Laws, int], Generate]


def _chain(key: Key, given: Laws, horizon: int) -> Generate:
    """M52: round after round of a chain, the coin of a round's n-th draft kept under key(n, round)."""

    def sampler(prefix: Text) -> Text:
        coins: dict[Any, Any] = defaultdict(random.random)
        text: Text = ()
        turn = 0
        while len(text) < horizon:
            for place in range(given.lookahead):
                t, d = given.target(prefix + text), given.draft(prefix + text)
                x = _drawn(d)
                if not coins[key(place, turn)] < ratio(t, d, x):
                    text = (*text, _drawn(residual_of(t, d)))
                    break
                text = (*text, x)
            else:
                text = (*text, _drawn(given.target(prefix + text)))
            turn += 1
        return text

    return as_generator(sampler)


def _tree(key: Key, given: Laws, horizon: int) -> Generate:
    """M53: round after round of two siblings behind the text, the coin of a place kept under key(place, round)."""

    def sampler(prefix: Text) -> Text:
        coins: dict[Any, Any] = defaultdict(random.random)
        text: Text = ()
        turn = 0
        while len(text) < horizon:
            start = len(text)
            law, draft = given.target(prefix + text), given.draft(prefix + text)
            for place in (start, start + 1):
                x = _drawn(draft)
                if coins[key(place, turn)] < ratio(law, draft, x):
                    text = (*text, x)
                    law = given.target(prefix + text)
                    break
                law, draft = residual_of(law, draft), restricted(draft, np.arange(len(draft)) != x)
            text = (*text, _drawn(law))
            turn += 1
        return text

    return as_generator(sampler)


def _one(place: int, _turn: int) -> Any:
    return place


def _one_a_round(place: int, turn: int) -> Any:
    return place, turn


def _two_tokens(rounds: Rounds, given: Laws) -> Generate:
    return rounds(_one, given, 2)


THIRDS = laws(["1/3", "2/3"], ["2/3", "1/3"])
THREE = laws(["1/6", "1/3", "1/2"], ["1/2", "1/6", "1/3"])


def _kept(name: str, rounds: Rounds, given: Laws, *told: Any) -> Specimen:
    """Return a specimen that runs on small laws of its own: rounds on rounds of the toy are too many paths."""
    cause, reference, distance = told
    return Specimen(
        name,
        cause,
        reference,
        "replay",
        rounds(_one, given, toy.HORIZON),
        fresh=rounds(_one_a_round, given, toy.HORIZON),
        target=given.target,
        note="on small laws of its own, rounds until three tokens stand",
        smallest=SmallCase(partial(_two_tokens, rounds), given, 2, distance),
    )


SPECIMENS = (
    Specimen(
        "M51",
        "the bonus token is written before the accepted tokens are moved, and overwrites one",
        "Sequoia, SpecTree and SpecInferTree",
        "verifier",
        _bonus_first(TOY),
        note="two paths, their first tokens drafted without replacement",
        smallest=SmallCase(_bonus_first, THIRDS, 1, Fraction(1, 9)),
    ).mended_by("move the accepted tokens first, then write the bonus token behind them"),
    _kept(
        "M52",
        _chain,
        THIRDS,
        "coins are drawn once for a text, and each round tests with the same ones",
        "Sequoia, SpecTree and SpecInferTree",
        Fraction(1, 9),
    ).mended_by("draw the coins anew in every round"),
    _kept(
        "M53",
        _tree,
        THREE,
        "coins by absolute place: a place whose draft was rejected is tried again with its coin",
        "Sequoia, SpecTree and SpecInferTree",
        Fraction(1, 108),
    ).mended_by("draw the coins anew in every round, or let them depend on the round as well"),
)
