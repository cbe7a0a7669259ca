"""Forged certificates of followed samplers are rejected, or true; each condition of the checker is needed.

`python -m proofs_tests.certificates.followed_study` tries 10,000 random changes, and every change of the checker.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs_tests.certificates import followed_conditions, followed_study
from proofs_tests.certificates import followed_forgeries as known
from spec_math.certificates import check_followed

SAMPLE = 25
"""The random changes of each certificate that are tried here."""


@pytest.mark.parametrize("name", known.WRITTEN)
def test_a_forgery_written_by_hand_is_rejected(name: str) -> None:
    of, change = known.WRITTEN[name]
    forgery = known.changed(of, change)
    assert forgery != known.true(of)
    assert known.accepted(forgery) == (name in known.ALLOWED)
    if name in known.ALLOWED:
        assert known.confirmed(forgery)


@pytest.mark.parametrize("name", known.JUDGED)
def test_a_random_change_that_is_accepted_is_true(name: str) -> None:
    found = list(known.lies(name, seed=11, many=SAMPLE))
    assert [said for said, _, lie in found if lie] == []
    assert sum(accepted for _, accepted, _ in found) < SAMPLE / 2


def test_a_lie_is_told_from_the_truth() -> None:
    """The control of the random changes: a wrong verdict is not confirmed."""
    assert not known.confirmed(known.changed("redraws", known.put("lossless", "verdict")))
    assert not known.confirmed(known.changed("recursive", known.put("redraws", "function", "name")))
    assert not known.confirmed(known.changed("recursive", known.put("lossy", "verdict")))


def test_a_certificate_may_be_as_far_off_as_rounding_explains_and_no_farther() -> None:
    for name, right, document in known.at_the_bound():
        assert known.accepted(document, run=0) == right, name


@pytest.mark.parametrize("name", followed_conditions.conditions())
def test_each_condition_of_a_certificate_is_needed(name: str) -> None:
    holds, document = followed_conditions.conditions()[name]
    assert known.accepted(document, run=0) == holds


@pytest.mark.parametrize("name", followed_conditions.replayed())
def test_each_condition_of_a_run_function_is_needed(name: str, tmp_path: Path) -> None:
    place = tmp_path / "followed_conditions.py"
    _ = place.write_text(followed_conditions.PROGRAMS, encoding="utf-8")
    holds, function, document = followed_conditions.replayed()[name]
    assert known.accepted(document, f"{place}:{function}") == holds


def test_changes_of_the_checker_are_noticed() -> None:
    """One change in 15; `followed_study` tries all."""
    assert followed_study.living(every=15) == []


def test_the_checker_is_short() -> None:
    lines = known.code_lines(Path(check_followed.__file__))
    assert lines <= 178
