"""The race of `frontier` covers exact values, and races that peek or bet beyond the range do not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from proofs_tests.coverage import limit
from proofs_tests.studies.coverage import counted, narrow, of_command, of_documents, peeking, without_margin
from spec_math.sequential import decision
from spec_math.sequential.decision import Candidate, Decision, Terms, interval, race

RUNS = 12


@pytest.mark.parametrize("of", [of_command, of_documents, without_margin])
def test_a_race_misses_no_more_than_it_says(of: Any) -> None:
    told = counted(of, "mixed", RUNS)
    assert told["runs"] == RUNS
    assert (told["take"] > 0) is (of is without_margin)
    kinds = ("levels", "differences", "shares", "wrong decisions")
    assert not [kind for kind in kinds if told[kind] > limit(RUNS, 0.01)]


def test_a_race_that_peeks_takes_a_wrong_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the count of wrong decisions, where each is one to take a candidate as the fastest."""
    monkeypatch.setattr(decision, "log_wealth", peeking)
    told = counted(without_margin, "seldom rejected", RUNS)
    assert told["take"] >= told["wrong decisions"] > limit(RUNS, 0.01)


@pytest.fixture(autouse=True)
def _early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision, "FIRST", 4)


def coins(seed: int) -> Any:
    """Two candidates of 0 or 1: the first is the better one, by chances of 0.5 and 0.46."""
    rows = (np.random.default_rng(seed).random((400, 2)) < [0.5, 0.46]).astype(float)
    return race(
        [Candidate("A", 0, 1), Candidate("B", 0, 1)], lambda units, places, _: rows[units][:, places], Terms(400)
    )


def wrong(runs: int) -> Counter[str]:
    return Counter(
        "wrong" if found.outcome == "take" and found.taken == 1 else found.outcome
        for found in (coins(seed) for seed in range(runs))
    )


def test_a_wrong_candidate_is_taken_no_more_often_than_stated() -> None:
    assert wrong(200)["wrong"] <= 5


