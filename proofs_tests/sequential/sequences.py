"""Exact means of evidence: every sequence of a few draws with its probability, in Fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from scipy.stats import binom

Tokens = tuple[int, ...]


def sequences(law: Sequence[Fraction], length: int) -> Iterator[tuple[Tokens, Fraction]]:
    """Each sequence that independent draws from a law may give, with its probability."""
    for tokens in product(range(len(law)), repeat=length):
        mass = prod((law[x] for x in tokens), start=Fraction(1))
        if mass:
            yield tokens, mass


def mean(law: Sequence[Fraction], length: int, value: Callable[[Tokens], Any]) -> Fraction:
    """The exact mean of a value over all sequences of draws from a law."""
    return sum((mass * value(tokens) for tokens, mass in sequences(law, length)), Fraction(0))


def most_alarms(runs: int, alpha: float) -> int:
    """What a test of level alpha passes in `runs` independent runs with probability 1e-6 at most, whatever its law.

    The number of alarms is binomial with a chance of at most alpha, and so at most a binomial one with alpha itself;
    that exceeds its upper 1e-6 quantile with at most that probability.
    """
    return int(binom.isf(1e-6, runs, alpha))
