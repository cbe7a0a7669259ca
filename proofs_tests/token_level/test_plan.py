"""The pooled-priority plan on Fractions: lossless, and it accepts with the optimum, both ways to draft."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings

from proofs_tests.oracles import independent_drafts, optimum, successive_drafts
from proofs_tests.strategies import counts, pairs
from proofs_tests.token_level.plans import FOUR, TWO, as_law, both_ways, coupling, made
from spec_math import Lossless, check_lossless, exact, law, proportional_to
from spec_math.distribution import overlap, residual
from spec_math.token_level import optimal
from spec_math.token_level.plan import plan, plan_without_replacement, verify
from spec_math.token_level.pooled_priority import INDEPENDENT, WITHOUT_REPLACEMENT


def assert_optimal(target: Any, draft: Any, k: int, replaced: bool) -> None:
    prepared = made(target, draft, k, replaced)
    found = coupling(prepared, draft, k)
    drafts = independent_drafts(draft, k) if replaced else successive_drafts(draft, k)
    assert found.drafts() == drafts
    assert found.emitted() == as_law(target)
    best = optimum(target, drafts)
    value = optimal.acceptance if replaced else optimal.acceptance_without_replacement
    assert found.acceptance() == found.test_acceptance() == prepared.acceptance == best == value(target, draft, k)
    assert {type(mass) for mass in (*prepared.selection, *prepared.kept, prepared.acceptance)} == {Fraction}


# The theorem


@both_ways
@given(pair=pairs(4), k=counts(3))
@example(pair=(exact(["1/2", "1/2"]), exact(["1/2", "1/2"])), k=2)
@example(pair=(exact([0, 0, 1]), exact(["1/3", "2/3", 0])), k=3)
@example(pair=(exact([1]), exact([1])), k=3)
@settings(max_examples=200)
def test_plan_is_lossless_and_accepts_with_the_optimum(replaced: bool, pair: Any, k: int) -> None:
    assert_optimal(*pair, k, replaced)


@both_ways
@pytest.mark.parametrize(
    ("size", "k", "instances"), [(5, 3, 12), (6, 2, 25), (6, 3, 4), (4, 4, 8), (5, 4, 2), (6, 4, 1)]
)
def test_plan_is_optimal_on_larger_random_instances(size: int, k: int, instances: int, replaced: bool) -> None:
    rng = np.random.default_rng([size, k, replaced])
    for _ in range(instances):
        weights = [rng.integers(0, 9, size).tolist() for _ in range(2)]
        weights[1][0] += 1
        weights[0][-1] += 1
        assert_optimal(proportional_to(weights[0]), proportional_to(weights[1]), k, replaced)


@given(pair=pairs(4), k=counts(3))
@settings(max_examples=50)
def test_both_plans_are_judged_lossless(pair: Any, k: int) -> None:
    for scheme in (INDEPENDENT, WITHOUT_REPLACEMENT):
        verdict = check_lossless(scheme, *pair, k)
        assert isinstance(verdict, Lossless), str(verdict)
        assert verdict.bound == 0


@given(pair=pairs(5), k=counts(4))
def test_plan_without_replacement_is_never_below_the_iid_one(pair: Any, k: int) -> None:
    assert plan_without_replacement(*pair, k).acceptance >= plan(*pair, k).acceptance


@both_ways
@given(pair=pairs(5))
def test_one_draft_is_maximal_coupling(replaced: bool, pair: Any) -> None:
    target, draft = pair
    prepared = made(target, draft, 1, replaced)
    assert prepared.acceptance == overlap(target, draft)
    assert prepared.selection.tolist() == draft.tolist()
    if prepared.acceptance < 1:
        assert prepared.residual.masses == residual(target, draft).tolist()


@both_ways
@given(pair=pairs(5), k=counts(4))
def test_equal_laws_accept_always(replaced: bool, pair: Any, k: int) -> None:
    draft = pair[1]
    prepared = made(draft, draft, k, replaced)
    assert prepared.acceptance == 1
    assert prepared.selection.tolist() == draft.tolist()


def test_spectr_leaves_its_own_example_short_of_the_plan() -> None:
    """Ber(1/4) drafts for Ber(6/10), k = 2: K-SEQ accepts 0.769917, the plan 67/80 (erratum d)."""
    assert plan(["4/10", "6/10"], ["3/4", "1/4"], 2).acceptance == Fraction(67, 80)


@given(pair=pairs(5), k=counts(4))
@settings(max_examples=60)
def test_fewer_tokens_than_drafts_are_drafted_all(pair: Any, k: int) -> None:
    target, draft = pair
    support = np.flatnonzero(draft > 0)
    prepared = plan_without_replacement(target, draft, len(support) + k)
    assert prepared.drafts == len(support)
    assert prepared.acceptance == target[support].sum()


# Entrances


@pytest.mark.parametrize(
    ("prepared", "tokens", "said"),
    [
        (partial(plan, FOUR, TWO, 2), (0,), "this plan is for 2 i.i.d. drafts"),
        (partial(plan, FOUR, TWO, 2), (0, 4), "must lie in 0..3"),
        (partial(plan, [1, 0], [1, 0], 2), (0, 1), "no mass on the drafted token 1"),
        (partial(plan_without_replacement, FOUR, TWO, 2), (1, 1), "this plan is for 2 distinct drafts"),
        (partial(plan_without_replacement, [1, 0], [1, 0], 2), (0, 0), "this plan is for 1 distinct drafts"),
    ],
)
def test_drafts_that_the_plan_is_not_for_are_refused(prepared: Any, tokens: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        law(lambda coin: verify(coin, tokens, prepared()))


@pytest.mark.parametrize(("k", "error"), [(0, ValueError), (True, TypeError), (1.5, TypeError)])
def test_a_number_of_drafts_is_a_count(k: Any, error: type[Exception]) -> None:
    for make in (plan, plan_without_replacement):
        with pytest.raises(error):
            make(FOUR, TWO, k)


def test_a_plan_is_that_of_one_position() -> None:
    with pytest.raises(ValueError, match="one position"):
        plan([[1, 0]], [[1, 0]], 2)
    for scheme in (INDEPENDENT, WITHOUT_REPLACEMENT):
        with pytest.raises(ValueError, match="one position"):
            law(partial(scheme.verify, tokens=(0, 0), target=exact([["1/2", "1/2"]]), draft=exact([["1/2", "1/2"]])))


def test_a_pool_needs_a_component_and_a_place() -> None:
    pools = plan(FOUR, TWO, 2).pools
    for component, place in ((-1, 0), (len(pools.weights), 0), (0, -1), (0, 4)):
        with pytest.raises(IndexError):
            pools.pool(component, place)


def test_making_a_plan_leaves_its_laws_as_they_were() -> None:
    target, draft = FOUR.copy(), TWO.copy()
    prepared = plan(target, draft, 2)
    target[0] = Fraction(5)
    assert prepared.residual.masses == plan(FOUR, TWO, 2).residual.masses
    assert all(a + b > 0 for a, b in combinations(prepared.selection, 2))
