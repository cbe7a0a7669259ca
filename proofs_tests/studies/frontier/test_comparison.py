"""Every method has a bound of its own kind, each row its samples, and no interval leaves what is possible."""

from __future__ import annotations

import pytest

from proofs_tests.studies.frontier.toy_models import quiet
from spec_math.block_level.methods import TREES
from spec_math.studies.frontier.comparison import Asked, Costs, Frontier, compare
from spec_math.studies.frontier.contenders import Regime
from spec_math.studies.frontier.table import of_regime, result_of

ASKED = Asked((2, 6), Costs(), 40)


@pytest.fixture(scope="module")
def found(toy: Regime) -> Frontier:
    return compare(toy, ASKED, quiet)


def test_every_method_has_a_bound_of_its_own_kind_of_drafts(found: Frontier) -> None:
    """In the table of bounds each kind that a row drafts has a row, at every budget where one of its shapes fits."""
    _, bounds = result_of([found], ASKED).tables
    assert {row.cells[0] for row in bounds.rows} == {one.method.drafts.name for one in found.fastest}
    for place, budget in enumerate(ASKED.budgets, 1):
        kinds = {one.method.drafts.name for one in found.by_budget[budget]}
        assert kinds == {row.cells[0] for row in bounds.rows if row.cells[place] is not None}


def test_each_row_says_its_samples_and_lies_within_what_is_possible(found: Frontier) -> None:
    rows = result_of([found], ASKED).tables[0].records()
    assert [row["samples"] for row in rows] == [one.tokens.samples for one in found.fastest]
    for one in found.fastest:
        low, high = one.tokens.interval
        assert 1 - 1e-9 <= low <= one.tokens.value <= high <= 1 + one.shape.levels + 1e-9
        assert one.share is not None
        assert 0 <= one.share.interval[0] <= one.share.interval[1] <= 1


def test_on_one_text_no_method_is_above_its_bound(found: Frontier) -> None:
    """Chains and trees alike: both come from the same texts, unit by unit."""
    checked = 0
    for one, values, bounds in zip(found.contenders, found.decision.values, found.decision.bounds, strict=True):
        if one.method.along is not None or one.method.drafts is TREES:
            both = min(len(values), len(bounds))
            assert (values[:both] <= bounds[:both] + 2.0**-40).all(), one.method.name
            checked += 1
    assert checked > 20


def test_the_sentence_has_an_interval_of_the_speed_up(found: Frontier) -> None:
    said = of_regime(found)
    assert f"It is {found.taken.faster} times as fast as plain decoding" in said
    assert "exceeds an estimated" in said
    assert "more samples would decide" in said or "Take " in said
