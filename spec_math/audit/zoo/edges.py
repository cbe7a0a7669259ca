"""Bugs at the edges of what a number can be: a coin of exactly 0 or 1, NaN, and placeholders taken for tokens."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from spec_math.arrays import Array
from spec_math.audit.zoo import toy
from spec_math.audit.zoo.acceptance import top_three
from spec_math.audit.zoo.engine import Text, by_ratio, engine, ratio, sampled
from spec_math.audit.zoo.specimen import Specimen
from spec_math.chance import Coin
from spec_math.distribution import residual_of

PLACEHOLDER = -1


def _zero_accepts(t: Array, d: Array, x: int) -> Any:
    """M39: u <= t/d in float32, where u is 0 once in 2^24, and then accepts a token of mass 0."""
    return ratio(t, d, x) if t[x] > 0 else Fraction(1, 2**24)


def _past_the_end(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M40: a hash of 32 bits in float32 is 1 once in 2^25, and an inverse-CDF walk then ends at the last token."""

    def draw(law: Array) -> int:
        return len(law) - 1 if coin.flip(Fraction(1, 2**25)) else coin.draw(law)

    for place, x in enumerate(tokens):
        t, d = targets[place], reported[place]
        if not coin.flip(ratio(t, d, x)):
            return (*tokens[:place], draw(residual_of(t, d)))
    return (*tokens, draw(targets[-1]))


def _padding(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M41: the bonus row is NaN, and its argmax lies in the padding behind the vocabulary."""
    emitted = by_ratio()(coin, tokens, targets, reported)
    return (*emitted[:-1], len(targets[-1])) if len(emitted) == len(targets) else emitted


def _placeholder_as_index(coin: Coin, prefix: Text) -> Text:
    """M42: one token is drafted and one place padded with −1, which reads the last entries of both rows."""
    x, law = sampled(coin, prefix)
    tokens = (x, PLACEHOLDER)
    targets = [toy.target((0,) * place) for place in range(3)]
    emitted = by_ratio()(coin, tokens, targets, [law, toy.draft((0,))])
    return tuple(token for token in emitted if token != PLACEHOLDER)


def _placeholder_as_zero(coin: Coin, prefix: Text) -> Text:
    """M43: the padded place is filled with token 0, and emitted."""
    x, law = sampled(coin, prefix)
    emitted = by_ratio()(coin, (x,), [toy.target(()), toy.target((0,))], [law])
    return emitted if len(emitted) == 1 else (x, 0)


SPECIMENS = (
    Specimen(
        "M39",
        "u = 0 accepts a token of mass 0",
        "vLLM PR #23803; pytorch #16706",
        "verifier",
        engine(sampled, by_ratio(_zero_accepts), top_three),
        sampled,
        target=top_three,
        note="on the target after top-3, the coin ideal but for u = 0; the corpus prints '1e-8 class'",
    ).mended_by("accept where u is strictly below the ratio, u in [0, 1)"),
    Specimen(
        "M40",
        "a uniform of 1 walks past the last bucket",
        "SGLang, _seeded_verify_coins",
        "verifier",
        engine(sampled, _past_the_end, top_three),
        sampled,
        target=top_three,
        note="on the target after top-3, the coin ideal but for u = 1; the corpus prints '3e-8 class'",
    ).mended_by("draw u in [0, 1), or end the walk at the last token that has mass"),
    Specimen(
        "M41",
        "the argmax of a row of NaN lies in the padding",
        "vLLM #20531, #21876; vllm-ascend #15118",
        "verifier",
        engine(sampled, _padding),
        sampled,
        note="the bonus row is the one that is NaN",
        emits_tokens=False,
    ).mended_by("leave the padding out of the argmax, and refuse a row that is no law"),
    Specimen(
        "M42",
        "a placeholder of -1 is used as an index",
        "vLLM #46533, #50939; vllm-ascend #10043, #10045",
        "verifier",
        _placeholder_as_index,
        note="one token drafted, one place padded",
    ).mended_by("mask placeholders before they are used as an index, and count them as rejected"),
    Specimen(
        "M43",
        "a placeholder becomes token 0",
        "vLLM #54137",
        "verifier",
        _placeholder_as_zero,
        note="one token drafted, one place padded",
    ).mended_by("keep placeholders apart from tokens until they are cut off"),
)
