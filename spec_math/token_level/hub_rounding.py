"""Within which distance of a threshold rounding may decide SpecHub's tests and draws otherwise than the program does.

Source: worked out here.
"""

from __future__ import annotations

from spec_math.array_coin import UNIT


def bound(size: int) -> float:
    """Return the margin beyond which `decide_hub` decides in float64 as the replayed `hub.emit` does.

    For V = `size` tokens and float laws that were divided by their own sums, so that these sums, as computed, are
    within 2Vu of 1, u = 2^-53. The margin is `ArrayCoin.margin`, measured. First test, chance p = t/d ≤ 1: four factors
    within (2V + 1)u each at most, (4V + 4)u. Second, times w = d(a): (t − d)+ is off by (2V + 2)u(t + d), and L/d(x)
    times that is no more than twice it, as p ≤ 1 says (t − d)L ≤ w·d(x), with L = 1 − w; the factors add (3V + 5)u, the
    program's own (V + 6)u: (8V + 15)u. Third, times what is left, of L1 error (3V + 3)u and (V − 1)u more for its sum:
    (6V + 9)u with the program's. The draw compares two running sums of it: (8V + 6)u, the program's (5V + 10)u. All are
    less than (14V + 20)u, and a 256th more covers squares. Not covered are laws where rounding alone says whether
    anything is left, within the bound of 0.

    >>> 2.0**-47 < bound(8) < 2.0**-45
    True
    """
    return (1 + 2.0**-8) * (14 * size + 20) * UNIT
