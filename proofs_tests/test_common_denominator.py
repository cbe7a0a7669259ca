"""Counts: a law in whole numbers, what it refuses, and that nothing changes it afterwards."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.strategies import laws
from spec_math import exact
from spec_math.common_denominator import Counts


@given(st.integers(1, 6).flatmap(laws))
def test_counts_are_the_law_over_its_least_denominator(masses):
    counts = Counts.of(masses)
    assert counts.law().tolist() == masses.tolist()
    assert all(type(mass) is Fraction for mass in counts.law())
    assert np.gcd.reduce([*counts.numerators, counts.denominator]) == 1
    assert len(counts) == len(masses)


def test_counts_that_are_no_law_are_refused():
    with pytest.raises(ValueError, match="must sum to their denominator 4; these 2 sum to 3"):
        Counts([1, 2], 4)
    with pytest.raises(ValueError, match="counts must be >= 0; the least is -1"):
        Counts([-1, 5], 4)
    with pytest.raises(ValueError, match=r"one distribution \[V\]"):
        Counts([[1], [1]], 1)
    with pytest.raises(ValueError, match="sum to exactly 1"):
        Counts.of(["1/2", "1/3"])


@pytest.mark.parametrize(
    ("numerators", "denominator"),
    [
        ([0.5, 0.5], 1),
        ([True, False], 1),
        (np.array([0.5, 0.5]), 1),
        (np.array([True]), 1),
        ([1, 3], 4.0),
        (exact([1]), 1),
    ],
)
def test_counts_are_whole_numbers(numerators, denominator):
    with pytest.raises(TypeError, match="whole numbers"):
        Counts(numerators, denominator)


def test_counts_of_floats_are_refused():
    with pytest.raises(TypeError, match="counts need exact masses"):
        Counts.of([0.5, 0.5])


def test_counts_may_be_of_any_size():
    """NumPy alone would make floats of this list."""
    numerators = [2**63, 0, 2**64 + 1]
    assert Counts(numerators, sum(numerators)).numerators.tolist() == numerators
    assert Counts(np.array([3, 1]), 4).law().tolist() == exact(["3/4", "1/4"]).tolist()


def test_counts_stay_what_was_checked():
    given_counts = np.array([1, 3], dtype=object)
    counts = Counts(given_counts, 4)
    given_counts[0] = 7
    assert counts.numerators.tolist() == [1, 3]
    with pytest.raises(ValueError, match="read-only"):
        counts.numerators[0] = 7
