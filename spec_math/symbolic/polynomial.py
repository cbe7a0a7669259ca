"""Polynomials with whole coefficients, sympy's: each exists once, so that an operation done before is looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import gcd
from typing import Any, TypeVar

HIGHEST = 2047
"""The highest degree of a product that is followed."""


Ours = TypeVar("Ours", "Ring", "Field")
Each = TypeVar("Each", "Polynomial", "RationalFunction")


def _once(method: Callable[[Ours, Each, Each], Each]) -> Callable[[Ours, Each, Each], Each]:
    """Return a method of two operands that looks up an answer which it has given before."""

    def looked_up(self: Ours, first: Each, second: Each) -> Each:
        key = method, first.index, second.index
        found = self.answers.get(key)
        if found is None:
            found = self.answers[key] = method(self, first, second)
        return found

    return looked_up


class DegreeError(ArithmeticError):
    """A product of too high a degree."""


class Polynomial:
    """A polynomial of a `Ring`, in `terms` as sympy's: {exponents: coefficient}. Two that are equal are one object.

    `constant` is the number that it equals, None where it is not constant; `degree` its total degree, 0 for a constant.
    """

    __slots__ = ("_factors", "constant", "degree", "index", "ring", "terms")

    def __init__(self, ring: Ring, terms: Any, index: int) -> None:
        self.ring, self.terms, self.index = ring, terms, index
        self.constant: int | None = terms.LC if terms.is_ground else None
        self.degree: int = max(map(sum, terms), default=0)
        self._factors: tuple[int, tuple[tuple[Polynomial, int], ...]] | None = None

    def __str__(self) -> str:
        return str(self.terms).replace("**", "^")

    def primitive(self) -> tuple[int, Polynomial]:
        """Return (c, P) with self = c·P, the coefficients of P without common divisor, its leading one > 0."""
        if not self.terms:
            return 1, self
        content = gcd(*self.terms.values()) if self.terms.LC > 0 else -gcd(*self.terms.values())
        return content, self if content == 1 else self.ring.of(self.terms.quo_ground(content))

    def factors(self) -> tuple[int, tuple[tuple[Polynomial, int], ...]]:
        """Return (c, ((P, e), …)) with self = c·Π P^e, each P irreducible over the rationals and primitive."""
        if self._factors is None:
            self._factors = self.ring.factored(self)
        return self._factors

    def variables(self) -> list[int]:
        """Return the indices of the variables that occur."""
        return [at for at in range(len(self.ring.names)) if any(powers[at] for powers in self.terms)]

    def coefficients(self, variable: int) -> dict[int, Polynomial]:
        """Return self as a polynomial in one variable: {power: polynomial in the others}."""
        there = {powers[variable] for powers in self.terms}
        return {power: self.ring.of(self.terms.coeff_wrt(variable, power)) for power in there}


class Ring:
    """The polynomials in some variables."""

    def __init__(self, names: Sequence[str]) -> None:
        # Here, not above: sympy takes a third of a second to import, and only proofs need it.
        from sympy import Symbol
        from sympy.polys.domains import ZZ_python
        from sympy.polys.rings import PolyRing

        self.names = tuple(names)
        self._sympy: Any = PolyRing([Symbol(name) for name in names], ZZ_python())
        self._known: dict[frozenset[Any], Polynomial] = {}
        self._numbers: dict[int, Polynomial] = {}
        self.answers: dict[Any, Any] = {}
        self.zero, self.one = self.number(0), self.number(1)
        self.variables: tuple[Polynomial, ...] = tuple(map(self.of, self._sympy.gens))

    def of(self, terms: Any) -> Polynomial:
        """Return one of sympy's polynomials."""
        key = frozenset(terms.items())
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Polynomial(self, terms, len(self._known))
        return found

    def number(self, value: int) -> Polynomial:
        """Return a constant polynomial."""
        if value not in self._numbers:
            self._numbers[value] = self.of(self._sympy.ground_new(value))
        return self._numbers[value]

    @_once
    def plus(self, first: Polynomial, second: Polynomial) -> Polynomial:
        """Return first + second."""
        return self.of(first.terms + second.terms)

    @_once
    def times(self, first: Polynomial, second: Polynomial) -> Polynomial:
        """Return first · second."""
        if (degree := first.degree + second.degree) > HIGHEST:
            raise DegreeError(f"degree {degree}, of {HIGHEST} at most")
        return self.of(first.terms * second.terms)

    def power(self, base: Polynomial, exponent: int) -> Polynomial:
        """Return base^exponent."""
        result = self.one
        for _ in range(exponent):
            result = self.times(result, base)
        return result

    def scaled(self, polynomial: Polynomial, factor: int) -> Polynomial:
        """Return factor · polynomial."""
        return polynomial if factor == 1 else self.of(polynomial.terms.mul_ground(factor))

    def remainder(self, polynomial: Polynomial, divisor: Polynomial, variable: int) -> Polynomial:
        """Return R with l^n·polynomial = Q·divisor + R for some n, l the divisor's leading coefficient in a variable.

        Where the divisor is 0 and l is not, the polynomial is 0 if and only if R is.
        """
        return self.of(polynomial.terms.prem(divisor.terms, variable))

    def with_value(self, polynomial: Polynomial, variable: int, top: Polynomial, bottom: int) -> Polynomial:
        """Return a polynomial at variable = top/bottom, times |bottom| to the highest power of the variable."""
        if bottom < 0:
            top, bottom = self.scaled(top, -1), -bottom
        parts = polynomial.coefficients(variable)
        most = max(parts, default=0)
        result = self.zero
        for power, part in parts.items():
            result = self.plus(result, self.scaled(self.times(part, self.power(top, power)), bottom ** (most - power)))
        return result

    def factored(self, polynomial: Polynomial) -> tuple[int, tuple[tuple[Polynomial, int], ...]]:
        """Factor over the rationals, by sympy; a linear polynomial is irreducible."""
        content, main = polynomial.primitive()
        if main.constant is not None:
            return content * main.constant, ()
        if main.degree == 1:
            return content, ((main, 1),)
        unit, found = main.terms.factor_list()
        content *= unit
        factors: list[tuple[Polynomial, int]] = []
        for factor, power in found:
            sign, own = self.of(factor).primitive()
            content *= sign**power
            factors.append((own, power))
        back = self.number(content)
        for factor, power in factors:
            back = self.times(back, self.power(factor, power))
        if back is not polynomial:  # what a proof rests on is looked at, not believed
            raise ArithmeticError(f"the factors that sympy gives for {polynomial} multiply to {back}")
        return content, tuple(sorted(factors, key=lambda pair: pair[0].index))


