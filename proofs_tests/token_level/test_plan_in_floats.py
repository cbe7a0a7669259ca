"""Plans on floats: their law is the target's within a derived bound, their acceptance the optimum, on any laws."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from proofs_tests.strategies import counts, dyadic_pairs
from proofs_tests.token_level.float_laws import as_exact, float_pair, softmax
from proofs_tests.token_level.plan_stress import (
    LONG,
    PROMISED,
    UNIT,
    Case,
    Left,
    cases,
    closed_form,
    in_long,
    independent_gains,
    law_bound,
    sums,
)
from proofs_tests.token_level.pools_oracle import selected_by_merging
from spec_math import Lossless, check_lossless, exact, sample
from spec_math.scheme import draw_independent
from spec_math.token_level import optimal, without_replacement
from spec_math.token_level.optimum import pool_lemma
from spec_math.token_level.optimum.pools import GRID, selection_ratios
from spec_math.token_level.optimum.prefix_law import independent
from spec_math.token_level.optimum.ratio_order import in_units, ratio_order
from spec_math.token_level.plan import emit, plan, plan_without_replacement, verify
from spec_math.token_level.pooled_priority import INDEPENDENT, WITHOUT_REPLACEMENT

FULL = 151_936

FULL_CASES = [
    ("softmax", 4),
    ("peaked", 2),
    ("peaked", 8),
    ("very peaked", 4),
    ("nearly tied", 4),
    ("nearly tied", 8),
    ("denormal", 2),
    ("top 50", 8),
    ("float32", 4),
]


# Two drafts without replacement: slopes are within 30 in place of 20k, e = 55, and in all 2·56 + 67 = 179 ≤ 180.
PAIR_BOUND = 180 * UNIT
# The stated laws of prefixes for three and more drafts are within an n-fold of this; what is seen is 1e-15.


def bound(case: Case) -> float:
    if case.replaced or case.k == 1:
        return law_bound(case.k)
    return PAIR_BOUND if case.k == 2 else PROMISED


def assert_true_to_its_laws(case: Case) -> None:
    made = case.plan()
    errors = case.errors(made)
    assert ((made.kept >= 0) & (made.kept <= 1)).all()
    assert not made.kept[np.asarray(case.target) == 0].any(), "a token of mass zero would pass"
    assert errors.law <= bound(case), case
    assert errors.acceptance <= PROMISED, case


def test_plan_is_lossless_and_optimal_under_stress() -> None:
    """The first 400 of the 2,000 cases that benchmarks/plan.py goes through."""
    for case in cases(400, seed=0):
        assert_true_to_its_laws(case)


@pytest.mark.parametrize(("kind", "k"), FULL_CASES)
def test_plan_at_full_vocabulary(kind: str, k: int) -> None:
    assert_true_to_its_laws(Case(*float_pair(kind, FULL), k, True))


@pytest.mark.parametrize(
    ("kind", "k"), [("peaked", 2), ("nearly tied", 2), ("denormal", 2), ("top 50", 8), ("softmax", 4)]
)
def test_plan_without_replacement_at_full_vocabulary(kind: str, k: int) -> None:
    assert_true_to_its_laws(Case(*float_pair(kind, FULL), k, False))


@pytest.mark.parametrize("replaced", [True, False])
def test_plan_for_a_point_mass_at_full_vocabulary(replaced: bool) -> None:
    spread, _ = float_pair("peaked", FULL)
    point = np.zeros(FULL)
    point[12_345] = 1.0
    for target, draft in ((spread, point), (point, spread), (point, point)):
        assert_true_to_its_laws(Case(target, draft, 2, replaced))


def test_plan_takes_stored_laws_in_proportion_to_their_sums() -> None:
    """Single precision, sums off by 1e-5: tokens that are never drafted must not keep that error."""
    small = np.array([0.5, 0.125, 0.375]), np.array([0.125, 0.875, 0.0])
    for pair in (small, float_pair("top 50", 20_000)):
        target, draft = (((1 + 1e-5) * side).astype(np.float32) for side in pair)
        for replaced in (True, False):
            assert_true_to_its_laws(Case(target, draft, 2, replaced))


@pytest.mark.parametrize(("kind", "k"), [("softmax", 4), ("peaked", 2), ("nearly tied", 8), ("top 50", 2)])
def test_plan_is_the_exact_plan_of_the_same_dyadic_laws(kind: str, k: int) -> None:
    """V = 1,000. The emitted law is taken in Fractions, from the float plan's weights, deaths, chances and residual."""
    target, draft = float_pair(kind, 1_000)
    floats, true = plan(target, draft, k), plan(as_exact(target), as_exact(draft), k)
    assert abs(Fraction(float(floats.acceptance)) - true.acceptance) <= Fraction(PROMISED)
    assert sum(abs(Fraction(c) - t) for c, t in zip(floats.selection.tolist(), true.selection, strict=True)) <= PROMISED
    masses = as_exact(draft)[floats.order.tokens]
    weights = [Fraction(weight) for weight in floats.pools.weights.tolist()]
    selected = selected_by_merging(weights, floats.pools.dies, masses, independent_gains(masses, k))
    kept, left = (as_fractions(values) for values in (floats.kept, np.array(floats.residual.masses)))
    emitted = closed_form(replace(floats, kept=kept, residual=Left(left)), selected)
    assert sum(emitted) == 1
    assert sum(abs(a - b) for a, b in zip(emitted, as_exact(target), strict=True)) <= law_bound(k)


