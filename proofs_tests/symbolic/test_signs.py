"""Sets of signs against the signs of numbers."""

from __future__ import annotations

from itertools import product

from spec_math.symbolic import signs

NUMBERS = (-2, -1, 0, 1, 2)
SETS = range(1, 8)


def numbers(had: int) -> list[int]:
    return [x for x in NUMBERS if signs.sign_of(x) & had]


def test_the_signs_of_a_product_are_those_of_all_products() -> None:
    for first, second, power, other in product(SETS, SETS, (1, 2, 3), (1, 2)):
        met = 0
        for x, y in product(numbers(first), numbers(second)):
            met |= signs.sign_of(-(x**power) * y**other)
        assert signs.product([(first, power), (second, other)], signs.NEGATIVE) == met


def test_flipping_is_the_sign_of_the_negative() -> None:
    for had in SETS:
        met = 0
        for x in numbers(had):
            met |= signs.sign_of(-x)
        assert signs.flipped(had) == met


def test_an_empty_product_has_its_own_sign() -> None:
    assert signs.product([], signs.NEGATIVE) == signs.NEGATIVE
    assert signs.product([]) == signs.POSITIVE
