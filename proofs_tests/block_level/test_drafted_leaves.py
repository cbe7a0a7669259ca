"""Laws of drafted leaves: which masses they allow, and what tells those that they do not."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest

from spec_math.arrays import exact, proportional_to
from spec_math.block_level.leaf_program import SLACK, DraftedTrees, IndependentChains


def test_trees_are_separated_from_masses_that_sum_to_more_by_a_rounding() -> None:
    """As a linear program's floats do: leaf 0 is drafted half of the time, and 4/5 is asked of it."""
    trees = DraftedTrees({frozenset({0}): Fraction(1, 2), frozenset({1}): Fraction(1, 2)}, 2)
    inner = np.array([0.5, 0.5])
    for over in (0.0, 2.0**-40):
        kept, broken = trees.separated(inner, np.array([0.8, 0.2 + over]))
        assert kept.tolist() == inner.tolist()
        assert [leaves.tolist() for leaves in broken] == [[0]]
    assert trees.separated(inner, np.array([0.5, 0.5 + 2.0**-40]))[1] == []


def sets_of(size: int) -> list[tuple[int, ...]]:
    return [leaves for many in range(1, size + 1) for leaves in combinations(range(size), many)]


def drawn(random: Random, size: int) -> list[tuple[Any, dict[frozenset[int], Fraction]]]:
    """Chains, and trees of two leaves at most, each with its law of sets of leaves, worked out one by one."""
    draft, k = proportional_to([random.randint(1, 4) for _ in range(size)]), random.randint(1, 3)
    chains = dict[frozenset[int], Fraction]()
    for leaves in product(range(size), repeat=k):
        chains[frozenset(leaves)] = chains.get(frozenset(leaves), Fraction(0)) + prod(draft[list(leaves)])
    kinds = random.sample(sets_of(size)[: size * (size + 1) // 2], 3)
    trees = dict(zip(map(frozenset, kinds), proportional_to([random.randint(1, 3) for _ in kinds]), strict=True))
    return [(IndependentChains(draft, k), chains), (DraftedTrees(trees, size), trees)]


def met(law: dict[frozenset[int], Fraction], leaves: Any) -> Fraction:
    return sum((mass for drafted, mass in law.items() if drafted & set(leaves)), Fraction(0))


def kept(law: dict[frozenset[int], Fraction], masses: Any) -> bool:
    """Whether c(W) ≤ P(S meets W) for every set W of leaves."""
    return all(sum(masses[leaf] for leaf in leaves) <= met(law, leaves) for leaves in sets_of(len(masses)))


@pytest.mark.parametrize("seed", range(30))
def test_what_drafts_allow_is_what_every_set_of_leaves_does(seed: int) -> None:
    random = Random(seed)
    size = random.randint(2, 4)
    for drafts, law in drawn(random, size):
        assert drafts.size == size
        prices = [Fraction(random.randint(0, 5), 2) for _ in range(size)]
        assert drafts.dearest(prices) == sum(
            mass * max(prices[leaf] for leaf in leaves) for leaves, mass in law.items()
        )
        for leaves in sets_of(size):
            assert drafts.meets(np.array(leaves)) == met(law, leaves)
        for _ in range(4):
            selection = proportional_to([random.randint(0, 3) for _ in range(size - 1)] + [1])
            assert drafts.admits(selection) == kept(law, selection)
            masses = selection * Fraction(random.randint(1, 5), 4)
            found = drafts.completed(masses)
            assert (found is not None) == kept(law, masses)
            if found is not None:
                assert found.sum() == 1
                assert (found >= masses).all()
                assert kept(law, found)


@pytest.mark.parametrize("seed", range(30))
def test_a_set_that_is_returned_is_broken_and_the_point_beside_it_is_not(seed: int) -> None:
    """Where nothing is broken the outer point itself comes back, and no set."""
    random = Random(seed)
    size = random.randint(2, 4)
    for drafts, law in drawn(random, size):
        rule = max(law, key=len)
        inner = np.array([float(met(law, [leaf])) / size for leaf in range(size)])
        outer = proportional_to([random.randint(0, 3) if leaf in rule else 1 for leaf in range(size)])
        found, broken = drafts.separated(inner, outer.astype(np.float64))
        assert bool(broken) == (not kept(law, outer))
        assert kept(law, exact(np.maximum(found - 4 * SLACK, 0)))
        for leaves in broken:
            assert outer[leaves].sum() > met(law, leaves)
        if not broken:
            assert found.tolist() == outer.astype(np.float64).tolist()
        else:
            # The point lies on the way from the inner one to the outer one, and is not the outer one.
            whole, gone = outer.astype(np.float64) - inner, found - inner
            way = np.abs(gone).sum() / np.abs(whole).sum()
            assert 0 <= way < 1
            assert np.abs(gone - way * whole).max() < 2.0**-48
