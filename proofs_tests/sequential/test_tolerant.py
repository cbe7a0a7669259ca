"""The test with a tolerance: silent within it, even on its edge and for moving laws, and loud beyond."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from proofs_tests.sequential.sequences import most_alarms
from spec_math.arrays import exact
from spec_math.audit import NotRejected, bank, tolerant_test
from spec_math.sequential.bets import STAKES, bet

TARGET = exact(["1/2", "1/4", "1/6", "1/12"])
DRAFT = exact(["1/8", "1/2", "1/4", "1/8"])


def moved(distance: Fraction) -> Any:
    """The law that has moved that much mass from the likeliest token to the next: on the edge of its tolerance."""
    return TARGET + exact([-distance, distance, 0, 0])


def test_bets_on_sets_have_mean_one_on_the_edge_and_less_within() -> None:
    tolerance = Fraction(1, 20)
    chosen = exact([0, 1, 0, 0])
    for distance, mean in ((tolerance, 1), (Fraction(1, 40), 1 - Fraction(1, 40)), (Fraction(1, 10), 1 + tolerance)):
        won = [bet(Fraction(1, 2), 1, gap, tolerance) for gap in chosen - (TARGET * chosen).sum()]
        assert sum(moved(distance) * np.array(won)) == 1 + (mean - 1) / 2


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_false_alarms_on_the_edge_of_the_tolerance_are_at_most_alpha(alpha: float) -> None:
    """400 runs of 500 draws from a law exactly τ away, which bets on one set meet with mean 1; a look at each."""
    rng = np.random.default_rng(0)
    edge, alarms = moved(Fraction(1, 20)).astype(float), 0
    for _ in range(400):
        test = tolerant_test(TARGET, alpha, 0.05, DRAFT)
        test.update_many(rng.choice(4, size=500, p=edge))
        alarms += test.alarm is not None
    assert alarms <= most_alarms(400, alpha)


def test_the_same_runs_refute_the_target_itself() -> None:
    """Control: with next to no tolerance the edge law is found."""
    rng = np.random.default_rng(0)
    edge, alarms = moved(Fraction(1, 20)).astype(float), 0
    for _ in range(100):
        test = tolerant_test(TARGET, 0.05, 1e-6, DRAFT)
        test.update_many(rng.choice(4, size=3_000, p=edge))
        alarms += test.alarm is not None
    assert alarms > 3 * most_alarms(100, 0.05)


def test_a_law_that_moves_within_the_tolerance_is_not_refuted() -> None:
    rng = np.random.default_rng(1)
    test = tolerant_test(TARGET, 1e-6, 0.05, DRAFT)
    for sign in (1, -1, 1, -1):
        law = moved(sign * Fraction(1, 20)).astype(float)
        test.update_many(rng.choice(4, size=5_000, p=law))
    assert isinstance(test.verdict, NotRejected)


@pytest.mark.parametrize("name", ["M7", "M11", "M14"])
def test_bugs_beyond_the_tolerance_are_found(name: str) -> None:
    law = bank(TARGET, DRAFT)[name].astype(float)
    test = tolerant_test(TARGET, 1e-6, 0.02, DRAFT)
    test.update_many(np.random.default_rng(2).choice(4, size=20_000, p=law))
    assert not test.verdict
    assert test.verdict.token == int(np.argmax(np.abs(law - TARGET.astype(float))))  # type: ignore[union-attr]
    assert dict(test.suspects())[name] > 0


def test_the_learnt_set_finds_what_no_bug_does() -> None:
    """Without a draft, and mass moved between tokens that no fixed set tells apart."""
    law = TARGET.astype(float) + np.array([0, 0.08, -0.08, 0])
    test = tolerant_test(TARGET, 1e-6, 0.02)
    test.update_many(np.random.default_rng(3).choice(4, size=20_000, p=law))
    assert not test.verdict
    assert test.suspects()[0][0] == "learnt"


def test_batches_do_not_matter_and_workers_add_up() -> None:
    draws = np.random.default_rng(4).integers(0, 4, size=700)
    whole, single = tolerant_test(TARGET, 0.01, 0.1), tolerant_test(TARGET, 0.01, 0.1)
    whole.update_many(draws)
    for token in draws.tolist():
        single.update(token)
    # The products are folded into logs at other places: 700 factors, each right to a few units of 2^-53.
    assert np.abs(whole.log_wealths - single.log_wealths).max() <= 700 * 8 * 2.0**-53 * 10
    assert whole.alarm == single.alarm
    one, other = tolerant_test(TARGET, 0.01, 0.1), tolerant_test(TARGET, 0.01, 0.1)
    one.update_many(draws[:300])
    other.update_many(draws[300:])
    before = one.log_wealths.copy()
    one.merge(other)
    assert (one.log_wealths == before + other.log_wealths).all()
    assert (one.counts == whole.counts).all()
    with pytest.raises(ValueError, match="same target, tolerance and sets"):
        one.merge(tolerant_test(TARGET, 0.01, 0.2))


def test_what_it_promises() -> None:
    test = tolerant_test(TARGET, 0.01, 0.1, DRAFT)
    assert test.promise().detectable is None
    few, many = test.promise(2_000), test.promise(200_000)
    assert few.detectable is not None
    assert many.detectable is not None
    assert many.detectable < few.detectable
    assert "excess over the tolerance" in str(test.promise(2_000))
    assert len(test.log_wealths) == 2 * len(test.names) * len(STAKES)


def test_the_entrance_refuses() -> None:
    for call, match in (
        (lambda: tolerant_test(TARGET, 0.01, 0), r"the tolerance, a total variation, must lie in \(0, 1\)"),
        (lambda: tolerant_test(TARGET, 2, 0.1), "alpha"),
        (lambda: tolerant_test(TARGET, 0.1, 0.1, alternatives={"short": [1]}), "must have the target's shape"),
        (lambda: tolerant_test(TARGET, 0.1, 0.1).update(4), r"tokens must lie in 0\.\.3; got 4$"),
    ):
        with pytest.raises(ValueError, match=match):
            call()
