"""Roots: exact where rational, else certified from both sides."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from spec_math.roots import decreasing_root, least_root

WIDTH = Fraction(1, 2**64)


def value(coefficients: list[Fraction], x: Fraction) -> Fraction:
    return sum((c * x**i for i, c in enumerate(coefficients)), Fraction(0))


def times(first: list[Fraction], second: list[Fraction]) -> list[Fraction]:
    result = [Fraction(0)] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            result[i + j] += a * b
    return result


@given(
    root=st.fractions(Fraction(1, 100), 100, max_denominator=10**6),
    positive=st.lists(st.fractions(0, 9, max_denominator=50), min_size=1, max_size=4).filter(lambda c: c[0] > 0),
    below=st.fractions(0, 1, max_denominator=100),
    above=st.fractions(0, 3, max_denominator=100),
)
@example(root=Fraction(3, 2), positive=[Fraction(1)], below=Fraction(1), above=Fraction(0))
@example(root=Fraction(2**70 + 1, 2**70), positive=[Fraction(1), Fraction(1)], below=Fraction(1, 2), above=Fraction(1))
def test_a_rational_root_is_found_exactly(
    root: Fraction, positive: list[Fraction], below: Fraction, above: Fraction
) -> None:
    """(root − x) times a polynomial with coefficients ≥ 0: one change of sign on x > 0."""
    low = root * (1 - below) if below else root / 2
    assume(low > 0)
    assert least_root(times([root, Fraction(-1)], positive), low, root + above) == root


@given(square=st.integers(2, 10**6), scale=st.integers(1, 50))
def test_an_irrational_root_is_bracketed_from_both_sides(square: int, scale: int) -> None:
    assume(isqrt(square) ** 2 != square)
    found = least_root([Fraction(square), Fraction(0), Fraction(-scale * scale)], Fraction(1, 100), Fraction(1001))
    assert (found * scale) ** 2 > square
    assert ((found - WIDTH) * scale) ** 2 < square


@given(square=st.integers(2, 300))
def test_a_bracket_does_not_leave_its_interval(square: int) -> None:
    """The interval ends within a width above the root; its end is the answer."""
    assume(isqrt(square) ** 2 != square)
    high = Fraction(isqrt(square << 140) + 1, 2**70)
    found = least_root([Fraction(square), Fraction(0), Fraction(-1)], Fraction(1), high)
    assert found == high
    assert found**2 > square


def test_trailing_zeros_of_a_polynomial_are_ignored() -> None:
    assert least_root([Fraction(3), Fraction(-2), Fraction(0), Fraction(0)], Fraction(1), Fraction(5)) == Fraction(3, 2)


@given(square=st.floats(1.5, 1e6))
def test_decreasing_root_is_the_upper_end_of_a_narrow_bracket(square: float) -> None:
    found = decreasing_root(lambda x: square - x * x, np.array(1.0), np.array(1e4))
    assert decreasing_root(lambda x: square - x * x, 1.0, 1e4) == found
    assert decreasing_root(lambda x: square - x * x, 1e3, 1e4) == 1e3
    assert square - found * found <= 0
    below = found * (1 - 2.0**-50)
    assert square - below * below > 0


def test_a_root_that_is_narrow_already_is_not_lost_while_others_go_on() -> None:
    """Rounding lets a function rise a little: an end with f ≤ 0 is returned, and never one beside it with f > 0."""
    rng = np.random.default_rng(0)
    roots = rng.uniform(1, 8, 400)

    def rough(x: np.ndarray) -> np.ndarray:
        ulps = np.round((x - roots) / np.spacing(roots))
        near = np.where(ulps % 3 == 0, 1.0, -1.0)
        value = np.where(abs(ulps) < 8, near, np.sign(roots - x))
        value[0] = 2 - x[0] ** 51  # many steps: the others stand still meanwhile
        return value

    found = decreasing_root(rough, np.ones(400), np.full(400, 9.0))
    assert (rough(found) <= 0).all()
    assert (abs(found - roots)[1:] <= 16 * np.spacing(roots)[1:]).all()


def test_decreasing_root_serves_arrays_and_stops_at_a_low_end_that_will_do() -> None:
    squares = np.array([[2.0, 9.0], [0.5, 1.0]])
    found = decreasing_root(lambda x: squares - x * x, np.ones((2, 2)), np.full((2, 2), 10.0))
    assert found.tolist() == [[pytest.approx(2**0.5, rel=2**-52), 3.0], [1.0, 1.0]]
    torch = pytest.importorskip("torch", reason="torch is not installed")
    tensors = torch.tensor(squares)
    again: Any = decreasing_root(lambda x: tensors - x * x, torch.ones_like(tensors), torch.full_like(tensors, 10.0))
    assert again.tolist() == found.tolist()
