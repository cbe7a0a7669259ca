"""Closed forms of the schemes over chunks of float laws that are read from a file, for all schemes and k at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math.token_level.excess import STEPWISE, Excess
from spec_math.token_level.optimum.ratio_buckets import RatioBuckets

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

BOTH = tuple[FLOAT, FLOAT]
"""Acceptance and test acceptance [n]."""

LEAST_SUM, LARGEST_SUM = 2.0**-400, 2.0**400
"""Rows with sums beyond these are scaled by a power of two first, so that no product of two masses leaves range."""


def rounding(size: int, k: int) -> float:
    """Return how far a value of a chunk may lie from that of the laws in exact proportion to its masses.

    With u = 2^-53, a sum of V masses that is at most 1 is off by (V + 8)u in any order, and an excess E is two of them.
    Recursive rejection adds E's error to λ at each step; but E falls with slope −B, which does not grow, so that λ is
    never off by more than 1/B times that error, however many the steps, nor E by more than twice its own. K-SEQ's
    acceptance at γ is within |f(γ)| of that at γ*; f is off by E's error and, as k/γ*·(1 − β)^(k−1) ≤ 2, by as much for
    its power, where that is taken through a logarithm, and by k times as much for a product; the bracket costs less
    than 2^-40. The optimum is 1 − (P^k − T), its power likewise.
    """
    return (2 * min(k, STEPWISE) + 8) * (size + 8) * 2.0**-53 + 2.0**-40


class Chunk:
    """Every scheme's answers at the positions of one chunk, `capacity` of them at most, for the numbers of drafts ks.

    Target and draft masses [n, V] are not yet divided by their sums. Each method returns (acceptance, test acceptance)
    [n] of its scheme.
    """

    def __init__(self, size: int, ks: tuple[int, ...], capacity: int = 64) -> None:
        # SpecHub's two drafts are asked whatever the ks are.
        self.ks, self.size, self.rows = tuple(sorted({*ks, 2})), size, 0
        self._overall, self._by_k = np.empty((capacity, 3)), np.empty((capacity, 5, len(self.ks)))

    def take(self, targets: FLOAT, drafts: FLOAT) -> None:
        """Take in the next positions.

        Raises:
            ValueError: more positions than the capacity left; a row without a positive, finite mass.
        """
        first, last = self.rows, self.rows + len(targets)
        if last > len(self._overall):
            raise ValueError(f"a chunk of {len(self._overall)} positions cannot take {last}; clear it first")
        t, d = _laws(targets), _laws(drafts)
        overall, by_k = self._overall[first:last], self._by_k[first:last]
        overall[:, 1] = np.take_along_axis(t, d.argmax(axis=1)[:, None], 1)[:, 0]
        overall[:, 2] = np.einsum("ij,ij->i", t, d)
        buckets = RatioBuckets.of(t, d)
        excess = Excess(buckets.excess)
        overall[:, :1] = excess.overlap
        by_k[:, 0] = 1 - excess.none_accepted(np.array(self.ks))
        by_k[:, 1] = buckets.optima(self.ks)
        by_k[:, 4] = buckets.rejections(self.ks)
        _greedy(t, d, self.ks, by_k, excess)
        self.rows = last

    def clear(self) -> None:
        """Forget all positions."""
        self.rows = 0

    def overlap(self, k: int) -> BOTH:  # noqa: ARG002 - one draft
        """Maximal coupling."""
        return _both(self._overall[: self.rows, 0])

    def favourite(self, k: int) -> BOTH:  # noqa: ARG002 - one draft
        """A one-hot draft: t(first maximum of d)."""
        return _both(self._overall[: self.rows, 1])

    def match(self, k: int) -> BOTH:  # noqa: ARG002 - one draft
        """Sample and match: Σ t·d."""
        return _both(self._overall[: self.rows, 2])

    def k_sequential(self, k: int) -> BOTH:
        """K-SEQ at γ*."""
        return _both(self._at(0, k))

    def optimum(self, k: int) -> BOTH:
        """The optimum of k i.i.d. drafts."""
        return _both(self._at(1, k))

    def greedy(self, k: int) -> BOTH:
        """Greedy drafts: t(Top) added to the drawn draft's test, and that test alone."""
        return self._at(3, k) + self._at(2, k), self._at(3, k)

    def hub(self, k: int) -> BOTH:  # noqa: ARG002 - two drafts
        """SpecHub: its sets are those of two greedy drafts."""
        return _both(self.greedy(2)[0])

    def recursive(self, k: int) -> BOTH:
        """Recursive rejection."""
        return _both(1 - self._at(4, k))

    def _at(self, which: int, k: int) -> FLOAT:
        return self._by_k[: self.rows, which, self.ks.index(k)]


def _both(values: FLOAT) -> BOTH:
    return values, values


def _laws(masses: FLOAT) -> FLOAT:
    """Divide rows [n, V] by their sums, scaled by a power of two first where these would leave range."""
    with np.errstate(over="ignore"):
        sums = masses.sum(axis=1, keepdims=True)
    if not bool(((sums > LEAST_SUM) & (sums < LARGEST_SUM)).all()):
        largest = masses.max(axis=1, keepdims=True)
        if not bool(((largest > 0) & np.isfinite(largest)).all()):
            raise ValueError("masses in proportion to which there is a law have a positive, finite largest one")
        masses = np.ldexp(masses, -np.frexp(largest)[1])
        sums = masses.sum(axis=1, keepdims=True)
    return masses / sums


def _greedy(t: FLOAT, d: FLOAT, ks: tuple[int, ...], by_k: FLOAT, excess: Excess) -> None:
    """Fill t(Top) and the test of the drawn draft, one more favourite fixed at a time.

    The drawn draft has the law d/S outside Top: its test is Σ min(t, d/S) of all tokens less that of Top.
    """
    rest, rows, support = d.copy(), np.arange(len(d)), np.count_nonzero(d, axis=1)
    taken, sums = list[tuple[FLOAT, FLOAT]](), list[FLOAT]()
    # The last token of a draft is drawn, not fixed.
    for fixed in range(1, min(ks[-1], support.max())):
        best, some = rest.argmax(axis=1), fixed < support
        taken.append((np.where(some, t[rows, best], 0.0), np.where(some, rest[rows, best], 0.0)))
        rest[rows[some], best[some]] = 0.0
    # Sums of what is left are added up from the last: no difference.
    sums.append(rest.sum(axis=1))
    for _, mass in reversed(taken):
        sums.append(sums[-1] + mass)
    sums.reverse()
    for place, k in enumerate(ks):
        top, left = taken[: k - 1], sums[min(k - 1, len(taken))]
        scale = 1 / np.maximum(left, LEAST_SUM)
        by_k[:, 2, place] = sum(mass for mass, _ in top)
        by_k[:, 3, place] = 1 - excess.at(scale[:, None])[:, 0] - sum(np.minimum(a, b * scale) for a, b in top)
        for row in np.flatnonzero(left <= LEAST_SUM):
            outside = d[row].copy()
            outside[np.argsort(-d[row], kind="stable")[: min(k, support[row]) - 1]] = 0.0
            by_k[row, 3, place] = np.minimum(t[row], _laws(outside[None])[0]).sum()
