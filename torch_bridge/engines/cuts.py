"""Where the answers of a kernel change as one of its numbers grows, for many requests at once, from a first guess."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Below = Callable[[Whole, Whole], NDArray[np.bool_]]
"""From rows and as many numbers k, one a row, to whether each k is still below its row's cut."""

FARTHEST = 32
"""A cut farther than this from its guess says that the guess is of another rule, not that it was rounded otherwise."""


def cuts(below: Below, guesses: Whole, size: int) -> Whole:
    """Find for each row the least k in 0..size that is not below its cut, asking only k < size.

    A row starts at its guess, goes away from it in steps of 1, 2^4, 2^8, 2^16, … until the cut is bracketed, and
    bisects what lies between. A right guess costs two questions, one off by e > 1 at most 2·log2(e) + 6, and none more
    than 7 beyond bisecting from the start; the cut found does not depend on it. Rows are taken to be monotone: the two
    numbers on either side of the cut are asked, and no change far from them is seen.

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
        bracketed = (low >= 0) & (high < size)
        up = np.minimum(low + step, size - 1)
        down = np.maximum(high - step, 0)
        middle = low + (high - low) // 2
        asked = np.where(bracketed, middle, np.where(high < size, down, up))
        step = 16 if step == 1 else min(step * step, size)
    return high


def cuts_by_guess(below: Below, guesses: Whole, size: int, kinds: Whole) -> Whole:
    """Find the cuts as `cuts` does; of rows that share kind and guess, the first's cut is the guess of the others.

    >>> cuts_by_guess(lambda rows, k: k < 70, np.array([1, 1, 70]), 97, np.array([0, 0, 0])).tolist()
    [70, 70, 70]
    """
    _, first, kind = np.unique(np.stack([kinds, guesses]), axis=1, return_index=True, return_inverse=True)
    found = cuts(lambda rows, k: below(first[rows], k), guesses[first], size)[kind.ravel()]
    others = np.setdiff1d(np.arange(len(guesses)), first)
    found[others] = cuts(lambda rows, k: below(others[rows], k), found[others], size)
    return found


def cuts_by_kind(below: Below, guesses: Whole, size: int, kinds: Whole) -> Whole:
    """Find the cuts as `cuts_by_guess` does; where the first row of a kind shows its guess wrong, its cut is theirs.

    >>> cuts_by_kind(lambda rows, k: k < 70, np.array([1, 1, 70]), 97, np.array([0, 0, 1])).tolist()
    [70, 70, 70]
    """
    _, first, kind = np.unique(kinds, return_index=True, return_inverse=True)
    known = cuts(lambda rows, k: below(first[rows], k), guesses[first], size)
    wrong = np.abs(known - guesses[first]) > FARTHEST
    found = known[kind]
    guesses = np.where(wrong[kind] | (guesses == guesses[first][kind]), found, guesses)
    others = np.setdiff1d(np.arange(len(guesses)), first)
    found[others] = cuts_by_guess(lambda rows, k: below(others[rows], k), guesses[others], size, kind[others])
    return found
