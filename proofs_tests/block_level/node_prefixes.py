"""The prefixes of a node's order as arrays: what the passes of `node_selection` are held to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from spec_math.arrays import zeros_like
from spec_math.block_level.priority_law import PriorityLaw
from spec_math.token_level.optimum.prefix_law import PrefixLaw
from spec_math.token_level.optimum.ratio_order import RatioOrder


def weighted(order: RatioOrder, weight: Any) -> RatioOrder:
    """The order with the target weight·t; what is left of 1 belongs to a token that is never drafted."""
    above = weight * order.target_above + (1 - weight)
    return replace(order, target=weight * order.target, target_below=weight * order.target_below, target_above=above)


def prefix_law(priority: PriorityLaw, order: RatioOrder, k: int) -> PrefixLaw:
    """The law of the prefixes of an order below a node of this priority: Φ_v/Z_v where one position has x^k."""
    slopes = priority.slopes(order.draft_below[1:], k) / priority.mean_power(k)
    gains, zero = slopes * order.draft, zeros_like(slopes[:1])
    inside, outside = np.concatenate([zero, np.cumsum(gains)]), np.concatenate([np.cumsum(gains[::-1])[::-1], zero])
    return PrefixLaw(inside, outside, slopes)
