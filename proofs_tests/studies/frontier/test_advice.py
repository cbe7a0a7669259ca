"""Advice in words: what to take, how sure that is, and where along the temperatures the answer changes."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import numpy as np

from spec_math.block_level.methods import CHAINS, TREES, Drafts, Method
from spec_math.mean import Mean
from spec_math.render.html import page
from spec_math.sequential.decision import Candidate, Decision, Terms, race
from spec_math.studies.frontier.comparison import Asked, Costs, Frontier, Point
from spec_math.studies.frontier.contenders import Regime
from spec_math.studies.frontier.table import advice, result_of
from spec_math.studies.lengths.units import Shape


def point(method: str, drafts: Drafts, speed: float) -> Point:
    tokens, faster = Mean(2.0, 0.01, 100, 1.9, 2.1, 0.99), Mean(speed, 0.01, 100, speed - 0.1, speed + 0.1, 0.99)
    shape = Shape(8, 4, 8, 0 if drafts is TREES else 2)
    return Point(Method(method, drafts), shape, tokens, faster, Mean(4.0, 0.1, 9, 3.5, 4.5, 0.99), None)


def decided(points: list[Point], budget: int) -> Decision:
    names = [Candidate(f"{one.method.name} with {one.shape}", 0, 4) for one in points]
    rows = np.tile([one.faster.value for one in points], (budget, 1))
    return race(names, lambda units, places, _: rows[units][:, places], Terms(budget))


def frontier(heat: float, toy: Regime, points: list[Point], budget: int = 2000) -> Frontier:
    regime = replace(toy, temperature=heat, draft_temperature=heat)
    return Frontier(regime, {}, points, {}, decided(points, budget), [])


def test_advice_names_the_fastest_and_where_the_answer_changes(toy: Regime) -> None:
    warm = frontier(1.0, toy, [point("A", CHAINS, 2.0), point("B", TREES, 1.0)])
    cold = frontier(0.5, toy, [point("B", TREES, 2.5), point("A", CHAINS, 2.4)], budget=20)
    said = advice([warm, cold])
    assert "Take A with 2 chains of 4: " in said[0]
    assert "It is 2.00 (1.90 to 2.10) times as fast as plain decoding at these costs (99% interval)" in said[0]
    assert "No verifier of these drafts exceeds an estimated 4.00 (3.50 to 4.50) tokens a call." in said[0]
    assert "Not decided with this budget of 20 samples" in said[1]
    assert "between the temperatures 1 and 0.5" in said[2]
    assert "from 0.5 downwards take B" in said[2]
    assert "every temperature from 0.5 to 1" in advice([warm, replace(cold, fastest=warm.fastest)])[2]


def test_where_plain_decoding_is_fastest_the_advice_drafts_nothing(toy: Regime) -> None:
    (said,) = advice([frontier(1.0, toy, [point("A", CHAINS, 0.5)])])
    assert "Draft nothing: plain decoding is fastest at these costs. Of the methods, take A" in said


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
