"""Wealth of bets on bounded features: evidence that stays valid at any time, and adds up over shards.

The null: given all that came before a unit (a row, or a block where only blocks are promised), the sum S of
f(token) − E f over its rows, divided by the most rows that a unit can have, has |mean| ≤ τ. Then each of

    Π (1 + λ (±S − τ)),    λ ≤ 63/64 / (1 + τ)

is a nonnegative supermartingale that starts at 1, and so is their average over all features, signs and stakes λ. The
chance that it ever reaches 1/α is at most α (Ville). Log wealths of one bet add up over units, hence over shards in any
order that does not depend on what they hold: only the average is taken at the end.

Where a verifier promises blocks, S is a sum over the rows that the block reached, each f(y) − E f at its own context:
completed by the target, a block has the target's law, and rows that the target completes add nothing on average.

Source: math of changing contexts, `1 ± λ(f(x) − E f)`; Ville 1939; Waudby-Smith and Ramdas 2024 (betting).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

STAKES = np.array([63 / 64 * 2.0**-step for step in range(13)])
"""Shares of the wealth that are bet: a mean of size m and variance v is found at rate m²/2v by the stake m/v."""

_FLUSH = 32
"""Units after which wealths are turned into logs: 64^−32 is still far from underflow."""


def units(bets: np.ndarray[Any, Any], starts: np.ndarray[Any, Any], rows_a_unit: int) -> np.ndarray[Any, Any]:
    """Return S [units, features]: the bets [n, features] of each unit's rows, added up and divided by the most rows.

    >>> units(np.array([[0.5], [0.25], [-0.5]]), np.array([0, 2]), 2).tolist()
    [[0.375], [-0.25]]
    """
    if not len(starts):
        return np.zeros((0, bets.shape[1]))
    return np.add.reduceat(bets.astype(np.float64), starts, axis=0) / rows_a_unit


def log_wealths(s: np.ndarray[Any, Any], tolerance: float, checks: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the log wealth [checks, features, stakes, 2] after so many units of S [units, features], from 1 before.

    >>> log_wealths(np.full((10, 1), 0.5), 0.0, np.array([10]))[0, 0, 0].round(2).tolist()
    [4.0, -6.78]
    """
    found = np.zeros((len(checks), s.shape[1], len(STAKES), 2))
    _bet(np.ascontiguousarray(s), tolerance, STAKES / (1 + tolerance), checks, found)
    return found


def log_evidence(log_wealth: np.ndarray[Any, Any]) -> float:
    """Return the log of the average wealth, over all axes.

    >>> log_evidence(np.zeros((8, 13, 2)))
    0.0
    """
    top = float(log_wealth.max())
    if not np.isfinite(top):
        return top
    return top + float(np.log(np.mean(np.exp(log_wealth - top))))


@numba.njit(nogil=True, cache=True)
def _bet(s: Any, tolerance: float, stakes: Any, checks: Any, found: Any) -> None:
    count, features = s.shape
    wealth, logs = np.ones((features, len(stakes), 2)), np.zeros((features, len(stakes), 2))
    check = 0
    for unit in range(count + 1):
        at_check = check < len(checks) and checks[check] == unit
        if at_check or unit % _FLUSH == 0:
            logs += np.log(wealth)
            wealth[:] = 1.0
        while check < len(checks) and checks[check] == unit:
            found[check] = logs
            check += 1
        if unit == count:
            break
        for f in range(features):
            up, down = s[unit, f] - tolerance, -s[unit, f] - tolerance
            for j in range(len(stakes)):
                wealth[f, j, 0] *= 1.0 + stakes[j] * up
                wealth[f, j, 1] *= 1.0 + stakes[j] * down
