"""Bugs of the correction after a rejection, of block verification, and of trees with several candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np

from spec_math.arrays import Array, positive_part
from spec_math.block_level import block
from spec_math.chance import Coin
from spec_math.distribution import normalised, one_hot, residual_of, restricted, top_k
from spec_math.zoo import toy
from spec_math.zoo.acceptance import top_three
from spec_math.zoo.specimen import Specimen, broken
from spec_math.zoo.toy import Rest, Text, by_ratio, drawing, favourite, likeliest, processed, sampled


def _zeroed_in_place(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M26: for the residual of a one-hot draft the target's mass at the draft is set to 0, before it is tested."""
    for place, x in enumerate(tokens):
        targets[place][x] -= targets[place][x]
    return by_ratio(rest=lambda t, _d, _x: normalised(t, t))(coin, tokens, targets, reported)


def _aligned_by_place(t: Array, d: Array, _x: int) -> Array:
    """M30: two filtered lists, each in the order of ids, are subtracted entry by entry though their ids differ."""
    kept, drafted = np.flatnonzero(t), np.flatnonzero(d)
    result = t - t
    result[kept] = positive_part(t[kept] - d[drafted])
    return normalised(result, t)


TOP_3 = partial(top_k, k=3)
BY_PLACE = by_ratio(rest=_aligned_by_place)


def _redrawing(name: str, rest: Rest, printed: tuple[str, str]) -> Specimen:
    return broken(name, sampled, by_ratio(rest=rest), printed=printed)


RESIDUALS = (
    _redrawing("M11", lambda t, _d, _x: t, (".036", ".076")).told(
        "a rejection redraws from the target",
        "ShopeeLLM/Spec-RL #14",
        "after a rejection draw from (t - d)+, divided by its sum",
    ),
    _redrawing("M12", lambda t, d, x: normalised(positive_part(t - d * one_hot(x, d)), t), (".031", ".056")).told(
        "the draft is subtracted at the drafted token only",
        "xLLM PR #2175; EAGLE #20",
        "keep the draft's whole distribution and subtract all of it",
    ),
    _redrawing("M13", lambda t, d, _x: likeliest(residual_of(t, d)), (".106", ".107")).told(
        "the residual is drawn without noise",
        "vLLM #9441, PR #10863",
        "draw from the residual, with noise of its own for each request, and not its argmax",
    ),
    broken("M25", favourite, by_ratio(lambda t, _d, x: t[x], lambda t, _d, _x: t), printed=(".003", ".003")).told(
        "sample and match, a mismatch is redrawn",
        "Medusa, nucleus sampling, one path",
        "on a mismatch emit the token that the target drew for the comparison",
        "with the likeliest token drafted",
    ),
    broken("M26", favourite, _zeroed_in_place, processed(np.copy), printed=(".003", ".003")).told(
        "the target is zeroed in place before the test",
        "vllm-ascend #2881",
        "test first, and change a copy for the residual",
        "with the likeliest token drafted",
    ),
    broken("M30", drawing(TOP_3, TOP_3), BY_PLACE, top_three, printed=(".179", ".200")).told(
        "the residual is aligned by place in two filtered lists",
        "llama.cpp, examples/speculative",
        "subtract by the token's id and not by its place in the lists",
        "top-3 on both sides, lists in the order of ids; distances from the target after top-3",
    ),
    broken(
        "M30 with M2",
        drawing(lambda law: likeliest(TOP_3(law)), TOP_3),
        BY_PLACE,
        top_three,
        contract="drafter",
        printed=(".229", None),
    ).told(
        "the same, and the draft is greedy",
        "llama.cpp, examples/speculative",
        "subtract by the token's id, and report a greedy draft as one-hot",
        "top-3 on both sides, lists in the order of ids; distances from the target after top-3",
    ),
)


