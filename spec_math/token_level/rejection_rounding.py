"""Within which distance of a threshold rounding may decide rejection's tests and draws otherwise than the program does.

Source: worked out here, on the page of recursive rejection.
"""

from __future__ import annotations

from spec_math.array_coin import UNIT


def bound(size: int, k: int) -> float:
    """Return the margin beyond which the formulas of rejection decide in float64 as the replayed programs do.

    For V = `size` tokens and k drafts, maximal coupling, recursive rejection with and without replacement, greedy and
    one-hot drafts: wherever `ArrayCoin.margin`, measured, exceeds it, formula and program emit the same token, for
    float laws that were divided by their own sums. With u = 2^-53 it is (14V + 2k + 40)·2^(k+1)·u, and a 256th more for
    the squares of errors: each test may double the error of the mass that is left.

    >>> 2.0**-41 < bound(8, 4) < 2.0**-39
    True
    """
    return (1 + 2.0**-8) * (14 * size + 2 * k + 40) * 2.0 ** (k + 1) * UNIT
