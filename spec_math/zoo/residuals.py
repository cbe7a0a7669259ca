"""Bugs of the correction after a rejection, of block verification, and of trees with several candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.arrays import Array, positive_part
from spec_math.block_level import block
from spec_math.chance import Coin
from spec_math.distribution import normalised, residual_of, restricted, top_k
from spec_math.zoo import toy
from spec_math.zoo.acceptance import top_three
from spec_math.zoo.specimen import Specimen
from spec_math.zoo.toy import Drafter, Rest, Text, Verify, by_ratio, engine, favourite, one_hot, sampled


def _from_the_target(t: Array, _d: Array, _x: int) -> Array:
    """M11: a rejection redraws from the target."""
    return t


def _at_the_drafted_token(t: Array, d: Array, x: int) -> Array:
    """M12: only the drafted token's probability was kept, so that only it is subtracted."""
    return normalised(positive_part(t - d * one_hot(x, d)), t)


def _likeliest_left(t: Array, d: Array, _x: int) -> Array:
    """M13: the noise of the draw was lost in a write to a copy; what remains is the argmax."""
    return one_hot(int(np.argmax(residual_of(t, d))), t)


def _matched_or_redrawn(coin: Coin, tokens: Text, targets: Sequence[Array], _reported: Sequence[Array]) -> Text:
    """M25: sample and match, where a mismatch is not emitted but drawn once more."""
    for place, x in enumerate(tokens):
        if coin.draw(targets[place]) != x:
            return (*tokens[:place], coin.draw(targets[place]))
    return (*tokens, coin.draw(targets[-1]))


def _zeroed_in_place(coin: Coin, tokens: Text, targets: Sequence[Array], reported: Sequence[Array]) -> Text:
    """M26: for the residual of a one-hot draft the target's mass at the draft is set to 0, before it is tested."""
    for place, x in enumerate(tokens):
        targets[place][x] -= targets[place][x]
    return by_ratio(rest=_what_remains)(coin, tokens, targets, reported)


def _what_remains(t: Array, _d: Array, _x: int) -> Array:
    return normalised(t, t)


def fresh_rows(prefix: Text) -> Array:
    """Return a copy of the target's row [5], for a verifier that writes into it.

    >>> fresh_rows(()) is toy.target(())
    False
    """
    return toy.target(prefix).copy()


def _filtered_sample(coin: Coin, prefix: Text) -> tuple[int, Array]:
    """Sample from the draft after top-3 and report that."""
    law = top_k(toy.draft(prefix), 3)
    return coin.draw(law), law


def _filtered_favourite(_coin: Coin, prefix: Text) -> tuple[int, Array]:
    """Draft the likeliest token and report the draft after top-3, which it is no sample of."""
    law = top_k(toy.draft(prefix), 3)
    return int(np.argmax(law)), law


def _aligned_by_place(t: Array, d: Array, _x: int) -> Array:
    """M30: two filtered lists, each in the order of ids, are subtracted entry by entry though their ids differ."""
    kept, drafted = np.flatnonzero(t), np.flatnonzero(d)
    result = t - t
    result[kept] = positive_part(t[kept] - d[drafted])
    return normalised(result, t)


def _broken_residuals(name: str, rest: Rest, cause: str, reference: str, printed: tuple[str, str]) -> Specimen:
    return Specimen(name, cause, reference, "verifier", engine(sampled, by_ratio(rest=rest)), sampled, printed=printed)


def _greedy(name: str, verify: Any, cause: str, reference: str, rows: Any = toy.target) -> Specimen:
    return Specimen(
        name,
        cause,
        reference,
        "verifier",
        engine(favourite, verify, rows),
        favourite,
        printed=(".003", ".003"),
        note="with the likeliest token drafted",
    )


