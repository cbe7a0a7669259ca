"""A mean over samples with its standard error: the one type of what is estimated and shown with ±."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from typing import Any

NORMAL_99 = 2.5758293035489004
"""The 99.5 % quantile of the normal law: half a 99 % interval in standard errors."""


@dataclass(frozen=True)
class Mean:
    """A mean over samples, with its standard error; 0 samples and no error where it is exact.

    >>> Mean(2.0, 0.5, 100).interval
    (0.7120853482255498, 3.28791465177445)
    """

    value: float
    error: float
    samples: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 99 % interval by the normal limit of means: value ± 2.576 standard errors."""
        return self.value - NORMAL_99 * self.error, self.value + NORMAL_99 * self.error

    def __add__(self, other: Mean) -> Mean:
        """Add the mean of other, independent samples; what is exact adds no samples of its own."""
        samples = min(self.samples, other.samples) or max(self.samples, other.samples)
        return Mean(self.value + other.value, hypot(self.error, other.error), samples)


def mean_of(values: Any) -> Mean:
    """Return the mean of independent values [n] of one law, a float64 array with n ≥ 2.

    >>> import numpy as np
    >>> mean_of(np.array([0.0, 1.0]))
    Mean(value=0.5, error=0.5, samples=2)
    """
    return Mean(float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5), len(values))
