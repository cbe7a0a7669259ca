"""The prefixes of a node's order, and its selection token by token: what `node_selection` is held to."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import zeros_like
from spec_math.block_level.priority_law import PriorityLaw
from spec_math.token_level.optimum.prefix_law import PrefixLaw
from spec_math.token_level.optimum.ratio_order import RatioOrder


def token_by_token(order: RatioOrder, weight: Any, priority: PriorityLaw, k: int) -> tuple[list[Any], list[Any]]:
    """The ratios c/d and the gains of `node_selection` on Fractions, by passes over the tokens."""
    slopes = priority.slopes(order.draft_below[1:], k) / priority.mean_power(k)
    gains = [slope * mass for slope, mass in zip(slopes, order.draft, strict=True)]
    below, above = weight * order.target_below, weight * order.target_above + (1 - weight)
    lost = max(sum(gains[:place], Fraction(0)) - below[place] for place in range(len(gains) + 1))
    ratios = [weight * t / d for t, d in zip(order.target, order.draft, strict=True)]
    raised = sum(r * p < t + lost for r, p, t in zip(ratios, order.draft_below, below, strict=False))
    kept = sum(r * p <= t - lost for r, p, t in zip(ratios, order.draft_above[1:], above[1:], strict=True))
    low = (below[raised] + lost) / order.draft_below[raised] if raised else 0
    high = (above[kept] - lost) / order.draft_above[kept] if kept < len(ratios) else max(ratios[-1], low)
    return [min(max(ratio, low), high) for ratio in ratios], gains


def prefix_law(priority: PriorityLaw, order: RatioOrder, k: int) -> PrefixLaw:
    """The law of the prefixes of an order below a node of this priority: Φ_v/Z_v where one position has x^k."""
    slopes = priority.slopes(order.draft_below[1:], k) / priority.mean_power(k)
    gains, zero = slopes * order.draft, zeros_like(slopes[:1])
    inside, outside = np.concatenate([zero, np.cumsum(gains)]), np.concatenate([np.cumsum(gains[::-1])[::-1], zero])
    return PrefixLaw(inside, outside, slopes)
