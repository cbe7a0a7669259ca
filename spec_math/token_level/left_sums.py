"""How much of a batch of target laws a multiple of draft laws leaves: one pass over each row, nothing stored.

Source: worked out here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.array_coin import ArrayCoin
from spec_math.arrays import Array, array_namespace, is_exact, zeros_like
from spec_math.kernels import inner_kernel, kernel
from spec_math.token_level import hull_edge
from spec_math.token_level.array_drafts import left_over, without_tokens


def sums_left(
    coin: ArrayCoin, laws: tuple[Array, Array], factor: Array, without: Array | None = None, where: Array | None = None
) -> Array:
    """Return Σ (t − factor·d)+, [B], over all tokens but those of `without` [B, m]; −1 there stands for no token.

    `laws` are t and d, [B, V] each, the factor [B]. Outside `where` [B] the sums mean nothing. On the host floats are
    summed in float64, a row at a time and only within `where`; elsewhere as the coin sums the rows that are left.

    >>> from spec_math.arrays import exact
    >>> coin, laws = ArrayCoin(exact([[0]])), (exact([["1/4", "3/4"]]), exact([["1/2", "1/2"]]))
    >>> sums_left(coin, laws, exact([1])).tolist(), sums_left(coin, laws, exact([0]), np.array([[1]])).tolist()
    ([Fraction(1, 4)], [Fraction(1, 4)])
    """
    target, draft = laws
    if not is_host(target):
        left = left_over(target, draft, factor)
        return coin.total(left if without is None else without_tokens(left, without))
    found = zeros_like(factor)
    rows = np.arange(len(target))
    if where is not None:
        (rows,) = hull_edge.in_numpy(array_namespace(where).nonzero(where)[0])
    gone = np.empty((len(target), 0), dtype=np.int64) if without is None else hull_edge.in_numpy(without)[0]
    given = (*hull_edge.in_numpy(target, draft, factor), gone, rows)
    _fill(*(np.ascontiguousarray(each) for each in given), *hull_edge.in_numpy(found))
    return found


def is_host(rows: Array) -> bool:
    """Say whether rows are floats that may be looked at on the host.

    >>> is_host(np.zeros((1, 1)))
    True
    """
    return not is_exact(rows) and hull_edge.on_host(rows)


@kernel
def _fill(target: Any, draft: Any, factor: Any, gone: Any, rows: Any, found: Any) -> None:
    size = target.shape[1]
    for row in rows:
        total, start = 0.0, 0
        while start < size:
            stop = size
            for token in gone[row]:
                if start <= token < stop:
                    stop = token
            total += _left(target[row, start:stop], draft[row, start:stop], factor[row])
            start = stop + 1
        found[row] = total


# Sums in any order become vector instructions, in loops of their own.
@inner_kernel(fastmath={"reassoc", "contract"})
def _left(target: Any, draft: Any, factor: float) -> float:
    total = 0.0
    for i in range(target.shape[0]):
        left = np.float64(target[i]) - factor * np.float64(draft[i])
        total += left if left > 0.0 else 0.0
    return total
