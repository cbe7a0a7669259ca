"""The array formulas of trees decide what the replayed programs decide: everywhere on Fractions, and on floats wherever
no uniform lies on a threshold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from proofs_tests.block_level import tree_batches
from proofs_tests.block_level.tree_batches import Batch, batch, chains, parent_arrays, random_parents
from proofs_tests.token_level.test_decide import Watching
from spec_math.array_coin import ArrayCoin
from spec_math.block_level import array_tree, ratio_cells, tree_rules
from spec_math.block_level.array_tree import ArrayTree, GivenRows
from spec_math.block_level.tree_rules import TreeRule

FORMS = [rule for rule in tree_rules.TREE_RULES if rule.decide is not None]
PRIORITIES = (tree_rules.PRIORITIES, tree_rules.ROUNDED_PRIORITIES)
rules = pytest.mark.parametrize("rule", FORMS, ids=lambda rule: rule.name)


pytestmark = pytest.mark.usefixtures("coarse_grid")


@pytest.fixture
def coarse_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ratios are rounded to 0, 1/2, 1, 2 and 3: some lie beyond, and the Fractions of other points are not computed."""
    monkeypatch.setattr(ratio_cells, "BITS", 1)
    monkeypatch.setattr(ratio_cells, "OCTAVES", 2)


def shapes(rule: TreeRule, rng: np.random.Generator, many: int, largest: int) -> list[Any]:
    """Parents that the rule takes: chains side by side where it selects one, else any."""
    if rule in PRIORITIES:  # their Fractions are long
        return [chains(2, 3), *(chains(int(rng.integers(1, 5)), int(rng.integers(1, 3))) for _ in range(many // 6))]
    if rule.chains:
        return [chains(int(rng.integers(1, 5)), int(rng.integers(1, 4))) for _ in range(many)]
    if rule.siblings == "one":
        return [chains(1, int(rng.integers(1, largest + 1))) for _ in range(many)]
    return [random_parents(rng, int(rng.integers(1, largest + 1))) for _ in range(many)]


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


def floats(given: Batch, seed: int) -> Batch:
    """The same trees with laws of floats, on uniforms of their own."""
    models = tuple(
        tree_batches.Rows(tuple(row.astype(np.float64) for row in model.rows), model.end) for model in given.models
    )
    wide = [each.astype(np.float64) for each in (given.targets, given.drafts)]
    uniforms = np.random.default_rng(seed).random(given.uniforms.shape)
    return given._replace(targets=wide[0], drafts=wide[1], uniforms=uniforms, models=models)


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
    found = 0
    for seed in range(3):
        given = batch(rule, shapes(rule, np.random.default_rng(seed), 25, 7), seed)
        try:
            found += differing(partial(wrong, rule.decide), rule, given)
        except AssertionError:
            found += 1
    assert found > 0
