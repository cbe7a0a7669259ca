"""Sets of signs, as bits: what is known of a polynomial on a region, and what a comparison asks."""

from __future__ import annotations

from collections.abc import Iterable

NEGATIVE, ZERO, POSITIVE = 1, 2, 4
ANY = NEGATIVE | ZERO | POSITIVE
NONNEGATIVE, NONPOSITIVE, NONZERO = ZERO | POSITIVE, NEGATIVE | ZERO, NEGATIVE | POSITIVE
SINGLE = (POSITIVE, NEGATIVE, ZERO)
"""The three signs; the likely ones first, so that proofs go through the wide regions first."""


def sign_of(value: int) -> int:
    """Return the sign of a number as a set of one.

    >>> sign_of(-3) == NEGATIVE
    True
    """
    return POSITIVE if value > 0 else NEGATIVE if value < 0 else ZERO


def flipped(signs: int) -> int:
    """Return the signs of −x from those of x.

    >>> flipped(NONNEGATIVE) == NONPOSITIVE
    True
    """
    return signs & ZERO | (NEGATIVE if signs & POSITIVE else 0) | (POSITIVE if signs & NEGATIVE else 0)


def product(factors: Iterable[tuple[int, int]], sign: int = POSITIVE) -> int:
    """Return the signs that sign · Π x_i^e_i may have, from the signs of each x_i and its power: pairs (signs, e).

    >>> product([(NEGATIVE, 1), (ANY, 2)]) == NONPOSITIVE
    True
    """
    result = sign
    for signs, power in factors:
        if power % 2 == 0:
            signs = signs & ZERO | (POSITIVE if signs & NONZERO else 0)
        kept = ZERO if signs & ZERO or result & ZERO else 0
        result = (
            kept
            | (result & NONZERO if signs & POSITIVE else 0)
            | (flipped(result) & NONZERO if signs & NEGATIVE else 0)
        )
    return result
