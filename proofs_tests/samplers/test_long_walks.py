"""Walks that last: a part of the paths decides where it can, and built-in cases are left for smaller ones."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from spec_math.audit import subject_of
from spec_math.samplers import walk
from spec_math.samplers.case import chain, default, position, smaller
from spec_math.samplers.judgement import judge
from spec_math.studies.audits.study import AuditRequest, study
from spec_math.verdict import Lossless, Lossy

LONG: Sequence[Any] = ["1/4", "3/4"]


def _loop(first: Any, target: Any) -> int:
    """Draw a token from one distribution, after six coins that nobody needs."""
    _ = [random.random() < Fraction(1, 3) for _ in range(6)]
    return random.choices(range(len(target)), first)[0]


def right(tokens: Any, target: Any, draft: Any) -> int:  # noqa: ARG001
    return _loop(target, target)


def wrong(tokens: Any, target: Any, draft: Any) -> int:  # noqa: ARG001
    return _loop(draft, target)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let a walk be told how long it takes every ten paths: five minutes in all."""
    asked: list[int] = []

    class Slow:
        def at(self, paths: int, mass: Any) -> float | None:
            if paths % 10:
                return None
            asked.append(paths)
            assert 0 < mass() <= 1
            return 300.0

    monkeypatch.setattr(walk, "Estimate", Slow)
    return asked


def test_a_part_of_the_paths_shows_that_a_sampler_is_lossy(told: list[int]) -> None:
    case = position(LONG, ["1/2", "1/2"])
    found = judge(subject_of(wrong), case)
    assert isinstance(found.verdict, Lossy)
    assert 0 < found.walk.unexplored < 1
    assert 0 < found.joint <= Fraction(1, 4)
    assert found.walk.paths in told
    assert found.walk.paths < 2**8
    # The control: where no part is enough, the same walk goes to its end.
    assert isinstance(judge(subject_of(right), case).verdict, Lossless)
    assert max(told) >= 2**8 - 10


def test_a_built_in_case_is_left_for_a_smaller_one_and_a_given_one_is_not(told: list[int]) -> None:
    def asked(**given: Any) -> Any:
        request = AuditRequest(f"{__file__}:right", **given)
        return study(request, subject_of, lambda *_: lambda _: None)

    found = asked()
    assert "is lossless for 1" in found.finding
    assert "on the built-in distributions of 2 tokens" in found.finding
    assert any("so 2 tokens were taken" in note.text for note in found.notes)
    given = asked(target="1/4,1/4,1/2", draft="1/2,1/4,1/4", k=1)
    assert "on the given distributions of 3 tokens" in given.finding
    assert not any("were taken" in note.text for note in given.notes)
    assert told


def test_a_smaller_case_differs_from_its_draft_at_every_place() -> None:
    for case in (default(2), default(0), chain([LONG] * 4, [LONG] * 3)):
        for size in (2, 3):
            found = smaller(case, size)
            assert (found.k, found.lookahead, found.horizon) == (case.k, case.lookahead, case.horizon)
            assert found.size == size
            assert all(sum(row) == 1 for row in (*found.target, *found.draft))
            assert all(one != other for one, other in zip(found.target, found.draft, strict=False))