def as_fractions(values: Any) -> Any:
    return np.array([Fraction(value) for value in values.tolist()], dtype=object)


@pytest.mark.parametrize("size", [40, 120])
def test_plan_of_two_without_replacement_is_the_exact_plan(size: int) -> None:
    target, draft = float_pair("softmax", size)
    floats = plan_without_replacement(target, draft, 2)
    true = plan_without_replacement(as_exact(target), as_exact(draft), 2)
    assert abs(Fraction(float(floats.acceptance)) - true.acceptance) <= Fraction(PROMISED)
    assert sum(abs(Fraction(c) - t) for c, t in zip(floats.selection.tolist(), true.selection, strict=True)) <= PROMISED


def test_components_lie_on_a_grid_and_sum_to_exactly_one() -> None:
    for case in cases(60, seed=3):
        weights = [Fraction(weight) * int(GRID) for weight in case.plan().pools.weights.tolist()]
        assert sum(weights) == int(GRID)
        assert all(weight.denominator == 1 and weight > 0 for weight in weights)


@given(pair=dyadic_pairs(), k=counts(3))
@settings(max_examples=60)
def test_float_schemes_are_judged_lossless(pair: Any, k: int) -> None:
    target, draft = (side.astype(float) for side in pair)
    for scheme in (INDEPENDENT, WITHOUT_REPLACEMENT):
        verdict = check_lossless(scheme, target, draft, k)
        assert isinstance(verdict, Lossless), str(verdict)


# A chance to keep is (u_y − u_z)·m/v with m ≤ 1, flipped with a probability of at most v: its error times v counts.
# In units: u and v are values of the law of prefixes, within 40 for two draws and (20 + 2·last)·8 + 8, last ≤ 60, for
# three of eight masses, each within 14, that n draws see n times; there are four of them, and the masses of m add 200.
KEEP_BOUND = (4 * (140 * 8 + 8 + 3 * 14) + 200) * UNIT


@pytest.mark.parametrize("k", [2, 3, 4])
def test_float_choice_in_a_pool_is_the_exact_one(k: int) -> None:
    rng = np.random.default_rng(k)
    kept = 0
    for _ in range(150):
        size = int(rng.integers(k + 1, 9))
        draft = softmax(rng.normal(0, rng.choice([0.5, 2, 6]), size))
        floats, true = ratio_order(draft, draft), ratio_order(as_exact(draft), as_exact(draft))
        assert floats.tokens.tolist() == true.tokens.tolist()
        places = [int(place) for place in rng.permutation(size)[:k]]
        pool = int(rng.integers(0, max(places))), int(rng.integers(max(places) + 1, size + 1))
        inside = [j for j, place in enumerate(places) if place >= pool[0]]
        if len(inside) == 1:
            continue
        before, y, z, left = places[: inside[0]], places[inside[0]], places[inside[-1]], k - 1 - inside[0]
        expected, branch = chance_to_keep(true.draft.tolist(), before, (y, z), left, pool)
        assert pool_lemma.keep(true, before, (y, z), left, pool) == expected
        found = float(pool_lemma.keep(floats, before, (y, z), left, pool))
        assert 0 <= found <= 1
        assert abs(Fraction(found) - expected) * branch <= KEEP_BOUND
        kept += expected > 0
    assert kept >= 10


def test_chance_to_keep_in_a_pool_lighter_than_a_rounding_of_what_lies_below() -> None:
    """The pool's mass is no difference of running sums, and 1 is not exceeded by a rounding."""
    for light, heavy in [(1e-20, 0.3), (1e-18, 3e-18), (2.0**-60, 2.0**-57)]:
        for below in (0.0, 0.5):
            masses = np.array([*([below] if below else []), light, heavy, 1 - below - light - heavy])
            order = ratio_order(masses, masses)
            y = len(masses) - 3
            found = pool_lemma.keep(order, (), (y, y + 1), 1, (y, y + 2))
            expected, _ = chance_to_keep(as_exact(masses).tolist(), (), (y, y + 1), 1, (y, y + 2))
            assert 0 <= found <= 1
            assert abs(Fraction(float(found)) - expected) <= 400 * Fraction(UNIT) * expected


