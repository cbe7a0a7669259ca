"""Chosen trees: the greedy tree is the best of all trees, and the least instances where the drafters' rules are not."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import prod
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows, model_pairs
from proofs_tests.block_level.tree_worth import trees, worth
from spec_math.arrays import exact, proportional_to
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.likeliest_tree import (
    beam,
    by_ranks,
    likeliest,
    of_draft,
    of_ranks,
    of_target,
    of_widths,
    top,
)
from spec_math.block_level.target_only import expected
from spec_math.block_level.tree import Node


def paths(tree: tuple[Node, ...], above: tuple[int, ...] = ()) -> set[tuple[int, ...]]:
    found: set[tuple[int, ...]] = set()
    for node in tree:
        path = (*above, node.token)
        found |= {path} | paths(node.children, path)
    return found


@settings(max_examples=30)
@given(st.data(), st.sampled_from([(2, 4, 3), (2, 5, 3), (3, 3, 2), (3, 4, 2)]))
def test_the_greedy_tree_is_the_best_of_all_trees(data: st.DataObject, shape: tuple[int, int, int]) -> None:
    size, nodes, depth = shape
    target, draft = data.draw(model_pairs(size))
    best = max(worth(tree, target, target.end) for tree in trees(size, nodes, depth, target.end))
    assert expected(target, draft, (), of_target(nodes, depth)) == best


@settings(max_examples=30)
@given(st.data(), st.sampled_from([(2, 4, 3), (3, 4, 2)]))
def test_the_drafters_tree_is_the_best_by_its_own_law(data: st.DataObject, shape: tuple[int, int, int]) -> None:
    """OPT-Tree: where the draft is the target there is no better tree."""
    size, nodes, depth = shape
    _, draft = data.draw(model_pairs(size))
    assert expected(draft, draft, (), of_draft(nodes, depth)) == expected(draft, draft, (), of_target(nodes, depth))


@settings(max_examples=40)
@given(st.data(), st.sampled_from([(2, 4, 3), (3, 4, 2), (3, 6, 2)]))
def test_a_beam_as_wide_as_the_budget_is_the_likeliest_tree(data: st.DataObject, shape: tuple[int, int, int]) -> None:
    size, nodes, depth = shape
    _, draft = data.draw(model_pairs(size))
    wide = beam(draft, nodes, depth, nodes, draft.end)
    assert worth(paths(wide), draft) == worth(paths(likeliest(draft, nodes, depth, draft.end)), draft)


def test_the_least_instance_where_the_drafters_order_is_not_the_targets() -> None:
    """OPT-Tree's rule with one node on two tokens: it drafts token 1, and the target prefers token 0."""
    target, draft = Rows((exact(["3/4", "1/4"]),)), Rows((exact(["1/4", "3/4"]),))
    assert expected(target, draft, (), of_draft(1, 1)) == Fraction(5, 4)
    assert expected(target, draft, (), of_target(1, 1)) == Fraction(7, 4)


def test_the_least_instance_where_a_beam_is_not_the_best_tree_even_of_its_own_law() -> None:
    """EAGLE-2's expansion with width 1 and two nodes on two tokens: it never offers the second child of the root.

    The draft is the target: (3/5, 2/5), then certain of nothing, (1/2, 1/2): the beam keeps 0 and 00, worth 1 + 9/10,
    the best tree both children of the root, worth 2.
    """

    def model(prefix: tuple[int, ...]) -> Any:
        return exact(["3/5", "2/5"]) if not prefix else exact(["1/2", "1/2"])

    assert expected(model, model, (), of_draft(2, 2, width=1)) == Fraction(19, 10)
    assert expected(model, model, (), of_target(2, 2)) == 2
    # With one node, or one level, nothing is lost by it.
    assert expected(model, model, (), of_draft(1, 2, width=1)) == expected(model, model, (), of_target(1, 2))


def test_the_least_instance_where_a_static_tree_is_not_the_best() -> None:
    """Sequoia's: two contexts, one certain and one even, at the same rates of ranks; two nodes on two tokens.

    After the prefix (0,) the target is certain of 0 twice, after (1,) it is even: the best trees are a chain, worth 3,
    and both children, worth 2. Any one shape has to choose: 3 and 7/4, or 2 and 2.
    """

    def model(prefix: tuple[int, ...]) -> Any:
        return exact([1, 0]) if prefix[0] == 0 else exact(["1/2", "1/2"])

    starts = (0,), (1,)
    best = sum(expected(model, model, start, of_target(2, 2)) for start in starts)
    assert best == 5
    shapes = [of_ranks([Fraction(3, 4), Fraction(1, 4)], 2, 2), of_widths((2,))]
    held = [sum(expected(model, model, start, choose) for start in starts) for choose in shapes]
    assert held == [Fraction(19, 4), Fraction(4)]
    # Sequoia's own rates of these contexts, (3/4, 1/4), lead to the better of the two shapes.
    assert max(held) == held[0]


def program(rates: list[Fraction], nodes: int, depth: int) -> Fraction:
    """Sequoia's dynamic program: the best sum of products of rates over shapes of at most `nodes` nodes."""

    @cache
    def below(left: int, levels: int, rank: int) -> Fraction:
        if left == 0 or levels == 0 or rank == len(rates):
            return Fraction(0)
        skipped = below(left, levels, rank + 1)
        taken = max(
            rates[rank] * (1 + below(own, levels - 1, 0)) + below(left - 1 - own, levels, rank + 1)
            for own in range(left)
        )
        return max(skipped, taken)

    return below(nodes, depth, 0)


def test_sequoias_program_is_solved_by_the_greedy_tree() -> None:
    random = Random(0)
    for _ in range(300):
        rates = sorted(proportional_to([random.randint(1, 9) for _ in range(4)])[:3], reverse=True)
        nodes, depth = random.randint(1, 7), random.randint(1, 4)
        shape = paths(by_ranks(rates, nodes, depth))
        held = sum((Fraction(prod(rates[rank] for rank in path)) for path in shape), Fraction(0))
        assert held == program(rates, nodes, depth)


def test_rates_that_ascend_are_refused() -> None:
    with pytest.raises(ValueError, match="ascend"):
        by_ranks([Fraction(1, 4), Fraction(1, 2)], 2, 2)


def test_a_node_that_ends_the_text_is_worth_nothing_and_is_left_out() -> None:
    target = Rows((exact(["1/4", "3/4"]),), end=1)
    assert paths(of_target(2, 2)(Conditionals(target, target, ()))) == {(0,), (0, 0)}
    # The control: taken by its mass it would be the first, and worth nothing.
    assert worth({(1,)}, target, end=1) == 1


def test_the_top_of_a_wide_law_is_that_of_a_sort() -> None:
    random = Random(1)
    for _ in range(50):
        law = [random.choice([0.0, 0.25, 0.5, random.random()]) for _ in range(200)]
        wanted = sorted((token for token in range(200) if law[token] > 0), key=lambda token: (-law[token], token))
        assert [token for token, _ in top(law, 5, None)] == wanted[:5]
        assert [token for token, _ in top(law, 5, wanted[2])] == [*wanted[:2], *wanted[3:6]]
