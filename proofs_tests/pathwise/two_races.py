"""Two races on one noise, as an integral over one ratio."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise


def two_races(first: Sequence[Fraction], second: Sequence[Fraction], x: int, y: int) -> Fraction:
    """P(argmin E/first = x and argmin E/second = y), integrated over the ratio of the two ring times."""
    if first[x] == 0 or second[y] == 0:
        return Fraction(0)
    if x == y:
        return 1 / sum((max(q / first[x], r / second[x]) for q, r in zip(first, second, strict=True)), Fraction(0))
    low = first[y] / second[y]
    high = None if second[x] == 0 else first[x] / second[x]
    if high is not None and high <= low:
        return Fraction(0)
    ratios = sorted({q / r for q, r in zip(first, second, strict=True) if r} - {low})
    inner = [ratio for ratio in ratios if ratio > low and (high is None or ratio < high)]
    edges: list[Fraction | None] = [low, *inner, high]
    total = Fraction(0)
    for a, b in pairwise(edges):
        start = Fraction(a or 0)
        constant = sum((q for q, r in zip(first, second, strict=True) if q > r * start), Fraction(0))
        slope = sum((r for q, r in zip(first, second, strict=True) if q <= r * start), Fraction(0))
        at_start = constant + slope * start
        total += 1 / (slope * at_start) if b is None else (b - start) / (at_start * (constant + slope * b))
    return first[x] * second[y] * total
