"""The array formulas of trees decide what the replayed programs decide: everywhere on Fractions, and on floats wherever
no uniform lies on a threshold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from proofs_tests.block_level import tree_batches
from proofs_tests.block_level.given_rows import GivenRows
from proofs_tests.block_level.tree_batches import Batch, batch, parent_arrays
from proofs_tests.block_level.tree_shapes import floats, shapes
from proofs_tests.token_level.replayed_rows import Watching
from spec_math.array_coin import ArrayCoin
from spec_math.arrays import exact
from spec_math.block_level import tree_rules
from spec_math.block_level.batch import array_tree
from spec_math.block_level.batch.array_tree import ArrayTree
from spec_math.block_level.tree_rules import TreeRule

FORMS = [rule for rule in tree_rules.TREE_RULES if rule.decide is not None]
rules = pytest.mark.parametrize("rule", FORMS, ids=lambda rule: rule.name)


pytestmark = pytest.mark.usefixtures("coarse_grid")


def differing(decide: Any, rule: TreeRule, given: Batch, bound: float = -1.0) -> int:
    """Trees that lie further than the bound from a threshold, and where formula and program part or use other coins."""
    tree = ArrayTree(given.tokens, given.parents, tree_batches.depth(given), tree_batches.width(given), given.end)
    coin = ArrayCoin(given.uniforms)
    walked = decide(coin, tree, GivenRows(given.targets, given.drafts))
    emitted, count = array_tree.emitted(tree, walked)
    wrong = 0
    for row in range(len(given.tokens)):
        watching = Watching(given.uniforms[row])
        want = tree_batches.replayed(rule, given, row, watching)
        found = tuple(emitted[row, : count[row]].tolist())
        wrong += watching.distance > bound and (found, coin.column[row]) != (want, watching.used)
        nodes = [node for node in walked.nodes[row].tolist() if node >= 0]
        # The accepted nodes are a path of the tree, and carry the accepted tokens.
        assert [given.parents[row, node] for node in nodes] == [-1, *nodes][: len(nodes)]
        assert tuple(given.tokens[row, nodes]) == found[: len(nodes)]
    return wrong


@pytest.mark.parametrize("end", [None, 3])
@rules
def test_array_forms_of_trees_are_the_replayed_programs_on_fractions(rule: TreeRule, end: int | None) -> None:
    for seed in range(3):
        parents = shapes(rule, np.random.default_rng(seed), 25, 7)
        assert differing(rule.decide, rule, batch(rule, parents, seed, end)) == 0


@pytest.mark.parametrize(
    "rule", [tree_rules.DISTINCT, tree_rules.TRAVERSAL, tree_rules.RECURSIVE], ids=lambda r: r.name
)
def test_all_trees_of_up_to_four_nodes_are_verified_as_by_the_programs(rule: TreeRule) -> None:
    parents = [each for size in range(1, 5) for each in parent_arrays(size)]
    assert differing(rule.decide, rule, batch(rule, parents, 0)) == 0


@rules
def test_array_forms_of_trees_are_the_replayed_programs_on_floats(rule: TreeRule) -> None:
    for seed in range(2):
        parents = shapes(rule, np.random.default_rng(seed), 30, 20)
        assert differing(rule.decide, rule, floats(batch(rule, parents, seed, 3), seed), 2.0**-36) == 0


@pytest.mark.parametrize("width", [1, 2])
@rules
def test_where_nothing_is_drafted_one_coin_draws_from_the_target(rule: TreeRule, width: int) -> None:
    laws = GivenRows(exact([[["1/4", "3/4"], [1, 0]]] * 2), exact([[["1/2", "1/2"], [1, 0]]] * 2))
    none = np.full((2, 1), -1)
    coin = ArrayCoin(exact([["1/5"] * 4, ["1/3"] * 4]))
    walked = rule.decide(coin, ArrayTree(none, none, depth=1, width=width), laws)  # type: ignore[misc]
    assert (walked.nodes.tolist(), walked.follows.tolist()) == ([[-1], [-1]], [0, 1])
    assert coin.column.tolist() == [1, 1]


def _with_another_row(decide: Any, coin: ArrayCoin, tree: ArrayTree, rows: Any) -> Any:
    return decide(coin, tree, GivenRows(np.roll(rows.targets, 1, axis=1), rows.drafts))


def _with_another_parent(decide: Any, coin: ArrayCoin, tree: ArrayTree, rows: Any) -> Any:
    wrong = ArrayTree(tree.tokens, np.maximum(tree.parents - 1, -1), tree.depth, tree.width, tree.end)
    return decide(coin, wrong, rows)


def _with_one_copy(decide: Any, coin: ArrayCoin, tree: ArrayTree, rows: Any) -> Any:
    tokens = tree.tokens.copy()
    for row, above in zip(tokens, tree.parents, strict=True):
        for node in range(len(row)):
            row[node] = -1 if (above[node], row[node]) in list(zip(above, row, strict=True))[:node] else row[node]
    return decide(coin, ArrayTree(tokens, tree.parents, tree.depth, tree.width, tree.end), rows)


WRONG: list[Callable[..., Any]] = [_with_another_row, _with_another_parent, _with_one_copy]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
@rules
def test_wrong_array_forms_of_trees_are_found(rule: TreeRule, wrong: Any) -> None:
    if wrong is _with_one_copy and rule.siblings != "any":
        pytest.skip("such trees have no copies")
    assert any(_is_found(partial(wrong, rule.decide), rule, seed) for seed in range(3))


def _is_found(decide: Any, rule: TreeRule, seed: int) -> bool:
    given = batch(rule, shapes(rule, np.random.default_rng(seed), 25, 7), seed)
    try:
        return differing(decide, rule, given) > 0
    except AssertionError:
        return True
