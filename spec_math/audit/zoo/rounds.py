"""Bugs that need several rounds to show: what one step leaves behind changes the next."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, exact, proportional_to
from spec_math.audit.zoo.engine import Text, by_ratio
from spec_math.audit.zoo.specimen import Specimen
from spec_math.audit.zoo.toy import HORIZON, LOOKAHEAD
from spec_math.block_level import block
from spec_math.chance import Coin
from spec_math.distribution import normalised
from spec_math.pathwise.exploration import as_generator

_TARGET = tuple(exact(row) for row in (["3/4", "1/4"], ["2/5", "3/5"], ["1/8", "7/8"]))
_DRAFT = tuple(exact(row) for row in (["1/3", "2/3"], ["3/4", "1/4"], ["4/5", "1/5"]))
"""Two tokens and laws by position: enough for rounds on rounds to be walked in full."""


def _target(prefix: Text) -> Array:
    return _TARGET[len(prefix) % len(_TARGET)]


def _draft(prefix: Text) -> Array:
    return _DRAFT[len(prefix) % len(_DRAFT)]


def _coins_by_position(key: Callable[[int, int], Any], rounds: int = HORIZON) -> Callable[[Text], Text]:
    """M35: block verification whose coins are made of a seed and a position, committed or not, round after round."""

    def sampler(prefix: Text) -> Text:
        text: Text = ()
        for turn in range(rounds):
            if len(text) >= HORIZON:
                break
            start = prefix + text
            tokens: Text = ()
            for _ in range(LOOKAHEAD):
                tokens = (*tokens, int(not random.random() < _draft(start + tokens)[0]))
            targets = [_target(start + tokens[:n]) for n in range(LOOKAHEAD + 1)]
            drafts = [_draft(start + tokens[:n]) for n in range(LOOKAHEAD)]
            weights, left = block.weighed(tokens, targets, drafts)
            kept = 0
            for place in range(1, LOOKAHEAD + 1):
                chance = weights[place]
                if place < LOOKAHEAD and chance < 1:
                    mass = left[place].sum()
                    chance = mass / (mass + 1 - chance)
                if np.random.default_rng(key(len(start) + place, turn)).random() < chance:
                    kept = place
            rest = targets[kept] if kept == LOOKAHEAD else normalised(left[kept], targets[kept])
            text = (*text, *tokens[:kept], int(not random.random() < rest[0]))
        return text

    return sampler


def _penalised(prefix: Text) -> Array:
    """Return the law after a prefix with the weight of each token that it holds halved."""
    return _lowered(_target(prefix), prefix)


def _lowered(law: Array, seen: Text) -> Array:
    return proportional_to([mass / 2 if token in seen else mass for token, mass in enumerate(law)])


def _one_penalty_a_step(coin: Coin, prefix: Text) -> Text:
    """M46: of the tokens that a step emits only the last is added to those that are penalised."""
    text: Text = ()
    counted: Text = ()
    while len(text) < HORIZON:
        start = prefix + text
        tokens: Text = ()
        for _ in range(LOOKAHEAD):
            tokens = (*tokens, coin.draw(_draft(start + tokens)))
        targets = [_lowered(_target(start + tokens[:n]), counted + tokens[:n]) for n in range(LOOKAHEAD + 1)]
        drafts = [_draft(start + tokens[:n]) for n in range(LOOKAHEAD)]
        emitted = by_ratio()(coin, tokens, targets, drafts)
        text, counted = text + emitted, (*counted, emitted[-1])
    return text


def _position(place: int, _turn: int) -> Any:
    return (7, place)


def _position_and_round(place: int, turn: int) -> Any:
    return (7, place, turn)


ONE_ROUND = as_generator(_coins_by_position(_position, rounds=1))
"""The same coins in one round: each is used once, and the block is lossless."""

SPECIMENS = (
    Specimen(
        "M35",
        "coins by position are used again for positions that were not committed",
        "vLLM, spec_step_seed",
        "replay",
        as_generator(_coins_by_position(_position)),
        fresh=as_generator(_coins_by_position(_position_and_round)),
        target=_target,
        note="block verification on two tokens, rounds until three tokens stand; in one round it is lossless",
    ).mended_by("number coins by draw and not by position, or draw anew for positions that were not committed"),
    Specimen(
        "M46",
        "penalties count one token a step",
        "SGLang #33643",
        "verifier",
        _one_penalty_a_step,
        target=_penalised,
        note=f"a penalty of {Fraction(1, 2)} on tokens seen, on two tokens, rounds until three tokens stand",
    ).mended_by("update the penalties after each token of a step, drafts too, before the next row is processed"),
)
