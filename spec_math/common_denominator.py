"""An exact law as whole numbers over one common denominator, for exact work at full vocabulary size."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.arrays import as_law as checked


@dataclass(frozen=True, eq=False)
class Counts:
    """A law [V] whose mass i is numerators[i] / denominator, all of them whole numbers of any size.

    Sums and products of counts are sums and products of whole numbers: no greatest common divisor is ever taken, which
    is what makes Fractions slow at 10^5 tokens.

    Raises:
        TypeError: a numerator is not a whole number.
        ValueError: a numerator is negative, or they do not sum to the denominator.

    >>> Counts([1, 0, 3], 4).law().tolist()
    [Fraction(1, 4), Fraction(0, 1), Fraction(3, 4)]
    >>> Counts([1, 1], 3)
    Traceback (most recent call last):
    ValueError: counts must sum to their denominator 3; these 2 sum to 2; divide by 2 if they are weights
    """

    numerators: Array
    denominator: int

    def __post_init__(self) -> None:
        # A list as objects: NumPy would make floats of whole numbers beyond 2^63.
        given = self.numerators if isinstance(self.numerators, np.ndarray) else np.array(self.numerators, dtype=object)
        # A copy that nobody can write to: what is checked here stays so.
        whole = given.astype(object) if given.dtype.kind in "iuO" else given
        if whole.ndim != 1 or len(whole) == 0:
            raise ValueError(f"counts are one distribution [V] with V >= 1; the shape is {whole.shape}")
        if whole.dtype != object or not {type(self.denominator), *map(type, whole.tolist())} <= {int}:
            raise TypeError(f"counts are whole numbers (int); got {self.denominator!r} and {whole.dtype} masses")
        if whole.min() < 0:
            raise ValueError(f"counts must be >= 0; the least is {whole.min()}")
        total = int(whole.sum())
        if total != self.denominator:
            raise ValueError(
                f"counts must sum to their denominator {self.denominator}; these {len(whole)} sum to {total}; "
                f"divide by {total} if they are weights"
            )
        whole.flags.writeable = False
        object.__setattr__(self, "numerators", whole)

    def __len__(self) -> int:
        return len(self.numerators)

    @staticmethod
    def of(masses: Any) -> Counts:
        """Write an exact law [V] over the least common denominator of its masses.

        Raises:
            ValueError, TypeError: as `arrays.as_law`; the masses are floats.

        >>> Counts.of(["1/2", "1/3", "1/6"]).denominator
        6
        """
        law = checked(masses)
        if law.dtype != object:
            raise TypeError(
                "counts need exact masses; these are floats: write strings, or proportional_to(exact(masses))"
            )
        common = lcm(*(mass.denominator for mass in law))
        whole = np.empty(len(law), dtype=object)
        whole[:] = [mass.numerator * (common // mass.denominator) for mass in law]
        return Counts(whole, common)

    def law(self) -> Array:
        """Return the law [V] as an object array of Fractions, in lowest terms.

        >>> Counts([2, 2], 4).law().tolist()
        [Fraction(1, 2), Fraction(1, 2)]
        """
        masses = np.empty(len(self), dtype=object)
        masses[:] = [Fraction(numerator, self.denominator) for numerator in self.numerators]
        return masses
