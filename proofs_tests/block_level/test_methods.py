"""What the list of methods says of each: how long its exact expectation takes."""

from __future__ import annotations

from itertools import combinations_with_replacement, permutations, product

import pytest

from spec_math.block_level.methods import DISTINCT, named


@pytest.mark.parametrize(("size", "lookahead", "k"), [(2, 1, 1), (2, 3, 2), (3, 2, 4), (2, 4, 3)])
def test_terms_of_a_walk_count_its_nodes(size: int, lookahead: int, k: int) -> None:
    """A walk meets a path with some number of drafts after it, which never grows on the way down."""
    nodes = sum(size**level * len(list(combinations_with_replacement(range(k), level))) for level in range(lookahead))
    assert named("K-SEQ").terms(size, lookahead, k) == nodes * size * k * k
    # Every tuple of drafts at a node, each with a test that accepts or not and what they share.
    assert named("recursive").terms(size, lookahead, k) == named("plan at").terms(size, lookahead, k)
    assert named("recursive").terms(size, lookahead, k) / nodes == 4 * len(list(product(range(size), repeat=k)))


@pytest.mark.parametrize(("size", "lookahead", "k"), [(2, 1, 1), (3, 3, 2), (3, 2, 4), (4, 2, 3)])
def test_terms_of_distinct_first_tokens_count_their_orders_and_the_paths_below(
    size: int, lookahead: int, k: int
) -> None:
    orders = len(list(permutations(range(size), min(k, size))))
    below = len(list(product(range(size), repeat=lookahead - 1)))
    for name in ("traversal", "distinct first"):
        assert named(name).terms(size, lookahead, k) == orders * below


def test_the_optimum_of_distinct_first_tokens_is_solved_for_few_sets_of_drafts() -> None:
    """45 · 44 = 1,980 orders of two tokens, 46 · 45 = 2,070; 2 · 2^8 and 2 · 2^10 with the texts below two tokens."""
    solved = [(45, 1, 2), (2, 5, 2), (3, 1, 5), (3, 2, 5), (3, 3, 2), (1, 4, 2)]
    assert [size for size in solved if not DISTINCT.solvable(*size)] == []
    assert [size for size in ((46, 1, 2), (2, 6, 2), (3, 3, 5), (3, 1, 1)) if DISTINCT.solvable(*size)] == []
