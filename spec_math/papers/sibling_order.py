"""In which order the drafted children of a node are tried: as they were drafted, or by what may follow them.

Source: our own; the walk is that of `block_level.univer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.selected_chain import in_numpy
from spec_math.distribution import capped_ratio, descending_rank
from spec_math.scheme import Tokens
from spec_math.token_level.without_replacement import without


def by_what_follows(
    laws: Conditionals, paths: Sequence[Tokens], shares: Sequence[Any], widths: Sequence[int]
) -> Sequence[int]:
    """Return an order of the children in which no exchange of two neighbours keeps more of the next level.

    A child tried with s left of the node keeps s `kept_below(p/s)` of its own children, p its share, and leaves s − p:
    what is concave there loses by a place further back. Neighbours of the drafted order change places while that gains,
    so that no order is worse by this measure than the drafted one, and of two children the better one is taken.

    >>> laws = Conditionals(lambda path: [1, 0] if path else ["1/2"] * 2, lambda path: [1, 0] if path == (0,) else
    ...     ["1/2"] * 2, ())
    >>> by_what_follows(laws, [(0,), (1,)], [laws.target()[0]] * 2, [1, 1])
    [1, 0]
    """
    zero = shares[0] - shares[0]

    def kept(place: int, left: Any) -> Any:
        if widths[place] == 0 or not left > 0:
            return zero
        return left * kept_below(laws, paths[place], capped_ratio(shares[place], left), widths[place])

    order, at, left = list(range(len(paths))), 0, [in_numpy(laws.target()).sum() * 0 + 1]
    while at < len(order) - 1:
        first, second = order[at], order[at + 1]
        now = kept(first, left[at]) + kept(second, left[at] - shares[first])
        other = kept(second, left[at]) + kept(first, left[at] - shares[second])
        if other > now:
            order[at : at + 2] = second, first
            at = max(at - 1, 0)
            left = left[: at + 1]
        else:
            left = [*left[: at + 1], left[at] - shares[first]]
            at += 1
    return order


def kept_below(laws: Conditionals, path: Tokens, weight: Any, width: int) -> Any:
    """Return w t(Top) + Σ min(d', w t) outside Top, what a node of weight w keeps of `width` greedy drafts.

    >>> laws = Conditionals(lambda _: ["1/4", "3/4"], lambda _: ["1/2", "1/2"], ())
    >>> kept_below(laws, (), laws.target()[1], 1)
    Fraction(11, 16)
    """
    t, d = weight * in_numpy(laws.target(path)), in_numpy(laws.draft(path))
    top = np.flatnonzero(descending_rank(d) < min(width, int((d > 0).sum())) - 1).tolist()
    rest = without(d, top)
    return np.minimum(t, rest).sum() + (t[top].sum() if top else 0)
