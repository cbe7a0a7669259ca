"""Bugs of the acceptance test: a draft is kept with a probability other than min(1, t/d)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.audit.zoo import toy
from spec_math.audit.zoo.engine import Text, Verify, by_ratio, engine, ratio, sampled
from spec_math.audit.zoo.specimen import Specimen
from spec_math.chance import Coin
from spec_math.distribution import residual_of, top_k


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


def _broken(
    name: str, verify: Verify, cause: str, reference: str, printed: tuple[str | None, str | None], note: str = ""
) -> Specimen:
    return Specimen(name, cause, reference, "verifier", engine(sampled, verify), sampled, printed=printed, note=note)


SPECIMENS = (
    _broken(
        "M7",
        _counts_all,
        "operator precedence: all drafts count as matches",
        "transformers PR #28508",
        (".543", ".580"),
    ).mended_by("compare first and combine then: write the parentheses, and test a draft that must be rejected"),
    _broken(
        "M8", _zero_coin, "the acceptance coin is hard-coded 0", "vllm-ascend #13730, #13766, #13470", (".543", ".580")
    ).mended_by("draw a uniform for each position"),
    _broken(
        "M10",
        _first_unverified,
        "the first draft is committed unverified",
        "ohdearquant/lattice #243",
        (".543", ".543"),
    ).mended_by("verify the first draft as the others"),
    _broken(
        "M14", by_ratio(_over_the_largest), "acceptance t(x)/max t", "1bit-MONSTER #637", (".089", ".108")
    ).mended_by("accept with t(x)/d(x), the draft's mass below and not the target's largest one"),
    _broken(
        "M15",
        _unmapped,
        "the reported law is 0 at the drafted id, so that it is always accepted",
        "rtp-llm #1311 (review)",
        (".543", ".543"),
        "the printed joint distance is that of the first position alone going wrong",
    ).mended_by("read the drafted token's mass before any masking, and refuse a drafted token of mass 0"),
    _broken("M16", _match_or_ratio, "a match or the ratio test is enough", "rtp-llm #521", (".005", ".027")).mended_by(
        "take one rule: the ratio test with its residual, or a match with the target's own draw"
    ),
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
    _broken(
        "M48", by_ratio(_lenient), "a lenience of 1/2 on the ratio", "lucidrains; lossy by design", (".064", ".137")
    ).mended_by("a lenience of 1 is lossless; else state the rule as lossy, with its distance"),
    _broken(
        "M48, constant",
        by_ratio(_constant),
        "a constant threshold in place of the coin",
        "TensorRT-LLM; lossy by design",
        (".079", ".166"),
        "the threshold is 0.3",
    ).mended_by("compare the ratio with a uniform in place of the constant; else state the rule as lossy"),
)
