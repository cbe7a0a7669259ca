"""Rows of a batch of trees that are held, for array forms that ask for them node by node."""

from __future__ import annotations

from dataclasses import dataclass

from spec_math.arrays import Array
from spec_math.block_level.batch.array_tree import places
from spec_math.token_level.batch.drafts import without_tokens


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Rows that are held: targets and drafts [B, N + 1, V], the root's row first."""

    targets: Array
    drafts: Array

    def target(self, slot: Array) -> Array:
        """Return the target's masses [B, V] at the slots [B]."""
        return self.targets[places(slot, len(slot)), slot]

    def draft(self, slot: Array, without: Array | None = None) -> Array:
        """Return the draft's masses [B, V] at the slots [B], 0 on the tokens [B, m]."""
        rows = self.drafts[places(slot, len(slot)), slot]
        return rows if without is None else without_tokens(rows, without)
