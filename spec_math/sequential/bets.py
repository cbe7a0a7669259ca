"""Bets on the features of a token, and on bugs' likelihood ratios, that are computed from its two rows alone."""

# ruff: noqa: PLR0913 - numba kernels take their arrays one by one
from __future__ import annotations

import math
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.kernels import inner_kernel, kernel
from spec_math.sequential.bank import BUGS
from spec_math.sequential.evidence import log_shares

STAKES: tuple[float, ...] = tuple(2.0**-power for power in range(10))
"""λ·(1 + τ), halved from 1 on. A gap g in a feature's mean is best met by λ near g over the feature's variance; at a
factor √2 beside it a sixth of the growth is lost."""

FAR = 2.0**64
"""Products are kept on the ordinary scale between 1/FAR and FAR of where their logs were last taken."""


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
    return log_shares(2 * len(FEATURES) * len(STAKES), len(CONTEXT_BUGS) if bank else 0)


@kernel
def rescale(weights: Any, logs: Any, scaled: Any) -> float:
    """Write weight · exp(log) [N], the largest made 1, and return the log of the largest.

    >>> scaled = np.empty(2)
    >>> rescale(np.zeros(2), np.array([1000.0, -np.inf]), scaled), scaled.tolist()
    (1000.0, [1.0, 0.0])
    """
    top = (weights + logs).max()
    for j in range(weights.shape[0]):
        scaled[j] = math.exp(weights[j] + logs[j] - top)
    return top


@kernel(error_model="numpy")
def fold(logs: Any, products: Any) -> None:
    """Move products [N] into their logs [N], and make them 1.

    >>> logs, products = np.zeros(2), np.array([1.0, 0.0])
    >>> fold(logs, products)
    >>> logs.tolist(), products.tolist()
    ([0.0, -inf], [1.0, 1.0])
    """
    for j in range(logs.shape[0]):
        logs[j] += math.log(products[j]) if products[j] > 0.0 else -math.inf
        products[j] = 1.0


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
        if least * FAR < 1.0 or largest > FAR:
            peak = max(peak, top + math.log(most)) if most > 0.0 else peak
            fold(logs, products)
            top = rescale(weights, logs, scaled)
            goal = math.exp(min(threshold - top, 700.0))
            most = 0.0
    peak = max(peak, top + math.log(most)) if most > 0.0 else peak
    fold(logs, products)
    return peak, first


CLIP = 4
"""Ratios beyond it count as it, and so does a ratio to 0."""

FEATURES = ("t > d", "top 1", "top 4", "t/d to 4", "d/t to 4", "d/t to 1", "acceptance deficit")
"""The features of a token by name, numbers in [0, 1].

They are 1 where t > d, where the token is the target's best one, and where it is among its best four; t/d and d/t up to
`CLIP`, divided by it; min(1, d/t); 1 − min(1, t/d). The bet on "d/t to 1" at full stake, 1 + min(1, d/t) − Σ min(t, d),
is the likelihood ratio of M11 itself.
"""

CONTEXT_BUGS = tuple(bug for bug in BUGS if bug.sums)
"""Bugs whose likelihood ratio at a token needs a few sums over the vocabulary: cheap enough for every draw."""


CONSTANT, NOT_FINITE, NO_MASS, IMPOSSIBLE = 0, 1, 2, 3
"""What a row may turn out to be: fine; masses that are NaN, infinite or negative; no mass; the token has none."""

_clip = float(CLIP)


