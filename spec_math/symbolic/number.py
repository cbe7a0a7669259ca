"""The symbolic number: a rational function of the masses, on a region where each comparison has one answer."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from spec_math.symbolic import signs
from spec_math.symbolic.rational_function import Field, RationalFunction
from spec_math.worlds import Symbol


class Region(Protocol):
    """A set of laws on which numbers are compared."""

    field: Field

    def has_sign(self, value: RationalFunction, wanted: int) -> bool:
        """Say whether a function has one of the wanted signs all over the region; a question that splits it raises."""
        ...

    def is_zero(self, value: RationalFunction) -> bool:
        """Say whether a function is known to vanish all over the region; never splits it."""
        ...


class Number(Symbol):
    """A rational function that is no constant, as the library's programs compute with it.

    Sums, products and quotients with Fractions and ints are exact; results that are constant come back as Fractions.
    A comparison is a question to the region. There is no conversion to a float or an int, and none is made by mistake.

    Raises:
        TypeError: arithmetic with a float.
        ZeroDivisionError: a divisor that vanishes on the region.
    """

    __slots__ = ("region", "value")

    def __init__(self, value: RationalFunction, region: Region) -> None:
        self.value = value
        self.region = region

    def __str__(self) -> str:
        return str(self.value)

    __repr__ = __str__

    def possible(self) -> bool:
        """Say whether a chance of this size is to be followed: everywhere but where it is known to be 0."""
        return not self.region.is_zero(self.value)

    def _with(self, other: Any, operation: Callable[[Field, Any, Any], RationalFunction], turned: bool = False) -> Any:
        value = self._value(other)
        if value is None:
            return NotImplemented
        pair = (value, self.value) if turned else (self.value, value)
        return number(operation(self.region.field, *pair), self.region)

    def _value(self, other: Any) -> RationalFunction | None:
        if isinstance(other, Number):
            return other.value if other.region is self.region else None
        if isinstance(other, int | np.integer | np.bool_):
            other = Fraction(int(other))
        return self.region.field.number(other) if isinstance(other, Fraction) else None

    def __add__(self, other: Any) -> Any:
        return self._with(other, Field.plus)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, Field.minus)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, Field.minus, turned=True)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, Field.times)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if other == 0:
            raise ZeroDivisionError(f"({self})/0")
        return self._with(other, Field.over)

    def __rtruediv__(self, other: Any) -> Any:
        if self == 0:
            raise ZeroDivisionError(f"{other}/({self}), which is 0 here")
        return self._with(other, Field.over, turned=True)

    def __neg__(self) -> Any:
        return self * Fraction(-1)

    def __pow__(self, power: int) -> Any:
        result: Any = Fraction(1)
        for _ in range(power):
            result = self * result
        return result

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    def _asks(self, other: Any, wanted: int) -> Any:
        # A float 0.0 is a bound that exact programs compare with; no other float is let in.
        value = self._value(Fraction(0) if isinstance(other, float) and not other else other)
        if value is None:
            return NotImplemented
        if value is self.value:
            return bool(wanted & signs.ZERO)
        return self.region.has_sign(self.region.field.minus(self.value, value), wanted)

    def __lt__(self, other: Any) -> Any:
        return self._asks(other, signs.NEGATIVE)

    def __le__(self, other: Any) -> Any:
        return self._asks(other, signs.NONPOSITIVE)

    def __gt__(self, other: Any) -> Any:
        return self._asks(other, signs.POSITIVE)

    def __ge__(self, other: Any) -> Any:
        return self._asks(other, signs.NONNEGATIVE)

    def __eq__(self, other: Any) -> Any:
        return self._asks(other, signs.ZERO)

    def __ne__(self, other: Any) -> Any:
        return self._asks(other, signs.NONZERO)

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __hash__(self) -> int:
        # Numbers of two regions are never equal, so that nothing remembered on one is used on another.
        return hash((self.value.index, id(self.region)))


def number(value: RationalFunction, region: Region) -> Any:
    """Return a function as a number on a region: a Fraction where it is constant.

    >>> field = Field(["x"])
    >>> x = number(field.variables[0], None)
    >>> number(field.over(x.value, x.value), None)
    Fraction(1, 1)
    """
    constant = value.constant
    return Number(value, region) if constant is None else constant
