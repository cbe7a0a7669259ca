"""Exact thresholds of kernels that take uniforms as arguments, found by bisection on the grid k/2^b."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import cache

from spec_math.arrays import count


class NotMonotoneError(ValueError):
    """A kernel went back to an answer that it had left as its uniform grew: it has no threshold to bisect for."""


def thresholds(decide: Callable[[Fraction], Hashable], bits: int) -> list[tuple[Fraction, Hashable]]:
    """Find where a kernel's answer changes as its uniform runs over 0, 1/2^b, …, 1 − 1/2^b.

    The law: the pairs (c_i, answer_i) such that decide(u) = answer_i for c_i ≤ u < c_{i+1} on the grid, c_0 = 0 and
    c_{m+1} = 1. An answer is taken to be an interval: two grid points with one answer have it in between. So a list of
    m answers takes about m·b calls, and a region that lies between two points of one answer cannot be seen.

    Raises:
        NotMonotoneError: an answer was met in two places with another in between.
        TypeError, ValueError: bits is not a positive integer.

    >>> thresholds(lambda u: u < Fraction(1, 3), 4)
    [(Fraction(0, 1), True), (Fraction(3, 8), False)]
    """
    cells = 1 << count(bits, "bits")

    @cache
    def answer(k: int) -> Hashable:
        return decide(Fraction(k, cells))

    starts: list[int] = [0]
    pending = [(0, cells - 1)]
    while pending:
        low, high = pending.pop()
        if answer(low) == answer(high):
            continue
        if high - low == 1:
            starts.append(high)
            continue
        middle = (low + high) // 2
        pending += [(low, middle), (middle, high)]
    starts.sort()
    found = [(Fraction(k, cells), answer(k)) for k in starts]
    met = [value for _, value in found]
    for place, value in enumerate(met):
        if value in met[:place]:
            raise NotMonotoneError(
                f"the answer {value!r} returns at u = {found[place][0]} after others came in between; bisection needs "
                "each answer on one interval of uniforms"
            )
    return found


def law_by_bisection(decide: Callable[[Fraction], Hashable], bits: int) -> dict[Hashable, Fraction]:
    """Return the exact law of a kernel's answer when its uniform is k/2^b, each k equally likely.

    The law: {answer: number of k with it / 2^b}, for a kernel such as an inverse-CDF draw whose answer is monotone.

    >>> law_by_bisection(lambda u: int(u >= Fraction(1, 4)) + int(u >= Fraction(1, 2)), 3)
    {0: Fraction(1, 4), 1: Fraction(1, 4), 2: Fraction(1, 2)}
    """
    found = thresholds(decide, bits)
    ends = [cut for cut, _ in found[1:]] + [Fraction(1)]
    return {value: end - start for (start, value), end in zip(found, ends, strict=True)}
