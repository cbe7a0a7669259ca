"""A verifier that is wrong from the second draft on was lossless with all defaults, judged for one draft only."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs_tests.soundness.audited import not_judged, verdict_of
from spec_math.verdict import Lossless, Lossy

CODE = """
def several(tokens, target, draft, wrong_from=99):
    'Each draft is tested against what the ones before it left.'
    left = list(target)
    for place, x in enumerate(tokens):
        if random.random() * draft[x] < left[x]:
            return x
        if place + 1 < wrong_from:
            left = [max(t - d, 0) for t, d in zip(left, draft)]
            left = [mass / sum(left) for mass in left] if sum(left) else list(target)
    return random.choices(range(len(left)), left)[0]

def right_for_all(tokens, target, draft):
    return several(tokens, target, draft)

def wrong_from_second(tokens, target, draft):
    return several(tokens, target, draft, 2)

def wrong_from_third(tokens, target, draft):
    return several(tokens, target, draft, 3)

def with_a_coin(coin, tokens, target, draft):
    x = tokens[-1]
    if coin.flip(min(1, target[x] / draft[x])):
        return x
    left = [max(t - d, t - t) for t, d in zip(target, draft)]
    return coin.draw([mass / sum(left) for mass in left])

def coin_wrong_from_second(coin, tokens, target, draft):
    return tokens[1] if len(tokens) > 1 else with_a_coin(coin, tokens, target, draft)

def for_one(tokens, target, draft):
    (x,) = tokens
    return right(x, target, draft)

def wrong_for_one(tokens, target, draft):
    (x,) = tokens
    return wrong(x, target, draft)

def for_two(tokens, target, draft):
    x, _ = tokens
    return right(x, target, draft)

def asks_for_a_second(tokens, target, draft):
    if accepted(tokens[0], target, draft):
        return tokens[0]
    return tokens[1] if tokens[1] < 0 else corrected(target, draft)

def one_token(draft_token, target, draft):
    return right(draft_token, target, draft)

def drafts_itself(target, draft):
    return right(drawn(draft), target, draft)

def breaks_sometimes_on_two(tokens, target, draft):
    x = tokens[0]
    if accepted(x, target, draft):
        (x,) = tokens
        return x
    return corrected(target, draft)

def two_for_one(tokens, target, draft):
    return right(tokens[0], target, draft) if len(tokens) == 1 else list(tokens)
"""


@pytest.mark.parametrize(
    ("name", "drafts"),
    [
        ("wrong_from_second", (2,)),
        ("wrong_from_third", (3,)),
        ("coin_wrong_from_second", (2,)),
        ("wrong_for_one", (1,)),
    ],
)
def test_wrong_from_some_draft_on_is_lossy_with_all_defaults(
    name: str, drafts: tuple[int, ...], tmp_path: Path
) -> None:
    verdict = verdict_of(CODE, name, tmp_path)
    assert isinstance(verdict, Lossy)
    assert verdict.drafts == drafts
    for fewer in range(1, drafts[0]):  # the control: what one draft alone said
        assert isinstance(verdict_of(CODE, name, tmp_path, k=fewer), Lossless)
    assert isinstance(verdict_of(CODE, name, tmp_path, k=drafts[0]), Lossy)


@pytest.mark.parametrize(
    ("name", "drafts", "left"),
    [
        ("right_for_all", (1, 2, 3), ""),
        ("with_a_coin", (1, 2, 3), ""),
        ("for_one", (1,), "2 (ValueError: too many values to unpack (expected 1))"),
        ("one_token", (1,), "2 (it takes a single token)"),
        ("drafts_itself", (), ""),
        ("two_for_one", (1,), "2 (emitted "),
        ("for_two", (2,), "1 (ValueError: not enough values to unpack (expected 2, got 1))"),
    ],
)
def test_right_ones_say_for_how_many_drafts(name: str, drafts: tuple[int, ...], left: str, tmp_path: Path) -> None:
    verdict = verdict_of(CODE, name, tmp_path)
    assert isinstance(verdict, Lossless)
    assert verdict.drafts == drafts
    assert "".join(verdict.not_judged[:1]).startswith(left)
    assert bool(verdict.not_judged) == bool(left)


def test_one_that_is_written_for_two_is_not_lossy_for_one(tmp_path: Path) -> None:
    """It breaks on every path of one draft, or only where the first is rejected."""
    assert isinstance(verdict_of(CODE, "for_two", tmp_path, k=2), Lossless)
    assert not_judged(verdict_of(CODE, "for_two", tmp_path, k=1))
    left_open = verdict_of(CODE, "asks_for_a_second", tmp_path)
    assert not_judged(left_open)
    assert "written for 2, give their number as k" in left_open.explanation
    assert isinstance(verdict_of(CODE, "asks_for_a_second", tmp_path, k=2), Lossless)
    assert isinstance(verdict_of(CODE, "asks_for_a_second", tmp_path, k=1), Lossy)


def test_one_that_breaks_on_some_paths_of_two_is_left_open(tmp_path: Path) -> None:
    """It may be written for one draft, and it may be wrong for two: nothing is guessed, and k tells."""
    verdict = verdict_of(CODE, "breaks_sometimes_on_two", tmp_path)
    assert not_judged(verdict)
    assert "give their number as k" in verdict.explanation
    assert isinstance(verdict_of(CODE, "breaks_sometimes_on_two", tmp_path, k=1), Lossless)
    assert isinstance(verdict_of(CODE, "breaks_sometimes_on_two", tmp_path, k=2), Lossy)
