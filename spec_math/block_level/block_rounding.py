"""Within which distance of a threshold rounding may decide block verification otherwise than the program does.

Source: worked out here.
"""

from __future__ import annotations

from spec_math.array_coin import UNIT


def bound(size: int, length: int) -> float:
    """Return the margin beyond which `decide_block` decides in float64 as the replayed `block.verify` does.

    For V = `size` tokens, chains of up to `length` = L tokens and float laws that were divided by their own sums; the
    margin is `ArrayCoin.margin`, measured, u = 2^-53. A step of the weight has a relative error of (4V + 4)u, as the
    formula divides by both sums: w_i of ω = i(4V + 4)u. Then (w t − d)+ is off by ω + (4V + 6)u in L1, its sum ρ by ω +
    (7V + 7)u. A coin ρ/(ρ + 1 − w), times ρ + 1 − w, moves by the errors of ρ twice and of w once: 3ω + (14V + 24)u;
    the program, which divides by no sum, has (2V + 6i + 14)u. With i ≤ L − 1 that is less than (16V + 40)Lu, and the
    last coin's w_L and the draw, which compares two sums of the masses, are off by less.

    >>> bound(4, 2) == 2 * bound(4, 1) < 2.0**-44
    True
    """
    return (1 + 2.0**-8) * (16 * size + 40) * length * UNIT