def chance_to_keep(draft: Any, before: Any, pair: Any, left: int, pool: Any) -> tuple[Any, Any]:
    """F.1 of the pool lemma, by recursion over the draws left: the chance, and v_y."""
    y, z = pair
    free = [token for token in range(*pool) if token not in before]
    mass = sum(draft[token] for token in free)
    below_y, inside_y = stays(draft, {*before, y}, left, pool[0]), stays(draft, {*before, y}, left, pool[1])
    gain = inside_y - stays(draft, {*before, z}, left, pool[1])
    if gain <= 0:
        return Fraction(0), inside_y - below_y
    return gain * (mass - draft[y]) / (mass * (inside_y - below_y)), inside_y - below_y


def stays(draft: Any, gone: set[int], draws: int, end: int) -> Any:
    """The probability that the next draws all lie below `end`."""
    if draws == 0:
        return Fraction(1)
    rest = 1 - sum((draft[token] for token in gone), Fraction(0))
    return sum(
        (
            draft[token] / rest * stays(draft, {*gone, token}, draws - 1, end)
            for token in range(end)
            if token not in gone
        ),
        Fraction(0),
    )


@pytest.mark.parametrize(("size", "pairs"), [(5, 3), (6, 1)])
def test_four_float_drafts_without_replacement_are_judged_lossless(size: int, pairs: int) -> None:
    """Every path of the program: the quadrature of the plan and of the choices in its pools, against the target."""
    for seed in range(pairs):
        verdict = check_lossless(WITHOUT_REPLACEMENT, *float_pair("softmax", size, seed), 4)
        assert isinstance(verdict, Lossless), str(verdict)
        assert verdict.bound < 1e-12


def test_torch_laws_make_the_same_plan() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    target, draft = float_pair("softmax", 50)
    ours, theirs = plan(target, draft, 3), plan(torch.tensor(target), torch.tensor(draft), 3)
    assert ours.selection.tolist() == theirs.selection.tolist()
    assert ours.acceptance == theirs.acceptance


@pytest.mark.parametrize("replaced", [True, False])
def test_sampled_verifier_emits_the_target(replaced: bool) -> None:
    """A frequency is off by more than 3.4/√n with probability 2 exp(−2 · 3.4²) < 2·10^-10 at most (Hoeffding)."""
    rng = np.random.default_rng(11)
    target, draft = float_pair("softmax", 8, seed=5)
    k, number = 4, 10_000
    prepared = plan(target, draft, k) if replaced else plan_without_replacement(target, draft, k)
    draw = draw_independent if replaced else without_replacement.draw
    found = [sample(lambda coin: emit(coin, draw(coin, draft, k), prepared), rng) for _ in range(number)]
    slack = 3.4 / number**0.5
    counted = np.bincount([emission.token for emission in found], minlength=8) / number
    assert np.abs(counted - target).max() <= slack
    accepted = sum(emission.accepted for emission in found) / number
    assert abs(accepted - float(prepared.acceptance)) <= slack
    assert np.abs(counted - draft).max() > slack


def test_long_doubles_sum_what_doubles_cannot() -> None:
    masses = in_long(np.full(7, 0.1))
    assert abs(float(sums(masses)[-1]) - 1) <= 2.0**-60
    assert masses.dtype == LONG
    assert optimal.acceptance(np.full(7, 1 / 7), np.full(7, 1 / 7), 2) <= 1 + 46 * UNIT


def test_plan_of_exact_and_float_worlds_is_refused() -> None:
    with pytest.raises(TypeError, match="one number type"):
        plan([Fraction(1)], [1.0], 2)
    with pytest.raises(ValueError, match="no mass on the drafted token"):
        sample(lambda coin: verify(coin, (0, 1), plan([0.5, 0.5], [1.0, 0.0], 2)), np.random.default_rng(0))


def test_a_bound_beyond_the_last_ratio_that_it_moves_is_that_ratio() -> None:
    """In Fractions the last token is lowered to 3/2, the ratio of the one before it; in floats to no less."""
    target, draft = np.array([276, 1794, 634]), np.array([3, 23, 26])
    true = ratio_order(exact(target) / 2704, exact(draft) / 52)
    assert selection_ratios(true, independent(true, 2).inside).tolist()[1:] == [Fraction(3, 2)] * 2
    floats = ratio_order(target / 2704, draft / 52)
    found = selection_ratios(floats, independent(floats, 2).inside)
    assert found[1] == found[2] == in_units(floats.target, floats.draft)[1]
