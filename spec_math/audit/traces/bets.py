"""Bets on bounded features of recorded tokens: evidence that is valid at any time, and adds up over shards.

The null: given all that came before a row, and that it is reached, the emitted token's law is within τ of the target's
in total variation. With S = f(token) − E f for a feature f in [0, 1], each of

    Π (1 + λ (±S − τ)),    λ ≤ 63/64 / (1 + τ)

is a nonnegative supermartingale that starts at 1, and so is their average over all features, signs and stakes λ. The
chance that it ever reaches 1/α is at most α (Ville). Log wealths of one bet add up over rows, hence over shards in any
order that does not depend on what they hold: only the average is taken at the end.

Theorem: the null holds with τ = 0 for every lossless verifier, of blocks and trees too, although which rows a block
reaches depends on its drafts. Proof: completed by the target, a block has the target's joint law,
P(x, y) = t(x) t(y | x). Where row |x| is not reached, the target itself completes: P(not reached, x, y) =
P(not reached, x) t(y | x). The difference is P(reached, x, y) = P(reached, x) t(y | x).

Source: bets on changing contexts, Ville 1939; Waudby-Smith and Ramdas 2024 (betting).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.kernels import kernel

STAKES = np.array([63 / 64 * 2.0**-step for step in range(13)])
"""Shares of the wealth that are bet: a mean of size m and variance v is found at rate m²/2v by the stake m/v."""

_FLUSH = 32
"""Rows after which wealths are turned into logs: 64^−32 is still far from underflow."""


def log_wealths(s: np.ndarray[Any, Any], tolerance: float, checks: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the log wealth [checks, features, stakes, 2] after so many rows of S [n, features], from 1 before.

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


@kernel(nogil=True)
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
            up, down = np.float64(s[unit, f]) - tolerance, -np.float64(s[unit, f]) - tolerance
            for j in range(len(stakes)):
                wealth[f, j, 0] *= 1.0 + stakes[j] * up
                wealth[f, j, 1] *= 1.0 + stakes[j] * down
