"""Advice in words: what is fastest, how sure that is, and where along the temperatures the answer changes."""

from __future__ import annotations

from dataclasses import replace
from html import escape

from spec_math.block_level.methods import CHAINS, TREES, Drafts, Method
from spec_math.mean import Mean
from spec_math.render.html import page
from spec_math.studies.frontier.comparison import Asked, Costs, Frontier, Point
from spec_math.studies.frontier.contenders import Regime, Shape
from spec_math.studies.frontier.table import advice, result_of


def point(method: str, drafts: Drafts, speed: float, error: float = 0.001) -> Point:
    tokens = Mean(2.0, error, 100, 1.9, 2.1, 0.99)
    return Point(Method(method, drafts), Shape(8, 4, 8, 0 if drafts is TREES else 2), tokens, speed, Mean(4.0, 0.1, 9))


def frontier(heat: float, toy: Regime, points: list[Point]) -> Frontier:
    return Frontier(replace(toy, temperature=heat, draft_temperature=heat), {}, points, {})


def test_advice_names_the_fastest_and_where_the_answer_changes(toy: Regime) -> None:
    warm = frontier(1.0, toy, [point("A", CHAINS, 2.0), point("B", TREES, 1.5)])
    cold = frontier(0.5, toy, [point("B", TREES, 2.5), point("A", CHAINS, 2.4, error=0.5)])
    said = advice([warm, cold])
    assert "draft 2 chains of 4, verify with A" in said[0]
    assert "more than two standard errors apart" in said[0]
    assert "within two standard errors" in said[1]
    assert "between the temperatures 1 and 0.5" in said[2]
    assert "from 0.5 downwards take B" in said[2]
    assert "every temperature from 0.5 to 1" in advice([warm, replace(cold, fastest=warm.fastest)])[2]


def test_advice_says_where_chosen_trees_and_drawn_drafts_are_told_apart(toy: Regime) -> None:
    """Sure at 1, not at 0.5, where the runner-up's samples scatter; every change along the temperatures is named."""
    warm = frontier(1.0, toy, [point("A", CHAINS, 2.0), point("B", TREES, 1.5)])
    cold = frontier(0.5, toy, [point("B", TREES, 2.5), point("A", CHAINS, 2.4, error=0.5)])
    coldest = frontier(0.25, toy, [point("C", CHAINS, 3.0), point("B", TREES, 2.0)])
    said = advice([warm, cold, coldest])[-1]
    assert "between the temperatures 1 and 0.5" in said
    assert "between the temperatures 0.5 and 0.25" in said
    assert "from 0.25 downwards take C" in said
    assert "two standard errors apart at 1 and 0.25, and within two standard errors at 0.5" in said


def test_advice_on_one_kind_of_drafts_alone_says_so(toy: Regime) -> None:
    alone = [frontier(heat, toy, [point("A", CHAINS, 2.0)]) for heat in (1.0, 0.5)]
    assert advice(alone)[-1].endswith("drafts at every temperature from 0.5 to 1. Only one of them was compared.")


def test_advice_stands_at_the_end_of_what_the_command_and_the_report_show(toy: Regime) -> None:
    points = [point("A", CHAINS, 2.0), point("B", TREES, 1.5)]
    found = [replace(frontier(heat, toy, points), by_budget={8: points}, ceilings={8: {}}) for heat in (1.0, 0.5)]
    shown = result_of(found, Asked((8,), Costs(), 12))
    said = advice(found)
    assert [note.text for note in shown.notes][-len(said) :] == said
    assert len(said) == 3
    assert shown.finding.endswith(said[0])
    document = page(shown)
    assert all(escape(sentence) in document for sentence in said)
    # The control: what is not said does not stand there.
    assert "chosen tree at every temperature" not in document
