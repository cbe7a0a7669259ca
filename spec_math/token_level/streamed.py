"""Closed forms of the schemes over chunks of float laws, by the excess profile: a pass over V for all schemes and k."""

from __future__ import annotations

import numpy as np

from spec_math.token_level.excess_profile import STEPWISE
from spec_math.token_level.favourites import find
from spec_math.token_level.ratio_buckets import FLOAT, buckets_of, gather, ranged
from spec_math.token_level.row_answers import answer

BOTH = tuple[FLOAT, FLOAT]
"""Acceptance and test acceptance [n]."""


def rounding(size: int, k: int) -> float:
    """Return how far a value of a chunk may lie from that of the laws in exact proportion to its masses.

    With u = 2^-53, a sum of V masses that is at most 1 is off by (V + 8)u in any order, and an excess E is two of them.
    Recursive rejection adds E's error to λ at each step; but E falls with slope −B, which does not grow, so that λ is
    never off by more than 1/B times that error, however many the steps, nor E by more than twice its own. K-SEQ's
    acceptance at γ is within |f(γ)| of that at γ*; f is off by E's error and, as k/γ*·(1 − β)^(k−1) ≤ 2, by as much for
    its power, where that is taken through a logarithm, and by k times as much for a product; the bracket costs its
    relative width 2^-40 at most. The optimum is 1 − (P^k − T), its power likewise.

    >>> rounding(1000, 10**6) == rounding(1000, 100) < 1e-11
    True
    """
    return (2 * min(k, STEPWISE) + 8) * (size + 8) * 2.0**-53 + 2.0**-40


class Chunk:
    """Every scheme's answers at the positions of one chunk, `capacity` of them at most.

    Target and draft masses [n, V], not yet divided by their sums, are taken in a few rows at a time: a row is gathered,
    asked everything and left while it is in cache. `ks` are the numbers of drafts that can be asked for.

    >>> chunk = Chunk(2, (1, 2))
    >>> chunk.take(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]]))
    >>> chunk.overlap(1)[1].tolist()
    [0.75]
    """

    def __init__(self, size: int, ks: tuple[int, ...], capacity: int = 64) -> None:
        # SpecHub's two drafts are asked whatever the ks are.
        self.ks = tuple(sorted({*ks, 2}))
        self.rows = 0
        self._buckets = buckets_of(size)
        self._numbers = np.array(self.ks)
        self._favourites = np.empty(min(max(self.ks), size), dtype=np.int64)
        self._overall, self._by_k = np.empty((capacity, 3)), np.empty((capacity, 5, len(self.ks)))

    def take(self, targets: FLOAT, drafts: FLOAT) -> None:
        """Take in the next positions.

        Raises:
            ValueError: more positions than the capacity left; a row without a positive, finite mass.

        >>> chunk = Chunk(2, (1,))
        >>> chunk.take(np.array([[1.0, 1.0]]), np.array([[1.0, 1.0]]))
        >>> chunk.rows
        1
        """
        first, last = self.rows, self.rows + len(targets)
        if last > len(self._overall):
            raise ValueError(f"a chunk of {len(self._overall)} positions cannot take {last}; clear it first")
        for row, target, draft in zip(range(first, last), targets, drafts, strict=True):
            self._ask(target, draft, self._overall[row], self._by_k[row])
        self.rows = last

    def clear(self) -> None:
        """Forget all positions.

        >>> chunk = Chunk(1, (1,))
        >>> chunk.take(np.ones((2, 1)), np.ones((2, 1)))
        >>> chunk.clear()
        >>> chunk.rows
        0
        """
        self.rows = 0

    def overlap(self, k: int) -> BOTH:  # noqa: ARG002 - one draft
        """Return (acceptance, test acceptance) [n] of maximal coupling, and so do all below for their schemes.

        >>> chunk = Chunk(2, (1,))
        >>> chunk.take(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]]))
        >>> chunk.overlap(1)[0].tolist()
        [0.75]
        """
        return _both(self._overall[: self.rows, 0])

    def favourite(self, k: int) -> BOTH:  # noqa: ARG002 - one draft
        """Return t(first maximum of d): a one-hot draft.

        >>> chunk = Chunk(2, (1,))
        >>> chunk.take(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]]))
        >>> chunk.favourite(1)[0].tolist()
        [0.25]
        """
        return _both(self._overall[: self.rows, 1])

    def match(self, k: int) -> BOTH:  # noqa: ARG002 - one draft
        """Return Σ t·d: sample and match.

        >>> chunk = Chunk(2, (1,))
        >>> chunk.take(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]]))
        >>> chunk.match(1)[0].tolist()
        [0.5]
        """
        return _both(self._overall[: self.rows, 2])

    def k_sequential(self, k: int) -> BOTH:
        """Return K-SEQ's at γ*.

        >>> chunk = Chunk(2, (2,))
        >>> chunk.take(np.array([[1.0, 1.0]]), np.array([[1.0, 1.0]]))
        >>> chunk.k_sequential(2)[0].tolist()
        [1.0]
        """
        return _both(self._at(0, k))

    def optimum(self, k: int) -> BOTH:
        """Return the optimum of k i.i.d. drafts.

        >>> chunk = Chunk(2, (2,))
        >>> chunk.take(np.array([[0.4, 0.6]]), np.array([[0.75, 0.25]]))
        >>> chunk.optimum(2)[0].round(6).tolist()
        [0.8375]
        """
        return _both(self._at(1, k))

    def greedy(self, k: int) -> BOTH:
        """Return what greedy drafts accept: t(Top) added to the drawn draft's test, and that test alone.

        >>> chunk = Chunk(2, (2,))
        >>> chunk.take(np.array([[0.25, 0.75]]), np.array([[0.75, 0.25]]))
        >>> [found.tolist() for found in chunk.greedy(2)]
        [[1.0], [0.75]]
        """
        return self._at(3, k) + self._at(2, k), self._at(3, k)

    def hub(self, k: int) -> BOTH:  # noqa: ARG002 - two drafts
        """Return SpecHub's: its sets are those of two greedy drafts.

        >>> chunk = Chunk(2, (1,))
        >>> chunk.take(np.array([[0.25, 0.75]]), np.array([[0.75, 0.25]]))
        >>> chunk.hub(1)[0].tolist()
        [1.0]
        """
        return _both(self.greedy(2)[0])

    def recursive(self, k: int) -> BOTH:
        """Return recursive rejection's.

        >>> chunk = Chunk(2, (2,))
        >>> chunk.take(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]]))
        >>> chunk.recursive(2)[0].tolist()
        [0.875]
        """
        return _both(1 - self._at(4, k))

    def _at(self, which: int, k: int) -> FLOAT:
        return self._by_k[: self.rows, which, self.ks.index(k)]

    def _ask(self, target: FLOAT, draft: FLOAT, overall: FLOAT, by_k: FLOAT) -> None:
        target, draft, total_t, total_d, product = ranged(target, draft)
        gathered = gather(target, draft, total_t, total_d, self._buckets)
        sums = total_t, total_d, product, find(draft, self._favourites)
        answer(self._numbers, (target, draft), self._favourites, sums, gathered, (overall, by_k))


def _both(values: FLOAT) -> BOTH:
    return values, values
