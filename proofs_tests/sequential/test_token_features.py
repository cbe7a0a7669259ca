"""The features that a test bets on at a token: every bet has mean 1 exactly, and the compiled pass computes them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests import strategies
from proofs_tests.sequential.token_features import FORMULAS, centred, likelihood_ratios
from spec_math.arrays import exact, proportional_to
from spec_math.distribution import total_variation
from spec_math.sequential import bets
from spec_math.sequential.bank import BUGS
from spec_math.sequential.bets import CONTEXT_BUGS, FEATURES, features_at

REDRAWN = next(bug for bug in BUGS if bug.name == "M11")


# Exact means.


@given(strategies.pairs(5))
@settings(max_examples=60, deadline=None)
def test_every_linear_bet_has_mean_one(pair: tuple[Any, Any]) -> None:
    t, d = pair
    for row in centred(t, d):
        assert (t * row).sum() == 0
        for stake in (Fraction(1), Fraction(1, 2), Fraction(1, 512)):
            for sign in (1, -1):
                won = [bets.bet(stake, sign, gap, 0) for gap in row]
                assert sum(t * np.array(won)) == 1
                assert min(won) >= 0


@given(strategies.pairs(5))
@settings(max_examples=60, deadline=None)
def test_every_likelihood_ratio_has_mean_at_most_one(pair: tuple[Any, Any]) -> None:
    """It is 1 where the bug emits nothing that the target does not."""
    t, d = pair
    for bug, row in zip(CONTEXT_BUGS, likelihood_ratios(t, d), strict=True):
        outside = bug.emitted(t, d)[t == 0].sum()
        assert (t * row).sum() == 1 - outside
        assert min(row) >= 0


@given(strategies.pairs(4), strategies.laws(4), st.fractions(0, Fraction(9, 10)))
@settings(max_examples=60, deadline=None)
def test_tolerant_bets_have_mean_at_most_one_within_the_tolerance(
    pair: tuple[Any, Any], other: Any, tolerance: Fraction
) -> None:
    """Every law within τ of the target, reached by mixing in another, gives no bet a mean above 1."""
    t, d = pair
    if len(t) != len(other):
        return
    away = total_variation(t, other)
    share = min(Fraction(1), tolerance / away) if away else Fraction(1)
    emitted = (1 - share) * t + share * other
    assert total_variation(t, emitted) <= tolerance
    for row in centred(t, d):
        for sign in (1, -1):
            won = [bets.bet(1 / (1 + tolerance), sign, gap, tolerance) for gap in row]
            assert sum(emitted * np.array(won)) <= 1
            assert min(won) >= 0


def test_beyond_the_tolerance_a_bet_wins() -> None:
    """Control: the law that moves just more than τ onto the feature makes the mean exceed 1."""
    t, d = exact(["1/2", "1/2"]), exact(["1/4", "3/4"])
    emitted = exact(["13/20", "7/20"])
    row = centred(t, d)[0]
    for tolerance, wins in ((Fraction(1, 10), True), (Fraction(3, 20), False), (Fraction(1, 5), False)):
        mean = sum(emitted * np.array([bets.bet(1 / (1 + tolerance), 1, gap, tolerance) for gap in row]))
        assert (mean > 1) is wins


@given(strategies.pairs(5))
@settings(max_examples=60, deadline=None)
def test_the_full_stake_on_d_over_t_is_the_likelihood_ratio_of_redrawing(pair: tuple[Any, Any]) -> None:
    """1 + min(1, d/t) − Σ min(t, d) = a/t for a = min(t, d) + Σ(d − t)+ · t, where t > 0."""
    t, d = pair
    place = FEATURES.index("d/t to 1")
    bet = 1 + centred(t, d)[place]
    for x in np.flatnonzero(t > 0):
        assert bet[x] == REDRAWN.emitted(t, d)[x] / t[x]


def test_an_uncentred_bet_has_another_mean() -> None:
    """Control: a feature less its mean under the draft instead of the target."""
    t, d = exact(["1/4", "3/4"]), exact(["1/2", "1/2"])
    feature = FORMULAS["t > d"](t, d)
    assert (t * (1 + feature - (d * feature).sum())).sum() != 1


# The compiled pass over a row gives what the exact formulas give.


ROWS = [
    ([1, 3], [1, 1]),
    ([0, 1, 2, 3], [3, 2, 1, 0]),
    ([1, 1, 1], [1, 1, 1]),
    ([5], [2]),
    ([1, 8, 8, 8, 8, 2], [6, 1, 1, 0, 9, 9]),
]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("rows", ROWS)
def test_compiled_features_are_the_exact_ones(rows: tuple[list[int], list[int]], kind: Any) -> None:
    """Small whole masses are held exactly; each sum of n terms, and each quotient, is off by at most (n + 16)·2^-53.

    Quotients by the residual's own sum, which is a multiple of 1/(Σt · Σd) ≥ 2^-12 here, lose up to that factor.
    """
    t, d = (proportional_to(row) for row in rows)
    bound = (len(t) + 16) * 2.0**-53 * 2**12
    for x in np.flatnonzero(t > 0).tolist():
        gaps, ratios = np.empty(len(FEATURES)), np.empty(len(CONTEXT_BUGS))
        assert features_at(np.array(rows[0], dtype=kind), np.array(rows[1], dtype=kind), x, gaps, ratios) == 0
        for found, wanted in ((gaps, centred(t, d)[:, x]), (ratios, likelihood_ratios(t, d)[:, x])):
            assert np.abs(found - wanted.astype(float)).max() <= bound * max(1, float(max(abs(wanted))))


@given(strategies.dyadic_pairs(6))
@settings(max_examples=100, deadline=None)
def test_compiled_features_are_the_exact_ones_on_any_laws(pair: tuple[Any, Any]) -> None:
    """Features alone, which divide by no small difference: sums of six terms and one quotient."""
    t, d = pair
    for x in np.flatnonzero(t > 0).tolist():
        gaps, ratios = np.empty(len(FEATURES)), np.empty(len(CONTEXT_BUGS))
        assert features_at(t.astype(float), d.astype(float), x, gaps, ratios) == 0
        assert np.abs(gaps - centred(t, d)[:, x].astype(float)).max() <= 22 * 2.0**-53
        # The means of the ratios, from every token: a martingale in floats too, to the residual's own sum.
    means = np.zeros(len(CONTEXT_BUGS))
    for x in np.flatnonzero(t > 0).tolist():
        assert features_at(t.astype(float), d.astype(float), x, gaps, ratios) == 0
        means += float(t[x]) * ratios
    assert means.max() <= 1 + 64 * 2.0**-53
