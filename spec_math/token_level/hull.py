"""The plan in hull form: one uniform u gives the pools, as the edges of a lower convex hull; nothing is stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.arrays import is_exact
from spec_math.kernels import kernel
from spec_math.token_level.prefix_law import PrefixLaw
from spec_math.token_level.ratio_order import RatioOrder
from spec_math.token_level.selection import gains, in_units, selection_ratios


def pools(order: RatioOrder, law: PrefixLaw, u: Any) -> np.ndarray[Any, Any]:
    """Return the knots of the pools at u in [0, 1), ascending, 0 and n included.

    Pool j holds the tokens from knots[j] to before knots[j + 1] of the ratio order.
    The law: over a uniform u, the pool rule at these knots selects a token with the law c of `selection_ratios`. They
    are the vertices of the lower convex hull of the points (P_i, C_i − u·g_i), i = 0..n, found by pooling adjacent
    violators of c/d − u·(slope of g) with weights d. O(n) from the ratio order; the mixture of `knot_mixture` sorts
    the same knots by the u at which they leave.
    On floats the law of the selected token is c up to rounding only, so that a test against c is lossless only to
    that; a `Plan` knows the law of its own pools.

    Raises:
        ValueError: u lies outside [0, 1).

    >>> from fractions import Fraction
    >>> from spec_math.arrays import exact
    >>> from spec_math.token_level import prefix_law, ratio_order
    >>> order = ratio_order.ratio_order(exact(["1/4", "3/4"]), exact(["1/2", "1/2"]))
    >>> law = prefix_law.independent(order, 2)
    >>> [pools(order, law, u).tolist() for u in (Fraction(0), Fraction(1, 2), Fraction(9, 10))]
    [[0, 1, 2], [0, 1, 2], [0, 1, 2]]
    """
    if not 0 <= u < 1:
        raise ValueError(f"u is a uniform in [0, 1); got {u!r}")
    draft = order.draft
    values = selection_ratios(order, law) - u * in_units(gains(order, law), draft)
    return (_knots if is_exact(draft) else _fast_knots)(values, draft.copy())


def pool(order: RatioOrder, law: PrefixLaw, u: Any, place: int) -> tuple[int, int]:
    """Return the pool [low, high) at u of the token at `place` in 0..n−1 of the ratio order.

    >>> from fractions import Fraction
    >>> from spec_math.arrays import exact
    >>> from spec_math.token_level import prefix_law, ratio_order
    >>> order = ratio_order.ratio_order(exact(["1/2", "1/2"]), exact(["1/2", "1/2"]))
    >>> pool(order, prefix_law.independent(order, 2), Fraction(1, 2), 1)
    (0, 2)
    """
    knots = pools(order, law, u)
    at = int(np.searchsorted(knots, place, side="right"))
    return int(knots[at - 1]), int(knots[at])


def _knots(values: Any, widths: Any) -> Any:
    """Pool adjacent violators: merge while a mean is no more than the one before it. Writes into both arrays."""
    n = len(values)
    knots = np.empty(n + 1, np.int64)
    knots[0] = 0
    size = 0
    for token in range(n):
        value, width = values[token], widths[token]
        while size > 0 and values[size - 1] >= value:
            size -= 1
            total = widths[size] + width
            value += (widths[size] / total) * (values[size] - value)
            width = total
        values[size], widths[size] = value, width
        size += 1
        knots[size] = token + 1
    return knots[: size + 1]


_fast_knots = kernel(_knots)
