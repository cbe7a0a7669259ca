"""Margins beyond which the array forms decide in float64 as the replayed programs do, u = 2^-53."""

from __future__ import annotations

from typing import Any

from spec_math.array_coin import UNIT
from spec_math.arrays import Array, ones_like
from spec_math.roots import decreasing_root
from spec_math.token_level.excess import Excess

ENDS = 2.0**-44
"""What the bracket of γ*, 2^-50 of it, adds to the two errors below, and more."""


def of_k_sequential(target: Array, draft: Array, k: int) -> Any:
    """Return the margin [B] beyond which `decide_k_sequential` decides in float64 as the replayed `emit` does.

    For float laws [B, V] that were divided by their own sums, k drafts, and searches whose lines suffice. The margin is
    `ArrayCoin.margin`, measured; u = 2^-53. The excess E(γ) is off by (7V + 6)u at most: its entries by (4V + 4)u·t,
    its sum and the division by Σt by the rest. f = E − (1 − (1 − E)/γ)^k moves by k times as much at most, and k(7V +
    10)u covers its own rounding. f falls: both computed γ* lie where |f| is no more than that, in a stretch of relative
    width η, here found by bisection, but for the gap at which the search ends. It is wide where the laws are all but
    the same, E^(1/k), and no arithmetic of this length tells more. A test's chance t/(γd) ≤ 1 moves by η + (5V + 10)u;
    what is left, t − min(d, t/γ)·Σ(1 − β)^j, by 2η + (8V + 20)u in L1, of which the draw compares two sums.
    """
    size = target.shape[-1]
    law = Excess.of_laws(target, draft)
    error, one = k * (7 * size + 10) * UNIT, ones_like(target[..., 0])

    low, high = (decreasing_root(lambda gamma, off=off: law.f(k, gamma) + off, one, k * one) for off in (-error, error))
    return (1 + 2.0**-8) * (4 * (high - low) / low + (16 * size + 40) * UNIT + ENDS)


def of_hub(size: int) -> float:
    """Return the margin beyond which `decide_hub` decides in float64 as the replayed `hub.emit` does.

    For V = `size` tokens and float laws that were divided by their own sums, so that these sums, as computed, are
    within 2Vu of 1, u = 2^-53. The margin is `ArrayCoin.margin`, measured. First test, chance p = t/d ≤ 1: four factors
    within (2V + 1)u each at most, (4V + 4)u. Second, times w = d(a): (t − d)+ is off by (2V + 2)u(t + d), and L/d(x)
    times that is no more than twice it, as p ≤ 1 says (t − d)L ≤ w·d(x), with L = 1 − w; the factors add (3V + 5)u, the
    program's own (V + 6)u: (8V + 15)u. Third, times what is left, of L1 error (3V + 3)u and (V − 1)u more for its sum:
    (6V + 9)u with the program's. The draw compares two running sums of it: (8V + 6)u, the program's (5V + 10)u. All are
    less than (14V + 20)u, and a 256th more covers squares. Not covered are laws where rounding alone says whether
    anything is left, within the bound of 0.
    """
    return (1 + 2.0**-8) * (14 * size + 20) * UNIT


def of_rejection(size: int, k: int) -> float:
    """Return the margin beyond which the formulas of rejection decide in float64 as the replayed programs do.

    For V = `size` tokens and k drafts, maximal coupling, recursive rejection with and without replacement, greedy and
    one-hot drafts: wherever `ArrayCoin.margin`, measured, exceeds it, formula and program emit the same token, for
    float laws that were divided by their own sums. With u = 2^-53 it is (14V + 2k + 40)·2^(k+1)·u, and a 256th more for
    the squares of errors: each test may double the error of the mass that is left.
    """
    return (1 + 2.0**-8) * (14 * size + 2 * k + 40) * 2.0 ** (k + 1) * UNIT
