"""How often a stated interval may miss: the limit that a simulation is held to, and intervals that must not pass it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from spec_math.mean import Mean

SURPRISE = 1e-6
"""A right interval is rejected with this chance at most."""


def limit(runs: int, rate: float) -> int:
    """Return the most misses in independent runs, each with a chance of `rate` at most.

    More have a chance of SURPRISE at most: the number of misses is stochastically at most binomial(runs, rate), and
    `isf` is the least m with P(more than m) ≤ SURPRISE.
    """
    return int(stats.binom.isf(SURPRISE, runs, rate))


def too_many(misses: int, runs: int, rate: float) -> bool:
    """Say whether so many misses of intervals that miss with chance `rate` at most are no accident."""
    return misses > limit(runs, rate)


def misses(estimates: Iterable[Mean], truth: float) -> int:
    """Count the intervals without the truth; 2^-40 of it is left to the rounding of sums."""
    slack = 2.0**-40 * max(1.0, abs(truth))
    return sum(not low - slack <= truth <= high + slack for low, high in (found.interval for found in estimates))


def normal(values: Any, least: float, most: float, confidence: float) -> Mean:  # noqa: ARG001
    """The control that everybody uses: mean ± standard errors, by the normal limit of means."""
    mean, error = float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5)
    reach = float(stats.norm.isf((1 - confidence) / 2)) * error
    return Mean(mean, error, len(values), mean - reach, mean + reach, confidence)


def narrowed(found: Mean, share: float) -> Mean:
    """The control of an interval of a share of its width."""
    low, high = (found.value + share * (end - found.value) for end in found.interval)
    return replace(found, low=low, high=high)


@dataclass(frozen=True)
class Draws:
    """A law on [0, 1] whose mean is known exactly: how n draws are made, [n]."""

    name: str
    mean: float
    draw: Callable[[np.random.Generator, int], Any]


LAWS = (
    Draws("even coin", 1 / 2, lambda rng, n: (rng.random(n) < 1 / 2).astype(float)),
    Draws("one in fifty", 1 / 50, lambda rng, n: (rng.random(n) < 1 / 50).astype(float)),
    Draws("all but one in thirty", 29 / 30, lambda rng, n: (rng.random(n) >= 1 / 30).astype(float)),
    Draws("uniform", 1 / 2, lambda rng, n: rng.random(n)),
    Draws("narrow", 1 / 2, lambda rng, n: 0.45 + 0.1 * rng.random(n)),
    Draws("skewed", 1 / 16, lambda rng, n: rng.random(n) ** 15),
    Draws("mostly one value", 0.51, lambda rng, n: np.where(rng.random(n) < 0.02, 1.0, 0.5)),
    Draws("never else", 1 / 4, lambda rng, n: np.full(n, 1 / 4)),  # noqa: ARG005
)
"""Wide, narrow, skewed, rare on either side, and no law at all."""
