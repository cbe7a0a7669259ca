"""One pair of float laws seen through its excess: K-SEQ's γ* at the price of buckets."""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.kernels import kernel
from spec_math.token_level.ratio_buckets import EDGES, bucket_of, excess_of

STEPWISE = 32
"""Up to this k powers are products; beyond it, they go through logarithms."""

STEPS = 400
"""More steps than K-SEQ's γ* ever takes: a third of them halve a bracket of [1, 2^63] down to 2^-40 of its end."""


@kernel
def none_of(chance: float, k: int) -> float:
    """Return (1 − chance)^k, the probability that none of k tests accepts.

    >>> none_of(0.5, 2), none_of(1.0, 1000)
    (0.25, 0.0)
    """
    # An excess may round to a little below 0, and the chance to above 1, of which there is no logarithm.
    return (1.0 - chance) ** k if k <= STEPWISE else np.exp(k * np.log1p(-min(chance, 1.0)))


@kernel
def f_at(left: float, k: int, gamma: float) -> float:
    """Return K-SEQ's f(γ) from the excess left = E(γ): E − (1 − (1 − E)/γ)^k.

    >>> f_at(0.5, 2, 1.0)
    0.25
    """
    return left - none_of((1.0 - left) / gamma, k)


@kernel
def gamma_of(k: int, gathered: Any) -> float:
    """Return K-SEQ's γ* of a gathered pair.

    >>> from spec_math.token_level.ratio_buckets import buckets_of, gather
    >>> gamma_of(2, gather(np.array([1.0]), np.array([1.0]), 1.0, 1.0, buckets_of(1)))
    1.0
    """
    above = gathered[1]
    if f_at(excess_of(1.0, gathered), k, 1.0) <= 0.0:
        return 1.0
    # First the bucket, by its edges, where the excess needs no scan; a margin on either side for rounded keys. The last
    # bucket ends beyond every k.
    below, beyond = bucket_of(1.0), bucket_of(float(k)) + 1
    while beyond - below > 1:
        b = (below + beyond) // 2
        value = f_at(above[b, 0] - EDGES[b] * above[b, 1], k, EDGES[b])
        below, beyond = (b, beyond) if value > 0.0 else (below, b)
    low: Any = max(EDGES[below] * (1.0 - 2.0**-20), 1.0)
    high: Any = min(EDGES[beyond] * (1.0 + 2.0**-20), float(k))
    left = f_at(excess_of(low, gathered), k, low)
    right = f_at(excess_of(high, gathered), k, high)
    middle, value = high, right
    for step in range(STEPS):
        if high - low <= 2.0**-40 * high:
            break
        # In turn a chord, which lands next to the root, a small step across the root from there, and a bisection.
        if step % 3 == 0 and left > right:
            middle = low + (high - low) * (left / (left - right))
        elif step % 3 == 1:
            middle += middle * 2.0**-41 if value > 0.0 else -middle * 2.0**-41
        else:
            middle = low + (high - low) / 2
        if not low < middle < high:
            middle = low + (high - low) / 2
        value = f_at(excess_of(middle, gathered), k, middle)
        if value > 0.0:
            low, left = middle, value
        else:
            high, right = middle, value
    return high
