"""The numbers that tokens are turned into are uniform and independent, and the tests on them reject what is not."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from spec_math.engines.exact import next_tokens
from spec_math.engines.pair import PairShape, tables
from spec_math.engines.protocol import About, Answer, Request
from spec_math.engines.questions import (
    CELLS,
    ROUNDS,
    Case,
    CaseRun,
    cells_of,
    groups_of_positions,
    numbers_of,
    plan,
    shared_number,
)
from spec_math.engines.stub import Stub

PAIR = tables(PairShape(size=8))


def run_of(case: Case, documented: str = "") -> CaseRun:
    return CaseRun(case, PAIR, 1e-3, About("mine", logprobs=documented), np.random.default_rng(0))


def test_a_token_of_the_law_has_a_uniform_number() -> None:
    """Exactly: the intervals of the tokens are disjoint, each is as long as its mass, and together they are [0, 1]."""
    masses = np.array([[0.125, 0.5, 0.125, 0.25]] * 4)
    for keys in ([3.0, 1.0, 2.0, 0.0], [0.0, 0.0, 0.0, 0.0], [2.0, 1.0, 1.0, 5.0]):
        order = np.array([keys] * 4)
        low = numbers_of(masses, order, np.arange(4), np.zeros(4))
        high = numbers_of(masses, order, np.arange(4), np.full(4, np.nextafter(1, 0)))
        ends = sorted(zip(low, high, strict=True))
        assert [Fraction(round(end * 8), 8) for _, end in ends] == [Fraction(round(x * 8), 8) for x, _ in ends[1:]] + [
            1
        ]
        assert sorted(high - low) == pytest.approx([0.125, 0.125, 0.25, 0.5])


def test_a_token_without_mass_falls_into_the_cell_of_what_cannot_be() -> None:
    numbers = numbers_of(np.array([[0.0, 1.0]]), np.zeros((1, 2)), np.array([0]), np.array([0.5]))
    assert cells_of(numbers).tolist() == [CELLS]
    run = run_of(Case("greedy", {"temperature": 0.0}, number=1, batch=1))
    best = int(next_tokens(PAIR.target, [(0,)], [()])[0].argmax())
    asked = [Request((0,), 1)]
    run.take([(asked, [Answer((best,), accepted=(0,))])] * 4)
    assert run.failures == []
    run.take([(asked, [Answer(((best + 1) % 7,), accepted=(0,))])])
    assert run.failures[0].question == "distribution"


def test_the_shared_number_is_what_enumeration_gives() -> None:
    """Exact up to a grid: every uniform of a fine grid draws the draft, and where rejected the residual."""
    t, d = np.array([0.4, 0.1, 0.3, 0.2]), np.array([0.1, 0.4, 0.2, 0.3])
    residual = np.maximum(t - d, 0) / np.maximum(t - d, 0).sum()
    law, grid = np.zeros(4), 20_000
    for step in range(grid):
        u = (step + 0.5) / grid
        x, y = int(np.searchsorted(np.cumsum(d), u)), int(np.searchsorted(np.cumsum(residual), u))
        kept = min(1, t[x] / d[x])
        law[x] += kept / grid
        law[y] += (1 - kept) / grid
    assert np.abs(shared_number(t, d) - law).max() < 8 / grid
    assert np.abs(shared_number(t, d) - t).max() > 0.01


def test_positions_are_covered_once() -> None:
    for number in range(1, 70):
        groups = [range_ for _, range_ in groups_of_positions(number)]
        assert [j for group in groups for j in group] == list(range(number))


def test_the_number_of_tests_is_settled_before_the_first_token() -> None:
    for lookahead, options, batch in product((0, 3, None), ({}, {"top_k": 2}, {"min_tokens": 2}), (1, 3)):
        case = Case("case", options, lookahead, batch=batch, repeat=True)
        run = run_of(case)
        assert list(run.tests) == plan(case)
        asked = [Request((0,), 12, options, seed) for seed in range(batch)]
        run.take([(asked, Stub(PAIR).ask(asked, lookahead))] * 4)
        assert list(run.tests) == plan(case)


def test_first_tokens_of_rounds_are_found() -> None:
    run = run_of(Case("case", number=8, batch=1))
    where = np.array([(0, j) for j in range(8)])
    found = run.rounds_of(where, [Answer(tuple(range(8)), accepted=(2, 0, 3))])
    at = {name: np.flatnonzero(row).tolist() for name, row in zip((*ROUNDS, "bonus"), found, strict=True)}
    assert at == {
        "0 accepted": [4],
        "1 accepted": [],
        "2 or more accepted": [3],
        "2 or more, then 0 accepted": [4],
        "bonus": [7],
    }
    assert (run.accepted, run.rounds) == (5, 3)


def test_a_text_that_goes_on_or_stops_is_a_failure_and_a_whole_one_is_none() -> None:
    asked = [Request((0,), 3)]
    for tokens, question in (
        ((0, 7, 1), "end of the text"),
        ((0, 1), "end of the text"),
        ((0, 7), None),
        ((0, 1, 2), None),
    ):
        run = run_of(Case("case", number=3, batch=1))
        run.take([(asked, [Answer(tokens)])] * 4)
        assert [failure.question for failure in run.failures] == [question] * (question is not None)


@pytest.mark.parametrize(("documented", "wrong"), [("raw", False), ("processed", True), ("either", False), ("", False)])
def test_log_probabilities_are_compared_as_documented(documented: str, wrong: bool) -> None:
    """Raw ones are returned under a temperature: right where raw is documented, wrong where processed is."""
    options = {"temperature": 0.5}
    run = run_of(Case("case", options, number=1, batch=1), documented)
    law = next_tokens(PAIR.target, [(0,)], [()])[0]
    asked = [Request((0,), 1, options)]
    run.take([(asked, [Answer((2,), (float(np.log(law[2])),))])] * 4)
    assert "log-probabilities" in {failure.question for failure in run.failures} or not wrong
    assert "log-probabilities" not in {failure.question for failure in run.failures} or wrong
    off = run_of(Case("case", options, number=1, batch=1), "raw")
    off.take([(asked, [Answer((2,), (float(np.log(law[2])) + 0.01,))])] * 4)
    assert "log-probabilities" in {failure.question for failure in off.failures}


def test_refusals_end_a_case() -> None:
    run = run_of(Case("case", {"top_k": 2}, batch=1))
    run.take([([Request((0,), 3)], [Answer(refused="no top-k here")])])
    assert (run.done, run.refused, run.tokens) == (True, "no top-k here", 0)


def test_rows_at_a_threshold_are_left_out() -> None:
    """Tied pairs of tokens: top-1 would keep one or two by rounding, and no verdict rests on it."""
    tied = tables(PairShape(size=8, target="tied"))
    best = {token: int(next_tokens(tied.target, [(token,)], [()])[0].argmax()) for token in range(7)}
    on_tie = next(token for token, found in best.items() if found < 6)
    alone = next(token for token, found in best.items() if found == 7)  # the end token, which the bias sets apart
    for prompt, left_out in ((on_tie, 4), (alone, 0)):
        run = CaseRun(
            Case("case", {"top_k": 1}, number=1, batch=1), tied, 1e-3, About("mine"), np.random.default_rng(0)
        )
        run.take([([Request((prompt,), 1)], [Answer((best[prompt],))])] * 4)
        assert (run.left_out, run.failures) == (left_out, [])
