"""Bugs of the acceptance test: a draft is kept with a probability other than min(1, t/d), or by a wrong coin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import log
from typing import Any

import numpy as np

from spec_math.arrays import Array, positive_part
from spec_math.block_level import block
from spec_math.chance import Coin
from spec_math.distribution import normalised, residual_of, top_k
from spec_math.zoo.specimen import THIRDS, Program, SmallCase, Specimen, broken, laws, verified
from spec_math.zoo.toy import TOY, Chance, Generate, Laws, Text, by_ratio, likeliest, processed, ratio, sampled


def _counts_all(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M7: the matches are counted as (not cumsum) < 1, which counts every position."""
    rejected = [not coin.flip(ratio(targets[n], reported[n], x)) for n, x in enumerate(tokens)]
    matches = sum(1 for count in np.cumsum(rejected) if ~int(count) < 1)
    return (*tokens[:matches], coin.draw(targets[matches]))


def _first_unverified(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M10: the first drafted token is committed, and verification starts after it."""
    return (tokens[0], *by_ratio()(coin, tokens[1:], targets[1:], reported[1:]))


def _unmapped(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M15: the reported law lands on other ids, so that it is 0 at the drafted one, and u·0 < t always holds."""
    moved = reported[0].copy()
    moved[tokens[0]] -= moved[tokens[0]]
    return by_ratio()(coin, tokens, targets, [moved, *reported[1:]])


def _kept_from_before(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M31: where the target's filtered list lacks a drafted token, the chance of the token tested before it stays."""
    chance: Any = Fraction(0)
    for place, x in enumerate(tokens):
        if targets[place][x] > 0:
            chance = targets[place][x]
        d = reported[place]
        if not coin.flip(min(1, chance / d[x])):
            return (*tokens[:place], coin.draw(residual_of(targets[place], d)))
    return (*tokens, coin.draw(targets[-1]))


def _zero_raises(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M38: a sampled token 0 is taken for a failure."""
    emitted = by_ratio()(coin, tokens, targets, reported)
    if emitted[-1] == 0:
        raise RuntimeError("no token was sampled")
    return emitted


top_three = processed(lambda law: top_k(law, 3))


def _accepting(name: str, chance: Chance, printed: tuple[str, str]) -> Specimen:
    return broken(name, sampled, by_ratio(chance), printed=printed)


ACCEPTANCE = (
    broken("M7", sampled, _counts_all, printed=(".543", ".580")).told(
        "operator precedence: all drafts count as matches",
        "transformers PR #28508",
        "compare first and combine then: write the parentheses, and test a draft that must be rejected",
    ),
    _accepting("M8", lambda t, d, x: Fraction(int(ratio(t, d, x) > 0)), (".543", ".580")).told(
        "the acceptance coin is hard-coded 0", "vllm-ascend #13730, #13766, #13470", "draw a uniform for each position"
    ),
    broken("M10", sampled, _first_unverified, printed=(".543", ".543")).told(
        "the first draft is committed unverified", "ohdearquant/lattice #243", "verify the first draft as the others"
    ),
    _accepting("M14", lambda t, _d, x: t[x] / max(t), (".089", ".108")).told(
        "acceptance t(x)/max t",
        "1bit-MONSTER #637",
        "accept with t(x)/d(x), the draft's mass below and not the target's largest one",
    ),
    broken("M15", sampled, _unmapped, printed=(".543", ".543")).told(
        "the reported distribution is 0 at the drafted id, so that it is always accepted",
        "rtp-llm #1311 (review)",
        "read the drafted token's mass before any masking, and refuse a drafted token of mass 0",
        "the printed joint distance is that of the first position alone going wrong",
    ),
    _accepting("M16", lambda t, d, x: t[x] + (1 - t[x]) * ratio(t, d, x), (".005", ".027")).told(
        "a match or the ratio test is enough",
        "rtp-llm #521",
        "take one rule: the ratio test with its residual, or a match with the target's own draw",
    ),
    broken("M31", sampled, _kept_from_before, top_three).told(
        "the target's chance of the token tested before is kept where the filtered list lacks the token",
        "llama.cpp, examples/speculative",
        "set the chance to 0 before each search, so that a token that is missing has none",
        "along one chain, on the target after top-3; in the engine the token before may be another sequence's",
    ),
    broken("M38", sampled, _zero_raises, emits_tokens=False).told(
        "token 0 is taken for a failure",
        "feifeibear, sample()",
        "mark a failure with what is no token, such as -1 or None",
    ),
    _accepting("M48", lambda t, d, x: min(1, 2 * t[x] / d[x]), (".064", ".137")).told(
        "a lenience of 1/2 on the ratio",
        "lucidrains; lossy by design",
        "a lenience of 1 is lossless; else state the rule as lossy, with its distance",
    ),
    _accepting("M48, constant", lambda t, d, x: Fraction(int(t[x] / d[x] > Fraction(3, 10))), (".079", ".166")).told(
        "a constant threshold in place of the coin",
        "TensorRT-LLM; lossy by design",
        "compare the ratio with a uniform in place of the constant; else state the rule as lossy",
        "the threshold is 0.3",
    ),
)


def _product_of_coins(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M54: block verification of two drafts; the second coin is multiplied by the first before it is compared.

    With the thresholds a and b: P(u·v < b) = b(1 − log b), P(u < a, u·v < b) = b(1 + log(a/b)), or a where a ≤ b. The
    logarithm is a float, everything else is exact.
    """
    weights, left = block.weighed(tokens, targets, reported)
    a, b = block.chances(weights, left)
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
    return normalised(rest, t) if rest.sum() else likeliest(t)


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


def _broken_ratios(name: str, program: Program, given: Laws, horizon: int, distance: Fraction) -> Specimen:
    return Specimen(name, generate=program(TOY), smallest=SmallCase(program, given, horizon, distance))


RATIOS = (
    _broken_ratios("M54", verified(_product_of_coins), replace(THIRDS, lookahead=2), 2, Fraction(7, 27) * _log(2)).told(
        "the coins of a block are multiplied with each other, as its ratios are",
        "vllm-ascend 0.18.0, rejection_sample from three drafts on",
        "test each place with a coin of its own; the thresholds hold the product already",
        "the logarithm in its chances is a float's",
    ),
    _broken_ratios(
        "M55", verified(by_ratio(rest=_scalar_subtracted)), laws(["1/2", "1/2"], ["3/4", "1/4"]), 1, Fraction(1, 4)
    ).told(
        "the residual subtracts one number, the drafted token's mass, from every token",
        "rotalabs-accel 1.1.1, eagle_verify",
        "keep the draft's whole distribution and subtract it token by token; of a greedy draft, zero its token alone",
    ),
    _broken_ratios("M59", verified(by_ratio(lambda t, d, x: ratio(d, t, x))), THIRDS, 1, Fraction(1, 3)).told(
        "the ratio is reversed: the draft's mass over the target's",
        "openvino-genai 2026.4, validate_candidate",
        "divide the target's mass by the draft's",
    ),
    _broken_ratios("M60", _same_target_again, THIRDS, 1, Fraction(1, 9)).told(
        "the second draft is tested against the target again, as if the first had not been rejected",
        "",
        "test each further draft against what the rejected ones have left, (t - d)+ divided by its sum",
    ),
)
