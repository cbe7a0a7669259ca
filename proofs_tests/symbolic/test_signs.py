"""Sets of signs against the signs of numbers."""

from __future__ import annotations

from itertools import product

from spec_math.symbolic import polynomial

NUMBERS = (-2, -1, 0, 1, 2)
SETS = range(1, 8)


def numbers(had: int) -> list[int]:
    return [x for x in NUMBERS if polynomial.sign_of(x) & had]


def test_the_signs_of_a_product_are_those_of_all_products() -> None:
    for first, second, power, other in product(SETS, SETS, (1, 2, 3), (1, 2)):
        met = 0
        for x, y in product(numbers(first), numbers(second)):
            met |= polynomial.sign_of(-(x**power) * y**other)
        assert polynomial.product([(first, power), (second, other)], polynomial.NEGATIVE) == met


def test_flipping_is_the_sign_of_the_negative() -> None:
    for had in SETS:
        met = 0
        for x in numbers(had):
            met |= polynomial.sign_of(-x)
        assert polynomial.flipped(had) == met


def test_an_empty_product_has_its_own_sign() -> None:
    assert polynomial.product([], polynomial.NEGATIVE) == polynomial.NEGATIVE
    assert polynomial.product([]) == polynomial.POSITIVE
