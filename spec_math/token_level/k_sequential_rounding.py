"""Within which distance of a threshold rounding may decide K-SEQ's tests and draw otherwise than the program does.

Source: worked out here.
"""

from __future__ import annotations

from typing import Any

from spec_math.array_coin import UNIT
from spec_math.arrays import Array, ones_like
from spec_math.distribution import excess
from spec_math.roots import decreasing_root
from spec_math.token_level.least_gamma import f_of_excess

ENDS = 2.0**-44
"""Four times the gap to γ* at which the formula's search ends, of which each of the two errors below takes a part."""


def bound(target: Array, draft: Array, k: int) -> Any:
    """Return the margin [B] beyond which `decide_k_sequential` decides in float64 as the replayed `emit` does.

    For float laws [B, V] that were divided by their own sums, k drafts, and searches whose lines suffice. The margin is
    `ArrayCoin.margin`, measured; u = 2^-53. The excess E(γ) is off by (7V + 6)u at most: its entries by (4V + 4)u·t,
    its sum and the division by Σt by the rest. f = E − (1 − (1 − E)/γ)^k moves by k times as much at most, and k(7V +
    10)u covers its own rounding. f falls: both computed γ* lie where |f| is no more than that, in a stretch of relative
    width η, here found by bisection, but for the gap at which the search ends. It is wide where the laws are all but
    the same, E^(1/k), and no arithmetic of this length tells more. A test's chance t/(γd) ≤ 1 moves by η + (5V + 10)u;
    what is left, t − min(d, t/γ)·Σ(1 − β)^j, by 2η + (8V + 20)u in L1, of which the draw compares two sums.

    >>> import numpy as np
    >>> laws = np.array([[0.5, 0.5]]), np.array([[0.25, 0.75]])
    >>> bool(bound(*laws, 2)[0] < 2.0**-40)
    True
    """
    size = target.shape[-1]
    error, one = k * (7 * size + 10) * UNIT, ones_like(target[..., 0])

    def f(gamma: Any) -> Any:
        return f_of_excess(excess(target, draft, gamma), k, gamma)

    low, high = (decreasing_root(lambda gamma, off=off: f(gamma) + off, one, k * one) for off in (-error, error))
    return (1 + 2.0**-8) * (4 * (high - low) / low + (16 * size + 40) * UNIT + ENDS)
