"""A running mean over positions with its standard error."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, nan

from spec_math.mean import Mean
from spec_math.studies.positions.stream import FLOAT

CONFIDENCE = 0.99
"""How often the interval of what was run holds the truth, at least."""

FEW = 64
"""Values that are added one by one: a NumPy call would cost more than so few additions do."""


@dataclass
class Tally:
    """A running mean over positions, with its standard error.

    Where only some positions are looked at, the mean is that of an `anchor` known at every position plus the mean
    difference to it over those (the difference estimator of survey sampling): differences spread far less than values.

    >>> import numpy as np
    >>> tally = Tally()
    >>> tally.add(np.array([0.0, 1.0]))
    >>> tally.mean, tally.count
    (0.5, 2)
    """

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    anchor: Tally | None = None
    differences: Tally | None = None
    runs: int = 0

    def add(self, values: FLOAT, anchors: FLOAT | None = None, runs: int = 0) -> None:
        """Take in values [n], and the anchor's values at the same positions where there is an anchor.

        `runs` is by how many runs of a program a value was estimated, each of which gave 0 or 1 or a difference to it.
        """
        self.runs += runs
        self.count += len(values)
        if len(values) < FEW:
            for value in values.tolist():
                self.total += value
                self.squares += value * value
        else:
            self.total += float(values.sum())
            self.squares += float(values @ values)
        if anchors is not None:
            self.differences = self.differences or Tally()
            self.differences.add(values - anchors)

    def add_one(self, value: float) -> None:
        """Take in one value that no program was run for.

        >>> tally = Tally()
        >>> tally.add_one(0.5)
        >>> tally.mean
        0.5
        """
        self.count += 1
        self.total += value
        self.squares += value * value

    @property
    def mean(self) -> float:
        """The mean so far."""
        if self.anchor is None or self.differences is None:
            return self.total / self.count
        return self.anchor.mean + self.differences.mean

    @property
    def error(self) -> float:
        """The standard error of the mean, the positions taken as independent; NaN for one, which knows no spread."""
        if self.anchor is None or self.differences is None:
            return (self.variance / self.count) ** 0.5
        every = max(self.anchor.count, self.count)
        return (self.variance / every + (1 / self.count - 1 / every) * self.differences.variance) ** 0.5

    @property
    def estimate(self) -> Mean | None:
        """The mean with its standard error and the number of positions looked at; None where there were none.

        Of runs, with an interval for the mean over these very positions, missed in one of a hundred: by Hoeffding a
        mean of N independent numbers, each in an interval of length 1, is off by √(ln(2/0.01)/(2N)) at most.
        """
        if not self.count:
            return None
        if not self.runs:
            return Mean(self.mean, self.error, self.count)
        reach = (log(2 / (1 - CONFIDENCE)) / (2 * self.runs)) ** 0.5
        value = self.total / self.count
        # Acceptances lie in [0, 1], and so do the gaps of what is lossless.
        low, high = min(max(value - reach, 0.0), value), max(min(value + reach, 1.0), value)
        return Mean(value, self.error, self.count, low, high, CONFIDENCE)

    @property
    def variance(self) -> float:
        """The variance of the values taken in, over n − 1; NaN for a single one."""
        if self.count < 2:
            return nan
        return max(self.squares - self.total**2 / self.count, 0.0) / (self.count - 1)
