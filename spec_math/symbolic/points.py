"""A grid of rational laws with small denominators, ties and zeros among them: where a sign is met, it is possible."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from spec_math.symbolic.polynomial import NEGATIVE, POSITIVE, ZERO, Polynomial, sign_of

Point = tuple[Fraction, ...]
PARTS = 12
"""All coordinates are multiples of 1/12, so that a polynomial's sign there is that of a whole number."""
LARGEST = 4
"""Scalars are taken from 1 to 4: γ of K-SEQ lies below its number of drafts."""
SIZE = 3000
_SEED = 8


class Points:
    """Points in the coordinates of some laws and scalars: a law of n tokens has n − 1 of them, a scalar one.

    `laws` are the numbers of tokens. The signs of a polynomial at all points are computed once, in whole numbers.
    """

    def __init__(self, laws: Sequence[int], scalars: int = 0) -> None:
        self.columns: Any = _columns(tuple(laws), scalars)
        self._largest = PARTS * (LARGEST if scalars else 1)
        self._signs: dict[int, Any] = {}

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    def at(self, place: int) -> Point:
        """Return one point, as Fractions."""
        return tuple(Fraction(int(value), PARTS) for value in self.columns[:, place])

    def signs(self, polynomial: Polynomial) -> Any:
        """Return the sign of a polynomial at each point, as a set of one."""
        if polynomial.index not in self._signs:
            values = self._values(polynomial)
            found = np.where(values > 0, POSITIVE, np.where(values < 0, NEGATIVE, ZERO))
            self._signs[polynomial.index] = found.astype(np.int8)
        return self._signs[polynomial.index]

    def _values(self, polynomial: Polynomial) -> Any:
        """Return the values times PARTS^degree; in Python's ints where 64 bits might not do."""
        degree = polynomial.degree
        fits = sum(map(abs, polynomial.terms.values())) * self._largest**degree < 2**62
        columns = self.columns if fits else self.columns.astype(object)
        total = np.zeros(len(self), dtype=columns.dtype)
        for powers, coefficient in polynomial.terms.items():
            term = coefficient * PARTS ** (degree - sum(powers))
            for column, power in zip(columns, powers, strict=True):
                if power:
                    term = term * column**power
            total = total + term
        return total


@cache
def _columns(laws: tuple[int, ...], scalars: int) -> Any:
    """Return the points' coordinates in parts, which theorems about as many laws of the same sizes share."""
    rng = random.Random(_SEED)
    rows: dict[tuple[int, ...], None] = {}
    for _ in range(SIZE):
        drawn = [_composed(size, rng) for size in laws]
        if len(laws) > 1 and rng.random() < 0.3:  # a tie: one law is another, or shares a mass with it
            first, second = rng.sample(range(len(laws)), 2)
            if laws[first] == laws[second]:
                drawn[first] = drawn[second] if rng.random() < 0.3 else _leaning(drawn[second], rng)
        values = [rng.randrange(PARTS, LARGEST * PARTS + 1) for _ in range(scalars)]
        rows[tuple(part for row in drawn for part in row[:-1]) + tuple(values)] = None
    columns = np.array(list(rows), dtype=np.int64).T
    columns.flags.writeable = False
    return columns


def _composed(size: int, rng: random.Random) -> list[int]:
    """Return whole parts of PARTS, some of them 0 now and then."""
    if rng.random() < 0.25:
        kept = rng.sample(range(size), rng.randint(1, size))
        parts = _composed(len(kept), rng) if len(kept) < size else _cut(size, rng)
        return [parts[kept.index(at)] if at in kept else 0 for at in range(size)]
    return _cut(size, rng)


def _cut(size: int, rng: random.Random) -> list[int]:
    cuts = sorted(rng.sample(range(1, PARTS), size - 1))
    return [high - low for low, high in zip([0, *cuts], [*cuts, PARTS], strict=True)]


def _leaning(row: list[int], rng: random.Random) -> list[int]:
    """Move one part from one token to another: all other masses stay tied."""
    moved = list(row)
    giver, taker = rng.sample(range(len(row)), 2) if len(row) > 1 else (0, 0)
    if moved[giver]:
        moved[giver], moved[taker] = moved[giver] - 1, moved[taker] + 1
    return moved


def evaluated(polynomial: Polynomial, point: Sequence[Fraction]) -> Fraction:
    """Return the value of a polynomial at a point."""
    total = Fraction(0)
    for powers, coefficient in polynomial.terms.items():
        term = Fraction(coefficient)
        for value, power in zip(point, powers, strict=True):
            if power:
                term *= value**power
        total += term
    return total


def sign_at(polynomial: Polynomial, point: Sequence[Fraction]) -> int:
    """Return the sign of a polynomial at a point, as a set of one."""
    return sign_of(evaluated(polynomial, point).numerator)
