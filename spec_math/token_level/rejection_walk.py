"""Recursive rejection with so many drafts that its tests are not gone through one by one.

Between two neighbouring ratios t/d the excess is a line, E(λ) = A − Bλ, and the step λ ← λ + E(λ) of one test makes E a
geometric sequence there: E·(1 − B)^n after n tests. As many tests as end before the next ratio are taken together, so
that a walk takes at most a step a token, whatever k is.

Source: SpecInfer, multi-step speculative sampling; the walk is worked out here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.kernels import kernel
from spec_math.token_level.bucketed_optimum import by_ratio
from spec_math.token_level.ratio_buckets import FLOAT, bucket_of, excess_of, pairs_between

STEPWISE = 64
"""Up to this k the tests are gone through one by one, which needs no sort."""


def rejections(ks: Any, gathered: Any, found: Any) -> None:
    """Fill the probabilities that the first k tests all reject, for ascending ks, from a gathered pair.

    It is `recursive.rejections_by` over buckets.

    >>> from spec_math.token_level.ratio_buckets import buckets_of, gather
    >>> found = np.empty(3)
    >>> gathered = gather(np.array([1.0, 3.0]), np.array([1.0, 1.0]), 4.0, 2.0, buckets_of(2))
    >>> rejections(np.array([1, 2, 100]), gathered, found)
    >>> found.round(12).tolist()
    [0.25, 0.125, 0.0]
    """
    scale, left, done = 0.0, 1.0, 0
    for which in range(len(ks)):
        if ks[which] > STEPWISE:
            ratios, masses = _from_one_on(gathered)
            for later in range(which, len(ks)):
                found[later] = _after(ks[later], ratios, masses)
            return
        while done < ks[which]:
            scale += left
            left = excess_of(scale, gathered)
            done += 1
        found[which] = left


def _from_one_on(gathered: Any) -> tuple[FLOAT, FLOAT]:
    """Return the ratios from the bucket of 1 on, ascending, and the masses [n + 1, 2] of the tokens from each on."""
    pairs = pairs_between(gathered, gathered[0][bucket_of(1.0)], len(gathered[2]))
    order, ratios = by_ratio(pairs)
    masses = np.zeros((len(order) + 1, 2))
    np.cumsum(pairs[order[::-1]], axis=0, out=masses[len(order) - 1 :: -1] if len(order) else masses[:0])
    return ratios, masses


@kernel
def _after(k: int, ratios: Any, masses: Any) -> float:
    """Return E(λ_{k+1}) from λ_2 = 1 on."""
    scale, tests, place = 1.0, k - 1, 0
    while True:
        while place < len(ratios) and ratios[place] <= scale:
            place += 1
        a, b = masses[place]
        left = max(a - b * scale, 0.0)
        # Nothing left; no test to go; or tokens that the draft never draws, which no test accepts.
        if left == 0.0 or tests == 0 or b == 0.0:
            return left
        room = (ratios[place] - scale) * b / left
        if room >= 1.0:  # λ stays below the next ratio for ever
            return left * np.exp(tests * np.log1p(-b))
        together = min(np.floor(np.log1p(-room) / np.log1p(-b)), float(tests))
        if together > 0.0:
            scale -= left * np.expm1(together * np.log1p(-b)) / b
            left, tests = max(a - b * scale, 0.0), tests - int(together)
        if tests > 0:
            scale, tests = scale + left, tests - 1
