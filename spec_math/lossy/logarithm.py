"""Logarithms of fractions as intervals: rational bounds from the series of artanh, in whole numbers, rounded outwards.

ln x = 2·artanh(z), z = (x − 1)/(x + 1). With x = m·2^n and m in [2/3, 4/3], |z| ≤ 1/5 and n terms leave less than
25^-n. Every step of the fixed-point sum rounds down for the lower bound and up for the upper one.

Source: the series is classical (Abramowitz and Stegun, 4.1.27); the bounds are worked out here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import gcd, inf
from typing import Any

BITS = 80
"""The width of an interval is below 2^-(bits − 4) for arguments within 2^±64, and grows with their exponent."""


@dataclass(frozen=True)
class Interval:
    """Bounds of a real number: it lies in [low, high], two Fractions, or infinity twice.

    >>> Interval(Fraction(1, 2), Fraction(3, 4)) + Interval(Fraction(0), Fraction(1))
    Interval(low=Fraction(1, 2), high=Fraction(7, 4))
    """

    low: Any
    high: Any

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def times(self, factor: Any) -> Interval:
        """Return the interval multiplied by a number.

        >>> Interval(Fraction(1), Fraction(2)).times(Fraction(-1))
        Interval(low=Fraction(-2, 1), high=Fraction(-1, 1))
        """
        ends = (self.low * factor, self.high * factor)
        return Interval(min(ends), max(ends))

    def __float__(self) -> float:
        return inf if self.high == inf else float((self.low + self.high) / 2)

    @property
    def width(self) -> Any:
        """The distance of the ends."""
        return 0 if self.high == inf else self.high - self.low


ZERO = Interval(Fraction(0), Fraction(0))
INFINITE = Interval(inf, inf)


def log(x: Any, bits: int = BITS) -> Interval:
    """Return bounds of the natural logarithm of a number above 0, in nats.

    Raises:
        ValueError: the number is not above 0.

    >>> bounds = log(2)
    >>> float(bounds), bounds.width < Fraction(1, 2**70)
    (0.6931471805599453, True)
    """
    value = Fraction(x)
    if value <= 0:
        raise ValueError(f"the logarithm of {x} is not defined; a number above 0 is needed")
    if value == 1:
        return ZERO
    # 2/3 ≤ m < 4/3: compare with the power of two next to it.
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    m = value / Fraction(2) ** exponent
    while 3 * m >= 4:
        m, exponent = m / 2, exponent + 1
    while 3 * m < 2:
        m, exponent = m * 2, exponent - 1
    small = _near_one(m, bits)
    return small + _log_two(bits).times(exponent) if exponent else small


@lru_cache(maxsize=8)
def _log_two(bits: int) -> Interval:
    return _near_one(Fraction(4, 3), bits) + _near_one(Fraction(3, 2), bits)


def _near_one(m: Fraction, bits: int) -> Interval:
    if m < 1:
        below = _near_one(1 / m, bits)
        return Interval(-below.high, -below.low)
    z = (m - 1) / (m + 1)
    scale = 1 << (bits + 8)
    low, high = z.numerator * scale // z.denominator, -(-z.numerator * scale // z.denominator)
    return Interval(Fraction(2 * _artanh(low, scale, 0), scale), Fraction(2 * _artanh(high, scale, 1), scale))


def _artanh(z: int, scale: int, up: int) -> int:
    """Return a bound of scale·artanh(z/scale), from above if up: a sum of powers, each rounded that way."""

    def rounded(top: int, bottom: int) -> int:
        return -(-top // bottom) if up else top // bottom

    square, power, total, odd = rounded(z * z, scale), z, 0, 1
    while power > 1:
        total += rounded(power, odd)
        power, odd = rounded(power * square, scale), odd + 2
    # What is left is below Σ z^odd/(1 − z²) ≤ 25/24 of a power that has come down to at most one unit.
    return total + 2 * up


def sign(terms: Iterable[tuple[Any, Any]], constant: Any = 0) -> int:
    """Return the sign of Σ c·ln x + constant for pairs (c, x) of fractions, x > 0: −1, 0 or 1, always decided.

    Intervals of growing precision; where they cannot tell it from 0, whether Π x^c is 1, by prime powers that need no
    primes. With another constant than 0 it never is 0: e to a fraction is no root of a fraction (Lindemann).

    >>> sign([(1, 2), (1, 3), (-1, 6)]), sign([(1, 2)], Fraction(-69, 100)), sign([(2, 3), (-3, 2)])
    (0, 1, 1)
    """
    pairs = [(Fraction(c), Fraction(x)) for c, x in terms]
    bits = BITS
    while True:
        total = sum((log(x, bits).times(c) for c, x in pairs), Interval(Fraction(constant), Fraction(constant)))
        if total.low > 0 or total.high < 0:
            return 1 if total.low > 0 else -1
        if constant == 0 and _is_one(pairs):
            return 0
        bits *= 2


def _is_one(pairs: list[tuple[Fraction, Fraction]]) -> bool:
    """Say whether Π x^c is 1: over whole numbers without common divisors every exponent must vanish."""
    powers = [(number, c if up else -c) for c, x in pairs for number, up in ((x.numerator, 1), (x.denominator, 0))]
    base: list[int] = []
    waiting = [number for number, _ in powers if number > 1]
    while waiting:
        number = waiting.pop()
        for place, other in enumerate(base):
            common = gcd(number, other)
            if common > 1:
                del base[place]
                waiting += [part for part in (common, number // common, other // common) if part > 1]
                break
        else:
            base.append(number)
    return all(sum(c * _multiplicity(number, prime) for number, c in powers) == 0 for prime in base)


def _multiplicity(number: int, factor: int) -> int:
    times = 0
    while number % factor == 0:
        number, times = number // factor, times + 1
    return times
