"""Logarithms and divergences as intervals: they hold the true value, and they are narrow."""

import math
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from proofs_tests.lossy.budget_oracle import instances
from spec_math import exact
from spec_math.lossy import divergence_budget
from spec_math.lossy.distances import distances, divergence
from spec_math.lossy.logarithm import log
from spec_math.token_level import optimal

mpmath = pytest.importorskip("mpmath")


def true_log(x):
    with mpmath.workprec(400):
        return mpmath.log(mpmath.mpf(x.numerator)) - mpmath.log(mpmath.mpf(x.denominator))


def as_real(x):
    with mpmath.workprec(400):
        return mpmath.mpf(x.numerator) / mpmath.mpf(x.denominator)


def test_a_logarithm_lies_in_its_interval():
    rng = random.Random(3)
    for _ in range(600):
        x = Fraction(rng.randint(1, 10 ** rng.randint(1, 40)), rng.randint(1, 10 ** rng.randint(1, 40)))
        bounds = log(x)
        with mpmath.workprec(400):
            assert as_real(bounds.low) <= true_log(x) <= as_real(bounds.high)
        assert bounds.width < Fraction(1, 2**66)
    assert log(1).low == log(1).high == 0


def test_an_interval_rounded_inwards_is_met():
    """Control: the narrower half of the interval misses the logarithm, of some number."""
    rng, missed = random.Random(4), 0
    for _ in range(100):
        x = Fraction(rng.randint(1, 10**6), rng.randint(1, 10**6))
        bounds = log(x, bits=8)
        middle = (bounds.low + bounds.high) / 2
        with mpmath.workprec(400):
            missed += not as_real(bounds.low) <= true_log(x) <= as_real((bounds.low + middle) / 2)
    assert missed


def test_divergences_lie_in_their_intervals_exact_and_in_floats():
    for target, draft, _ in instances(11, 200):
        e, t = exact(draft), exact(target)
        found = distances(e, t)
        if any(d and not x for d, x in zip(draft, target, strict=True)):
            assert found.from_target.low == math.inf
            assert found.largest_ratio == math.inf
            assert found.forbidden == sum(d for d, x in zip(draft, target, strict=True) if not x)
            continue
        with mpmath.workprec(400):
            true = sum(as_real(d) * true_log(d / x) for d, x in zip(draft, target, strict=True) if d)
            assert as_real(found.from_target.low) <= true <= as_real(found.from_target.high)
        p, q = (np.array([float(mass) for mass in law]) for law in (draft, target))
        rough = divergence(p, q)
        stored = [Fraction(mass) for mass in p.tolist()], [Fraction(mass) for mass in q.tolist()]
        with mpmath.workprec(400):
            true = sum(as_real(a) * true_log(a / b) for a, b in zip(*stored, strict=True) if a)
            assert as_real(rough.low) <= true <= as_real(rough.high)
        assert rough.width < 1e-12


def test_the_distances_of_one_law():
    found = distances(["1/2", "1/2", 0], ["1/4", 0, "3/4"])
    assert (found.total_variation, found.forbidden, found.least_ratio) == (Fraction(3, 4), Fraction(1, 2), 0)
    assert found.to_target.low == math.inf
    same = distances([0.25, 0.75], [0.25, 0.75])
    assert (same.total_variation, same.largest_ratio, same.forbidden) == (0, 1, 0)


@pytest.mark.parametrize("to_target", [False, True])
def test_the_optimum_under_a_divergence_is_bracketed_by_two_laws(to_target):
    """The lower end is reached within the budget, the upper is not to be had within it."""
    budgets = [Fraction(0), Fraction(1, 1000), Fraction(1, 20), Fraction(1, 2), Fraction(30)]
    for i, (target, draft, k) in enumerate(instances(23, 60)):
        nats = budgets[i % 5]
        found = divergence_budget.bracket(target, draft, k, nats, to_target, steps=24)
        far = distances(found.law, exact(target))
        reached = far.to_target if to_target else far.from_target
        assert reached.high <= nats
        assert optimal.acceptance(found.law, exact(draft), k) == found.lower
        lossless = optimal.acceptance(exact(target), exact(draft), k)
        assert lossless <= found.lower <= found.upper <= 1
        assert found.upper - found.lower <= (1 - lossless) / 2**20
        assert found.upper == 1 or found.beyond.low >= nats
        assert found.fault(target, draft, k, nats, to_target) is None


def test_every_part_of_a_bracket_is_looked_at():
    """Controls: another end, another law, another budget."""
    laws = exact(["1/10", "3/10", "6/10"]), exact(["5/10", "4/10", "1/10"])
    right = divergence_budget.bracket(*laws, 1, "1/10", steps=12)
    assert right.fault(*laws, 1, "1/10") is None
    assert "nats away" in right.fault(*laws, 1, "1/20")
    assert "said to be beyond" in right.fault(*laws, 1, "1/5")
    assert "be accepted, not" in replace(right, lower=right.upper).fault(*laws, 1, "1/10")
    assert "least mass" in replace(right, upper=right.lower).fault(*laws, 1, "1/10")
    mixed = (laws[0] + laws[1]) / 2
    assert "least mass" in replace(right, closest=mixed).fault(*laws, 1, "1/10")
    assert "nats away" in replace(right, law=laws[1]).fault(*laws, 1, "1/10")
    assert "not a probability" in replace(right, law=laws[1] / 2).fault(*laws, 1, "1/10")


def test_a_budget_of_divergence_outside_its_range_is_an_error_that_names_it():
    with pytest.raises(ValueError, match="nats must be at least 0; got -1"):
        divergence_budget.bracket(["1/4", "3/4"], ["1/2", "1/2"], 1, -1)
