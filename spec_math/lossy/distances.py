"""Distances of an emitted law from the target's: the distances that mean something, exact or as intervals.

Total variation bounds how much any event's probability changes; KL(e‖t) is the evidence per token for a reader who
tells the two apart by what is emitted; the largest ratio bounds how much likelier any text is made; and mass on tokens
that the target never emits is what no ratio bounds.

Source: Kullback and Leibler 1951 for the divergence; the bounds of its float form are derived here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from spec_math.arrays import Array, is_exact, positive_part
from spec_math.lossy.logarithm import INFINITE, ZERO, Interval, log
from spec_math.token_level.plan import one_position

UNIT = 2.0**-53


@dataclass(frozen=True)
class Distances:
    """The distances of an emitted law e from the target t.

    total_variation: Σ (e − t)+, a probability. from_target: KL(e‖t) = Σ e ln(e/t), in nats. to_target: KL(t‖e).
    largest_ratio: max e/t over tokens with e > 0. least_ratio: min e/t over tokens with t > 0. forbidden: the mass that
    is emitted on tokens of target mass 0. Both divergences are intervals.

    Made by `distances`. Source: Kullback and Leibler 1951 for the divergence.
    """

    total_variation: Any
    from_target: Interval
    to_target: Interval
    largest_ratio: Any
    least_ratio: Any
    forbidden: Any


def distances(emitted: Any, target: Any) -> Distances:
    """Return all distances of an emitted law from the target's, two laws [V] of one number type.

    Exact on Fractions, divergences in nats to within about 2^-70. On float64 a divergence is an interval that covers
    the rounding of its own sum, for the laws as they are stored.

    Raises:
        TypeError, ValueError: as `arrays.as_laws`.

    >>> found = distances(["1/2", "1/2"], ["1/4", "3/4"])
    >>> found.total_variation, found.largest_ratio, found.least_ratio, round(float(found.from_target), 6)
    (Fraction(1, 4), Fraction(2, 1), Fraction(2, 3), 0.143841)
    """
    e, t = one_position(emitted, target, "distances are those of one position")
    both = (e > 0) & (t > 0)
    none = e.dtype.type(0) if not is_exact(e) else Fraction(0)
    ratios = e[both] / t[both]
    forbidden = e[t == 0].sum() + none
    return Distances(
        total_variation=positive_part(e - t).sum() + none,
        from_target=divergence(e, t),
        to_target=divergence(t, e),
        largest_ratio=inf if forbidden > 0 else ratios.max(),
        least_ratio=none if bool((e[t > 0] == 0).any()) else ratios.min(),
        forbidden=forbidden,
    )


def divergence(first: Array, second: Array) -> Interval:
    """Return bounds of KL(first‖second) = Σ first·ln(first/second), in nats, for laws [V] already checked.

    Infinite where `first` has a token that `second` has not. On floats: a quotient is within a unit roundoff, numpy's
    logarithm within 4 of its value, and a quotient off by u moves it by u; n products and additions add n + 1. So the
    sum is off by at most (n + 6)·2^-53·Σ first·(|ln| + 1), with the second-order terms.

    >>> from spec_math.arrays import exact
    >>> divergence(exact(["1/2", "1/2"]), exact([1, 0])), divergence(exact([1, 0]), exact(["1/2", "1/2"])).low > 0
    (Interval(low=inf, high=inf), True)
    """
    there = first > 0
    if bool((second[there] == 0).any()):
        return INFINITE
    p, q = first[there], second[there]
    if is_exact(first):
        return sum((log(mass / other).times(mass) for mass, other in zip(p.tolist(), q.tolist(), strict=True)), ZERO)
    terms = p * np.log(p / q)
    size = float((np.abs(terms) + p).sum())
    off = (len(p) + 6) * UNIT * size * (1 + 1e-9)
    value = float(terms.sum())
    return Interval(Fraction(value) - Fraction(off), Fraction(value) + Fraction(off))
