"""Rounding bound of a verdict: the total variation that floating-point arithmetic can explain in a right program.

Let u be the unit roundoff of the numbers that a coin was handed, or of the type that the laws are stored in where that
is coarser, and V the number of tokens.

*One coin.* What the j-th coin of a path is handed is a quotient of sums of at most V stored masses: at most V − 1
roundings in a sum, one in what it leaves of 1, and 4 more for a ratio, a product, a difference and the last quotient.
Numbers that earlier coins left behind, such as the product of ratios along a block or a power of 1 − β, bring at most 2
roundings from each. That makes n = V + 4 + 2(j−1) roundings, a relative error of at most nu/(1 − nu) (Higham), of the
masses before they were subtracted. (The common factor of all masses cancels, as the coin divides by their sum.)

*What a residual loses.* A residual r' = (r − d)+/Σ(r − d)+ is as exact as a quotient with respect to the r and the d
that the program holds, as the difference of two floats is rounded once; that r itself is a float changes nothing, for
the coins after it answer for that very r, and not for the one that exact numbers would have given. So no error is
handed down from residual to residual, and that of one coin counts as often as the coin is reached. Where a program does
subtract sums (1 − β, a pool that is used up), what is left is the chance to get to the coin, and what was lost is
relative to the mass before the subtraction: the relative error may be as large as e/(what is left), but the coin is
reached that seldom. Either way one coin of a path moves at most e = nu/(1 − nu) of the mass of all outcomes, and never
more than is there: the chance that a path has a j-th coin.

*Laws that do not sum to 1.* A coin divides by the sum, and the target is divided by its own; a program that takes laws
which are off by g in all for laws that are not may be off by g at each coin.

*Together.* What each coin moves is passed on by laws, which move no more: the parts add, Σ_j min(reach_j, e_j + g_j).

A program that loses more than that emits another law in the numbers it was given, and the judge says so. What a verdict
forgives is never more than `AT_MOST`: where the difference is larger than that, and rounding could explain it, nothing
is decided.

Source: the error of sums and quotients as in Higham, Accuracy and Stability of Numerical Algorithms, chapters 2 to 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

UNIT = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""The unit roundoff of each type that a law may be stored in, and a verifier compute in."""

HALF = frozenset({"float16", "bfloat16"})
"""The types of half precision."""

AT_MOST = 1e-4
"""The total variation that a verdict forgives at most; 1e-2 (`AT_MOST_HALF`) for laws stored in half precision."""

AT_MOST_HALF = 1e-2


@dataclass(frozen=True)
class Allowance:
    """The total variation that rounding explains, what is forgiven at most, and how exactly the law itself is known.

    All four are total variations. `measured` is what the judge may be off by in adding up; `left_out` what the law that
    was found may be off by, as small numbers beside a logarithm were left out: it is in doubt, and not forgiven. The
    allowance of an exact program is `Allowance()`.

    >>> Allowance(0.5).forgiven, Allowance(1e-9).forgiven
    (0.0001, 1e-09)
    """

    rounding: float = 0.0
    at_most: float = AT_MOST
    measured: float = 0.0
    left_out: float = 0.0

    @property
    def explained(self) -> float:
        """The distance up to which a right program may be found: beyond it is another law."""
        return self.rounding + self.left_out + self.measured

    @property
    def forgiven(self) -> float:
        """The bound of a verdict: what rounding and what was left out explain, or the cap where that is less."""
        return min(self.rounding + self.left_out + 2 * self.measured, self.at_most)


class Level(NamedTuple):
    """The j-th coins of a program's paths: the coarsest unit roundoff among them, the gap of the laws, the reach.

    `gap` is how far in all the laws that the coin answers for are from summing to 1; `reach` the chance that a path has
    a j-th coin.
    """

    unit: float
    gap: float = 0.0
    reach: float = 1.0


def rounding(levels: Iterable[Level], size: int) -> float:
    """Return the total variation that rounding may explain, for a program of these coins on laws of `size` tokens.

    >>> rounding([Level(0.0)] * 3, size=4), rounding([Level(UNIT["float64"])] * 3, size=4) < 1e-14
    (0.0, True)
    """
    total = 0.0
    for place, level in enumerate(levels):
        lost = (size + 4 + 2 * place) * level.unit
        total += min(level.reach, (lost / (1 - lost) if lost < 1 else 1.0) + level.gap)
    return total


def evenly(coins: int, size: int, unit: float, gap: float = 0.0) -> float:
    """Return the same for paths of at most `coins` coins of one unit roundoff, each reached, and a gap at each."""
    return rounding([Level(unit, gap)] * coins, size)


def drawing(size: int, stored: str, gap: float) -> float:
    """Return what rounding explains where a law is drawn from as it is stored: its sum's gap, and a roundoff a mass."""
    return gap + size * unit_of([stored])


def cap(stored: Iterable[str], asked: float | None = None) -> float:
    """Return what a verdict forgives at most for laws stored in these types; a caller may ask for less, never for more.

    Raises:
        ValueError: what was asked for is not a total variation, or more than the cap.

    >>> cap(["float64"]), cap(["float16"]), cap(["float16"], 1e-3)
    (0.0001, 0.01, 0.001)
    """
    most = AT_MOST_HALF if HALF & set(stored) else AT_MOST
    if asked is None:
        return most
    if not 0 <= asked <= most:
        raise ValueError(f"at_most must be a total variation between 0 and {most:g} for this input; got {asked!r}")
    return float(asked)


def adding_up(paths: int, coins: int, size: int) -> float:
    """Return how far the masses of paths, multiplied and added in float64, may be off in total variation.

    A mass is divided by its law's sum (V roundings) and multiplied along at most `coins` coins; the masses of the paths
    are added one by one.
    """
    return (paths + coins * (size + 2)) * UNIT["float64"]


def unit_of(stored: Iterable[str]) -> float:
    """Return the coarsest unit roundoff of floating types, named as arrays name them; 0 where there are none.

    A type that is not known counts as float64.

    >>> unit_of([]), unit_of(["float64", "float32"]) == 2.0**-24
    (0.0, True)
    """
    return max((UNIT.get(name, UNIT["float64"]) for name in stored), default=0.0)
