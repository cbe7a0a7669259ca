"""The smallest failing case fails as the given one does, no smaller one of the search fails, and a repair cures it."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import takewhile
from typing import Any

import pytest

from proofs_tests.samplers import samplers
from spec_math.audit import judge, subject_of
from spec_math.samplers.case import Case, default, position
from spec_math.samplers.smallest import TRIED, small_cases, smallest

F = Fraction


def reduced(fn: Any, case: Case, **how: Any) -> Any:
    return smallest(judge(subject_of(fn, **how), case, 10_000), 2_000)


@pytest.mark.parametrize(
    ("fn", "repaired", "lookahead"),
    [
        (samplers.verify_wrong, samplers.verify, 0),
        (samplers.step_redraws, samplers.step, 0),
        (samplers.whole_greedy, samplers.whole, 0),
        (samplers.block_without_its_bonus, samplers.block, 2),
        (samplers.raises, samplers.step, 0),
        (samplers.out_of_range, samplers.step, 0),
    ],
)
def test_the_case_fails_as_the_toy_does_and_the_repaired_passes(fn: Any, repaired: Any, lookahead: int) -> None:
    given = default(lookahead)
    found = reduced(fn, given)
    assert not found.verdict
    assert found.kind == judge(subject_of(fn), given, 10_000).kind
    case = found.case
    assert case.size == 2
    assert case.lookahead <= 1
    assert all(mass.denominator <= 8 for rows in (case.target, case.draft) for row in rows for mass in row)
    assert judge(subject_of(repaired), case, 10_000).verdict
    # Nothing before it in the search fails so.
    for smaller in takewhile(lambda one: one != case, small_cases(given, subject_of(fn))):
        assert judge(subject_of(fn), smaller, 10_000).kind != found.kind


def test_where_no_small_case_fails_the_given_one_is_made_smaller() -> None:
    """A fault that needs a target of more than 7/8 on its first token, which no small case has."""

    def rare(tokens: Any, target: Any, draft: Any) -> Any:
        return 0 if target[0] > F(7, 8) else samplers.step(tokens, target, draft)

    given = position(["29/30", "1/60", "1/90", "1/180"], ["1/7", "2/7", "3/7", "1/7"], 2)
    found = smallest(judge(subject_of(rare), given, 10_000), 2_000, tried=20)
    case = found.case
    assert not found.verdict
    assert (case.size, case.k) == (2, 1)
    assert case.target[0][0] > F(7, 8)
    assert judge(subject_of(samplers.step), case, 10_000).verdict


def test_a_case_that_fails_on_what_stands_for_random_numbers_alone_is_passed_over() -> None:
    """On two tokens its random numbers are asked for their type, so that its law there is not the one of its runs."""

    def asks_for_types(tokens: Any, target: Any, draft: Any) -> Any:
        if len(target) == 2 and type(random.random()) is float:
            return samplers.step(tokens, target, draft)
        return samplers.step_redraws(tokens, target, draft)

    found = reduced(asks_for_types, default())
    assert not found.verdict
    assert found.kind == "law"
    assert found.case.size == 3


def test_binary_numbers_are_shrunk_to_masses_that_they_hold() -> None:
    case = reduced(samplers.whole_greedy, default()).case
    assert all(mass.denominator in (2, 4, 8, 16) for mass in (*case.target[0], *case.draft[0]))


def test_cases_of_fewer_drafts_wait_where_the_given_laws_do_not_fail_for_them() -> None:
    """All that were tried had one draft, for which the sampler is right: there are more such cases than are tried."""

    def second_of_two(tokens: Any, target: Any, draft: Any) -> Any:
        return samplers.step(tokens, target, draft) if len(tokens) == 1 else tokens[1]

    subject, two = subject_of(second_of_two), default(k=2)
    assert judge(subject, default(), 10_000).verdict
    assert sum(case.k == 1 for case in small_cases(two, subject)) > TRIED
    tried: list[int] = []
    found = smallest(judge(subject, two, 10_000), 2_000, progress=tried.append)
    assert not found.verdict
    assert (found.case.size, found.case.k) == (2, 2)
    assert len(tried) < 20