@kernel(error_model="numpy")
def features_at(target: Any, draft: Any, token: int, bets: Any, ratios: Any) -> int:
    """Write the centred features [F] and the bugs' likelihood ratios [B] of a token; return what the rows are.

    Rows [V] hold masses, not yet divided by their sums; sums are taken in float64. `bets` are `features.FEATURES` less
    their means under the target t, so that a bet 1 ± λ·bet has mean 1 under it; `ratios` are a/t for the law a of each
    of `features.CONTEXT_BUGS`. Both are off by (V + 16)·2^-53 times a few.

    >>> bets, ratios = np.empty(7), np.empty(6)
    >>> features_at(np.array([1.0, 3.0]), np.array([1.0, 1.0]), 0, bets, ratios)
    0
    >>> bets[0].item(), ratios[1].item()
    (-0.75, 2.0)
    """
    sum_t, sum_d = _sums(target, draft)
    if not (math.isfinite(sum_t) and math.isfinite(sum_d)):
        return NOT_FINITE
    if sum_t <= 0.0 or sum_d <= 0.0:
        return NO_MASS
    scale_t, scale_d = 1.0 / sum_t, 1.0 / sum_d
    if not target[token] > 0.0:
        return IMPOSSIBLE
    best = np.empty(4, dtype=np.int64)
    found = _best(target, best)
    favourite = np.argmax(draft)
    common, excess, product, product_common, twice, above, quotient, quotient_4, deficit = _moments(
        target, draft, scale_t, scale_d
    )
    t, d = target[token] * scale_t, draft[token] * scale_d
    largest = target[best[0]] * scale_t
    of_four, in_four = 0.0, 0.0
    for i in range(found):
        of_four += target[best[i]] * scale_t
        if best[i] == token:
            in_four = 1.0
    bets[0] = (1.0 if t > d else 0.0) - above
    bets[1] = (1.0 if best[0] == token else 0.0) - largest
    bets[2] = in_four - of_four
    bets[3] = (min(t / d, _clip) / _clip if d > 0.0 else 1.0) - quotient
    bets[4] = min(d / t, _clip) / _clip - quotient_4
    bets[5] = min(d / t, 1.0) - common
    bets[6] = (max(1.0 - t / d, 0.0) if d > 0.0 else 0.0) - deficit
    # The residual over t, for the draws that a bug rejects: divided by its own sum, as 1 - common is all rounding
    # where the laws are close. Where they are equal it is the target itself.
    left = 1.0 - common
    rest = max(t - d, 0.0) / (t * excess) if excess > 0.0 else 1.0
    accepted = min(t / d, 1.0) if d > 0.0 else 1.0
    kept = min(target[favourite] * scale_t / (draft[favourite] * scale_d), 1.0)
    ratios[0] = (kept / t if token == favourite else 0.0) + (1.0 - kept) * rest
    ratios[1] = d / t
    ratios[2] = min(1.0, d / t) + left
    ratios[3] = d / largest + (1.0 - product / largest) * rest
    ratios[4] = d * (t + (1.0 - t) * accepted) / t + (1.0 - product - common + product_common) * rest
    ratios[5] = min(2.0, d / t) + (1.0 - twice) * rest
    return CONSTANT


@inner_kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def _sums(target: Any, draft: Any) -> tuple[float, float]:
    sum_t, sum_d, worst = 0.0, 0.0, 0.0
    for i in range(target.shape[0]):
        sum_t += target[i]
        sum_d += draft[i]
        worst = min(worst, min(target[i], draft[i]))
    if worst < 0.0:
        return math.nan, math.nan
    return sum_t, sum_d


@inner_kernel
def _best(row: Any, best: Any) -> int:
    """Write the indices of the largest four masses, in descending order, lowest index first among equals."""
    found = 0
    least = -1.0
    for i in range(row.shape[0]):
        if row[i] <= least and found == best.shape[0]:
            continue
        place = min(found, best.shape[0] - 1)
        while place > 0 and row[best[place - 1]] < row[i]:
            best[place] = best[place - 1]
            place -= 1
        best[place] = i
        found = min(found + 1, best.shape[0])
        least = row[best[found - 1]]
    return found


@inner_kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def _moments(target: Any, draft: Any, scale_t: float, scale_d: float) -> Any:
    common, excess, product, product_common, twice = 0.0, 0.0, 0.0, 0.0, 0.0
    above, quotient, quotient_4, deficit = 0.0, 0.0, 0.0, 0.0
    for i in range(target.shape[0]):
        t, d = target[i] * scale_t, draft[i] * scale_d
        least = min(t, d)
        common += least
        excess += t - least
        product += t * d
        product_common += t * least
        twice += min(2.0 * t, d)
        above += t if t > d else 0.0
        quotient_4 += min(d, _clip * t)
        # t/d is clipped: where d is 0 or t/d beyond the clip, t counts in full, and else t·t/d.
        inside = t < _clip * d
        over = t * (t / d if inside else _clip)
        quotient += over
        deficit += t * (1.0 - t / d) if t < d else 0.0
    return common, excess, product, product_common, twice, above, quotient / _clip, quotient_4 / _clip, deficit
