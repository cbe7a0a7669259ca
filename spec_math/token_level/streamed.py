"""Closed forms of the schemes over chunks of float laws that are read from a file, for all schemes and k at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from spec_math.kernels import inner_kernel, kernel
from spec_math.token_level.excess import STEPWISE, Excess
from spec_math.token_level.optimum.ratio_order import outside_of

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

LOW, HIGH, STEPS = -8, 8, 64
"""Ratios in [2^LOW, 2^HIGH) fall in STEPS buckets an octave; smaller ones in the first, larger ones in the last."""

BUCKETS = (HIGH - LOW) * STEPS + 2

EDGES = np.concatenate([[0.0], 2.0 ** np.arange(LOW, HIGH).repeat(STEPS), [2.0**HIGH, np.inf]])
EDGES[1:-2] *= np.tile(1 + np.arange(STEPS) / STEPS, HIGH - LOW)
"""Bucket b holds the ratios in [EDGES[b], EDGES[b + 1])."""

NEAR = 2.0**-45
"""A bucket is sorted only where it could hold a value that is lower by more than this."""

# A bucket's number is what is left of a ratio's bits above the leading six of its mantissa, counted from LOW.
_SHIFT = 52 - 6
_FIRST = ((1023 + LOW) << 6) - 1


class RatioBuckets(NamedTuple):
    """Rows of masses [n, V] by buckets of t/d ascending, with tokens of no draft mass behind all buckets.

    Grouping a row takes three passes, where sorting takes ten. A bucket holds the ratios of a 64th of an octave, so
    that E(λ) is two sums known beforehand and one short scan. A ratio is rounded once: so a token on the wrong side of
    an edge has a t − λd of 2^-53 of its mass, where λ is the edge.

    `starts` [n, BUCKETS + 1] is where each bucket begins; `sums` [n, 4, BUCKETS + 1] are the target's and the draft's
    mass before that place, then those from it on.
    """

    target: FLOAT
    draft: FLOAT
    starts: np.ndarray[Any, np.dtype[np.int32]]
    sums: FLOAT

    @classmethod
    def of(cls, target: FLOAT, draft: FLOAT) -> RatioBuckets:
        """Group rows of laws, float64 [n, V].

        >>> found = RatioBuckets.of(np.array([[0.25, 0.75]]), np.array([[0.5, 0.5]]))
        >>> found.excess(np.array([[1.0, 0.5]])).tolist(), found.optima((1, 2)).tolist()
        ([[0.25, 0.5]], [[0.75, 1.0]])
        """
        rows = len(target)
        starts, sums = np.zeros((rows, BUCKETS + 1), np.int32), np.zeros((rows, 4, BUCKETS + 1))
        found = cls(np.empty_like(target), np.empty_like(draft), starts, sums)
        _group(target, draft, *found)
        return found

    def excess(self, scales: Any) -> FLOAT:
        """Return E(λ) = Σ (t − λd)+, [n, m] for scales λ [n, m], or [n, 1] for one number."""
        wide = np.atleast_1d(scales).shape[-1]
        asked = np.broadcast_to(scales, (len(self.target), wide)).astype(np.float64, order="C")
        found = np.empty_like(asked)
        _excess(*self, asked, found)
        return found

    def rejections(self, ks: Sequence[int]) -> FLOAT:
        """Return the probabilities [n, number of ks] that k tests of recursive rejection all reject, for ascending ks.

        As `Excess.rejections` says. Where E is a line of slope −B up to some λ, tests that end before it are taken
        together: E is a geometric sequence there, E·(1 − B)^n after n of them.
        """
        found = np.empty((len(self.target), len(ks)))
        _rejections(*self, np.array(ks), found)
        return found

    def optima(self, ks: Sequence[int]) -> FLOAT:
        """Return the optimum of k i.i.d. drafts, [n, number of ks]: the least 1 − P^k + T over prefixes by ratio.

        Within a bucket T lies above two lines, of its least and its largest ratio, and −P^k is concave. So no value in
        it is below the least at its ends and where the lines cross.
        """
        found = np.empty((len(self.target), len(ks)))
        _optima(*self, np.array(ks), found)
        return found


@kernel(error_model="numpy")
def _group(target: Any, draft: Any, by_target: Any, by_draft: Any, starts: Any, sums: Any) -> None:
    size = target.shape[1]
    ratios, keys = np.empty(size), np.empty(size, np.int64)
    for row in range(len(target)):
        t, d = target[row], draft[row]
        for i in range(size):
            ratios[i] = t[i] / d[i] if d[i] > 0.0 else np.inf
        bits = ratios.view(np.int64)
        for i in range(size):
            key = min(max((bits[i] >> _SHIFT) - _FIRST, 0), BUCKETS - 1)
            keys[i] = key if d[i] > 0.0 else BUCKETS
        counts = np.zeros(BUCKETS + 1, np.int64)
        below = np.zeros((2, BUCKETS + 1))
        for i in range(size):
            counts[keys[i]] += 1
            below[0, keys[i]] += t[i]
            below[1, keys[i]] += d[i]
        above_t, above_d = 0.0, 0.0
        for b in range(BUCKETS, -1, -1):
            above_t += below[0, b]
            above_d += below[1, b]
            sums[row, 2, b], sums[row, 3, b] = above_t, above_d
        place, below_t, below_d = 0, 0.0, 0.0
        for b in range(BUCKETS + 1):
            starts[row, b], sums[row, 0, b], sums[row, 1, b] = place, below_t, below_d
            place, counts[b] = place + counts[b], place
            below_t += below[0, b]
            below_d += below[1, b]
        for i in range(size):
            at = counts[keys[i]]
            counts[keys[i]] = at + 1
            by_target[row, at], by_draft[row, at] = t[i], d[i]


@kernel
def _excess(target: Any, draft: Any, starts: Any, sums: Any, scales: Any, found: Any) -> None:
    for row in range(len(scales)):
        for which in range(scales.shape[1]):
            found[row, which] = _line(scales[row, which], target[row], draft[row], starts[row], sums[row])[0]


@inner_kernel
def _line(scale: float, target: Any, draft: Any, starts: Any, sums: Any) -> Any:
    """Return E(λ), the slope B of E = A − Bλ from λ on, and up to where E is that line at least."""
    low, high = 0, BUCKETS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if EDGES[middle] <= scale else (low, middle)
    excess = sums[2, high] - scale * sums[3, high]
    slope, end = sums[3, high], EDGES[high]
    for i in range(starts[low], starts[high]):
        if target[i] > scale * draft[i]:
            excess += target[i] - scale * draft[i]
            slope += draft[i]
            end = min(end, target[i] / draft[i])
    return excess, slope, end


@kernel
def _rejections(target: Any, draft: Any, starts: Any, sums: Any, ks: Any, found: Any) -> None:
    for row in range(len(target)):
        scale, done = 1.0, 1
        left, slope, end = _line(scale, target[row], draft[row], starts[row], sums[row])
        for which in range(len(ks)):
            while done < ks[which]:
                many, before = 1.0, left
                if 0.0 < slope < 1.0 and left > 0.0:
                    many, room = float(ks[which] - done), (end - scale) * slope / left
                    if room < 1.0:
                        many = min(np.floor(np.log1p(-room) / np.log1p(-slope)), many)
                if many > 1.0:
                    scale -= left * np.expm1(many * np.log1p(-slope)) / slope
                else:
                    scale += left
                done += max(int(many), 1)
                left, slope, end = _line(scale, target[row], draft[row], starts[row], sums[row])
                if left == before:
                    break  # E is convex: it stays where it does not fall
            found[row, which] = left


@kernel
def _optima(target: Any, draft: Any, starts: Any, sums: Any, ks: Any, found: Any) -> None:
    for row in range(len(target)):
        t_below, d_below, d_above = sums[row, 0], sums[row, 1], sums[row, 3]
        for which in range(len(ks)):
            k, best = ks[which], np.inf
            for b in range(BUCKETS + 1):
                best = min(best, outside_of(d_below[b], d_above[b], k) + t_below[b])
            for b in range(BUCKETS):
                first, last, mass = starts[row, b], starts[row, b + 1], d_below[b + 1] - d_below[b]
                if last - first < 2:
                    continue
                low, high, gained = EDGES[b], EDGES[b + 1], t_below[b + 1] - t_below[b]
                cross = mass if high == np.inf else min(max((high * mass - gained) / (high - low), 0.0), mass)
                least = outside_of(d_below[b] + cross, d_above[b] - cross, k) + t_below[b] + low * cross
                if least > best - NEAR:
                    continue
                ratios = target[row, first:last] / draft[row, first:last]
                t, d, above = t_below[b], d_below[b], d_above[b]
                for i in np.argsort(ratios):
                    t += target[row, first + i]
                    d += draft[row, first + i]
                    above -= draft[row, first + i]
                    best = min(best, outside_of(d, above, k) + t)
            found[row, which] = best


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
            raise ValueError("the largest mass must be positive and finite")
        masses = np.ldexp(masses, -np.frexp(largest)[1])
        sums = masses.sum(axis=1, keepdims=True)
    return masses / sums


def _greedy(t: FLOAT, d: FLOAT, ks: tuple[int, ...], by_k: FLOAT, excess: Excess) -> None:
    """Fill t(Top) and the test of the drawn draft, one more favourite fixed at a time.

    The drawn draft has the law d/S outside Top: its test is Σ min(t, d/S) of all tokens less that of Top.
    """
    rest, rows, support = d.copy(), np.arange(len(d)), np.count_nonzero(d, axis=1)
    taken = list[tuple[FLOAT, FLOAT]]()
    # The last token of a draft is drawn, not fixed.
    for fixed in range(1, min(ks[-1], support.max())):
        best, some = rest.argmax(axis=1), fixed < support
        taken.append((np.where(some, t[rows, best], 0.0), np.where(some, rest[rows, best], 0.0)))
        rest[rows[some], best[some]] = 0.0
    # Sums of what is left are added up from the last: no difference.
    sums = [*accumulate((mass for _, mass in reversed(taken)), initial=rest.sum(axis=1))][::-1]
    for place, k in enumerate(ks):
        top, left = taken[: k - 1], sums[min(k - 1, len(taken))]
        scale = 1 / np.maximum(left, LEAST_SUM)
        by_k[:, 2, place] = sum(mass for mass, _ in top)
        by_k[:, 3, place] = 1 - excess.at(scale[:, None])[:, 0] - sum(np.minimum(a, b * scale) for a, b in top)
        for row in np.flatnonzero(left <= LEAST_SUM):
            outside = d[row].copy()
            outside[np.argsort(-d[row], kind="stable")[: min(k, support[row]) - 1]] = 0.0
            by_k[row, 3, place] = np.minimum(t[row], _laws(outside[None])[0]).sum()
