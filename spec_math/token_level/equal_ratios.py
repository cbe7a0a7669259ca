"""Tokens of equal ratios t/d as one: what is convex in the draft mass has no kink between them, so no plan parts them.

Models that back off to a common law give most tokens of a large vocabulary one of a few ratios.

Source: our own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spec_math.arrays import Array, is_exact
from spec_math.kernels import kernel
from spec_math.token_level.ratio_order import RatioOrder
from spec_math.token_level.selection import UNIT, in_units, unit_of

NEAR = 2.0**-45
"""Neighbours whose float ratios differ by no more of themselves are joined: some roundings of sums of many masses."""


@dataclass(frozen=True, eq=False)
class Joined:
    """A ratio order with its tokens joined where ratios are equal: the order of the m classes, `tokens` their numbers.

    `place` [V] is the class of each token, −1 where it is never drafted; `whole` is the order of the n tokens.
    """

    order: RatioOrder
    place: np.ndarray[Any, Any]
    whole: RatioOrder

    def spread(self, masses: Array, row: Array) -> None:
        """Write the masses [m] of the classes into a row [V], each in proportion to the draft's within its class.

        >>> from spec_math.token_level.ratio_order import ratio_order
        >>> row = np.zeros(3)
        >>> joined(ratio_order(np.array([0.5, 0.25, 0.25]), np.full(3, 1 / 3)), 3).spread(np.array([0.5, 0.5]), row)
        >>> row.tolist()
        [0.5, 0.25, 0.25]
        """
        if self.order is not self.whole:
            heights = in_units(masses, self.order.draft)[self.place[self.whole.tokens]]
            masses = heights * (self.whole.draft / unit_of(heights))
        row[self.whole.tokens] = masses


def joined(order: RatioOrder, size: int) -> Joined:
    """Join the tokens of a ratio order over V = size tokens; Fractions are left as they are.

    In floats a class joins ratios that differ by 2^-45 from one to the next at most, so that n tokens which it takes
    for equal differ by a relative n·2^-45: what is planned for classes gains as much less than what is planned for
    tokens.

    >>> from spec_math.token_level.ratio_order import ratio_order
    >>> joined(ratio_order(np.array([0.5, 0.25, 0.25]), np.full(3, 1 / 3)), 3).place.tolist()
    [1, 0, 0]
    """
    place = np.full(size, -1)
    if is_exact(order.draft):
        place[order.tokens] = np.arange(len(order))
        return Joined(order, place, order)
    edges = np.empty(len(order) + 1, np.int64)
    number = _classes(order.tokens, order.target, order.draft, place, edges)
    if number == len(order):
        return Joined(order, place, order)
    starts, edges = edges[:number], edges[: number + 1]
    sums = (np.add.reduceat(masses, starts) for masses in (order.target, order.draft))
    below_and_above = (order.target_below, order.draft_below, order.target_above, order.draft_above)
    classes = RatioOrder(np.arange(len(starts)), *sums, *(prefixes[edges] for prefixes in below_and_above))
    return Joined(classes, place, order)


@kernel
def _classes(tokens: Any, target: Any, draft: Any, place: Any, edges: Any) -> int:
    """Number the classes: the class of each token, and where each begins in the order; return how many there are."""
    number, last = 0, 0.0
    for at in range(len(tokens)):
        ratio = target[at] / (draft[at] / UNIT)
        if at == 0 or ratio > last * (1 + NEAR):
            edges[number] = at
            number += 1
        place[tokens[at]], last = number - 1, ratio
    edges[number] = len(tokens)
    return number
