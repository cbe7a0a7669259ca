"""Roots of decreasing functions: exact where rational, else the upper end of a certified bracket."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from spec_math.number_types import array_namespace

WIDTH_BITS = 64
NEAR = 2.0**-51
"""Half of the width of a bracket of floats at which the search for a root ends, times the place."""
PRIMES = [p for p in range(2, 200) if all(p % q for q in range(2, p))]


def least_root(coefficients: list[Fraction], low: Fraction, high: Fraction) -> Fraction:
    """Return the root in (low, high] of a polynomial with P(low) > 0 ≥ P(high) that changes sign there once.

    Exact where the root is rational; else the upper end of a bracket of width at most 2^-64, where P < 0. The
    coefficients are in ascending powers.

    >>> float(least_root([Fraction(2), Fraction(0), Fraction(-1)], Fraction(1), Fraction(3)))
    1.4142135623730951
    >>> least_root([Fraction(1), Fraction(0), Fraction(-4, 9)], Fraction(1), Fraction(3))
    Fraction(3, 2)
    """
    whole = _whole(coefficients)
    if len(whole) == 2:
        return Fraction(-whole[0], whole[1])
    if _value(whole, high.numerator, high.denominator) == 0:
        return high
    # A rational root n/m in lowest terms has m dividing the leading coefficient (rational root theorem); a bracket
    # narrower than 1/m² holds one such fraction at most, the simplest of the bracket.
    irrational = _has_no_rational_root(whole)
    bits = WIDTH_BITS if irrational else max(WIDTH_BITS, 2 * whole[-1].bit_length() + 2)
    scale = 1 << bits
    below, above = low.numerator * scale // low.denominator, -(-high.numerator * scale // high.denominator)
    while above - below > 1:
        middle = (below + above) // 2
        sign = _value(whole, middle, scale)
        if sign == 0:
            return Fraction(middle, scale)
        below, above = (middle, above) if sign > 0 else (below, middle)
    if not irrational:
        candidate = _simplest(Fraction(below, scale), Fraction(above, scale))
        if _value(whole, candidate.numerator, candidate.denominator) == 0:
            return candidate
    # Rounded up to a multiple of 2^-64: P is negative there, as it is beyond its root.
    return min(high, Fraction(-(-above >> (bits - WIDTH_BITS)), 1 << WIDTH_BITS))


def decreasing_root(function: Callable[[Any], Any], low: Any, high: Any, steps: int | None = None) -> Any:
    """Return, element by element, the upper end of a bracket, of 2^-50 of itself, around the root of a function.

    function falls, and maps an array [...] to an array [...], or a float to a float; where it is ≤ 0 at low, low is the
    answer. high is taken to have function ≤ 0. Inverse quadratic steps where the last three places are in line, else
    bisection. With `steps` exactly so many are made, and no value is looked at: that is for devices. The upper end is
    an answer then too. Source: Chandrupatla, Advances in Engineering Software 28 (1997) 145-149.

    >>> import numpy as np
    >>> round(float(decreasing_root(lambda x: 2 - x * x, np.array(1.0), np.array(2.0))), 14)
    1.4142135623731
    """
    where = _either if isinstance(low, float) else array_namespace(low).where
    at_a = function(low)
    high = where(at_a <= 0, low, high)
    a, b, at_b = low, high, function(high)
    share = 0.5
    for _ in range(steps or 1 << 11):  # more than floats have powers of two
        near = abs(a) * NEAR
        width = abs(b - a)
        open_still: Any = width > 2 * near
        if steps is None and not (open_still if isinstance(open_still, bool) else open_still.any()):
            break
        x = a + share * (b - a)
        at_x = function(x)
        same = (at_x > 0) == (at_a > 0)
        c, at_c = where(same, a, b), where(same, at_a, at_b)
        b, at_b = where(same, b, a), where(same, at_b, at_a)
        a, at_a = x, at_x
        share = _share((a, b, c), (at_a, at_b, at_c), where)
        least = _over(near, abs(b - a), where)
        least = where(least > 0.5, least * 0 + 0.5, least)  # a bracket that is narrow already is not left
        share = where(share < least, least, where(share > 1 - least, 1 - least, share))
    return where(at_a > 0, b, a)


def _share(places: tuple[Any, Any, Any], values: tuple[Any, Any, Any], where: Callable[..., Any]) -> Any:
    """Return where to go on between a and b: by the quadratic in f through three places, where it is monotone."""
    (a, b, c), (at_a, at_b, at_c) = places, values
    x = _over(a - b, c - b, where)
    y = _over(at_a - at_b, at_c - at_b, where)
    in_line = (y * y < x) & ((1 - y) * (1 - y) < 1 - x)
    first = _over(at_a, at_b - at_a, where) * _over(at_c, at_b - at_c, where)
    second = _over(c - a, b - a, where) * _over(at_a, at_c - at_a, where) * _over(at_b, at_c - at_b, where)
    found = first + second
    return where(in_line, found, found * 0 + 0.5)


def _over(top: Any, bottom: Any, where: Callable[..., Any]) -> Any:
    none = bottom == 0
    return where(none, top * 0, top / where(none, bottom + 1, bottom))


def _either(condition: Any, first: Any, second: Any) -> Any:
    return first if condition else second


def _whole(coefficients: list[Fraction]) -> list[int]:
    trimmed = list(coefficients)
    while len(trimmed) > 1 and trimmed[-1] == 0:
        trimmed.pop()
    while trimmed[0] == 0:  # a factor x has its root at 0, outside the interval
        trimmed.pop(0)
    common = lcm(*(c.denominator for c in trimmed))
    whole = [int(c * common) for c in trimmed]
    shared = gcd(*whole) or 1
    return [c // shared for c in whole]


def _value(whole: list[int], numerator: int, denominator: int) -> int:
    """Return P(numerator / denominator) times a positive number, in integers."""
    result, power = 0, 1
    for coefficient in reversed(whole):
        result = result * numerator + coefficient * power
        power *= denominator
    return result


def _has_no_rational_root(whole: list[int]) -> bool:
    """Say whether some small prime shows it: a rational root is a root modulo every prime that spares the lead."""
    for prime in PRIMES:
        if whole[-1] % prime:
            remainders = [coefficient % prime for coefficient in whole]
            if all(_value(remainders, x, 1) % prime for x in range(prime)):
                return True
    return False


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of least denominator in [low, high], low > 0, by continued fractions."""
    terms: list[int] = []
    while True:
        floor = low.numerator // low.denominator
        if low == floor or floor < high.numerator // high.denominator:
            break
        terms.append(floor)
        low, high = 1 / (high - floor), 1 / (low - floor)
    result = Fraction(floor if low == floor else floor + 1)
    for floor in reversed(terms):
        result = floor + 1 / result
    return result
