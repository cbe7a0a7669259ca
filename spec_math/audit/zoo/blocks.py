"""Bugs of block verification: wrong thresholds or residuals where a chain is verified as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spec_math.arrays import Array
from spec_math.audit.zoo.engine import Drafter, Text, Verify, engine, favourite, sampled
from spec_math.audit.zoo.specimen import Specimen
from spec_math.block_level import block
from spec_math.chance import Coin
from spec_math.distribution import residual_of


def _plain_threshold(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M27: each position is accepted with the running product of ratios, and the residual is (t − d)+."""
    weights, _ = block.weighed(tokens, targets, reported)
    kept = max([0, *(place for place in range(1, len(weights)) if coin.flip(weights[place]))])
    return _finished(coin, tokens, targets, reported, kept)


def _plain_residual(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M28: the thresholds are right, and the residual is (t − d)+ in place of (w t − d)+."""
    weights, left = block.weighed(tokens, targets, reported)
    kept = 0
    for place in range(1, len(tokens)):
        mass = left[place].sum()
        if coin.flip(1 if weights[place] == 1 else mass / (mass + 1 - weights[place])):
            kept = place
    if coin.flip(weights[-1]):
        kept = len(tokens)
    return _finished(coin, tokens, targets, reported, kept)


def _no_draft_probabilities(coin: Coin, tokens: Text, targets: Sequence[Array], _reported: Sequence[Array]) -> Text:
    """M29: a greedy draft comes without probabilities, and 1 is put for all of them: running products of t(x)/1."""
    weight: Any = 1
    kept = 0
    for place, x in enumerate(tokens):
        weight = weight * targets[place][x]
        if coin.flip(weight):
            kept = place + 1
    return (*tokens[:kept], coin.draw(targets[kept]))  # (t − 1)+ is empty, so that the target itself is drawn from


def _finished(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array], kept: int) -> Text:
    rest = targets[kept] if kept == len(tokens) else residual_of(targets[kept], reported[kept])
    return (*tokens[:kept], coin.draw(rest))


def _broken(name: str, verify: Verify, cause: str, reference: str, told: tuple[Drafter, Any]) -> Specimen:
    drafter, printed = told
    return Specimen(name, cause, reference, "verifier", engine(drafter, verify), drafter, printed=printed)


SPECIMENS = (
    _broken(
        "M27",
        _plain_threshold,
        "block verification with the running product as threshold, and the plain residual",
        "vllm-ascend #7807, #7808",
        (sampled, (".035", ".035")),
    ).mended_by(
        "accept a block by h = r/(r + 1 - w), r the sum of the residual (w t - d)+, and draw from that residual"
    ),
    _broken(
        "M28",
        _plain_residual,
        "block verification with the right thresholds and the plain residual",
        "vllm-ascend #7807, one half",
        (sampled, ("0", "2.2e-4")),
    ).mended_by("draw from the residual of the block, (w t - d)+, w the product of capped ratios"),
    _broken(
        "M29",
        _no_draft_probabilities,
        "block verification of drafts without probabilities, by products of t(x)/1",
        "vllm-ascend #7603, #7839",
        (favourite, (None, None)),
    ).mended_by("report a draft without probabilities as one-hot, and verify it token by token"),
)
