"""Polynomials and rational functions against sympy, and against their values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from spec_math.symbolic.points import evaluated
from spec_math.symbolic.polynomial import DegreeError, Field, Polynomial, RationalFunction, Ring

RING = Ring(["x", "y", "z"])
FIELD = Field(["x", "y", "z"])
LETTERS = sympy.symbols("x y z")

monomials = st.tuples(*[st.integers(0, 2)] * 3)
terms = st.dictionaries(monomials, st.integers(-4, 4).filter(bool), max_size=4)
points = st.tuples(*[st.fractions(min_value=-3, max_value=3, max_denominator=5)] * 3)


def packed(ring: Ring, listed: dict[tuple[int, ...], int]) -> Polynomial:
    result = ring.zero
    for powers, value in listed.items():
        term = ring.number(value)
        for variable, power in zip(ring.variables, powers, strict=True):
            term = ring.times(term, ring.power(variable, power))
        result = ring.plus(result, term)
    return result


def written(listed: dict[tuple[int, ...], int]) -> Any:
    """The same as sympy's own polynomial, whose sums and products take a tenth of those of its expressions."""
    return sympy.Poly.from_dict(listed, *LETTERS, domain="ZZ")


def as_sympy(polynomial: Polynomial) -> Any:
    return written(dict(polynomial.terms))


@given(first=terms, second=terms)
def test_sums_and_products_are_sympys(first: Any, second: Any) -> None:
    a, b = packed(RING, first), packed(RING, second)
    assert as_sympy(RING.plus(a, b)) == written(first) + written(second)
    assert as_sympy(RING.times(a, b)) == written(first) * written(second)


@given(first=terms, second=terms)
def test_equal_polynomials_are_one_object(first: Any, second: Any) -> None:
    a, b = packed(RING, first), packed(RING, second)
    assert (RING.plus(a, b) is RING.plus(b, a)) and (RING.times(a, b) is RING.times(b, a))
    assert (a is b) == (written(first) == written(second))


@given(first=terms, second=terms.filter(bool))
def test_a_quotient_is_in_lowest_terms_and_equal_to_it(first: Any, second: Any) -> None:
    a, b = packed(FIELD.ring, first), packed(FIELD.ring, second)
    quotient = FIELD.of(a, b)
    assert FIELD.ring.times(quotient.top, b) is FIELD.ring.times(quotient.bottom, a)
    assert as_sympy(quotient.top).gcd(as_sympy(quotient.bottom)) == 1


@given(first=terms.filter(bool), second=terms.filter(bool))
def test_factors_multiply_back_and_are_irreducible(first: Any, second: Any) -> None:
    product = RING.times(packed(RING, first), packed(RING, second))
    content, factors = product.factors()
    back = RING.number(content)
    for factor, power in factors:
        back = RING.times(back, RING.power(factor, power))
        assert factor.factors() == (1, ((factor, 1),))
    assert back is product


@given(listed=terms, divisor=terms.filter(lambda own: any(powers[0] for powers in own)))
def test_a_remainder_is_the_polynomial_where_the_divisor_vanishes(listed: Any, divisor: Any) -> None:
    polynomial, by = packed(RING, listed), packed(RING, divisor)
    left = RING.remainder(polynomial, by, 0)
    assert max(left.coefficients(0), default=0) < max(by.coefficients(0))
    lead = as_sympy(by.coefficients(0)[max(by.coefficients(0))])
    # l^m·P − R is a multiple of the divisor, among functions of y and z, for the m that was needed.
    n = max(polynomial.coefficients(0), default=0) + 1
    steps = (sympy.prem(lead**m * written(listed) - as_sympy(left), written(divisor)) for m in range(n + 1))
    assert any(step.is_zero for step in steps)


functions = st.tuples(terms, terms.filter(bool))


def function(pair: Any) -> RationalFunction:
    top, bottom = (FIELD.of(packed(FIELD.ring, listed), FIELD.ring.one) for listed in pair)
    return FIELD.over(top, bottom)


def value(found: RationalFunction, point: Any) -> Fraction | None:
    below = evaluated(found.bottom, point)
    return evaluated(found.top, point) / below if below else None


@given(first=functions, second=functions, point=points)
def test_arithmetic_of_functions_is_that_of_their_values(first: Any, second: Any, point: Any) -> None:
    a, b = function(first), function(second)
    at_a, at_b = value(a, point), value(b, point)
    if at_a is None or at_b is None:
        return
    assert value(FIELD.plus(a, b), point) == at_a + at_b
    assert value(FIELD.minus(a, b), point) == at_a - at_b
    assert value(FIELD.times(a, b), point) == at_a * at_b
    if at_b:
        assert value(FIELD.over(a, b), point) == at_a / at_b


@given(first=functions, second=functions)
def test_equal_functions_are_one_object(first: Any, second: Any) -> None:
    a, b = function(first), function(second)
    assert FIELD.plus(FIELD.minus(a, b), b) is a
    if second[0]:
        assert FIELD.over(FIELD.times(a, b), b) is a
    assert FIELD.minus(a, a).constant == 0


def test_a_wrong_cancellation_would_be_seen() -> None:
    """A control: 1/x + 1/y is not 2/(x + y), though both have value 1 at (1, 1)."""
    x, y, _ = FIELD.variables
    one = FIELD.number(Fraction(1))
    right = FIELD.plus(FIELD.over(one, x), FIELD.over(one, y))
    wrong = FIELD.over(FIELD.number(Fraction(2)), FIELD.plus(x, y))
    assert right is not wrong
    assert value(right, [Fraction(1)] * 3) == 2


def test_functions_are_shown_as_they_are_written() -> None:
    x, y, _ = FIELD.variables
    shown = FIELD.over(FIELD.minus(x, y), FIELD.times(FIELD.number(Fraction(2)), x))
    assert str(shown) in ("(x - y)/(2 (x))", "(-y + x)/(2 (x))")
    assert str(RING.zero) == "0"


@pytest.mark.parametrize("number", [Fraction(0), Fraction(-3, 4)])
def test_a_constant_knows_that_it_is_one(number: Fraction) -> None:
    assert FIELD.number(number).constant == number
    assert FIELD.variables[0].constant is None


def test_a_degree_that_exponents_have_no_room_for_is_refused() -> None:
    """2047 is the most: beyond it a program that squares again and again would never end."""
    ring = Ring(["x", "y"])
    x, y = ring.variables
    high = ring.power(y, 1024)
    assert set(ring.times(high, ring.power(y, 1023)).terms) == {(0, 2047)}
    with pytest.raises(DegreeError, match="degree 2048, of 2047 at most"):
        ring.times(high, high)
    assert ring.times(x, high).variables() == [0, 1]
