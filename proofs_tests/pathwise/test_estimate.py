"""A long exploration says how far it is, and a bare TypeError in explored code says that exploring is the cause."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable

import pytest

from spec_math.audit import explore
from spec_math.pathwise import exploration as estimate


def three_coins() -> int:
    return sum(random.random() < 0.5 for _ in range(3))


def test_an_exploration_tells_how_far_it_is(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "EVERY", 0.0)
    with caplog.at_level(logging.INFO, "spec_math.pathwise"):
        explored = explore(three_coins)
    told = [one.getMessage() for one in caplog.records]
    assert explored == {0: 1 / 8, 1: 3 / 8, 2: 3 / 8, 3: 1 / 8}
    assert len(told) == 8
    assert all(one.split(": ")[1].startswith("about 8 paths") for one in told)


def test_a_short_one_says_nothing(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "EVERY", 600.0)  # a busy machine takes seconds for it too
    with caplog.at_level(logging.INFO, "spec_math.pathwise"):
        _ = explore(three_coins)
    assert not caplog.records


def test_paths_of_no_mass_have_no_estimate() -> None:
    told: list[str] = []
    seconds = iter([0.0, 6.0])
    estimate.Estimate(told.append, lambda: next(seconds)).at(3, lambda: 0.0)
    assert told == ["3 paths in 6 s hold 0 of the mass"]


def noted(fn: Callable[[], object]) -> str:
    with pytest.raises(TypeError) as raised:
        _ = explore(fn)
    return " ".join(getattr(raised.value, "__notes__", []))


def test_a_bare_type_error_after_a_draw_says_what_to_do() -> None:
    assert "law_by_bisection" in noted(lambda: (random.random() < 0.5) + "a")  # type: ignore[operator]


def test_one_before_any_draw_does_not_blame_exploring() -> None:
    assert "exploring" not in noted(lambda: 1 + "a")  # type: ignore[operator]
