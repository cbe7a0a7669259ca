"""What the value of the optimum costs: against one stable argsort of the same ratios, and exactly, in seconds.

Run from the project's folder: python -m benchmarks.optimum_value
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks.table import Row, ratio_row, show, time_row
from spec_math.arrays import Array
from spec_math.common_denominator import Counts
from spec_math.token_level import optimal
from spec_math.token_level.optimum.ratio_order import by_ratio

FLOATS, WHOLE = 151_936, 128_256
KS = (1, 2, 3, 4, 6, 8, 16)
ARGSORT = 'np.argsort(ratios, kind="stable")'


def softmax_pair(size: int, seed: int = 0) -> tuple[Array, Array]:
    """Return two independent laws of random logits, normal with standard deviation 3."""
    weights = np.exp(3 * np.random.default_rng(seed).standard_normal((2, size)))
    target, draft = weights / weights.sum(axis=1, keepdims=True)
    return target, draft


def counted(masses: Array, denominator: int) -> Counts:
    """Return a law near a float law, in whole numbers over a denominator."""
    whole = [int(mass * 2.0**80) * denominator >> 80 for mass in masses]
    whole[int(np.argmax(masses))] += denominator - sum(whole)
    return Counts(whole, denominator)


def rows() -> list[Row]:
    """Measure every promise."""
    target, draft = softmax_pair(FLOATS)
    ratios = target / draft
    counts = [tuple(counted(masses, size) for masses in softmax_pair(WHOLE)) for size in (2**61 - 1, 10**40)]

    def argsort() -> Any:
        return np.argsort(ratios, kind="stable")

    def without(k: int) -> Any:
        return lambda: optimal.acceptance_without_replacement(target, draft, k)

    seven = f"α* for k = {', '.join(map(str, KS))}"
    return [
        ratio_row(
            f"{seven} together, V = {FLOATS:,}", (lambda: optimal.acceptances(target, draft, KS), argsort), 0.8, ARGSORT
        ),
        ratio_row("the sort alone", (lambda: by_ratio(target, draft), argsort), 0.8, ARGSORT),
        ratio_row("α* without replacement, k = 2", (without(2), argsort), 2, ARGSORT),
        ratio_row("α* without replacement, k = 4", (without(4), argsort), 20, ARGSORT),
        *(
            time_row(
                f"{seven} in exact rationals over {name}, V = {WHOLE:,}",
                lambda pair=pair: optimal.acceptances(*pair, KS),
                0.5,
                "s",
            )
            for name, pair in zip(("2^61 − 1", "10^40"), counts, strict=True)
        ),
    ]


if __name__ == "__main__":
    sys.exit(not show(rows(), "The value of the optimum of one position"))
