"""A verifier of the user's that fails at some positions has no mean over the others, and what it raises is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spec_math.scheme import Scheme
from spec_math.studies.positions import comparison, verdicts
from spec_math.studies.positions.comparison import compare
from spec_math.studies.positions.explanation import OneStep, explained
from spec_math.studies.positions.stream import from_rows
from spec_math.studies.positions.study import result_of
from spec_math.studies.positions.verdicts import judge, verifier_scheme
from spec_math.token_level import recursive

COUNT = 12
ENUMERATED, RUN = 4, 300
"""So few tokens that a verifier's paths are walked, and so many that it is run."""


def verify_halfway(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    """The maximal coupling without its residual."""
    if coin.flip(min(1, target[tokens[0]] / draft[tokens[0]])):
        return tokens[0]
    raise NotImplementedError("no residual yet")


def nonsense(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    return coin.choose(target) + tokens[0] + len(draft)


def laws(size: int) -> list[np.ndarray[Any, Any]]:
    """Laws that agree at every position but the last, so that the first ones never ask for a residual."""
    drafts = np.random.default_rng(0).dirichlet(np.ones(size), size=COUNT)
    targets = drafts.copy()
    targets[-1] = np.roll(drafts[-1], 1)
    return [targets, drafts]


def line_of(verify: Callable[..., int], size: int, ks: tuple[int, ...]) -> tuple[Any, Any]:
    t, d = laws(size)
    stream = from_rows(lambda a, b: t[a:b], lambda a, b: d[a:b], (COUNT, size))
    found = compare(stream, [verifier_scheme("mine", verify)], ks, lambda _: None)
    return found.lines[0], result_of(found, {})


@pytest.mark.parametrize("size", [ENUMERATED, RUN])
def test_a_verifier_that_fails_at_one_position_has_no_mean_over_the_others(size: int) -> None:
    line, shown = line_of(verify_halfway, size, (1, 2))
    assert line.failed == f"mine fails at position {COUNT - 1}: NotImplementedError: no residual yet"
    assert any(note.text.endswith("no residual yet; so it has no mean") for note in shown.notes)
    assert shown.exit_code == 1
    assert [tally.count for tally in (*line.acceptance.values(), *line.gaps.values())] == [0] * 4
    assert "mine" not in [row["scheme"] for row in shown.table("comparison").records()]
    # The control: one that never fails has its mean at each of them.
    line, shown = line_of(recursive.verify, size, (1, 2))
    assert (line.failed, shown.exit_code) == ("", 0)
    assert not any("fails" in note.text for note in shown.notes)
    assert [tally.count for tally in line.acceptance.values()] == [COUNT] * 2
    assert "mine" in [row["scheme"] for row in shown.table("comparison").records()]


def halfway(target: Any, _draft: Any, _k: int) -> float:
    if float(target[0]) > 0.2:
        raise ZeroDivisionError("division by zero")
    return 0.5


def test_a_formula_of_the_user_s_that_fails_is_named() -> None:
    t, d = laws(ENUMERATED)
    stream = from_rows(lambda a, b: t[a:b], lambda a, b: d[a:b], (COUNT, ENUMERATED))
    (first, *_) = [place for place, row in enumerate(t) if row[0] > 0.2]
    own = replace(verifier_scheme("mine", recursive.verify), acceptance=halfway, test_acceptance=halfway)
    found = compare(stream, [own], (1,), lambda _: None)
    assert found.lines[0].failed == f"mine fails at position {first}: ZeroDivisionError: division by zero"
    assert found.lines[0].acceptance[1].count == 0


def test_the_library_s_own_formula_that_fails_is_a_fault_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    t, d = laws(ENUMERATED)
    stream = from_rows(lambda a, b: t[a:b], lambda a, b: d[a:b], (COUNT, ENUMERATED))
    ours = replace(verifier_scheme("ours", recursive.verify), acceptance=halfway, test_acceptance=halfway)
    monkeypatch.setattr(comparison, "SCHEMES", (ours,))
    with pytest.raises(ZeroDivisionError):
        compare(stream, [ours], (1,), lambda _: None)


@pytest.mark.parametrize("size", [ENUMERATED, RUN])
def test_what_a_verifier_raises_is_named(size: int) -> None:
    scheme, (targets, drafts) = verifier_scheme("mine", nonsense), laws(size)
    ask: Callable[[], Any] = lambda: scheme.acceptance(targets[0], drafts[0], 1)  # noqa: E731
    if size == RUN:
        assert scheme.estimate is not None
        ask = lambda: scheme.estimate(targets[0], drafts[0], 1, 8, np.random.default_rng(0))  # noqa: E731
    with pytest.raises(AttributeError, match=r"^a coin has no 'choose'"):
        ask()


def test_one_step_of_a_verifier_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def loaded(_: str) -> Scheme:
        return verifier_scheme("mine.py:verify", verify_halfway)

    monkeypatch.setattr(verdicts, "load_scheme", loaded)
    said: set[str] = set()
    for seed in range(8):
        with pytest.raises(ValueError) as raised:
            explained(OneStep("mine.py:verify", "0,1", "1/2,1/2", 1, seed))
        said.add(str(raised.value))
    assert said == {"mine.py:verify fails: NotImplementedError: no residual yet"}


def test_one_step_of_a_verifier_above_the_optimum_says_that_something_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def emit_draft(_coin: Any, tokens: Any, _target: Any, _draft: Any) -> int:
        return tokens[0]

    found: dict[str, Scheme] = {"wrong": verifier_scheme("m.py:wrong", emit_draft)}
    found["right"] = verifier_scheme("m.py:right", recursive.verify)
    monkeypatch.setattr(verdicts, "load_scheme", lambda place: found[place.partition(":")[2]])
    said = {name: explained(OneStep(f"m.py:{name}", "1/4,3/4", "1/2,1/2", 1)).finding for name in found}
    assert "but the optimum for its kind of drafts is 0.750: it is lossy, or its formula" in said["wrong"]
    assert "The acceptance of m.py:right is 0.750, and the optimum for its kind of drafts is 0.750." in said["right"]


def test_a_verifier_that_is_undecided_and_fails_leaves_with_3() -> None:
    def misread(_coin: Any, _tokens: Any, _target: Any) -> int:
        return 0

    t, d = laws(ENUMERATED)
    stream = from_rows(lambda a, b: t[a:b], lambda a, b: d[a:b], (COUNT, ENUMERATED))
    scheme = verifier_scheme("mine", misread)
    found = compare(stream, [scheme], (1,), lambda _: None)
    verdict = judge(scheme)
    assert str(verdict) == "undecided"
    assert found.lines[0].failed
    assert result_of(found, {scheme: verdict}).exit_code == 3
    assert result_of(found, {}).exit_code == 1
