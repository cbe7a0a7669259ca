"""The false-alarm rate of the identity test is at most alpha whenever one looks; tests that are not valid exceed it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from types import FunctionType

import numba
import numpy as np
import pytest
from scipy.stats import chi2

from proofs_tests.sequential.identity_cases import joint
from proofs_tests.sequential.sequences import most_alarms
from spec_math.audit import ZOO, NotRejected, identity_test, stopping_times
from spec_math.sequential.identity_test import IdentityTest, advance, alias_table, nothing_seen, simulate
from spec_math.zoo import toy
from spec_math.zoo.specimen import Specimen

RUNS = 100_000
NULLS = {
    "two even tokens": (np.array([0.5, 0.5]), np.array([0.7, 0.3])),
    "32 tokens, skewed": (1 / np.arange(1, 33) ** 1.5, np.ones(32)),
}


@pytest.mark.parametrize("name", NULLS)
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_false_alarms_are_at_most_alpha_whenever_one_looks(name: str, alpha: float) -> None:
    """100,000 nulls, a look after each of 256 draws; benchmarks/sequential.py goes to 10,000 draws."""
    target, draft = (weights / weights.sum() for weights in NULLS[name])
    times = stopping_times(identity_test(target, alpha, draft), target, RUNS, 256, np.random.default_rng(1))
    assert (times > 0).sum() <= most_alarms(RUNS, alpha)
    # The looking is real: a sixth of the level is used up.
    assert (times > 0).sum() >= most_alarms(RUNS, alpha) / 6


@numba.njit
def counting_orders(tokens, setting, running, samples, threshold, stop):  # type: ignore[no-untyped-def]
    """Control: the evidence with the multinomial coefficient n!/Π c!."""
    extra = 0.0
    for i in range(tokens.shape[0]):
        _ = advance(tokens[i : i + 1], setting, running, samples + i, 1e300, stop)
        extra = math.lgamma(samples + i + 2.0)
        for c in running.counts:
            extra -= math.lgamma(c + 1.0)
        top = (running.logs + setting.weights).max()
        if top + extra >= threshold:
            return 0.0, i
    return 0.0, -1


@numba.njit
def chi_square(tokens, setting, running, samples, threshold, stop):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Control: Pearson's statistic against its fixed-n critical value (`threshold`), looked at after each draw."""
    size = setting.labels.shape[0]
    for i in range(tokens.shape[0]):
        running.counts[tokens[i]] += 1
        n = samples + i + 1.0
        statistic = 0.0
        for v in range(size):
            expected = n / setting.inverse[v]
            statistic += (running.counts[v] - expected) ** 2 / expected
        if n >= 20 * size and statistic >= threshold:
            return 0.0, i
    return 0.0, -1


def control_alarms(looker: object, threshold: float, runs: int, most: int) -> int:
    setting = identity_test(["1/4"] * 4, 0.01).setting
    times = np.zeros(runs, dtype=np.int64)
    table = alias_table(np.full(4, 0.25))
    # The very harness, with what looks replaced.
    function = getattr(simulate, "py_func", simulate)
    harness = numba.njit(FunctionType(function.__code__, {**function.__globals__, "advance": looker}))
    harness(np.random.default_rng(5), table, setting, nothing_seen(setting), threshold, most, times)
    return int((times > 0).sum())


@pytest.mark.parametrize(
    ("looker", "threshold"),
    [(counting_orders, math.log(100)), (chi_square, float(chi2.isf(0.01, 3)))],
    ids=["multinomial coefficient", "chi-square looked at continuously"],
)
def test_the_same_harness_finds_what_is_not_valid(looker: object, threshold: float) -> None:
    assert control_alarms(looker, threshold, 10_000, 1_000) > 3 * most_alarms(10_000, 0.01)


def test_the_harness_draws_from_the_law_it_is_given() -> None:
    """The alias table, cell by cell: the mass of each token is the law's to a few roundings."""
    for weights in ([1.0], [1, 0, 3], [1e-9, 1, 2, 0.5], list(range(1, 50))):
        masses = np.array(weights, dtype=float) / np.sum(weights)
        shares, alias = alias_table(masses)
        given = shares / len(masses)
        np.add.at(given, alias, (1 - shares) / len(masses))
        assert np.abs(given - masses).max() <= len(masses) * 2.0**-52
        assert (given[masses == 0] == 0).all()


def joint_test(wanted: dict[tuple[int, ...], Fraction], alpha: float) -> tuple[IdentityTest, list[tuple[int, ...]]]:
    texts = list(product(range(5), repeat=toy.HORIZON))
    return identity_test([wanted.get(text, Fraction(0)) for text in texts], alpha), texts


CONTROLS = [specimen for specimen in ZOO if specimen.name.startswith("C")]


@pytest.mark.parametrize("specimen", CONTROLS, ids=lambda specimen: specimen.name)
def test_no_control_is_rejected(specimen: Specimen) -> None:
    """The joint law of three tokens is the target's, exactly: what holds of nulls holds of each control.

    And one long run each, at alpha = 1e-6: it fails with that probability at most.
    """
    emitted, wanted = joint(specimen.name)
    assert emitted == wanted
    test, texts = joint_test(wanted, 1e-6)
    masses = np.array([float(emitted.get(text, 0)) for text in texts])
    draws = np.random.default_rng(len(specimen.name)).choice(len(texts), size=200_000, p=masses / masses.sum())
    test.update_many(draws)
    assert isinstance(test.verdict, NotRejected)
    assert test.verdict


SHARDS, LENGTH = 60, 16


def shard_alarms(choose: bool) -> int:
    """Nulls of 60 shards each, merged in the order they come, or those that lean one way first (a control)."""
    runs, alarms = 100, 0
    rng = np.random.default_rng(11)
    for _ in range(runs):
        heads = rng.binomial(LENGTH, 0.5, size=SHARDS)
        test = identity_test(["1/2", "1/2"], 0.05)
        for count in np.sort(heads)[::-1] if choose else heads:
            test.update_counts([int(count), LENGTH - int(count)])
        alarms += test.alarm is not None
    return alarms


def test_shards_may_be_merged_as_they_come_but_not_as_they_please() -> None:
    assert shard_alarms(choose=False) <= most_alarms(100, 0.05)
    assert shard_alarms(choose=True) > most_alarms(100, 0.05)
