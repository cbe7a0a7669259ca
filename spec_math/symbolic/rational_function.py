"""Rational functions in lowest terms: a polynomial over a product of irreducible ones, each written in one way only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, lcm

from spec_math.symbolic.polynomial import Polynomial, Ring

Factors = tuple[tuple[Polynomial, int], ...]


class RationalFunction:
    """top / (scale · Π bottom), in lowest terms: scale > 0, bottom irreducible. Two that are equal are one object."""

    __slots__ = ("_text", "bottom", "index", "scale", "top")

    def __init__(self, parts: tuple[Polynomial, Factors, int], index: int) -> None:
        self.top, self.bottom, self.scale = parts
        self.index = index
        self._text: str | None = None

    @property
    def constant(self) -> Fraction | None:
        """The number that this function equals, None where it is not constant."""
        if self.bottom:
            return None
        value = self.top.constant
        return None if value is None else Fraction(value, self.scale)

    def __str__(self) -> str:
        if self._text is None:
            factors = [f"({factor})" if power == 1 else f"({factor})^{power}" for factor, power in self.bottom]
            if self.scale > 1:
                factors.insert(0, str(self.scale))
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
        self._known: dict[tuple[int, tuple[tuple[int, int], ...], int], RationalFunction] = {}
        self._sums: dict[tuple[int, int], RationalFunction] = {}
        self._products: dict[tuple[int, int], RationalFunction] = {}
        self._quotients: dict[tuple[int, int], RationalFunction] = {}
        self.variables = tuple(self.of(variable) for variable in self.ring.variables)
        self.minus_one = self.number(Fraction(-1))

    def of(self, top: Polynomial, bottom: Factors = (), scale: int = 1) -> RationalFunction:
        """Return top/(scale · Π bottom), whose only common divisors are numbers."""
        if scale != 1:
            shared = gcd(scale, *top.terms.values())
            if shared > 1:
                top, scale = self._shared_out(top, shared), scale // shared
        key = (top.index, tuple((factor.index, power) for factor, power in bottom), scale)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = RationalFunction((top, bottom, scale), len(self._known))
        return found

    def number(self, value: Fraction) -> RationalFunction:
        """Return a constant."""
        return self.of(self.ring.number(value.numerator), (), value.denominator)

    def plus(self, first: RationalFunction, second: RationalFunction) -> RationalFunction:
        """Return first + second."""
        key = (first.index, second.index) if first.index <= second.index else (second.index, first.index)
        found = self._sums.get(key)
        if found is None:
            found = self._sums[key] = self._plus(first, second)
        return found

    def minus(self, first: RationalFunction, second: RationalFunction) -> RationalFunction:
        """Return first − second."""
        return self.plus(first, self.times(self.minus_one, second))

    def times(self, first: RationalFunction, second: RationalFunction) -> RationalFunction:
        """Return first · second."""
        key = (first.index, second.index) if first.index <= second.index else (second.index, first.index)
        found = self._products.get(key)
        if found is None:
            top, below = self._cancelled(first.top, second.bottom)
            other, under = self._cancelled(second.top, first.bottom)
            found = self.of(self.ring.times(top, other), _joined(below, under), first.scale * second.scale)
            self._products[key] = found
        return found

    def over(self, first: RationalFunction, second: RationalFunction) -> RationalFunction:
        """Return first / second, where the numerator of second is not the zero polynomial."""
        key = (first.index, second.index)
        found = self._quotients.get(key)
        if found is None:
            found = self._quotients[key] = self.times(first, self._inverse(second))
        return found

    def _inverse(self, value: RationalFunction) -> RationalFunction:
        content, factors = value.top.factors()
        top = self._product(value.bottom)
        return self.of(self.ring.scaled(top, value.scale if content > 0 else -value.scale), factors, abs(content))

    def _plus(self, first: RationalFunction, second: RationalFunction) -> RationalFunction:
        scale = lcm(first.scale, second.scale)
        powers, others = dict(first.bottom), dict(second.bottom)
        common = {factor: max(powers.get(factor, 0), others.get(factor, 0)) for factor in (*powers, *others)}
        top = self.ring.plus(
            self._raised(first, common, scale),
            self._raised(second, common, scale),
        )
        if not top.terms:
            return self.of(self.ring.zero)
        # A factor with two different powers divides one numerator that was raised, and not the other.
        shared = [(factor, power) for factor, power in common.items() if powers.get(factor) == others.get(factor)]
        rest = [(factor, power) for factor, power in common.items() if powers.get(factor) != others.get(factor)]
        top, left = self._cancelled(top, shared)
        return self.of(top, _joined(left, tuple(rest)), scale)

    def _raised(self, value: RationalFunction, common: dict[Polynomial, int], scale: int) -> Polynomial:
        powers = dict(value.bottom)
        missing = [(factor, power - powers.get(factor, 0)) for factor, power in common.items()]
        return self.ring.scaled(self.ring.times(value.top, self._product(missing)), scale // value.scale)

    def _product(self, factors: Iterable[tuple[Polynomial, int]]) -> Polynomial:
        result = self.ring.one
        for factor, power in factors:
            result = self.ring.times(result, self.ring.power(factor, power))
        return result

    def _cancelled(self, top: Polynomial, factors: Iterable[tuple[Polynomial, int]]) -> tuple[Polynomial, Factors]:
        left: list[tuple[Polynomial, int]] = []
        for factor, power in factors:
            while power and top.terms and (smaller := self.ring.divided(top, factor)) is not None:
                top, power = smaller, power - 1
            if power and top.terms:
                left.append((factor, power))
        return top, tuple(left)

    def _shared_out(self, top: Polynomial, shared: int) -> Polynomial:
        return self.ring.of({monomial: value // shared for monomial, value in top.terms.items()})


def _joined(first: Iterable[tuple[Polynomial, int]], second: Iterable[tuple[Polynomial, int]]) -> Factors:
    powers: dict[Polynomial, int] = dict(first)
    for factor, power in second:
        powers[factor] = powers.get(factor, 0) + power
    return tuple(sorted(powers.items(), key=lambda pair: pair[0].index))