def _lists(name: str, drafter: Drafter, cause: str, contract: Any, printed: tuple[str, str | None]) -> Specimen:
    return Specimen(
        name,
        cause,
        "llama.cpp, examples/speculative",
        contract,
        engine(drafter, by_ratio(rest=_aligned_by_place), top_three),
        drafter,
        target=top_three,
        printed=printed,
        note="top-3 on both sides, lists in the order of ids; distances from the target after top-3",
    )


RESIDUALS = (
    _broken_residuals(
        "M11", _from_the_target, "a rejection redraws from the target", "ShopeeLLM/Spec-RL #14", (".036", ".076")
    ).mended_by("after a rejection draw from (t - d)+, divided by its sum"),
    _broken_residuals(
        "M12",
        _at_the_drafted_token,
        "the draft is subtracted at the drafted token only",
        "xLLM PR #2175; EAGLE #20",
        (".031", ".056"),
    ).mended_by("keep the draft's whole law and subtract all of it"),
    _broken_residuals(
        "M13", _likeliest_left, "the residual is drawn without noise", "vLLM #9441, PR #10863", (".106", ".107")
    ).mended_by("draw from the residual, with noise of its own for each request, and not its argmax"),
    _greedy(
        "M25", _matched_or_redrawn, "sample and match, a mismatch is redrawn", "Medusa, nucleus sampling, one path"
    ).mended_by("on a mismatch emit the token that the target drew for the comparison"),
    _greedy(
        "M26", _zeroed_in_place, "the target is zeroed in place before the test", "vllm-ascend #2881", fresh_rows
    ).mended_by("test first, and change a copy for the residual"),
    _lists(
        "M30", _filtered_sample, "the residual is aligned by place in two filtered lists", "verifier", (".179", ".200")
    ).mended_by("subtract by the token's id and not by its place in the lists"),
    _lists(
        "M30 with M2", _filtered_favourite, "the same, and the draft is greedy", "drafter", (".229", None)
    ).mended_by("subtract by the token's id, and report a greedy draft as one-hot"),
)


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


def _broken_blocks(name: str, verify: Verify, cause: str, reference: str, told: tuple[Drafter, Any]) -> Specimen:
    drafter, printed = told
    return Specimen(name, cause, reference, "verifier", engine(drafter, verify), drafter, printed=printed)


BLOCKS = (
    _broken_blocks(
        "M27",
        _plain_threshold,
        "block verification with the running product as threshold, and the plain residual",
        "vllm-ascend #7807, #7808",
        (sampled, (".035", ".035")),
    ).mended_by(
        "accept a block by h = r/(r + 1 - w), r the sum of the residual (w t - d)+, and draw from that residual"
    ),
    _broken_blocks(
        "M28",
        _plain_residual,
        "block verification with the right thresholds and the plain residual",
        "vllm-ascend #7807, one half",
        (sampled, ("0", "2.2e-4")),
    ).mended_by("draw from the residual of the block, (w t - d)+, w the product of capped ratios"),
    _broken_blocks(
        "M29",
        _no_draft_probabilities,
        "block verification of drafts without probabilities, by products of t(x)/1",
        "vllm-ascend #7603, #7839",
        (favourite, (None, None)),
    ).mended_by("report a draft without probabilities as one-hot, and verify it token by token"),
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
    Specimen(
        "M23",
        "the bonus token is drawn from the parent's residual",
        "EAGLE PR #47",
        "verifier",
        _stale_residual,
        printed=("0", ".070"),
        note="two siblings a level, drafted without replacement: the joint distance is .1016 here, by hand too; the "
        "corpus measured the engine's own function on a tree that it does not state, and no near reading has its .070",
    ).mended_by("draw the bonus token from the target's row after the last accepted node"),
    Specimen(
        "M24",
        "an independent draw of the target for each path of a tree",
        "Medusa, nucleus sampling; fms-extras #12",
        "verifier",
        _a_truth_for_each_path,
        printed=(".181", ".181"),
        note="the draft's two likeliest tokens as paths; without a match the first path's draw is emitted",
    ).mended_by("draw once after each prefix, whichever paths share it, and emit what was drawn"),
)