NEGATIVE, ZERO, POSITIVE = 1, 2, 4
ANY = NEGATIVE | ZERO | POSITIVE
NONNEGATIVE, NONPOSITIVE, NONZERO = ZERO | POSITIVE, NEGATIVE | ZERO, NEGATIVE | POSITIVE
SINGLE = (POSITIVE, NEGATIVE, ZERO)
"""The three signs; the likely ones first, so that proofs go through the wide regions first."""


def sign_of(value: int) -> int:
    """Return the sign of a number as a set of one."""
    return POSITIVE if value > 0 else NEGATIVE if value < 0 else ZERO


def flipped(signs: int) -> int:
    """Return the signs of −x from those of x."""
    return signs & ZERO | (NEGATIVE if signs & POSITIVE else 0) | (POSITIVE if signs & NEGATIVE else 0)


def product(factors: Iterable[tuple[int, int]], sign: int = POSITIVE) -> int:
    """Return the signs that sign · Π x_i^e_i may have, from the signs of each x_i and its power: pairs (signs, e)."""
    result = sign
    for signs, power in factors:
        if power % 2 == 0:
            signs = signs & ZERO | (POSITIVE if signs & NONZERO else 0)
        zero = (signs | result) & ZERO
        kept = result & NONZERO if signs & POSITIVE else 0
        turned = flipped(result) & NONZERO if signs & NEGATIVE else 0
        result = zero | kept | turned
    return result


class RationalFunction:
    """top / bottom, in lowest terms, the bottom's leading coefficient > 0. Two that are equal are one object.

    `constant` is the number that it equals, None where it is not constant.
    """

    __slots__ = ("_text", "bottom", "constant", "index", "top")

    def __init__(self, top: Polynomial, bottom: Polynomial, index: int) -> None:
        self.top, self.bottom, self.index = top, bottom, index
        above, below = top.constant, bottom.constant
        self.constant = None if above is None or below is None else Fraction(above, below)
        self._text: str | None = None

    def __str__(self) -> str:
        if self._text is None:
            scale, found = self.bottom.factors()
            factors = [str(scale)] if scale > 1 else []
            factors += [f"({factor})" if power == 1 else f"({factor})^{power}" for factor, power in found]
            below = factors[0] if len(factors) == 1 else f"({' '.join(factors)})"
            self._text = f"({self.top})/{below}" if factors else str(self.top)
        return self._text


class Field:
    """The rational functions in some variables, with every sum, product and quotient remembered.

    >>> field = Field(["x", "y"])
    >>> x, y = field.variables
    >>> str(field.over(field.minus(field.times(x, x), field.times(y, y)), field.minus(x, y)))
    'x + y'
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.ring = Ring(names)
        self._known: dict[tuple[int, int], RationalFunction] = {}
        self.answers: dict[Any, Any] = {}
        self.variables = tuple(self.of(variable, self.ring.one) for variable in self.ring.variables)
        self.minus_one = self.number(Fraction(-1))

    def of(self, top: Polynomial, bottom: Polynomial) -> RationalFunction:
        """Return top/bottom; the bottom is not 0."""
        if bottom is self.ring.one:
            return self._lowest(top, bottom)
        return self._lowest(*map(self.ring.of, top.terms.cancel(bottom.terms)))

    def number(self, value: Fraction) -> RationalFunction:
        """Return a constant."""
        return self._lowest(self.ring.number(value.numerator), self.ring.number(value.denominator))

    def _lowest(self, top: Polynomial, bottom: Polynomial) -> RationalFunction:
        key = top.index, bottom.index
        if key not in self._known:
            self._known[key] = RationalFunction(top, bottom, len(self._known))
        return self._known[key]

    @_once
    def plus(self, first: RationalFunction, second: RationalFunction) -> RationalFunction:
        """Return first + second."""
        times = self.ring.times
        top = self.ring.plus(times(first.top, second.bottom), times(second.top, first.bottom))
        return self.of(top, times(first.bottom, second.bottom))

    @_once
    def minus(self, first: RationalFunction, second: RationalFunction) -> RationalFunction:
        """Return first − second."""
        return self.plus(first, self.times(self.minus_one, second))

    @_once
    def times(self, first: RationalFunction, second: RationalFunction) -> RationalFunction:
        """Return first · second."""
        return self.of(self.ring.times(first.top, second.top), self.ring.times(first.bottom, second.bottom))

    @_once
    def over(self, first: RationalFunction, second: RationalFunction) -> RationalFunction:
        """Return first / second, where the numerator of second is not the zero polynomial."""
        return self.of(self.ring.times(first.top, second.bottom), self.ring.times(first.bottom, second.top))
