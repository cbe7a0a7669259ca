"""Bugs of the ratio that a draft is tested by, and of the coin and the residual that belong to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import log
from typing import Any

import numpy as np

from spec_math.arrays import Array, positive_part
from spec_math.audit.zoo.engine import Generate, Text, Verify, by_ratio, one_hot, ratio
from spec_math.audit.zoo.small_case import TOY, Laws, SmallCase, laws
from spec_math.audit.zoo.specimen import Specimen
from spec_math.block_level import block
from spec_math.chance import Coin
from spec_math.distribution import normalised, residual_of


def _product_of_coins(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M54: block verification of two drafts; the second coin is multiplied by the first before it is compared.

    With the thresholds a and b: P(u·v < b) = b(1 − log b), P(u < a, u·v < b) = b(1 + log(a/b)), or a where a ≤ b. The
    logarithm is a float, everything else is exact.
    """
    weights, left = block.weighed(tokens, targets, reported)
    mass = left[1].sum()
    a = 1 if weights[1] == 1 else mass / (mass + 1 - weights[1])
    b = weights[2]
    both = b * (1 - _log(b))
    first = a - (a if a <= b else b * (1 + _log(a / b)))
    kept = (2, 1, 0)[coin.draw(np.array([both, first, 1 - both - first], dtype=object))]
    rest = targets[2] if kept == 2 else normalised(left[kept], targets[kept])
    return (*tokens[:kept], coin.draw(rest))


def _log(x: Any) -> Fraction:
    return Fraction(log(x)) if x else Fraction(0)


def _scalar_subtracted(t: Array, d: Array, x: int) -> Array:
    """M55: the drafted token's mass is subtracted from that of every token; what is left empty is the likeliest one."""
    rest = positive_part(t - d[x])
    return normalised(rest, t) if rest.sum() else one_hot(int(np.argmax(t)), t)


def _reversed(t: Array, d: Array, x: int) -> Any:
    """M59: the ratio is d/t, for t/d."""
    return ratio(d, t, x)


def _same_target_again(given: Laws) -> Generate:
    """M60: two drafts a place; where the first is rejected the second is tested against the target once more."""

    def generate(coin: Coin, prefix: Text) -> Text:
        text: Text = ()
        for _ in range(given.lookahead):
            t, d = given.target(prefix + text), given.draft(prefix + text)
            for _ in range(2):
                x = coin.draw(d)
                if coin.flip(ratio(t, d, x)):
                    text = (*text, x)
                    break
            else:
                return (*text, coin.draw(residual_of(t, d)))
        return (*text, coin.draw(given.target(prefix + text)))

    return generate


def _verified(verify: Verify) -> Callable[[Laws], Generate]:
    """Return what a verifier makes of drafts that are sampled from the draft."""

    def program(given: Laws) -> Generate:
        def generate(coin: Coin, prefix: Text) -> Text:
            tokens: Text = ()
            for _ in range(given.lookahead):
                tokens = (*tokens, coin.draw(given.draft(prefix + tokens)))
            texts = [prefix + tokens[:n] for n in range(given.lookahead + 1)]
            return verify(coin, tokens, [given.target(text) for text in texts], [*map(given.draft, texts[:-1])])

        return generate

    return program


def _broken(name: str, program: Callable[[Laws], Generate], told: tuple[str, str], *small: Any) -> Specimen:
    """Return a specimen; `told` is its cause and where it is; `small` laws, a horizon and a distance."""
    given, horizon, distance = small
    smallest = SmallCase(program, given, horizon, distance)
    note = "the logarithm in its chances is a float's" if name == "M54" else ""
    return Specimen(name, *told, "verifier", program(TOY), note=note, smallest=smallest)


THIRDS = laws(["1/3", "2/3"], ["2/3", "1/3"])

SPECIMENS = (
    _broken(
        "M54",
        _verified(_product_of_coins),
        (
            "the coins of a block are multiplied with each other, as its ratios are",
            "vllm-ascend 0.18.0, rejection_sample from three drafts on",
        ),
        laws(["1/3", "2/3"], ["2/3", "1/3"], 2),
        2,
        Fraction(7, 27) * _log(2),
    ).mended_by("test each place with a coin of its own; the thresholds hold the product already"),
    _broken(
        "M55",
        _verified(by_ratio(rest=_scalar_subtracted)),
        (
            "the residual subtracts one number, the drafted token's mass, from every token",
            "rotalabs-accel 1.1.1, eagle_verify",
        ),
        laws(["1/2", "1/2"], ["3/4", "1/4"]),
        1,
        Fraction(1, 4),
    ).mended_by("keep the draft's whole law and subtract it token by token; of a greedy draft, zero its token alone"),
    _broken(
        "M59",
        _verified(by_ratio(_reversed)),
        ("the ratio is reversed: the draft's mass over the target's", "openvino-genai 2026.4, validate_candidate"),
        THIRDS,
        1,
        Fraction(1, 3),
    ).mended_by("divide the target's mass by the draft's"),
    _broken(
        "M60",
        _same_target_again,
        ("the second draft is tested against the target again, as if the first had not been rejected", ""),
        THIRDS,
        1,
        Fraction(1, 9),
    ).mended_by("test each further draft against what the rejected ones have left, (t - d)+ divided by its sum"),
)
