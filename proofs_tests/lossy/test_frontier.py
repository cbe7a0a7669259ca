"""Theorem: one curve of laws is the closest to the target in every divergence at once, for each acceptance."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from proofs_tests.lossy import budgets
from proofs_tests.lossy.budget_oracle import iid, instances, least_cut, program, subsets
from spec_math import exact
from spec_math.lossy import frontier
from spec_math.lossy.distances import distances
from spec_math.token_level import optimal

CASES = instances(7, 250)
SHARES = [Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(6, 7), Fraction(1)]


def cases():
    """(target, draft, k, acceptance from the lossless optimum to 1)."""
    for i, (target, draft, k) in enumerate(CASES):
        lossless = optimal.acceptance(exact(target), exact(draft), k)
        yield target, draft, k, lossless + SHARES[i % 5] * (1 - lossless)


def inside(drafts, subset):
    return sum((mass for tokens, mass in drafts.items() if subset.issuperset(tokens)), Fraction(0))


def test_the_law_of_the_frontier_allows_its_acceptance_and_is_certified_closest():
    """The proof, checked: e(H) ≥ g(H) − m for every H, and equality at each level set of e/t, all nested."""
    for target, draft, k, accepted in cases():
        e = frontier.law(target, draft, k, accepted).tolist()
        drafts, rejected = iid(draft, k), 1 - accepted
        assert sum(e) == 1
        for subset in subsets(len(e)):
            assert sum((e[y] for y in subset), Fraction(0)) >= inside(drafts, subset) - rejected
        ratio = [mass / t if t else None for mass, t in zip(e, target, strict=True)]
        for level in {r for r in ratio if r is not None}:
            above = frozenset(y for y, r in enumerate(ratio) if r is None or r > level)
            mass = sum((e[y] for y in above), Fraction(0))
            assert mass == max(Fraction(0), inside(drafts, above) - rejected)


def test_for_one_draft_the_law_is_the_draft_clipped_between_two_multiples_of_the_target():
    for target, draft, _, _ in cases():
        lossless = sum((min(t, d) for t, d in zip(target, draft, strict=True)), Fraction(0))
        e = frontier.law(target, draft, 1, (lossless + 1) / 2).tolist()
        kept = [(mass, t, d) for mass, t, d in zip(e, target, draft, strict=True) if t]
        low = max((mass / t for mass, t, d in kept if mass > d), default=Fraction(0))
        high = min((mass / t for mass, t, d in kept if mass < d), default=None)
        for mass, t, d in kept:
            clipped = max(d, low * t)
            assert mass == (clipped if high is None else min(clipped, high * t))


def test_no_law_that_allows_the_acceptance_has_a_smaller_divergence():
    """SLSQP over all laws, every subset a constraint: KL both ways come down to the frontier's, and not below."""
    done = 0
    for target, draft, k, accepted in cases():
        if min(target) == 0 or min(target) < Fraction(1, 100) or accepted == 1 or len(target) < 3:
            continue
        drafts, rejected = iid(draft, k), float(1 - accepted)
        e = frontier.law(target, draft, k, accepted)
        if min(e) < Fraction(1, 1000):
            continue
        t = np.array([float(mass) for mass in target])
        rows = np.array([[float(y in subset) for y in range(len(t))] for subset in subsets(len(t))])
        sides = np.array([float(inside(drafts, subset)) - rejected for subset in subsets(len(t))])
        exactly = distances(e, exact(target))
        for divergence, known in (
            (lambda x, t=t: float(np.sum(x * np.log(np.maximum(x, 1e-300) / t))), exactly.from_target),
            (lambda x, t=t: float(np.sum(t * np.log(t / np.maximum(x, 1e-300)))), exactly.to_target),
        ):
            found = minimize(
                divergence,
                np.full(len(t), 1 / len(t)),
                method="SLSQP",
                bounds=[(1e-9, 1)] * len(t),
                constraints=[
                    {"type": "ineq", "fun": lambda x, rows=rows, sides=sides: rows @ x - sides},
                    {"type": "eq", "fun": lambda x: x.sum() - 1},
                ],
                options={"ftol": 1e-13, "maxiter": 400},
            )
            if found.success:
                # The solver's own constraint violation (1e-9) and stopping rule.
                assert abs(found.fun - float(known)) < 2e-5, (target, draft, k, accepted)
                done += 1
        if done > 60:
            break
    assert done > 40


def test_the_largest_acceptance_under_a_likelihood_ratio_is_the_least_cut_and_the_linear_programs():
    ratios = [Fraction(1), Fraction(9, 8), Fraction(3, 2), Fraction(4)]
    for i, (target, draft, k) in enumerate(CASES):
        ratio, drafts = ratios[i % 4], iid(draft, k)
        value = budgets.acceptance(target, draft, k, ratio)
        assert value == least_cut(target, drafts, lambda m, ratio=ratio: min(Fraction(1), ratio * m))
        assert value == budgets.acceptance_of(target, drafts, ratio)
        both = budgets.acceptance(target, draft, k, ratio, both_ways=True)
        assert both == least_cut(
            target, drafts, lambda m, ratio=ratio: min(Fraction(1), ratio * m, 1 - (1 - m) / ratio)
        )
        for ways, expected in ((False, value), (True, both)):
            e = budgets.law(target, draft, k, ratio, ways)
            far = distances(e, exact(target))
            assert far.largest_ratio <= ratio
            assert not ways or far.least_ratio >= 1 / ratio
            assert least_cut(e.tolist(), drafts, lambda m: m) == expected
        if i < 60:
            assert abs(program(target, drafts, ratio=float(ratio)) - float(value)) < 1e-8
            assert abs(program(target, drafts, ratio=float(ratio), both_ways=True) - float(both)) < 1e-8


def test_a_law_that_is_only_close_in_total_variation_is_not_the_frontier():
    """Control: the mixture of target and draft spends the same total variation, and more of both divergences."""
    target, draft = exact(["1/10", "3/10", "6/10"]), exact(["5/10", "4/10", "1/10"])
    mixed = (target + draft) / 2
    best = frontier.law(target, draft, 1, optimal.acceptance(mixed, draft, 1))
    ours, theirs = distances(best, target), distances(mixed, target)
    assert ours.total_variation == theirs.total_variation
    assert ours.from_target.high < theirs.from_target.low
    assert ours.to_target.high < theirs.to_target.low
    assert ours.largest_ratio < theirs.largest_ratio


def test_floats_follow_the_exact_law():
    for target, draft, k, accepted in list(cases())[:80]:
        t, d = (np.array([float(mass) for mass in law]) for law in (target, draft))
        found = frontier.law(t, d, k, float(accepted))
        # A few roundings of numbers up to 1, and their quotients: 1e-9 also where pools merge a mass of 2^-40.
        assert np.abs(found - frontier.law(target, draft, k, accepted).astype(float)).max() < 1e-9


def test_an_acceptance_outside_its_range_is_an_error_that_names_it():
    with pytest.raises(ValueError, match=r"acceptance must lie in \[0, 1\]; got 3/2"):
        frontier.law(["1/4", "3/4"], ["1/2", "1/2"], 1, "3/2")
    with pytest.raises(ValueError, match="ratio must be at least 1; got 1/2"):
        budgets.acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1, "1/2")


def test_the_lossless_target_is_kept_below_the_optimum():
    assert frontier.law(["1/4", "3/4"], ["1/2", "1/2"], 1, "1/2").tolist() == [Fraction(1, 4), Fraction(3, 4)]
