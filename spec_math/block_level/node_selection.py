"""What a node makes of its tokens, in passes over them: how they are selected, and what Φ gains over each.

It is `selection.selection_ratios` for the target w·t and for Φ in place of x^k; on Fractions as it stands, on floats
compiled.

Source: worked out here.
"""

from __future__ import annotations

from typing import Any

from spec_math.arrays import Array, is_exact, zeros_like
from spec_math.block_level.priority_law import PriorityLaw
from spec_math.kernels import kernel
from spec_math.token_level.optimum.ratio_order import RatioOrder, unit_of


def node_selection(order: RatioOrder, weight: Any, priority: PriorityLaw, k: int) -> tuple[Array, Array]:
    """Return c/d [n], in the unit of `selection_ratios`, and what Φ/Z gains [n], for the tokens of an order.

    The law: Φ(p) = ∫_0^p k F^{-1}(q)^(k−1) dq for a priority of the law F, Z = Φ(1), and the target is weight·t, what
    is left of 1 being that of a token never drafted.

    >>> from spec_math.arrays import exact
    >>> from spec_math.block_level.priority_law import uniform
    >>> from spec_math.token_level.optimum.ratio_order import ratio_order
    >>> order = ratio_order(exact(["1/4", "3/4"]), exact(["1/2", "1/2"]))
    >>> ratios, gains = node_selection(order, 1, uniform(exact([1])), 2)
    >>> ratios.tolist(), gains.tolist()
    ([Fraction(1, 2), Fraction(3, 2)], [Fraction(1, 4), Fraction(3, 4)])
    """
    ratios, gains = zeros_like(order.draft), priority.slopes(order.draft_below[1:], k)
    drafts = order.draft, order.draft_below, order.draft_above
    targets = order.target, order.target_below, order.target_above
    fill = _fill if is_exact(ratios) else _fast_fill
    fill(drafts, targets, (weight, unit_of(ratios)), gains, ratios)
    return ratios, gains


def _fill(drafts: Any, targets: Any, scales: Any, gains: Any, ratios: Any) -> None:
    """Turn the slopes in `gains` into what is gained, and fill the ratios."""
    (draft, draft_below, draft_above), (target, below, above), (weight, unit) = drafts, targets, scales
    many, one = len(draft), draft[0] / draft[0]
    total = one - one
    for token in range(many):
        gains[token] = gains[token] * draft[token]
        total = total + gains[token]
    inside, lost = one - one, one - one
    for token in range(many):
        gains[token] = gains[token] / total
        inside = inside + gains[token]
        lost = max(lost, inside - weight * below[token + 1])
        ratios[token] = weight * target[token] / (draft[token] / unit)
    raised, kept = 0, 0
    for token in range(many):
        if ratios[token] * draft_below[token] < (weight * below[token] + lost) * unit:
            raised += 1
        if ratios[token] * draft_above[token + 1] <= (weight * above[token + 1] + (one - weight) - lost) * unit:
            kept += 1
    # Where a rounding error would put a bound beyond the last ratio that it moves, that ratio is the bound.
    if raised > 0:
        least = max((weight * below[raised] + lost) * unit / draft_below[raised], ratios[raised - 1])
        for token in range(many):
            ratios[token] = max(ratios[token], least)
    if kept < many:
        most = (weight * above[kept] + (one - weight) - lost) * unit / draft_above[kept]
        if kept > 0:
            most = max(most, ratios[kept - 1])
        for token in range(many):
            ratios[token] = min(ratios[token], most)


_fast_fill = kernel(_fill)
