"""Means of sampled values, with standard errors and intervals that hold for every number of samples.

No interval here rests on a normal limit: few draws, rare values and draws that are all equal are covered too. Draws are
known to lie in a range, such as 1 to L + 1 tokens a call, and nothing else is known of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, hypot, inf, isfinite, log, log2, log10, nan, sqrt
from typing import Any

import numpy as np

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

STAKE = 0.75
"""The largest share of the wealth that one bet of `of_independent` may lose; any share below 1 is valid."""

MOST_DIGITS = 8
"""Digits after the point that a mean is written with at the most."""

_ROUNDING = 2.0**-20
"""More than a log wealth below 100 is off by after 10^6 bets, each off by 2^-53 of it and added with as much."""

_HALVINGS = 26
"""How often the range of a mean is halved on the way to an end of its interval."""

_AT_ONCE = 2**11
"""Places times draws that are looked at together on that way."""


@dataclass(frozen=True)
class Mean:
    """A mean over samples with its standard error: the one type of what is estimated, and exact with 0 samples.

    error: the spread of the samples, which promises nothing; NaN where it is not known. The ends `low` and `high` hold
    the true mean with a chance of `confidence` at least; None where nothing is promised.

    >>> Mean(2.0, 0.25, 100, 1.5, 2.5, 0.99).interval, Mean(2.0, 0.0, 0).interval
    ((1.5, 2.5), (2.0, 2.0))
    """

    value: float
    error: float
    samples: int
    low: float | None = None
    high: float | None = None
    confidence: float = 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The ends (low, high): of an exact value the value itself, NaN where nothing is promised."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        return (nan, nan) if self.samples else (self.value, self.value)

    @property
    def bars(self) -> tuple[float, float]:
        """The ends of the bar in a picture: the interval, or two standard errors a side where nothing is promised."""
        low, high = self.interval
        if low == low:
            return low, high
        reach = 2 * self.error if self.error == self.error else 0.0
        return self.value - reach, self.value + reach

    @property
    def digits(self) -> int | None:
        """The digits after the point that its error deserves; None of an exact value, and where no error is known.

        They go to the second significant digit of half the interval, or of the standard error where none is promised.

        >>> Mean(3.765, 0.25, 100, 3.33, 4.02, 0.99).digits, Mean(0.8653, 0.0213, 40).digits, known(0.25).digits
        (2, 3, None)
        """
        low, high = self.interval
        half = (high - low) / 2 if self.samples and 0 < high - low < inf else self.error
        if not isfinite(half) or half <= 0:
            return None
        return max(0, 1 - floor(log10(half)))

    def written(self, digits: int | None = 3) -> str:
        """Write it with the digits that it deserves, and its interval or standard error; else with so many digits.

        >>> print(Mean(3.765, 0.25, 100, 3.33, 4.02, 0.99), Mean(0.8653, 0.0213, 40), known(0.25))
        3.77 (3.33 to 4.02) 0.865 ± 0.021 0.250
        """
        low, high = self.interval
        if self.samples and 0 < high - low < inf:
            value, low, high = (number(one, min(MOST_DIGITS, self.digits or 0)) for one in (self.value, low, high))
            return f"{value} ({low} to {high})"
        deserved = self.digits or 0
        # A spread that even so many digits do not show is one of roundings.
        if not (self.samples or self.error) or not isfinite(self.error) or deserved > MOST_DIGITS:
            return number(self.value, digits)
        if self.error == 0:
            return f"{number(self.value, digits)} ± 0"
        return f"{number(self.value, deserved)} ± {number(self.error, deserved)}"

    __str__ = written

    def scaled_to(self, value: float) -> Mean:
        """Return the mean in another unit, in which its value is `value`: its error and its interval with it.

        Both values are positive.

        >>> Mean(2.0, 0.25, 100, 1.5, 2.5, 0.99).scaled_to(1.0)
        Mean(value=1.0, error=0.125, samples=100, low=0.75, high=1.25, confidence=0.99)
        """
        factor = value / self.value
        low, high = (None if end is None else end * factor for end in (self.low, self.high))
        return Mean(value, self.error * factor, self.samples, low, high, self.confidence)

    def between(self, least: float, most: float) -> Mean:
        """Cut the interval by ends that are known to hold the true mean; the value stays as it was sampled.

        >>> Mean(3.5, 1.2, 16, 0.5, 13.7, 0.99).between(1, 5).interval
        (1, 5)
        """
        if self.low is None or self.high is None:
            return self
        return replace(self, low=min(max(self.low, least), most), high=max(min(self.high, most), least))

    def __add__(self, other: Mean) -> Mean:
        """Add a mean: intervals add end by end, and what each may miss adds up, whether they are independent or not.

        The standard error is that of independent samples; what is exact adds no samples of its own.
        """
        low, high = (one + two for one, two in zip(self.interval, other.interval, strict=True))
        missed = sum(1 - one.confidence for one in (self, other) if one.samples)
        samples = min(self.samples, other.samples) or max(self.samples, other.samples)
        value, error = self.value + other.value, hypot(self.error, other.error)
        if not samples or low != low:
            return Mean(value, error, samples)
        return Mean(value, error, samples, low, high, 1 - missed)


def number(value: float | Fraction, digits: int | None = 4) -> str:
    """Write a number with so many digits after the point, or with six significant ones; thousands are set apart.

    A number that rounds to zero is written without a sign.

    >>> number(0.5), number(1234567, 0), number(float("inf")), number(1e-9, None), number(-1e-9)
    ('0.5000', '1,234,567', 'infinite', '1e-09', '0.0000')
    """
    if isinstance(value, int):
        return f"{value:,}" if not digits else f"{value:,}.{'0' * digits}"
    held = float(value)
    if not isfinite(held):
        return "undefined" if held != held else "infinite" if held > 0 else "-infinite"
    return f"{held:,.6g}" if digits is None else f"{held:z,.{digits}f}"


def known(value: Any) -> Mean:
    """Return a value that is exact.

    >>> known(0.5)
    Mean(value=0.5, error=0.0, samples=0, low=None, high=None, confidence=0.0)
    """
    return Mean(float(value), 0.0, 0)


def of_independent(values: FLOAT, least: float, most: float, confidence: float = 0.99) -> Mean:
    """Return the mean of independent draws [n] of one law on [least, most], n ≥ 2, with an interval by bets.

    The law: for x scaled to [0, 1], a mean m and stakes λ_i that look at x_1 … x_{i−1} alone, 0 ≤ λ_i m ≤ 3/4, the
    wealth Π (1 + λ_i (x_i − m)) is a nonnegative martingale if the true mean is m, and falls in m. Means at which it
    has ever reached 2/(1 − confidence) are below the interval; by Ville's inequality the true one is among them with
    chance (1 − confidence)/2 at most. The upper end is that of the lower one for 1 − x. Which stakes are taken is a
    matter of width, not of truth: sqrt(2 ln(2/(1 − confidence)) / (n s²)), s² the variance so far.

    Raises:
        ValueError: fewer than 2 draws, a draw outside the range, or a confidence outside (0, 1).

    Source: Waudby-Smith and Ramdas 2024 (betting), Section 4; Ville 1939.

    >>> found = of_independent(np.array([0.0, 1.0] * 50), 0.0, 1.0)
    >>> found.value, [round(end, 2) for end in found.interval]
    (0.5, [0.34, 0.66])
    """
    draws = _checked(values, least, most, confidence)
    mean, error = float(draws.mean()), float(draws.std(ddof=1) / len(draws) ** 0.5)
    width = most - least
    if not width:
        return Mean(mean, error, len(draws), least, most, confidence)
    scaled = np.clip((draws - least) / width, 0.0, 1.0)
    bar = log(2 / (1 - confidence))
    below, above = _lower_ends(np.stack([scaled, 1 - scaled]), bar)
    low, high = least + width * below, most - width * above
    # Bets look at the draws in their order and may leave out their mean, which is as good a value as any.
    return Mean(mean, error, len(draws), min(low, mean), max(high, mean), confidence)


def of_strata(values: FLOAT, least: float, most: float, confidence: float = 0.99) -> Mean:
    """Return the mean of independent draws [repeats, strata] on [least, most], each stratum with a law of its own.

    The truth is the mean of the strata's means, and which strata there are is not left to chance. repeats ≥ 2. The
    interval is Bernstein's, with a bound of the variance from pairs within a stratum; 1 − confidence is shared out
    equally among its three parts, each missed with chance δ. b = most − least, N draws, ℓ = ln(1/δ).

    - Z = (x − y)²/2 of a pair has the stratum's variance as its mean and lies in [0, b²/2], so that E Z² ≤ b²/2 · E Z.
      The mean of n nonnegative Z falls short of σ² by u with chance exp(−n u² / (2 · mean E Z²)) at most (Maurer 2003):
      σ² − mean Z ≤ b σ sqrt(ℓ/n), hence σ ≤ a + sqrt(a² + mean Z) with a = b/2 · sqrt(ℓ/n).
    - The mean is off by u with chance exp(−N u² / (2 σ² + 2 b u/3)) at most on each side (Bernstein), hence by at most
      c + sqrt(c² + 2 σ² ℓ/N) with c = b ℓ/(3 N).

    Raises:
        ValueError: fewer than 2 repeats, a draw outside the range, or a confidence outside (0, 1).

    >>> found = of_strata(np.array([[0.0, 1.0], [0.0, 1.0]] * 100), 0.0, 1.0)
    >>> found.value, found.error, round(found.interval[1] - found.value, 2)
    (0.5, 0.0, 0.03)
    """
    draws = _checked(values, least, most, confidence)
    repeats, strata = draws.shape
    number, width, rarity = draws.size, most - least, log(3 / (1 - confidence))
    pairs = repeats // 2
    spread = float(((draws[: 2 * pairs : 2] - draws[1 : 2 * pairs : 2]) ** 2).mean()) / 2
    a = width / 2 * sqrt(rarity / (pairs * strata))
    deviation = a + sqrt(a * a + spread)
    c = width * rarity / (3 * number)
    reach = c + sqrt(c * c + 2 * deviation * deviation * rarity / number)
    mean = float(draws.mean())
    error = float(draws.var(axis=0, ddof=1).mean() / number) ** 0.5
    return Mean(mean, error, number, max(least, mean - reach), min(most, mean + reach), confidence)


def of_positions(values: Any) -> Mean:
    """Return the mean over positions that were not drawn, with its standard error, and no interval.

    Positions that lie evenly in a text are no independent draws, so that no chance is promised of
    them. Of a single one the standard error is not known either.

    >>> of_positions([1.0, 2.0]).error, of_positions([1.0]).error
    (0.5, nan)
    """
    listed = np.array([float(value) for value in values])
    error = float(listed.std(ddof=1) / len(listed) ** 0.5) if len(listed) > 1 else nan
    return Mean(float(listed.mean()), error, len(listed))


def _checked(values: FLOAT, least: float, most: float, confidence: float) -> FLOAT:
    draws = np.asarray(values, dtype=np.float64)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie strictly between 0 and 1; got {confidence}")
    if len(draws) < 2:
        raise ValueError(f"an interval needs at least 2 samples; got {len(draws)}")
    # A rounding of the sums that a draw is made of is forgiven, and cut off before it is bet on.
    slack = 2.0**-40 * max(abs(least), abs(most))
    if not (draws.min() >= least - slack and draws.max() <= most + slack):
        raise ValueError(
            f"the interval rests on draws between {least:g} and {most:g}; got {draws.min():g} to {draws.max():g}"
        )
    return draws


def _lower_ends(x: FLOAT, bar: float) -> list[float]:
    """Return for each row of x [m, n] a mean in [0, 1] at which the log wealth of bets that it is larger reached `bar`.

    0 where none has.
    """
    number = x.shape[1]
    taken = np.arange(1, number + 1)
    mean = (0.5 + np.cumsum(x, axis=1)) / (taken + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2, axis=1)) / (taken + 1)
    before = np.concatenate([np.full((len(x), 1), 0.25), variance[:, :-1]], axis=1)
    stakes = np.sqrt(2 * bar / (number * before))
    low, width = np.zeros(len(x)), 1.0
    # Several halvings at once, at all places that they could look at: of few draws, calls take longer than numbers.
    at_once = min(_HALVINGS, max(1, int(log2(_AT_ONCE / x.size + 1))))
    for first in range(0, _HALVINGS, at_once):
        parts = 2 ** min(at_once, _HALVINGS - first)
        width /= parts
        middle = (low[:, None] + np.arange(1, parts) * width)[..., None]
        wealth = np.cumsum(np.log1p(np.minimum(stakes[:, None], STAKE / middle) * (x[:, None] - middle)), axis=-1)
        reached = wealth.max(axis=-1) >= bar + _ROUNDING
        # What is below the first place where it has not: the end is one where it has, however places were rounded.
        low += np.logical_and.accumulate(reached, axis=-1).sum(axis=-1) * width
    return low.tolist()
