"""Bugs of the correction: after a rejection the token is drawn from another law than (t − d)+ / Σ(t − d)+."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.arrays import Array, positive_part
from spec_math.audit.zoo import toy
from spec_math.audit.zoo.acceptance import top_three
from spec_math.audit.zoo.engine import Drafter, Rest, Text, by_ratio, engine, favourite, one_hot, sampled
from spec_math.audit.zoo.specimen import Specimen
from spec_math.chance import Coin
from spec_math.distribution import normalised, residual_of, top_k


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


def _broken(name: str, rest: Rest, cause: str, reference: str, printed: tuple[str, str]) -> Specimen:
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


SPECIMENS = (
    _broken(
        "M11", _from_the_target, "a rejection redraws from the target", "ShopeeLLM/Spec-RL #14", (".036", ".076")
    ).mended_by("after a rejection draw from (t - d)+, divided by its sum"),
    _broken(
        "M12",
        _at_the_drafted_token,
        "the draft is subtracted at the drafted token only",
        "xLLM PR #2175; EAGLE #20",
        (".031", ".056"),
    ).mended_by("keep the draft's whole law and subtract all of it"),
    _broken(
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
