"""Laws whose hulls take hundreds of lines to find."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from spec_math.arrays import exact


def geometric(size: int) -> tuple[Any, Any]:
    """Draft masses 2^(1−n), 2^(1−n), 2^(2−n), …, 1/2, and as target the law of the higher of two drafts."""
    draft = [Fraction(1, 2 ** (size - 1))] + [Fraction(2**i, 2**size) for i in range(1, size)]
    below = [sum(draft[:i], Fraction(0)) for i in range(size + 1)]
    return exact([b**2 - a**2 for a, b in pairwise(below)]), exact(draft)
