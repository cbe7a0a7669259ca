"""Linear bets: stakes on features whose mean is known, and the wealth of many bettors after each draw."""

# ruff: noqa: PLR0913 - numba kernels take their arrays one by one
from __future__ import annotations

import math
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.audit.sequential.features import CONTEXT_BUGS, FEATURES
from spec_math.audit.sequential.looking import fold, rescale
from spec_math.kernels import kernel

STAKES: tuple[float, ...] = tuple(2.0**-power for power in range(10))
"""λ·(1 + τ), halved from 1 on. A gap g in a feature's mean is best met by λ near g over the feature's variance; at a
factor √2 beside it a sixth of the growth is lost."""

_FAR = 2.0**64


def bet(stake: Any, sign: int, gap: Any, tolerance: Any) -> Any:
    """Return what a draw multiplies a bettor's wealth by: 1 + λ·(± gap − τ), where gap = f(x) − E_t f.

    The law: f lies in [0, 1], so the bet is not negative for λ ≤ 1/(1 + τ), and its mean is at most 1 under every law
    within total variation τ of the target, where the mean of f is off by τ at most; for τ = 0 it is 1 under the target.

    >>> from fractions import Fraction
    >>> bet(1, -1, Fraction(1, 4), 0)
    Fraction(3, 4)
    """
    return 1 + stake * (sign * gap - tolerance)


_bet = kernel(bet)


def names(bank: bool) -> list[str]:
    """Return what each bettor bets on, in the order of their wealth [N]: features, then the bugs of the bank.

    >>> names(False)[:2]
    ['t > d up, λ = 1', 't > d up, λ = 0.5']
    """
    found = [f"{name} {way}, λ = {stake:g}" for name in FEATURES for way in ("up", "down") for stake in STAKES]
    return [*found, *(bug.name for bug in CONTEXT_BUGS)] if bank else found


def log_weights(bank: bool) -> Array:
    """Return the logs of the bettors' shares of the start [N]: with a bank, half for features and half for bugs.

    >>> float(np.exp(log_weights(True)).sum().round(12))
    1.0
    """
    bettors = 2 * len(FEATURES) * len(STAKES)
    if not bank:
        return np.full(bettors, -math.log(bettors))
    return -np.log(np.repeat([2.0 * bettors, 2.0 * len(CONTEXT_BUGS)], [bettors, len(CONTEXT_BUGS)]))


@kernel(error_model="numpy", fastmath={"reassoc", "contract", "nnan", "nsz"})
def play(
    gaps: Any, ratios: Any, stakes: Any, tolerance: float, weights: Any, logs: Any, threshold: float, stop: bool
) -> tuple[float, int]:
    """Play draws one by one; return the largest log of the mean wealth met, and the first draw at the threshold or -1.

    gaps [n, F] are features less their means, ratios [n, B] likelihood ratios; the logs [N] of the bettors' wealth are
    brought up to date; stakes are λ, `STAKES` over 1 + τ. With `stop` the game ends at the threshold.

    >>> logs = np.zeros(2)
    >>> play(np.array([[0.5]]), np.ones((1, 0)), np.ones(1), 0.0, np.log(np.array([0.5, 0.5])), logs, 9.0, False)
    (0.0, -1)
    >>> np.exp(logs).round(12).tolist()
    [1.5, 0.5]
    """
    size = weights.shape[0]
    products, scaled = np.ones(size), np.empty(size)
    top = rescale(weights, logs, scaled)
    goal = math.exp(min(threshold - top, 700.0))
    peak, most, first = -math.inf, 0.0, -1
    for i in range(gaps.shape[0]):
        place, total, least, largest = 0, 0.0, 1.0, 1.0
        for f in range(gaps.shape[1]):
            for sign in (1, -1):
                for s in range(stakes.shape[0]):
                    moved = products[place + s] * _bet(stakes[s], sign, gaps[i, f], tolerance)
                    products[place + s] = moved
                    total += scaled[place + s] * moved
                    # A bettor that has lost everything stays at 0.
                    least, largest = min(least, moved if moved > 0.0 else 1.0), max(largest, moved)
                place += stakes.shape[0]
        for b in range(ratios.shape[1]):
            moved = products[place + b] * ratios[i, b]
            products[place + b] = moved
            total += scaled[place + b] * moved
            least, largest = min(least, moved if moved > 0.0 else 1.0), max(largest, moved)
        most = max(most, total)
        if total >= goal and first < 0:
            first = i
            if stop:
                break
        if least * _FAR < 1.0 or largest > _FAR:
            peak = max(peak, top + math.log(most)) if most > 0.0 else peak
            fold(logs, products)
            top = rescale(weights, logs, scaled)
            goal = math.exp(min(threshold - top, 700.0))
            most = 0.0
    peak = max(peak, top + math.log(most)) if most > 0.0 else peak
    fold(logs, products)
    return peak, first
