"""Every scheme's answers at one gathered position: kernels one by one, and one kernel of all where many rows come."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from spec_math.kernels import Delayed, kernel
from spec_math.token_level.bucketed_optimum import ends_below, ends_of, optimum_of, optimum_or_nan
from spec_math.token_level.excess_profile import gamma_of, none_of
from spec_math.token_level.favourites import FAR, compiled_outside_top, drawn, outside_top
from spec_math.token_level.ratio_buckets import excess_of
from spec_math.token_level.rejection_walk import STEPWISE, rejections


def answer(ks: Any, laws: Any, favourites: Any, sums: Any, gathered: Any, found: Any) -> None:
    """Fill what a gathered pair answers: two arrays, overall [3], and by k [5, len(ks)].

    Overall: the overlap, the target's mass of the draft's favourite, Σ t·d. By k: K-SEQ, the optimum, t(Top), the test
    of a greedy draft, and that all tests of recursive rejection reject. `laws` are target and draft [V], `sums` theirs,
    Σ t·d before division, and the draft's sum outside the favourites.

    >>> from spec_math.token_level.ratio_buckets import buckets_of, gather
    >>> laws = np.array([0.25, 0.75]), np.array([0.5, 0.5])
    >>> gathered = gather(*laws, 1.0, 1.0, buckets_of(2))
    >>> found = np.empty(3), np.empty((5, 1))
    >>> answer(np.array([1]), laws, np.array([0]), (1.0, 1.0, 0.5, 0.5), gathered, found)
    >>> found[0].tolist(), found[1][0].tolist()
    ([0.75, 0.25, 0.5], [0.75])
    """
    if _delayed(ks, laws, favourites, sums, gathered, found):
        _fill_left(ks, laws, favourites, sums, gathered, found[1])


@register_jitable
def _overall(laws: Any, favourites: Any, sums: Any, gathered: Any, overall: Any) -> None:
    target, _ = laws
    overall[0] = 1.0 - excess_of(1.0, gathered)
    overall[1] = target[favourites[0]] / sums[0]
    overall[2] = sums[2] / sums[0] / sums[1]


@kernel
def _at_once(ks: Any, laws: Any, favourites: Any, sums: Any, gathered: Any, found: Any) -> bool:
    """Fill the answers; say whether some are left, which are NaN: they take a sort, or go token by token."""
    target, draft = laws
    overall, by_k = found
    total_t, total_d, _, rest = sums
    _overall(laws, favourites, sums, gathered, overall)
    ends = ends_of(gathered[1])
    scale, rejected, done, is_left = 0.0, 1.0, 0, False
    for j in range(len(ks)):
        k = ks[j]
        while done < min(k, STEPWISE):
            scale += rejected
            rejected = excess_of(scale, gathered)
            done += 1
        by_k[4, j] = rejected if k <= STEPWISE else np.nan
        gamma = gamma_of(k, gathered)
        by_k[0, j] = 1.0 - none_of((1.0 - excess_of(gamma, gathered)) / gamma, k)
        # With one draft the optimum is the overlap.
        by_k[1, j] = overall[0] if k == 1 else optimum_or_nan(k, gathered, ends)
        outside, _, by_k[2, j], clipped = compiled_outside_top(k, target, draft, favourites, rest, total_t)
        by_k[3, j] = 1.0 - excess_of(total_d / outside, gathered) - clipped if total_d < FAR * outside else np.nan
        is_left = is_left or np.isnan(by_k[1, j]) or np.isnan(by_k[3, j]) or np.isnan(by_k[4, j])
    return is_left


def _one_by_one(ks: Any, laws: Any, favourites: Any, sums: Any, gathered: Any, found: Any) -> bool:
    """Fill what small kernels answer, each compiled soon, and leave the optimum and the rejections."""
    target, draft = laws
    overall, by_k = found
    total_t, total_d, _, rest = sums
    _overall(laws, favourites, sums, gathered, overall)
    by_k[1], by_k[3], by_k[4] = np.where(ks == 1, overall[0], np.nan), np.nan, np.nan
    for j, k in enumerate(ks.tolist()):
        gamma = gamma_of(k, gathered)
        by_k[0, j] = 1.0 - none_of((1.0 - excess_of(gamma, gathered)) / gamma, k)
        outside, _, by_k[2, j], clipped = outside_top(k, target, draft, favourites, rest, total_t)
        if total_d < FAR * outside:
            by_k[3, j] = 1.0 - excess_of(total_d / outside, gathered) - clipped
    return True


_delayed = Delayed(_at_once, _one_by_one, calls=6000)


def _fill_left(ks: Any, laws: Any, favourites: Any, sums: Any, gathered: Any, by_k: Any) -> None:
    target, draft = laws
    total_t, _, _, rest = sums
    unknown = np.isnan(by_k)
    if unknown[4].any():
        rejections(ks, gathered, by_k[4])
    ends = ends_below(gathered) if unknown[1].any() else None
    for j, k in enumerate(ks.tolist()):
        if unknown[1, j]:
            by_k[1, j] = optimum_of(k, gathered, ends)
        if unknown[3, j]:
            outside, fixed, _, _ = outside_top(k, target, draft, favourites, rest, total_t)
            by_k[3, j] = drawn(target, draft, favourites[:fixed], total_t, outside)
