"""Closed forms of the schemes over chunks of float laws, by the excess profile: a pass over V for all schemes and k."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from spec_math.token_level import recursive
from spec_math.token_level.excess_profile import FLOAT, ExcessProfile

BLOCK = 64
FAVOURITES = 15
"""How many of the draft's best tokens a chunk keeps: greedy drafts up to k = 16."""


class Chunk:
    """Positions of one chunk: target and draft masses [n, V], not yet divided by their sums, and what schemes share.

    >>> chunk = Chunk(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]]))
    >>> chunk.values("maximal coupling", 1)[1].tolist()
    [0.75]
    """

    def __init__(self, targets: FLOAT, drafts: FLOAT) -> None:
        self.profile = ExcessProfile(targets, drafts)
        self.refill(targets, drafts, gathered=True)

    def refill(self, targets: FLOAT, drafts: FLOAT, gathered: bool = False) -> None:
        """Hold the next positions, in the same memory.

        >>> chunk = Chunk(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]]))
        >>> chunk.refill(np.array([[1.0, 1.0]]), np.array([[1.0, 1.0]]))
        >>> chunk.values("maximal coupling", 1)[1].tolist()
        [1.0]
        """
        if not gathered:
            self.profile.refill(targets, drafts)
        self.targets, self.drafts = targets, drafts
        self.tokens, self.rest = _favourites(drafts, min(FAVOURITES, drafts.shape[1]))
        self._rejections: list[FLOAT] = []
        self._optima: dict[int, FLOAT] = {}

    def rejections(self, k: int) -> FLOAT:
        """Return the probability [n] that k tests in a row reject; the chain for k serves every smaller k.

        >>> Chunk(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]])).rejections(2).tolist()
        [0.125]
        """
        if len(self._rejections) < k:
            self._rejections = recursive.rejections_by(self.profile.excess, k)
        return self._rejections[k - 1]

    def optima(self, ks: tuple[int, ...]) -> list[FLOAT]:
        """Return the optimum [n] of each number of i.i.d. drafts, computed once for a chunk.

        >>> Chunk(np.array([[1.0, 1.0]]), np.array([[1.0, 1.0]])).optima((1, 2))[1].tolist()
        [1.0]
        """
        missing = tuple(k for k in ks if k not in self._optima)
        if missing:
            self._optima |= dict(zip(missing, self.profile.optima(missing).T, strict=True))
        return [self._optima[k] for k in ks]

    def values(self, scheme: str, k: int) -> tuple[FLOAT, FLOAT]:
        """Return (acceptance, membership) [n] of a scheme named in STREAMED.

        >>> Chunk(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]])).values("recursive rejection", 2)[0].tolist()
        [0.875]
        """
        return STREAMED[scheme](self, k)


def _both(values: FLOAT) -> tuple[FLOAT, FLOAT]:
    return values, values


def _single(chunk: Chunk, k: int) -> tuple[FLOAT, FLOAT]:  # noqa: ARG001
    return _both(1 - chunk.profile.excess(1.0))


def _one_hot(chunk: Chunk, k: int) -> tuple[FLOAT, FLOAT]:  # noqa: ARG001
    return _both(chunk.targets[np.arange(len(chunk.targets)), chunk.tokens[:, 0]] / chunk.profile.sums[:, 0])


def _sample_and_match(chunk: Chunk, k: int) -> tuple[FLOAT, FLOAT]:  # noqa: ARG001
    return _both(chunk.profile.products)


def _k_sequential(chunk: Chunk, k: int) -> tuple[FLOAT, FLOAT]:
    gamma = chunk.profile.gamma_star(k)
    return _both(1 - (1 - (1 - chunk.profile.excess(gamma)) / gamma) ** k)


def _recursive(chunk: Chunk, k: int) -> tuple[FLOAT, FLOAT]:
    return _both(1 - chunk.rejections(k))


