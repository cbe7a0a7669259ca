"""Bugs of the acceptance test: a draft is kept with a probability other than min(1, t/d), or by a wrong coin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import log
from typing import Any

import numpy as np

from spec_math.arrays import Array, positive_part
from spec_math.block_level import block
from spec_math.chance import Coin
from spec_math.distribution import normalised, residual_of, top_k
from spec_math.zoo import toy
from spec_math.zoo.specimen import TOY, Laws, SmallCase, Specimen, laws
from spec_math.zoo.toy import Generate, Text, Verify, by_ratio, engine, one_hot, ratio, sampled


def _counts_all(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M7: the matches are counted as (not cumsum) < 1, which counts every position."""
    rejected = [not coin.flip(ratio(targets[n], reported[n], x)) for n, x in enumerate(tokens)]
    matches = sum(1 for count in np.cumsum(rejected) if ~int(count) < 1)
    return (*tokens[:matches], coin.draw(targets[matches]))


def _zero_coin(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M8: the acceptance coin is the constant 0."""
    u = Fraction(0)
    for place, x in enumerate(tokens):
        if not u < ratio(targets[place], reported[place], x):
            return (*tokens[:place], coin.draw(residual_of(targets[place], reported[place])))
    return (*tokens, coin.draw(targets[-1]))


def _first_unverified(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M10: the first drafted token is committed, and verification starts after it."""
    return (tokens[0], *by_ratio()(coin, tokens[1:], targets[1:], reported[1:]))


def _over_the_largest(t: Array, _d: Array, x: int) -> Any:
    """M14: the chance is t(x)/max t."""
    return t[x] / max(t)


def _unmapped(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M15: the reported law lands on other ids, so that it is 0 at the drafted one, and u·0 < t always holds."""
    moved = reported[0].copy()
    moved[tokens[0]] -= moved[tokens[0]]
    return by_ratio()(coin, tokens, targets, [moved, *reported[1:]])


def _match_or_ratio(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M16: a draft is kept if a target sample equals it, or if the ratio test passes."""
    for place, x in enumerate(tokens):
        t, d = targets[place], reported[place]
        if coin.draw(t) != x and not coin.flip(ratio(t, d, x)):
            return (*tokens[:place], coin.draw(residual_of(t, d)))
    return (*tokens, coin.draw(targets[-1]))


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


def _lenient(t: Array, d: Array, x: int) -> Any:
    """M48: the ratio is divided by a lenience of 1/2."""
    return min(1, 2 * t[x] / d[x])


def _constant(t: Array, d: Array, x: int) -> Any:
    """M48: the ratio is compared with the constant 0.3 in place of a coin."""
    return Fraction(int(t[x] / d[x] > Fraction(3, 10)))


def _zero_raises(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M38: a sampled token 0 is taken for a failure."""
    emitted = by_ratio()(coin, tokens, targets, reported)
    if emitted[-1] == 0:
        raise RuntimeError("no token was sampled")
    return emitted


def top_three(prefix: Text) -> Array:
    """Return the target's law [5] after top-3.

    >>> sum(mass > 0 for mass in top_three(()))
    3
    """
    return top_k(toy.target(prefix), 3)


def _broken_acceptance(
    name: str, verify: Verify, cause: str, reference: str, printed: tuple[str | None, str | None], note: str = ""
) -> Specimen:
    return Specimen(name, cause, reference, "verifier", engine(sampled, verify), sampled, printed=printed, note=note)


ACCEPTANCE = (
    _broken_acceptance(
        "M7",
        _counts_all,
        "operator precedence: all drafts count as matches",
        "transformers PR #28508",
        (".543", ".580"),
    ).mended_by("compare first and combine then: write the parentheses, and test a draft that must be rejected"),
    _broken_acceptance(
        "M8", _zero_coin, "the acceptance coin is hard-coded 0", "vllm-ascend #13730, #13766, #13470", (".543", ".580")
    ).mended_by("draw a uniform for each position"),
    _broken_acceptance(
        "M10",
        _first_unverified,
        "the first draft is committed unverified",
        "ohdearquant/lattice #243",
        (".543", ".543"),
    ).mended_by("verify the first draft as the others"),
    _broken_acceptance(
        "M14", by_ratio(_over_the_largest), "acceptance t(x)/max t", "1bit-MONSTER #637", (".089", ".108")
    ).mended_by("accept with t(x)/d(x), the draft's mass below and not the target's largest one"),
    _broken_acceptance(
        "M15",
        _unmapped,
        "the reported law is 0 at the drafted id, so that it is always accepted",
        "rtp-llm #1311 (review)",
        (".543", ".543"),
        "the printed joint distance is that of the first position alone going wrong",
    ).mended_by("read the drafted token's mass before any masking, and refuse a drafted token of mass 0"),
    _broken_acceptance(
        "M16", _match_or_ratio, "a match or the ratio test is enough", "rtp-llm #521", (".005", ".027")
    ).mended_by("take one rule: the ratio test with its residual, or a match with the target's own draw"),
    Specimen(
        "M31",
        "the target's chance of the token tested before is kept where the filtered list lacks the token",
        "llama.cpp, examples/speculative",
        "verifier",
        engine(sampled, _kept_from_before, top_three),
        sampled,
        target=top_three,
        note="along one chain, on the target after top-3; in the engine the token before may be another sequence's",
    ).mended_by("set the chance to 0 before each search, so that a token that is missing has none"),
    Specimen(
        "M38",
        "token 0 is taken for a failure",
        "feifeibear, sample()",
        "verifier",
        engine(sampled, _zero_raises),
        sampled,
        emits_tokens=False,
    ).mended_by("mark a failure with what is no token, such as -1 or None"),
    _broken_acceptance(
        "M48", by_ratio(_lenient), "a lenience of 1/2 on the ratio", "lucidrains; lossy by design", (".064", ".137")
    ).mended_by("a lenience of 1 is lossless; else state the rule as lossy, with its distance"),
    _broken_acceptance(
        "M48, constant",
        by_ratio(_constant),
        "a constant threshold in place of the coin",
        "TensorRT-LLM; lossy by design",
        (".079", ".166"),
        "the threshold is 0.3",
    ).mended_by("compare the ratio with a uniform in place of the constant; else state the rule as lossy"),
)


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


def _broken_ratios(name: str, program: Callable[[Laws], Generate], told: tuple[str, str], *small: Any) -> Specimen:
    """Return a specimen; `told` is its cause and where it is; `small` laws, a horizon and a distance."""
    given, horizon, distance = small
    smallest = SmallCase(program, given, horizon, distance)
    note = "the logarithm in its chances is a float's" if name == "M54" else ""
    return Specimen(name, *told, "verifier", program(TOY), note=note, smallest=smallest)


THIRDS = laws(["1/3", "2/3"], ["2/3", "1/3"])

RATIOS = (
    _broken_ratios(
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
    _broken_ratios(
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
    _broken_ratios(
        "M59",
        _verified(by_ratio(_reversed)),
        ("the ratio is reversed: the draft's mass over the target's", "openvino-genai 2026.4, validate_candidate"),
        THIRDS,
        1,
        Fraction(1, 3),
    ).mended_by("divide the target's mass by the draft's"),
    _broken_ratios(
        "M60",
        _same_target_again,
        ("the second draft is tested against the target again, as if the first had not been rejected", ""),
        THIRDS,
        1,
        Fraction(1, 9),
    ).mended_by("test each further draft against what the rejected ones have left, (t - d)+ divided by its sum"),
)
