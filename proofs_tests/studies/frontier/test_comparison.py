"""Shapes are chosen and judged on different samples, luck makes no method faster, and each has a bound of its kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from proofs_tests.studies.frontier.toy_models import quiet
from spec_math.block_level.methods import CHAINS, Method
from spec_math.mean import Mean, of_independent
from spec_math.studies.frontier import ceilings, contenders, further
from spec_math.studies.frontier.comparison import Asked, Costs, Point, compare, mean_of
from spec_math.studies.frontier.contenders import Contender, Regime, chains, drafting_itself
from spec_math.studies.frontier.table import result_of


def test_shapes_are_chosen_on_samples_that_do_not_judge_them(toy: Regime, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first third says that the short shape is better, the rest the long one: the short one is taken and judged."""

    def told(*values: tuple[float, float]) -> list[Contender]:
        own = Method("m", CHAINS)
        samples = [np.array([first] * 4 + [later] * 8) for first, later in values]
        return [Contender(own, chains(1, size), tokens, 3.0) for size, tokens in enumerate(samples, 1)]

    def nothing(*_: Any) -> Any:
        return [], []

    def no_more(*_: Any) -> list[Contender]:
        return []

    def methods(*_: Any) -> Any:
        return told((2.0, 1.25), (1.5, 3.0))

    def bounds(*_: Any) -> Any:
        return told((3.0, 3.0), (3.0, 3.0))

    for module, names in ((further, ("of_beams", "of_plans", "of_noise", "of_stems")), (further, ("of_branching",))):
        for name in names:
            monkeypatch.setattr(module, name, no_more)
    monkeypatch.setattr(contenders, "of_chains", methods)
    monkeypatch.setattr(contenders, "of_trees", nothing)
    monkeypatch.setattr(ceilings, "of_drafts", bounds)
    found = compare(toy, Asked((2,), Costs(), 12), quiet)
    point = found.by_budget[2][0]
    assert (str(point.shape), point.tokens.value) == ("one chain of 1", 1.25)


def test_a_sample_above_its_bound_makes_no_method_faster(toy: Regime, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow method, on every second prefix, yields 3 where its drafts allow 2: on these very prefixes, and no more."""
    own = Method("m", CHAINS)
    lucky = Contender(own, chains(1, 2), np.full(6, 3.0), 3.0)
    allowed = Contender(own, chains(1, 2), np.array([2.0, 1.0] * 6), 3.0)
    none: list[Contender] = []

    def answers(found: Any) -> Callable[..., Any]:
        def answer(*_: Any) -> Any:
            return found

        return answer

    monkeypatch.setattr(contenders, "of_trees", answers((none, none)))
    monkeypatch.setattr(contenders, "of_chains", answers([lucky]))
    monkeypatch.setattr(ceilings, "of_drafts", answers([allowed]))
    monkeypatch.setattr(further, "of_branching", answers(none))
    for name in ("of_beams", "of_plans", "of_noise", "of_stems"):
        monkeypatch.setattr(further, name, answers(none))
    asked = Asked((2,), Costs(), 12)
    found = compare(toy, asked, quiet)
    (point,) = found.fastest
    assert point.bound is not None
    assert (point.tokens.value, point.bound.value) == (3.0, 2.0)
    assert point.speed_up == Costs().speed_up(2.0, 2, 2, 1)
    assert point.lucky
    assert point.share is None
    shown = result_of([found], asked)
    place = [column.name for column in shown.tables[0].columns].index("share of bound")
    assert [row.cells[place] for row in shown.tables[0].rows] == [None]
    assert "By chance, 1 of 1 sampled means exceed their sampled bound" in " ".join(n.text for n in shown.notes)


def test_a_share_is_said_where_the_sample_does_not_lie_above_its_bound() -> None:
    tokens, own = Mean(3.0, 0.1, 8), Method("m", CHAINS)
    bounds = None, Mean(4.0, 0.1, 8), Mean(3.0, 0.1, 8), Mean(2.9, 0.1, 8)
    assert [Point(own, chains(1, 2), tokens, 1.0, bound).share for bound in bounds] == [None, 0.75, 1.0, None]
    # Means of the same samples, added in another order, are one number.
    assert Point(own, chains(1, 2), tokens, 1.0, Mean(3.0 - 2.0**-50, 0.1, 8)).lucky is False
    alone = compare(drafting_itself([0.5, 0.5]), Asked((2,), Costs(), 12), quiet)
    assert not any(point.lucky for point in alone.fastest)
    assert "lie above" not in " ".join(note.text for note in result_of([alone], Asked((2,), Costs(), 12)).notes)


def test_every_method_has_a_bound_of_its_own_kind_of_drafts(toy: Regime) -> None:
    """In the table of bounds each kind that a row drafts has a row, at every budget where one of its shapes fits."""
    asked = Asked((2, 6), Costs(), 12)
    found = compare(toy, asked, quiet)
    assert all(one.bound is not None for one in found.fastest)
    _, bounds = result_of([found], asked).tables
    assert {row.cells[0] for row in bounds.rows} == {one.method.drafts.name for one in found.fastest}
    for place, budget in enumerate(asked.budgets, 1):
        kinds = {one.method.drafts.name for one in found.by_budget[budget]}
        assert kinds == {row.cells[0] for row in bounds.rows if row.cells[place] is not None}


def test_no_interval_exceeds_what_a_call_can_yield() -> None:
    """Of 5 tokens at most, 1.0 to 13.7 was printed: samples are weighted, and their range is wider than the mean's."""
    own = Method("m", CHAINS)
    weighted = Contender(own, chains(2, 4), np.array([1.0, 3.0, 2.0, 13.0] * 6), 16.0)
    mean = mean_of(weighted, 24)
    assert mean.high == 5
    assert of_independent(weighted.tokens[8:], 1, 16.0, 0.99).high > 5
