"""Numbers that look rounded to a coarser type than the laws were given in: a function that casts them inside.

A float64 of a quotient or of a mass such as 1/3 needs about 53 binary digits; one that was rounded to p digits on the
way needs p, or a few less by chance. It shows the type that was computed in, and nothing more: it may leave a verdict
open, and never makes one.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

DIGITS = {"float32": 24, "float16": 11, "bfloat16": 8}
"""The binary digits of a significand."""

GENERAL = 25
"""Masses of so many digits, or of infinitely many, have no exact float of a coarser type."""

FEW = 3
"""Masses of so few digits are exact in every type, and so are their sums and small products."""


def digits(number: Fraction) -> int:
    """Return the binary digits that a significand needs, and 53 where no number of them is enough.

    >>> digits(Fraction(3, 8)), digits(Fraction(0.1)), digits(Fraction(1, 3)), digits(Fraction(0))
    (2, 52, 53, 0)
    """
    if number.denominator & (number.denominator - 1):
        return 53
    top = abs(number.numerator)
    return (top >> ((top & -top).bit_length() - 1)).bit_length() if top else 0


def rounded_to(met: Iterable[int], masses: Iterable[Fraction]) -> str:
    """Return the coarsest type that numbers of so many digits show, for laws of these masses; "" where they show none.

    >>> rounded_to([53, 24], [Fraction(1, 3), Fraction(2, 3)]), rounded_to([53], [Fraction(1, 3)])
    ('float32', '')
    """
    needed = [digits(mass) for mass in masses if 0 < mass < 1]
    if not needed:
        return ""
    if min(needed) >= GENERAL:
        least = {"float32": 20, "float16": 9, "bfloat16": 6}
    elif max(needed) <= FEW:
        least = {name: most - 2 for name, most in DIGITS.items()}
    elif all(many >= GENERAL or many <= FEW for many in needed):
        # Products of a few such masses have the digits of bfloat16 by themselves.
        least = {name: most - 2 for name, most in DIGITS.items() if name != "bfloat16"}
    else:
        return ""
    seen = set(met)
    shown = [name for name in least if seen & set(range(least[name], DIGITS[name] + 1))]
    return shown[-1] if shown else ""
