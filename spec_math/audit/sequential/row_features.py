"""The features of one drawn token from its rows of masses, in two passes over the vocabulary: compiled for streams."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from spec_math.audit.sequential.features import CLIP
from spec_math.kernels import inner_kernel, kernel

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
    favourite = _first_best(draft)
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


@inner_kernel
def _first_best(row: Any) -> int:
    best = 0
    for i in range(row.shape[0]):
        if row[i] > row[best]:
            best = i
    return best


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