@pytest.mark.parametrize("control", [peeking, narrow])
def test_peeking_and_a_wrong_range_are_caught(control: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the same count rejects bets beyond the range, and a normal limit that is looked at repeatedly."""
    monkeypatch.setattr(decision, "log_wealth", control)
    monkeypatch.setattr(decision, "DECIDING", 1)
    assert wrong(200)["wrong"] > 5


def test_intervals_hold_for_units_that_are_not_alike() -> None:
    """Means that drift from 0.2 to 0.8: the interval holds their running average, at the last of the units."""
    chances = np.linspace(0.2, 0.8, 150)
    missed = 0
    for seed in range(400):
        found = interval((np.random.default_rng(seed).random(150) < chances).astype(float), 0, 1, chance=0.005)
        low, high = found.interval
        missed += not low <= chances.mean() <= high
    assert missed <= limit(400, 0.01)


def test_three_outcomes_have_three_sentences() -> None:
    def ended(*means: float, budget: int = 3000) -> str:
        three = [Candidate(name, 0, 2) for name, _ in zip("ABC", means, strict=False)]
        rows = np.tile(means, (budget, 1))
        return race(three, lambda units, places, _: rows[units][:, places], Terms(budget)).sentence("texts")

    assert ended(1.0, 0.125) == "Take A: every other candidate is slower."
    assert ended(1.0, 1.0, 0.25) == "Take A: A and B are equivalent within 2 %, and A is the simplest."
    assert ended(1.0, 0.99, budget=40).startswith("Not decided with this budget of 40 texts: A leads, and B may be")
    assert "more texts would decide" in ended(1.0, 0.99, budget=40)


def test_bounds_show_a_candidate_to_be_slower_before_it_is_measured() -> None:
    asked: list[tuple[int, bool]] = []

    def measure(units: range, places: Any, bounds: bool) -> Any:
        asked.extend((place, bounds) for place in places)
        return np.tile([[1.0, 0.5][place] for place in places], (len(units), 1))

    found = race([Candidate("A", 0, 1), Candidate("B", 0, 1, dear=True, bounded=True)], measure, Terms(2000))
    assert (found.taken, set(asked)) == (0, {(0, False), (1, True)})
    assert found.outcome != "undecided"
    assert len(found.values[1]) == 0


def test_dear_candidates_are_measured_on_few_units_and_never_taken_wrongly() -> None:
    asked: list[int] = []

    def measure(units: range, places: Any, _: bool) -> Any:
        asked.extend(units.stop for place in places if place == 2)
        return np.tile([[1.0, 0.99, 1.2][place] for place in places], (len(units), 1))

    three = [Candidate("A", 0, 9), Candidate("B", 0, 9), Candidate("C", 0, 9, dear=True)]
    found = race(three, measure, Terms(600, thin=12))
    assert max(asked) == 600 // 12
    # C is faster, but so few units cannot show it: nothing is taken.
    assert found.outcome == "undecided"
    assert "Not decided with this budget of 600 samples" in found.sentence()
    assert found.more > 600


def test_candidates_of_one_family_differ_by_what_their_steps_say() -> None:
    one, two = (Candidate(str(size), 1, size + 1, family="m", steps=(1, 2, min(3, size + 1))) for size in (1, 2))
    assert (one.most_above(two), two.most_above(one)) == (0, 1)
    assert one._replace(family=None).most_above(two) == 1


def test_values_outside_their_range_are_refused() -> None:
    with pytest.raises(ValueError, match=r"A: values must lie in \[0, 1\]; got 2 to 2"):
        race([Candidate("A", 0, 1)], lambda units, places, _: np.full((len(units), len(places)), 2.0), Terms(20))
    with pytest.raises(ValueError, match="positive budget"):
        race([], lambda *_: np.empty((0, 0)), Terms(0))


def test_what_stands_beside_a_race_is_measured_for_the_table_alone() -> None:
    """The last one would be taken, but is no rival; the taken one is measured on as many units as is said."""
    rows = np.tile([1.0, 0.125, 2.0], (900, 1))
    three = [Candidate("A", 0, 2), Candidate("B", 0, 2), Candidate("C", 0, 2, beside=True)]

    def measure(units: range, places: Any, _: bool) -> Any:
        return rows[units][:, places]

    found = race(three, measure, Terms(900))
    assert (found.taken, found.outcome in ("take", "equivalent"), len(found.values[2])) == (0, True, 0)
    found.complete(measure, 40, 500)
    assert [len(values) for values in found.values][::2] == [500, 40]
    assert found.level(2).value == 2.0


def test_a_bound_is_corrected_by_the_taken_one_as_its_candidate_is() -> None:
    """On its few units the bound is as low as the candidate there, which is higher on the others."""
    rises = np.where(np.arange(400) < 16, 0.25, 0.45)
    two = [Candidate("A", 0, 1), Candidate("B", 0, 1)]
    lead = np.where(np.arange(400) < 16, 0.3, 0.5)
    found = Decision(two, Terms(400), [lead, rises], [lead, rises[:16]])
    assert (found.mean(1, bound=True).value, round(found.level(1).value, 6)) == (0.25, 0.442)
    assert round(found.bound(1, found.level(1)).value, 6) == 0.442


def test_a_bound_is_no_lower_than_its_candidate() -> None:
    """The candidate rises on units that its bound has not, and the taken one does not."""
    rises = np.where(np.arange(400) < 16, 0.25, 0.45)
    found = Decision([Candidate("A", 0, 1), Candidate("B", 0, 1)], Terms(400), [np.full(400, 0.5), rises], [rises] * 2)
    found.bounds[1] = rises[:16]
    assert found.mean(1, bound=True).value < found.level(1).value == found.bound(1, found.level(1)).value
    assert found.mean(1, bound=True).low < found.level(1).low == found.bound(1, found.level(1)).low  # type: ignore[operator]
