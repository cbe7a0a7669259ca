"""Drafts from different drafters: the bracket holds the optimum, closes where it can, and the walk is lossless."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.strategies import laws
from spec_math.chance import law
from spec_math.coupling import joint
from spec_math.token_level import draft_law, optimal, single, transport
from spec_math.token_level.optimum import several_drafters


@st.composite
def problems(draw):
    size, k = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    return draw(laws(size)), [draw(laws(size)) for _ in range(k)]


def by_brute_force(target, drafts):
    def cut(subset):
        held = (sum((d[token] for token in subset), Fraction(0)) for d in drafts)
        return math.prod(held, start=Fraction(1)) - sum((target[token] for token in subset), Fraction(0))

    tokens = range(len(target))
    # The empty subset cuts nothing: a draft is always drawn.
    return 1 - max([Fraction(0), *(cut(s) for r in tokens for s in combinations(tokens, r + 1))])


@given(problems())
def test_the_bracket_holds_the_optimum_of_any_drafters(problem):
    target, drafts = problem
    best = by_brute_force(target, drafts)
    found = several_drafters.optimum(target, drafts)
    assert found.lower <= best <= found.upper
    if len(drafts) == 1:
        assert found.lower == found.upper == best == single.acceptance(target, drafts[0])


@given(problems())
def test_equal_drafters_are_k_independent_drafts(problem):
    target, drafts = problem
    k = len(drafts)
    found = several_drafters.optimum(target, [drafts[0]] * k)
    assert found.upper == optimal.acceptance(target, drafts[0], k)
    assert found.gap < Fraction(1, 2**40)


@given(problems())
def test_tests_in_turn_are_lossless_and_accept_as_the_closed_form_says(problem):
    target, drafts = problem
    walked = joint(
        lambda coin: several_drafters.draw(coin, drafts),
        lambda coin, tokens: several_drafters.emit(coin, tokens, target, drafts),
    )
    assert walked.emitted() == {token: mass for token, mass in enumerate(target) if mass}
    assert walked.acceptance() == several_drafters.acceptance(target, drafts) <= by_brute_force(target, drafts)


def test_testing_a_draft_against_the_other_drafters_law_is_lossy():
    """The control: both laws swapped."""
    target, drafts = np.array([Fraction(1, 4), Fraction(3, 4)]), [["1/2", "1/2"], ["1/8", "7/8"]]

    def swapped(coin):
        tokens = several_drafters.draw(coin, drafts)
        return several_drafters.emit(coin, tokens, target, drafts[::-1]).token

    assert law(swapped)[0] != target[0]


def test_the_bracket_stays_open_where_no_weights_serve():
    target = [Fraction(mass, 1000) for mass in (0, 25, 70, 905)]
    drafts = [[Fraction(mass, 10) for mass in masses] for masses in ((8, 1, 0, 1), (1, 0, 1, 8))]
    found = several_drafters.optimum(target, drafts)
    assert found.lower < Fraction(91, 100) < found.upper
    assert transport.acceptance_of(target, draft_law.independent(drafts)) == Fraction(91, 100)


def test_the_bracket_is_narrow_on_laws_of_language_like_spread():
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((3, 2000)) * 2
    logits[1:] += logits[0]
    target, *drafts = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    found = several_drafters.optimum(target, drafts)
    assert 0 <= found.gap < 1e-3
    assert found.upper >= several_drafters.acceptance(target, drafts)


SUBSETS = np.array([[bits >> token & 1 for token in range(6)] for bits in range(2**6)])


def dual(target, drafts, logs):
    """The bounds that weights e^±log give, by all subsets of six tokens."""
    inside = np.exp(logs)[:, None] * (SUBSETS @ drafts[0]) + np.exp(-logs)[:, None] * (SUBSETS @ drafts[1])
    return ((inside / 2) ** 2 - SUBSETS @ target).max(axis=1)


def test_no_weights_of_two_drafters_give_a_lower_bound_than_the_one_found():
    """Control: equal weights alone give a higher one."""
    rng, higher = np.random.default_rng(1), 0
    for _ in range(12):
        target, *drafts = rng.dirichlet(np.full(6, 0.4), 3)
        bound = 1 - several_drafters.optimum(target, drafts).lower
        assert bound <= dual(target, drafts, np.linspace(-4, 4, 801)).min() + 1e-12
        higher += dual(target, drafts, np.zeros(1))[0] > bound + 1e-3
    assert higher > 3


def test_bad_drafts_are_refused():
    with pytest.raises(ValueError, match="at least one draft"):
        several_drafters.optimum([1], [])
    with pytest.raises(ValueError, match="one token from each of 2 drafters is needed; got 1"):
        law(lambda coin: several_drafters.emit(coin, (0,), [1], [[1], [1]]))


def test_a_draft_that_is_no_law_is_named():
    with pytest.raises(ValueError, match=r"^draft: masses must sum to exactly 1"):
        law(lambda coin: several_drafters.draw(coin, [["1/4", "1/4"]]))
