"""Bugs of the drafter, whose token was sampled from another law than it reports, and of numbers at their edges."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, exact, proportional_to
from spec_math.chance import Coin
from spec_math.distribution import residual_of, temperature, top_k
from spec_math.zoo import toy
from spec_math.zoo.acceptance import top_three
from spec_math.zoo.specimen import Specimen, broken
from spec_math.zoo.toy import Drafter, Text, by_ratio, drawing, likeliest, ratio, sampled


def _rounded(coin: Coin, prefix: Text) -> tuple[int, Array]:
    """M5: sampled from the softmax of logits in bfloat16, reported from logits in float32."""
    logits = toy.DRAFT_LOGITS[len(prefix) % len(toy.DRAFT)]
    return coin.draw(proportional_to(exact(np.exp(logits)))), toy.draft(prefix)


def _discarded(coin: Coin, prefix: Text) -> tuple[int | None, Array]:
    """M49: a token of low confidence is thrown away, and the law of those kept is not divided by what is left."""
    law = toy.draft(prefix)
    token = coin.draw(law)
    return (token if law[token] >= Fraction(3, 20) else None), law


def _misreported(name: str, drafter: Drafter, **known: Any) -> Specimen:
    return broken(name, drafter, by_ratio(), contract="drafter", **known)


DRAFTS = (
    _misreported("M1", drawing(reported=lambda law: np.roll(law, 2)), printed=(".081", ".164")).told(
        "two index maps disagree: the draft's distribution is permuted against its tokens",
        "transformers 5.23.0, AssistantToTargetTranslator with a pruned head",
        "map the draft's distribution and its tokens by one table, in one place",
    ),
    _misreported("M2", drawing(likeliest), printed=(".063", ".063")).told(
        "a greedy draft is verified against the softmax",
        "transformers #32867; jaymody/speculative-sampling #3; rtp-llm #1311",
        "report a greedy draft as one-hot, or draw it from the distribution that is reported",
    ),
    _misreported("M3", drawing(lambda law: top_k(law, 3)), printed=(".076", ".105")).told(
        "drafted from processed logits, the raw ones are reported",
        "transformers #47932; mlx-node #11",
        "report the distribution that the draft was drawn from, after all processors",
    ),
    _misreported("M4", drawing(lambda law: temperature(law, Fraction(1, 2))), printed=(".078", ".094")).told(
        "drafted at one temperature, reported at another",
        "mlx-node #11; vLLM #9834",
        "divide the logits by one temperature before drawing, and report the distribution after it",
    ),
    _misreported("M5", _rounded, printed=("2.3e-4", "3.7e-4")).told(
        "sampled in bfloat16, reported in float32",
        "deepseek-ai/DeepSpec #31",
        "draw from the very numbers that are reported, of one type",
    ),
    # By beam search: where laws go by position, the likeliest token of each row.
    _misreported("M6", drawing(likeliest)).told(
        "a beam-searched draft is taken for a sample",
        "apple/ml-recurrent-drafter #6",
        "report a beam's tokens as one-hot, or sample them",
    ),
    _misreported("M49", _discarded, printed=(".098", ".112")).told(
        "a sampled draft of low confidence is discarded, and its distribution not renormalised",
        "predicted of early exits by p_min with a ratio test",
        "stop drafting after the token of low confidence and verify it, or renormalise the reported distribution",
    ),
)


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


EDGES = (
    broken("M39", sampled, by_ratio(_zero_accepts), top_three).told(
        "u = 0 accepts a token of mass 0",
        "vLLM PR #23803; pytorch #16706",
        "accept where u is strictly below the ratio, u in [0, 1)",
        "on the target after top-3, the coin ideal but for u = 0; the corpus prints '1e-8 class'",
    ),
    broken("M40", sampled, _past_the_end, top_three).told(
        "a uniform of 1 walks past the last bucket",
        "SGLang, _seeded_verify_coins",
        "draw u in [0, 1), or end the walk at the last token that has mass",
        "on the target after top-3, the coin ideal but for u = 1; the corpus prints '3e-8 class'",
    ),
    broken("M41", sampled, _padding, emits_tokens=False).told(
        "the argmax of a row of NaN lies in the padding",
        "vLLM #20531, #21876; vllm-ascend #15118",
        "leave the padding out of the argmax, and refuse a row that is not a distribution",
        "the bonus row is the one that is NaN",
    ),
    Specimen("M42", generate=_placeholder_as_index).told(
        "a placeholder of -1 is used as an index",
        "vLLM #46533, #50939; vllm-ascend #10043, #10045",
        "mask placeholders before they are used as an index, and count them as rejected",
        "one token drafted, one place padded",
    ),
    Specimen("M43", generate=_placeholder_as_zero).told(
        "a placeholder becomes token 0",
        "vLLM #54137",
        "keep placeholders apart from tokens until they are cut off",
        "one token drafted, one place padded",
    ),
)
