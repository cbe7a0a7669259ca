"""Where the answers of a kernel change as one of its numbers grows, for many requests at once, from a first guess."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Below = Callable[[Whole, Whole], NDArray[np.bool_]]
"""From rows and as many numbers k, one a row, to whether each k is still below its row's cut."""

FARTHEST = 32
"""The last step away from a guess; beyond it the whole range is bisected."""


def cuts(below: Below, guesses: Whole, size: int) -> Whole:
    """Find for each row the least k in 0..size that is not below its cut, asking only k < size.

    A row starts at its guess, goes away from it in doubling steps until the cut is bracketed or the guess is given up,
    and bisects. A right guess costs two questions, a wrong one at most 7 more than bisecting from the start; the cut
    found does not depend on it. Rows are taken to be monotone: the two numbers on either side of the cut are asked, and
    no change far from them is seen.

    >>> cuts(lambda rows, k: k < 1 + 5 * rows, np.array([0, 6, 2]), 8).tolist()
    [1, 6, 8]
    """
    low, high = np.full(len(guesses), -1, dtype=np.int64), np.full(len(guesses), size, dtype=np.int64)
    step = 1
    asked = np.clip(guesses - 1, 0, size - 1)
    while len(rows := np.flatnonzero(high - low > 1)):
        k = asked[rows]
        yes = below(rows, k)
        low[rows[yes]], high[rows[~yes]] = k[yes], k[~yes]
        bracketed = (low >= 0) & (high < size) | (step > FARTHEST)
        up = np.minimum(low + step, size - 1)
        down = np.maximum(high - step, 0)
        middle = low + (high - low) // 2
        asked = np.where(bracketed, middle, np.where(high < size, down, up))
        step *= 2
    return high


def cuts_by_kind(below: Below, guesses: Whole, size: int, kinds: Whole) -> Whole:
    """Find the cuts as `cuts` does; where the first row of a kind shows its guess wrong, its cut is the others' guess.

    >>> cuts_by_kind(lambda rows, k: k < 70, np.array([1, 1, 70]), 97, np.array([0, 0, 1])).tolist()
    [70, 70, 70]
    """
    _, first, kind = np.unique(kinds, return_index=True, return_inverse=True)
    found = cuts(lambda rows, k: below(first[rows], k), guesses[first], size)
    wrong = np.abs(found - guesses[first]) > FARTHEST
    return cuts(below, np.where(wrong[kind], found[kind], guesses), size)