def _plain_threshold(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M27: each position is accepted with the running product of ratios, and the residual is (t − d)+."""
    weights, _ = block.weighed(tokens, targets, reported)
    return _finished(coin, tokens, targets, reported, weights[1:])


def _plain_residual(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M28: the thresholds are right, and the residual is (t − d)+ in place of (w t − d)+."""
    return _finished(coin, tokens, targets, reported, block.chances(*block.weighed(tokens, targets, reported)))


def _no_draft_probabilities(coin: Coin, tokens: Text, targets: Sequence[Array], _reported: Sequence[Array]) -> Text:
    """M29: a greedy draft comes without probabilities, and 1 is put for all of them: running products of t(x)/1."""
    masses = (t[x] for t, x in zip(targets, tokens, strict=False))
    kept = block.last_kept(coin, accumulate(masses, mul))
    return (*tokens[:kept], coin.draw(targets[kept]))  # (t − 1)+ is empty, so that the target itself is drawn from


def _finished(
    coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array], chances: Iterable[Any]
) -> Text:
    kept = block.last_kept(coin, chances)
    rest = targets[kept] if kept == len(tokens) else residual_of(targets[kept], reported[kept])
    return (*tokens[:kept], coin.draw(rest))


BLOCKS = (
    broken("M27", sampled, _plain_threshold, printed=(".035", ".035")).told(
        "block verification with the running product as threshold, and the plain residual",
        "vllm-ascend #7807, #7808",
        "accept a block by h = r/(r + 1 - w), r the sum of the residual (w t - d)+, and draw from that residual",
    ),
    broken("M28", sampled, _plain_residual, printed=("0", "2.2e-4")).told(
        "block verification with the right thresholds and the plain residual",
        "vllm-ascend #7807, one half",
        "draw from the residual of the block, (w t - d)+, w the product of capped ratios",
    ),
    broken("M29", favourite, _no_draft_probabilities).told(
        "block verification of drafts without probabilities, by products of t(x)/1",
        "vllm-ascend #7603, #7839",
        "report a draft without probabilities as one-hot, and verify it token by token",
    ),
)


def _stale_residual(coin: Coin, prefix: Text) -> Text:
    """M23: two siblings a level, drafted without replacement; a residual made at the last level outlives its use."""
    text: Text = ()
    law, adjusted = toy.target(prefix), False
    for _ in range(toy.LOOKAHEAD):
        law, draft = toy.target(prefix + text), toy.draft(prefix + text)
        adjusted, accepted = False, False
        for _ in range(2):
            x = coin.draw(draft)
            if coin.flip(min(1, law[x] / draft[x])):
                text, accepted = (*text, x), True
                break
            law, adjusted = residual_of(law, draft), True
            draft = restricted(draft, np.arange(len(draft)) != x)
        if not accepted:
            return (*text, coin.draw(law))
    return (*text, coin.draw(law if adjusted else toy.target(prefix + text)))


def _a_truth_for_each_path(coin: Coin, prefix: Text) -> Text:
    """M24: two candidates, each compared with a draw of the target of its own; any match is accepted."""
    t = toy.target(prefix)
    candidates = np.argsort(-toy.draft(prefix), kind="stable")[:2]
    truths = [coin.draw(t) for _ in candidates]
    matched = [int(x) for x, truth in zip(candidates, truths, strict=True) if x == truth]
    return (matched[0],) if matched else (truths[0],)


TREES = (
    Specimen("M23", generate=_stale_residual, printed=("0", ".070")).told(
        "the bonus token is drawn from the parent's residual",
        "EAGLE PR #47",
        "draw the bonus token from the target's row after the last accepted node",
        "two siblings a level, drafted without replacement: the joint distance is .1016 here, by hand too; the "
        "corpus measured the engine's own function on a tree that it does not state, and no near reading has its .070",
    ),
    Specimen("M24", generate=_a_truth_for_each_path, printed=(".181", ".181")).told(
        "an independent draw of the target for each path of a tree",
        "Medusa, nucleus sampling; fms-extras #12",
        "draw once after each prefix, whichever paths share it, and emit what was drawn",
        "the draft's two likeliest tokens as paths; without a match the first path's draw is emitted",
    ),
)
