"""Alignment of two token sequences: dynamic warping with Levenshtein cost inside a Sakoe–Chiba band.

Source: TokenTiming, Alg. 1 and Appendix H; the band is that of Sakoe and Chiba 1978.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.language.trie import Integers, compiled

Path = list[tuple[int, int]]
"""Pairs (place in xs, place in ys), from (0, 0) to the last places: no place is left out and none goes back."""

_FAR = np.iinfo(np.int64).max // 2


class WidenedBandWarning(UserWarning):
    """The band was too narrow for the two lengths and has been widened to their difference."""


def align(xs: Sequence[str | bytes], ys: Sequence[str | bytes], window: int) -> tuple[Path, int]:
    """Align two token sequences at the least total Levenshtein cost, and return the path and that cost.

    The problem: min Σ lev(xs[i], ys[j]) over paths from (0, 0) to (m−1, n−1) whose steps are (1, 0), (0, 1) or (1, 1),
    inside the band |i − j| ≤ window. Levenshtein counts characters of str tokens, bytes of bytes tokens.
    Least paths are many: walking back from the end, of equally good predecessors the first in the printed order is
    taken, (i−1, j) before (i, j−1) before (i−1, j−1). The band holds no path at all when window < |m − n|: it is then
    widened to |m − n|, under a `WidenedBandWarning`; `band` says beforehand how wide it has to be.

    Raises:
        TypeError: the window is not an int; tokens that are not all str, or all bytes.
        ValueError: a negative window; exactly one sequence is empty.

    Source: TokenTiming, Algorithm 1; its loop forgets to assign (i, j) ← (i', j'). Its places count from 1.

    >>> align(["a", "b", "cd"], ["ab", "cd"], window=1)
    ([(0, 0), (1, 0), (2, 1)], 2)
    """
    width = band(len(xs), len(ys), window)
    if not len(xs) and not len(ys):
        return [], 0
    if not len(xs) or not len(ys):
        raise ValueError(f"an empty sequence aligns with nothing; the lengths are {len(xs)} and {len(ys)}")
    if width > window:
        warnings.warn(
            f"a band of window {window} holds no path between {len(xs)} and {len(ys)} tokens; widened to {width}",
            WidenedBandWarning,
            stacklevel=2,
        )
    kinds = {type(token) for token in (*xs, *ys)}
    if kinds not in ({str}, {bytes}):
        raise TypeError(f"tokens must be all str or all bytes; got {sorted(kind.__name__ for kind in kinds)}")
    total = _totals(_packed(xs), _packed(ys), width)
    i, j = len(xs), len(ys)
    path = [(i - 1, j - 1)]
    while (i, j) != (1, 1):
        # min keeps the first of equals, so the printed order is the tie rule.
        i, j = min(((i - 1, j), (i, j - 1), (i - 1, j - 1)), key=lambda place: int(total[place]))
        path.append((i - 1, j - 1))
    return path[::-1], int(total[-1, -1])


def band(first: int, second: int, window: Any) -> int:
    """Return the least window, at least the one given, whose band holds a path between two sequences of these lengths.

    Raises:
        TypeError, ValueError: the window is not an int of at least 0.

    >>> band(5, 2, window=1), band(5, 4, window=1)
    (3, 1)
    """
    if isinstance(window, bool | np.bool_) or not isinstance(window, int | np.integer):
        raise TypeError(f"window must be a whole number >= 0 (an int); got {window!r} of type {type(window).__name__}")
    if window < 0:
        raise ValueError(f"window must be at least 0 (0 is the diagonal alone); got {window}")
    return max(int(window), abs(first - second))


def _packed(tokens: Sequence[Any]) -> tuple[Integers, Integers]:
    """Lay the letters of tokens end to end, with the places where tokens start: code points, or bytes."""
    offset = np.zeros(len(tokens) + 1, np.int64)
    np.cumsum([len(token) for token in tokens], out=offset[1:])
    if isinstance(tokens[0], bytes):
        return np.frombuffer(b"".join(tokens), np.uint8).astype(np.uint32), offset
    # Lone surrogates are characters like others here: nothing is encoded, letters are only compared.
    return np.frombuffer("".join(tokens).encode("utf-32-le", "surrogatepass"), np.uint32).copy(), offset


@compiled
def _distance(x: Any, y: Any, row: Integers) -> int:
    """Fill row[j] with the distance of x to the first j letters of y, one letter of x after the other."""
    for j in range(len(y) + 1):
        row[j] = j
    for i in range(len(x)):
        corner, row[0] = row[0], i + 1
        for j in range(len(y)):
            row[j + 1], corner = min(corner + (x[i] != y[j]), row[j + 1] + 1, row[j] + 1), row[j + 1]
    return row[len(y)]


@compiled
def _totals(first: Any, second: Any, width: int) -> Any:
    """Fill the table of least costs C[i, j] of aligning the first i with the first j tokens; out of the band: far."""
    x, x_offset = first
    y, y_offset = second
    m, n = len(x_offset) - 1, len(y_offset) - 1
    row = np.empty(len(y) + 1, np.int64)
    total = np.full((m + 1, n + 1), _FAR, np.int64)
    total[0, 0] = 0
    for i in range(1, m + 1):
        for j in range(max(1, i - width), min(n, i + width) + 1):
            cost = _distance(x[x_offset[i - 1] : x_offset[i]], y[y_offset[j - 1] : y_offset[j]], row)
            total[i, j] = cost + min(total[i - 1, j], total[i, j - 1], total[i - 1, j - 1])
    return total
