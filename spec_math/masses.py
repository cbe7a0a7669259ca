"""Probabilities and masses as a coin takes them: checked, and divided by their sum in every reading alike."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate
from math import fsum, lcm
from typing import Any, NoReturn, TypeVar

import numpy as np

from spec_math.arrays import SUM_BOUND, is_exact, sums_to_one
from spec_math.number_types import Symbol, as_text

Key = TypeVar("Key", bound=Hashable)


class ChanceError(ValueError):
    """A program asked for a probability outside [0, 1], or to draw by masses that do not form a distribution."""


class Cumulative:
    """A law with its running sums, so that a law drawn from often is summed once.

    Raises:
        ChanceError: masses that are negative or do not sum to 1.

    >>> Cumulative([Fraction(1, 4), Fraction(3, 4)]).sums
    [Fraction(1, 4), Fraction(1, 1)]
    """

    def __init__(self, masses: Any) -> None:
        self.masses: list[Any]
        self.masses, self.total, self.stored = weighed(masses)
        self.sums: list[Any] = list(accumulate(self.masses))

    def at(self, uniform: Any) -> int:
        """Return the first i with v_0 + … + v_i > uniform · Σv; never a token of mass 0.

        >>> Cumulative([Fraction(1, 4), 0, Fraction(3, 4)]).at(Fraction(1, 4))
        2
        """
        total = self.sums[-1]
        # A Fraction just below 1 times a float sum rounds up to the sum itself: then the last token that has mass.
        index = min(bisect_right(self.sums, uniform * total), len(self.sums) - 1)
        while self.masses[index] == 0:
            index -= 1
        return index


def possible(mass: Any) -> bool:
    """Say whether a choice of this probability is followed: one of 0 is not."""
    if type(mass) is Fraction:
        return mass.numerator != 0
    return mass.possible() if isinstance(mass, Symbol) else bool(mass != 0)


def divided(masses: Any) -> list[Any]:
    """Return the masses of a law [V] that was checked, divided by their sum: what a draw from it means.

    Exact masses sum to 1 and stay as they are; those of a float law become Python floats.

    >>> divided(np.array([0.5, 0.25, 0.25 + 2.0**-40]))[0] < 0.5
    True
    """
    listed = as_list(masses)
    if is_exact(masses):
        return listed
    floats = [float(mass) for mass in listed]
    return over_sum(floats, fsum(floats))


def summed(masses: Collection[Any]) -> Any:
    """Return the sum of masses: of Fractions over their least common denominator, of floats one after another."""
    if not all(type(mass) is Fraction for mass in masses):
        return sum(masses, Fraction(0))
    whole = lcm(*[mass.denominator for mass in masses])
    return Fraction(sum(mass.numerator * (whole // mass.denominator) for mass in masses), whole)


def by_outcome(pairs: Iterable[tuple[Key, Any]]) -> dict[Key, Any]:
    """Return {outcome: mass} of pairs (outcome, mass): the masses of equal outcomes are added, one after another.

    >>> by_outcome([("a", 1), ("b", 2), ("a", 3)])
    {'a': 4, 'b': 2}
    """
    result: dict[Key, Any] = {}
    for outcome, mass in pairs:
        result[outcome] = result[outcome] + mass if outcome in result else mass
    return result


def excess(law: Mapping[Any, Any], other: Mapping[Any, Any]) -> Any:
    """Return how much of a law {outcome: mass}, or of a part of it, lies above another: Σ (law − other)+.

    It is at most their total variation, and that where both are whole; in the law's number type.

    >>> excess({0: Fraction(1, 2), 1: Fraction(1, 2)}, {1: Fraction(1)})
    Fraction(1, 2)
    """
    zero = 0 * next(iter(law.values()), Fraction(0))
    return sum((max(zero, mass - other.get(outcome, zero)) for outcome, mass in law.items()), zero)


def over_sum(masses: list[Any], total: Any) -> list[Any]:
    """Return masses divided by their sum, or the list itself where that is 1."""
    return masses if total == 1 else [mass / total for mass in masses]


def probability(p: Any) -> tuple[Any, str]:
    """Check a probability, and return it as Python's own number with the type it was stored in, "" where it is exact.

    Raises:
        ChanceError: it lies outside [0, 1], or is not a number.

    >>> probability(np.float32(0.5)), probability(Fraction(1, 3))
    ((0.5, 'float32'), (Fraction(1, 3), ''))
    """
    stored = ""
    if hasattr(p, "item"):  # a scalar of NumPy or torch becomes Python's own
        stored = _type_of(p)
        p = p.item()
    if isinstance(p, float):
        stored = stored or "float64"
    elif stored:
        stored = ""
    if not 0 <= p <= 1:
        raise ChanceError(f"flip: a probability must lie in [0, 1]; got {as_text(p)}")
    return p, stored


def weighed(masses: Any, types: Collection[str] = (), closed: bool = False) -> tuple[list[Any], Any, str]:
    """Check that masses [V] are a law; return them, with their sum and the type that they are stored in.

    Exact masses must sum to exactly 1. Floats must do so within the bound of the type that they come from: the type of
    the array, or of its numbers, or one of the `types` that the laws of the call are stored in, whose gap stays when
    they are widened. Unless these are all there are (`closed`), masses come from the narrowest type that holds all of
    them, as `tolist` does not change them. The type that is returned is "" where all is exact.

    Raises:
        ChanceError: no masses, one that is negative or not a number, or a sum that is off.

    >>> weighed([Fraction(1, 4), Fraction(3, 4)])[1:], weighed(np.float32([0.25, 0.75]))[1:]
    ((Fraction(1, 1), ''), (1.0, 'float32'))
    """
    listed = as_list(masses)
    if not listed:
        raise ChanceError("draw: a distribution needs at least one token; got none")
    if isinstance(masses, np.ndarray) and masses.ndim == 1 and masses.dtype in _FLOATS and bool((masses >= 0).all()):
        return _of_floats(listed, _type_of(masses), types, closed)
    if sums_to_one(listed):
        return listed, Fraction(1), ""
    for token, mass in enumerate(listed):
        if not mass >= 0:
            raise ChanceError(f"draw: masses must be >= 0; token {token} has {as_text(mass)}")
    total = sum(listed)
    if _is_exact(total):
        gap = abs(total - 1)
        if gap > 0:
            raise ChanceError(
                f"draw: masses must sum to 1; these {len(listed)} sum to {as_text(total)} (off by {as_text(gap)})"
            )
        return listed, total, ""
    # Of a list, the coarsest floating type among its numbers, float64 where none says its own.
    stored = _type_of(masses) or max({_type_of(mass) or "float64" for mass in listed}, key=SUM_BOUND.__getitem__)
    return _of_floats([float(mass) for mass in listed], stored, types, closed)


def _of_floats(floats: list[float], stored: str, types: Collection[str], closed: bool) -> tuple[list[Any], Any, str]:
    total = fsum(floats)
    gap = abs(total - 1)
    explained = max(SUM_BOUND.get(name, 0.0) for name in (stored, *types))
    if not gap <= explained and (closed or not gap <= _bound_of_narrower(floats)):
        raise ChanceError(
            f"draw: masses must sum to 1; these {len(floats)} sum to {total} (off by {gap}); a sum of "
            f"{stored} may be off by {explained:.2g}; divide them by their sum"
        )
    return floats, total, stored


def in_short(masses: Sequence[Any]) -> str:
    """Return masses as text, the first eight of them where there are more."""
    shown = ", ".join(as_text(mass) for mass in masses[:8])
    return f"{shown}, … {len(masses)} in all" if len(masses) > 8 else shown


def as_list(masses: Any) -> list[Any]:
    """Return masses as a list of numbers, from an array, a tensor or anything that can be gone through."""
    if isinstance(masses, np.ndarray) or hasattr(masses, "tolist"):
        return list(masses.tolist())
    return list(masses)


def _is_exact(total: Any) -> bool:
    # A sum of Fractions and ints is one of them; a single float among them makes it a float.
    return isinstance(total, Fraction | int | Symbol | np.integer)


def _type_of(number: Any) -> str:
    """Return the floating type of an array or a scalar, as `SUM_BOUND` names it, or ""."""
    dtype = getattr(number, "dtype", None)
    return "" if dtype is None else _name_of(dtype)


@cache
def _name_of(dtype: Hashable) -> str:
    # Each number of a list is asked for its type, and NumPy takes 3 µs to name one.
    name = str(dtype).removeprefix("torch.")
    return name if name in SUM_BOUND else ""


def _bound_of_narrower(floats: list[float]) -> float:
    """Return the bound of the narrowest type that holds all masses."""
    held = [SUM_BOUND[name] for name in NARROWER if all(_holds(name, mass) for mass in floats)]
    return max(held, default=0.0)


_FLOATS = (np.float64, np.float32, np.float16)
"""What `tolist` turns into Python's own floats."""

NARROWER = ("float32", "float16", "bfloat16")


def _holds(name: str, mass: float) -> bool:
    if name != "bfloat16":
        return float(np.dtype(name).type(mass)) == mass
    # Its numbers are those of float32 whose last sixteen bits are 0.
    single = np.float32(mass)
    return float(single) == mass and int(single.view(np.uint32)) & 0xFFFF == 0


class FlipAndDraw:
    """A coin's answer to any question that is neither a flip nor a draw."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"a coin has no {name!r}: a program's only randomness is coin.flip(p) and coin.draw(masses)"
        )
