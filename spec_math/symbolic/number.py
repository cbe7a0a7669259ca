"""The symbolic number: a rational function of the masses, on a region where each comparison has one answer.

Source: the operations are those of Python's fractions.Fraction.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable
from fractions import Fraction
from math import isfinite
from typing import Any, NoReturn

import numpy as np

from spec_math.number_types import Symbol, as_text
from spec_math.symbolic.polynomial import (
    NEGATIVE,
    NONNEGATIVE,
    NONPOSITIVE,
    NONZERO,
    POSITIVE,
    ZERO,
    DegreeError,
    Field,
    RationalFunction,
)

HIGHEST = 100
"""The highest power that is multiplied out."""


class SymbolError(TypeError):
    """A program asks a symbol for what only a single mass has: a hash, a text, a float, a whole number.

    A symbol stands for all masses of a region. Whoever catches this error does not hide it: the region has noted it,
    and the theorem is refuted by single laws or left open.

    >>> from spec_math.symbolic import Theorem, prove
    >>> prove(Theorem("masses differ", "", lambda law: len({*law}) == 2, {"t": 2})).verdict
    'refuted'
    >>> prove(Theorem("masses are hashable", "", lambda law: len({*law}) > 0, {"t": 2})).verdict
    'open'
    """


_KEYS = "compare masses with ==, and use tokens as keys"
_WHOLE = "compare masses, or judge single distributions with check_lossless"


def _refusing(asked: str, cure: str) -> Callable[..., Any]:
    """Return a method that refuses."""

    def refused(self: Number, *_given: Any, **_named: Any) -> NoReturn:
        self._refuse(asked, cure)  # pyright: ignore[reportPrivateUsage]

    return refused


def _holds(other: float, wanted: int) -> bool:
    """Say whether 0.0 has one of the wanted signs when compared with inf, -inf or nan."""
    if other != other:
        return wanted == NONZERO
    return bool(wanted & (NEGATIVE if other > 0 else POSITIVE))


_Fraction: Any = Fraction


class Number(Symbol, _Fraction):
    """A rational function that is no constant, as the library's programs compute with it.

    It is a Fraction to `isinstance`, since programs are to go the way with it that they go with Fractions. Each
    operation of a Fraction either does here what it does there, for all laws of the region at once, or refuses with a
    SymbolError: no operation gives another answer. Sums, products, quotients and whole powers with Fractions and ints
    are exact; results that are constant come back as Fractions. A comparison is a question to the region. What cannot
    be refused is in `docs/limits.md`: `is`, `id` and `type(mass) is Fraction`.

    Raises:
        SymbolError: what only a single mass has was asked for, or arithmetic with a float.
        ZeroDivisionError: a divisor that vanishes on the region.
    """

    __slots__ = ("region", "value")

    region: Any
    value: RationalFunction

    def __new__(cls, *given: Any, **named: Any) -> Any:
        """Return what Fraction returns, so that type(mass)(1, 2) is a half."""
        return Fraction(*given, **named)

    def _refuse(self, asked: str, cure: str) -> NoReturn:
        error = SymbolError(f"{asked} of the mass {self.value}: a symbol stands for many masses and has none; {cure}")
        self.region.refuse(error)
        raise error

    def as_text(self) -> str:
        """Return the function that the number is."""
        return str(self.value)

    def key(self) -> Hashable:
        """Return the function and the region: numbers of two regions are never taken for each other."""
        return self.value.index, id(self.region)

    def possible(self) -> bool:
        """Say whether a chance of this size is to be followed: everywhere but where it is known to be 0."""
        return not self.region.is_zero(self.value)

    # Arithmetic: exact with Fractions and ints

    def _with(self, other: Any, operation: Callable[[Field, Any, Any], RationalFunction], turned: bool = False) -> Any:
        value = self._value(other)
        if value is None:
            return NotImplemented
        pair = (value, self.value) if turned else (self.value, value)
        try:
            return number(operation(self.region.field, *pair), self.region)
        except DegreeError as error:
            self._refuse(f"a product ({error})", "no polynomial of that degree is followed")

    def _value(self, other: Any) -> RationalFunction | None:
        """Return another exact number as a function; None for what a Fraction does not compute with either."""
        kind: Any = type(other)
        if kind is Number:
            if other.region is not self.region:
                self._refuse("a comparison or a sum with a mass of another run", "keep no masses between two calls")
            return other.value
        if kind is Fraction:
            return self.region.field.number(other)
        if isinstance(other, np.bool_):
            other = int(other)
        if isinstance(other, numbers.Rational):
            return self.region.field.number(Fraction(int(other.numerator), int(other.denominator)))
        if isinstance(other, float | complex | np.inexact):
            self._refuse(f"arithmetic with {other!r}", "write numbers as Fractions or ints, a half as Fraction(1, 2)")
        return None

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
        value = self._value(other)
        if value is not None and number(value, self.region) == 0:
            raise ZeroDivisionError(f"({self.value})/0")
        return self._with(other, Field.over)

    def __rtruediv__(self, other: Any) -> Any:
        value = self._value(other)
        if value is not None and self == 0:
            raise ZeroDivisionError(f"({value})/({self.value}), which is 0 here")
        return self._with(other, Field.over, turned=True)

    def __neg__(self) -> Any:
        return self * Fraction(-1)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    def __pow__(self, power: Any, modulus: Any = None) -> Any:
        if modulus is not None or not isinstance(power, numbers.Complex):
            return NotImplemented
        exact = self._value(power)
        exponent = None if exact is None else exact.constant
        if exponent is None or exponent.denominator != 1 or abs(exponent) > HIGHEST:
            self._refuse(f"the power {as_text(power)}", f"powers are followed where they are ints up to {HIGHEST}")
        result: Any = Fraction(1)
        for _ in range(abs(exponent.numerator)):
            result = self * result
        return 1 / result if exponent < 0 else result

    # Comparisons: questions to the region, with floats as exact as Python's own

    def _asks(self, other: Any, wanted: int) -> Any:
        if isinstance(other, float):
            if not isfinite(other):  # Python asks how 0.0 compares, for all Fractions alike
                return _holds(other, wanted)
            other = Fraction(other)
        value = self._value(other)
        if value is None:
            return NotImplemented
        if value is self.value:
            return bool(wanted & ZERO)
        return self.region.has_sign(self.region.field.minus(self.value, value), wanted)

    def __lt__(self, other: Any) -> Any:
        return self._asks(other, NEGATIVE)

    def __le__(self, other: Any) -> Any:
        return self._asks(other, NONPOSITIVE)

    def __gt__(self, other: Any) -> Any:
        return self._asks(other, POSITIVE)

    def __ge__(self, other: Any) -> Any:
        return self._asks(other, NONNEGATIVE)

    def __eq__(self, other: Any) -> Any:
        return self._asks(other, ZERO)

    def __ne__(self, other: Any) -> Any:
        return self._asks(other, NONZERO)

    def __bool__(self) -> bool:
        return bool(self != 0)

    # What a Fraction answers with itself

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def conjugate(self) -> Any:
        """Return the number itself, as a Fraction does."""
        return self

    @property
    def real(self) -> Any:
        """The number itself."""
        return self

    @property
    def imag(self) -> Any:
        """Zero."""
        return 0

    from_float = staticmethod(Fraction.from_float)
    from_decimal = staticmethod(Fraction.from_decimal)

    # Texts, for those that look at a number after a run; during one they might be keys

    def __str__(self) -> str:
        if self.region.running:
            self._refuse("the text", "show it by number_types.as_text, and do not decide by texts")
        return self.as_text()

    __repr__ = __str__

    def __format__(self, form: str) -> str:
        return format(str(self), form)

    # What only a single mass has

    __hash__ = _refusing("the hash", _KEYS)
    __reduce__ = __reduce_ex__ = __getstate__ = _refusing("the pickled form", _KEYS)
    __float__ = _refusing("the float", _WHOLE)
    __complex__ = _refusing("the complex number", _WHOLE)
    __int__ = __trunc__ = _refusing("the whole part", _WHOLE)
    __floor__ = _refusing("the floor", _WHOLE)
    __ceil__ = _refusing("the ceiling", _WHOLE)
    __round__ = _refusing("the rounded value", _WHOLE)
    __floordiv__ = __rfloordiv__ = _refusing("a whole quotient", _WHOLE)
    __mod__ = __rmod__ = __divmod__ = __rdivmod__ = _refusing("a remainder", _WHOLE)
    __rpow__ = _refusing("a power with the exponent", "only whole powers are followed")
    is_integer = _refusing("the denominator", _WHOLE)
    as_integer_ratio = _refusing("the numerator and denominator", _WHOLE)
    limit_denominator = _refusing("the rounded value", _WHOLE)
    numerator = _numerator = property(_refusing("the numerator", _WHOLE))
    denominator = _denominator = property(_refusing("the denominator", _WHOLE))


def number(value: RationalFunction, region: Any) -> Any:
    """Return a function as a number on a region: a Fraction where it is constant."""
    constant = value.constant
    if constant is not None:
        return constant
    made: Any = object.__new__(Number)
    made.value, made.region = value, region
    return made
