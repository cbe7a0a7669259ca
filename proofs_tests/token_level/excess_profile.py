"""One pair of float laws seen through its excess, by the functions that chunks are streamed with."""

from __future__ import annotations

from typing import Any

from spec_math.token_level.bucketed_optimum import ends_below, optimum_of
from spec_math.token_level.excess_profile import gamma_of
from spec_math.token_level.ratio_buckets import FLOAT, buckets_of, excess_of, gather, ranged


class ExcessProfile:
    """A target and a draft [V], gathered by ratio; both may still be divided by their sums, which is done here.

    The sums are taken in float64, so that exponentials of logits can be handed over as they are. `gather` takes in the
    next pair in the same memory: fresh pages would cost more than the sorting.
    """

    def __init__(self, size: int) -> None:
        self.arrays = buckets_of(size)
        self.gathered: Any = None

    def gather(self, target: FLOAT, draft: FLOAT) -> None:
        """Gather a target and a draft [V] by their ratio."""
        target, draft, total_t, total_d, _ = ranged(target, draft)
        self.gathered = gather(target, draft, total_t, total_d, self.arrays)

    def excess(self, scale: float) -> float:
        """Return E(scale) = Σ (t − scale·d)+."""
        return excess_of(float(scale), self.gathered)

    def gamma_star(self, k: int) -> float:
        """Return K-SEQ's γ*: the upper end of a bracket of relative width 2^-40."""
        return gamma_of(k, self.gathered)

    def optimum(self, k: int) -> float:
        """Return the optimum of k i.i.d. drafts, 1 − max_i [P_i^k − T_i] over prefixes of the ratio order.

        A bucket is opened and sorted only where its ends do not already exclude it.
        """
        return optimum_of(k, self.gathered, ends_below(self.gathered))
