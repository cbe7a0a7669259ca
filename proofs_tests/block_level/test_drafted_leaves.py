"""Laws of drafted leaves: which masses they allow, and what tells those that they do not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from spec_math.block_level.drafted_leaves import DraftedTrees


def test_trees_are_separated_from_masses_that_sum_to_more_by_a_rounding() -> None:
    """As a linear program's floats do: leaf 0 is drafted half of the time, and 4/5 is asked of it."""
    trees = DraftedTrees({frozenset({0}): Fraction(1, 2), frozenset({1}): Fraction(1, 2)}, 2)
    inner = np.array([0.5, 0.5])
    for over in (0.0, 2.0**-40):
        kept, broken = trees.separated(inner, np.array([0.8, 0.2 + over]))
        assert kept.tolist() == inner.tolist()
        assert [leaves.tolist() for leaves in broken] == [[0]]
    assert trees.separated(inner, np.array([0.5, 0.5 + 2.0**-40]))[1] == []
