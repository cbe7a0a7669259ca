"""Planned sample sizes: against SciPy's noncentral chi-square, there and back, and against what simulation shows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2, ncx2

from proofs_tests.sequential.sequences import most_alarms
from spec_math.audit import (
    contexts_test,
    detectable_tv,
    gap_detected,
    identity_test,
    sample_size,
    sequential_detectable_tv,
    sequential_sample_size,
    stopping_times,
)
from spec_math.sequential.sample_size import noncentrality

WORST = np.full(32, 1 / 32), np.where(np.arange(32) < 16, 1.0, -1.0)


def away(distance: float) -> np.ndarray:
    """On 32 even tokens, the direction that is hardest to see: half of them up, half down, in proportion to t."""
    target, signs = WORST
    return target * (1 + 2 * distance * signs)


@pytest.mark.parametrize("size", [2, 5, 32, 151_936])
@pytest.mark.parametrize("alpha", [0.05, 1e-6])
def test_sample_size_is_the_least_with_the_power(size: int, alpha: float) -> None:
    for distance, power in ((0.01, 0.99), (0.05, 0.5)):
        n = sample_size(distance, alpha, power, size)
        critical = chi2.isf(alpha, size - 1)
        reached, before = (ncx2.sf(critical, size - 1, 4 * m * distance**2) for m in (n, n - 1))
        # The root is found to 1e-14 of itself or so; a whole draw moves the power by far more than that.
        assert before < power <= reached + 1e-12


def test_the_planning_figure_of_the_corpus() -> None:
    assert round(noncentrality(1e-6, 0.99, 32) / 4, 2) == 24.47
    assert sample_size(0.01, 1e-6, 0.99, 32) == 244_705


def test_no_direction_at_a_distance_has_less_chi_square_than_the_one_planned_for() -> None:
    """Cauchy: Σ(a − t)²/t ≥ (Σ|a − t|)² = 4·TV², and equal in the planned direction."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        t, a = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
        assert ((a - t) ** 2 / t).sum() >= 4 * (np.abs(a - t).sum() / 2) ** 2 * (1 - 1e-12)
    target, law = WORST[0], away(0.01)
    assert ((law - target) ** 2 / target).sum() == pytest.approx(4e-4, rel=1e-12)


@pytest.mark.parametrize("size", [2, 32, 151_936])
def test_there_and_back(size: int) -> None:
    for samples in (10_000, 244_705, 10**9):
        distance = detectable_tv(samples, 1e-6, 0.99, size)
        assert sample_size(min(distance, 1.0), 1e-6, 0.99, size) in (samples, samples - 1) or distance > 1
    for distance in (0.001, 0.01, 0.2):
        n = sample_size(distance, 1e-6, 0.99, size)
        assert detectable_tv(n, 1e-6, 0.99, size) <= distance < detectable_tv(n - 1, 1e-6, 0.99, size)
        n = sequential_sample_size(distance, 1e-6, 0.99, size)
        found = sequential_detectable_tv(n, 1e-6, 0.99, size)
        assert found is not None
        # The threshold moves with n as well, slowly: back to within a draw or two.
        assert found == pytest.approx(distance, rel=2 / n + 1e-9)


def test_too_few_draws_promise_nothing() -> None:
    assert sequential_detectable_tv(2, 1e-6, 0.99, 32) is None
    assert detectable_tv(2, 1e-6, 0.99, 32) > 1
    assert gap_detected(5, 1e-6, 0.99, 10) is None
    assert "promises to find nothing yet" in str(identity_test(WORST[0], 1e-6))


def test_the_planned_size_of_the_sequential_test_is_what_simulation_shows() -> None:
    """300 runs at total variation 0.05: alarms within the plan, and before the fixed-n test on average.

    With a chance of 0.99 each, 300 runs miss more than 14 with probability below 1e-6.
    """
    test = identity_test(WORST[0], 1e-6)
    planned = sequential_sample_size(0.05, 1e-6, 0.99, 32, bank=True)
    times = stopping_times(test, away(0.05), 300, planned, np.random.default_rng(3))
    assert (times == 0).sum() <= most_alarms(300, 0.01) == 14
    fixed = sample_size(0.05, 1e-6, 0.99, 32)
    mean = np.where(times == 0, planned, times).mean()
    # The mean of 300 and five standard errors; what ran on past the plan is in the 14 at most, and counts as planned.
    assert mean + 5 * times.std() / math.sqrt(300) <= 0.85 * fixed
    # Control: the fixed-n size itself would be too few to plan the sequential test with.
    assert (times > fixed).mean() > 0.02


def test_a_gap_that_is_promised_is_found() -> None:
    """A law with just the promised gap on the target's favourite, at every draw: 60 runs, a miss in 100 of them."""
    test = contexts_test(1e-6)
    n = 400
    promised = test.promise(n).detectable
    assert promised is not None
    assert 0.2 < promised < 0.5
    rng = np.random.default_rng(0)
    target = np.tile([0.4, 0.3, 0.3], (n, 1))
    emitted = [0.4 + promised, (0.6 - promised) / 2, (0.6 - promised) / 2]
    missed = 0
    for _ in range(60):
        again = contexts_test(1e-6)
        again.update_many(rng.choice(3, size=n, p=emitted), target, target[:, ::-1].copy())
        missed += again.alarm is None
    assert missed <= most_alarms(60, 0.01)


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((0, 0.01, 0.99, 32), ValueError, r"a total variation to be found lies in \(0, 1\]"),
        ((0.1, 0, 0.99, 32), ValueError, "alpha"),
        ((0.1, 0.01, 1, 32), ValueError, "power must lie in"),
        ((0.1, 0.01, 0.001, 32), ValueError, "power must exceed alpha"),
        ((0.1, 0.01, 0.99, 1), ValueError, "at least 2 tokens"),
        ((0.1, 0.01, 0.99, 2.5), TypeError, "size must be a whole number"),
    ],
)
def test_the_entrance_refuses(arguments: tuple[float, float, float, int], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        sample_size(*arguments)