def _greedy(chunk: Chunk, k: int) -> tuple[FLOAT, FLOAT]:
    if k > FAVOURITES + 1:
        raise ValueError(f"greedy drafts are streamed up to k = {FAVOURITES + 1}; got {k}")
    scale, top, clipped = _greedy_parts(k, chunk.targets, chunk.drafts, chunk.profile.sums, chunk.tokens, chunk.rest)
    drawn = 1 - chunk.profile.excess(scale) - clipped
    return drawn, drawn + top


def _hub(chunk: Chunk, k: int) -> tuple[FLOAT, FLOAT]:  # noqa: ARG001
    return _both(_greedy(chunk, 2)[1])


def _optimal(chunk: Chunk, k: int) -> tuple[FLOAT, FLOAT]:
    return _both(chunk.optima((k,))[0])


STREAMED: dict[str, Callable[[Chunk, int], tuple[FLOAT, FLOAT]]] = {
    "maximal coupling": _single,
    "one-hot draft": _one_hot,
    "sample and match": _sample_and_match,
    "K-SEQ at γ*": _k_sequential,
    "recursive rejection": _recursive,
    "greedy drafts": _greedy,
    "SpecHub": _hub,
    "optimal plan": _optimal,
}
"""The schemes whose closed form costs a few queries of the profile, by name."""


@numba.njit(cache=True)
def _favourites(drafts: Any, wanted: int) -> Any:
    """Return the best tokens of each row in descending order, lowest index first, and the mass of all others."""
    rows, size = drafts.shape
    tokens = np.empty((rows, wanted), dtype=np.int64)
    rest = np.empty(rows)
    best = np.empty(wanted)
    for row in range(rows):
        best[:] = -1.0
        tokens[row, :] = 0
        least, others = -1.0, 0.0
        for first in range(0, size, BLOCK):
            last = min(first + BLOCK, size)
            largest, block = _largest_and_sum(drafts[row, first:last])
            if largest <= least:
                others += block
                continue
            for i in range(first, last):
                mass = drafts[row, i]
                if mass <= least:
                    others += mass
                    continue
                others += max(best[wanted - 1], 0.0)
                j = wanted - 1
                while j > 0 and best[j - 1] < mass:
                    best[j], tokens[row, j] = best[j - 1], tokens[row, j - 1]
                    j -= 1
                best[j], tokens[row, j] = mass, i
                least = best[wanted - 1]
        rest[row] = others
    return tokens, rest


@numba.njit(cache=True, fastmath={"reassoc", "nnan", "nsz"})
def _largest_and_sum(block: Any) -> tuple[float, float]:
    largest, total = 0.0, 0.0
    for i in range(block.shape[0]):
        largest = max(largest, block[i])
        total += block[i]
    return largest, total


@numba.njit(cache=True)
def _greedy_parts(k: int, targets: Any, drafts: Any, sums: Any, tokens: Any, rest: Any) -> Any:
    """Return, for each row, 1/d(not Top), t(Top), and Σ over Top of min(t, d/d(not Top))."""
    rows = targets.shape[0]
    scale, top, clipped = np.empty(rows), np.empty(rows), np.empty(rows)
    for row in range(rows):
        # The draft mass outside Top is summed from the others upwards, not taken as 1 minus the top.
        outside, fixed = rest[row], min(k - 1, tokens.shape[1])
        while fixed > 0 and drafts[row, tokens[row, fixed - 1]] == 0.0:
            fixed -= 1
        if outside == 0.0 and fixed == tokens.shape[1]:
            fixed -= 1
        for j in range(tokens.shape[1] - 1, fixed - 1, -1):
            outside += drafts[row, tokens[row, j]]
        while outside == 0.0:
            fixed -= 1
            outside += drafts[row, tokens[row, fixed]]
        scale[row] = sums[row, 1] / outside
        top[row], clipped[row] = 0.0, 0.0
        for j in range(fixed):
            mass = targets[row, tokens[row, j]] / sums[row, 0]
            top[row] += mass
            clipped[row] += min(mass, drafts[row, tokens[row, j]] / outside)
    return scale, top, clipped
