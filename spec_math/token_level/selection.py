"""The selection law of the optimal plan: which draft to put forward, with which probability, before it is tested."""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.arrays import Array, is_exact
from spec_math.token_level.prefix_law import PrefixLaw
from spec_math.token_level.ratio_order import RatioOrder

UNIT = 2.0**-100
"""Floats keep masses divided by draft masses in units of 2^100: with draft masses down to 2^-1074 none overflows."""


def deficit(order: RatioOrder, law: PrefixLaw) -> Any:
    """Return D = max_i (g_i − T_i), the probability that no coupling can save: the optimum is 1 − D.

    The maximum over all sets of tokens is one over prefixes of the ratio order.

    >>> from spec_math.arrays import exact
    >>> from spec_math.token_level import prefix_law, ratio_order
    >>> order = ratio_order.ratio_order(exact(["1/4", "3/4"]), exact(["1/2", "1/2"]))
    >>> deficit(order, prefix_law.independent(order, 2))
    Fraction(0, 1)
    """
    return (law.inside - order.target_below).max()


def selection_ratios(order: RatioOrder, law: PrefixLaw) -> Array:
    """Return c/d for the tokens of a ratio order, [n] ascending; on floats in units of 2^100.

    The law: c = d·clip(t/d, μ, λ), with μ such that the tokens below it gain D in all, and λ such that those above it
    lose, with the target mass where d = 0, D in all. Then Σ c = 1 and Σ (t − c)+ = D, over all tokens. The cumulative
    law of c is the greatest convex function through (0, 0) and (1, 1) below all points (P_i, T_i + D), and never
    below g. Where D = 0 it is t itself, and d for k = 1 and D > 0.

    >>> from spec_math.arrays import exact
    >>> from spec_math.token_level import prefix_law, ratio_order
    >>> order = ratio_order.ratio_order(exact([0, 1]), exact(["1/2", "1/2"]))
    >>> selection_ratios(order, prefix_law.independent(order, 2)).tolist()
    [Fraction(1, 2), Fraction(3, 2)]
    """
    unit, ratios = unit_of(order.draft), in_units(order.target, order.draft)
    lost = deficit(order, law)
    # Token i is raised if lifting all tokens before it to its own ratio, r_i P_i − T_i, gains less than D, and lowered
    # if bringing all after it down to its ratio, 1 − T_{i+1} − r_i (1 − P_{i+1}), loses less. Both are monotone in i.
    raised = np.count_nonzero(ratios * order.draft_below[:-1] < (order.target_below[:-1] + lost) * unit)
    kept = np.count_nonzero(ratios * order.draft_above[1:] <= (order.target_above[1:] - lost) * unit)
    if raised > 0:
        least = (order.target_below[raised] + lost) * unit / order.draft_below[raised]
        # Where a rounding error would put a bound beyond the last ratio that it moves, that ratio is the bound.
        ratios = np.maximum(ratios, max(least, ratios[raised - 1]))
    if kept < len(order):
        most = (order.target_above[kept] - lost) * unit / order.draft_above[kept]
        ratios = np.minimum(ratios, max(most, ratios[kept - 1]) if kept > 0 else most)
    return ratios


def in_units(tops: Array, draft: Array) -> Array:
    """Return tops/draft, [n]; on floats in units of 2^100.

    >>> in_units(np.array([0.25, 2.0**-1074]), np.array([0.5, 2.0**-1074])) * 2.0**100
    array([0.5, 1. ])
    """
    return tops / draft if is_exact(draft) else tops / (draft / UNIT)


def unit_of(masses: Array) -> Any:
    """Return the unit that ratios of these masses are kept in: 2^100 on floats, 1 on Fractions, as a factor.

    >>> from spec_math.arrays import exact
    >>> unit_of(exact(["1/2"]))
    1
    """
    return 1 if is_exact(masses) else UNIT


def gains(order: RatioOrder, law: PrefixLaw) -> Array:
    """Return g_{i+1} − g_i, [n], from the slopes; on floats a difference only where the slope overflows.

    That takes a draft mass below 2^-1020 that gains more than 2^-51, next to which a rounding of g is small.

    >>> from spec_math.arrays import exact
    >>> from spec_math.token_level import prefix_law, ratio_order
    >>> order = ratio_order.ratio_order(exact([0, 1]), exact(["1/2", "1/2"]))
    >>> gains(order, prefix_law.independent(order, 2)).tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    """
    if is_exact(law.slopes):
        return law.slopes * order.draft
    finite = np.isfinite(law.slopes)
    if finite.all():
        return law.slopes * order.draft
    return np.where(finite, np.where(finite, law.slopes, 0.0) * order.draft, np.diff(law.inside))
