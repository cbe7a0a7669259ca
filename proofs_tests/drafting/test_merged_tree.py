"""Trees drafted over another vocabulary: the array formulas decide what the programs decide that are replayed on the
same models, and the law is the target's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proofs_tests.block_level import tree_batches
from proofs_tests.block_level.given_rows import GivenRows
from proofs_tests.block_level.models import Rows
from proofs_tests.block_level.tree_batches import Batch
from proofs_tests.drafting.merged_trees import END, drafted, replayed
from proofs_tests.token_level.replayed_rows import Watching
from spec_math import law
from spec_math.array_coin import ArrayCoin
from spec_math.arrays import exact
from spec_math.block_level import chain, traversal, tree_rules
from spec_math.block_level.batch import array_tree
from spec_math.block_level.batch.array_tree import ArrayTree
from spec_math.block_level.tree_rules import TREE_RULES, TreeRule
from spec_math.chance import Coin
from spec_math.drafting.merged import decide_merged_tree, models, placed_path
from spec_math.language.model import Model
from spec_math.scheme import Tokens

pytestmark = pytest.mark.usefixtures("coarse_grid")
rules = pytest.mark.parametrize("rule", [rule for rule in TREE_RULES if rule.decide], ids=lambda rule: rule.name)


def differing(decide: Any, rule: TreeRule, given: Batch, places: Any, bound: float = -1.0) -> int:
    """Trees that lie further than the bound from a threshold, and that formula and program verify otherwise."""
    tree = ArrayTree(given.tokens, given.parents, tree_batches.depth(given), tree_batches.width(given), END)
    own, walked = decide(rule.decide, ArrayCoin(given.uniforms), tree, GivenRows(given.targets, given.drafts), places)
    emitted, count = array_tree.emitted(own, walked)
    wrong = 0
    for row in range(len(given.tokens)):
        watching = Watching(given.uniforms[row])
        want = replayed(rule, given, row, places, watching)
        wrong += watching.distance > bound and tuple(emitted[row, : count[row]].tolist()) != want
    return wrong


@rules
def test_trees_over_another_vocabulary_are_the_replayed_programs_on_fractions(rule: TreeRule) -> None:
    for seed in range(2):
        assert differing(decide_merged_tree, rule, *drafted(rule, seed)) == 0


def renamed(given: Batch, places: Any, shift: int = 0) -> tuple[Any, Any, Any]:
    """Tokens, drafts and maps [B, N + 1, 4] where every node has an order of the draft's tokens of its own."""
    rng = np.random.default_rng(0)
    tokens, drafts, maps = given.tokens.copy(), given.drafts.copy(), np.empty(given.drafts.shape, dtype=np.int64)
    for row, above in enumerate(given.parents):
        orders = [rng.permutation(4) for _ in range(drafts.shape[1])]
        for slot, order in enumerate(orders):
            drafts[row, slot], maps[row, slot] = given.drafts[row, slot][order], places[order]
        for node, token in enumerate(given.tokens[row]):
            if token >= 0:
                tokens[row, node] = orders[above[node] + 1].tolist().index(token)
    return tokens, drafts, np.roll(maps, shift, axis=1)


@pytest.mark.parametrize(
    "rule", [tree_rules.TOKEN_BY_TOKEN, tree_rules.AS_A_BLOCK, tree_rules.DISTINCT], ids=lambda rule: rule.name
)
def test_each_node_may_have_a_map_of_its_own(rule: TreeRule) -> None:
    """What is accepted does not depend on the order of the draft's tokens; with a neighbour's map it is another."""
    given, places = drafted(rule, 2, many=60)

    def nodes(tokens: Any, drafts: Any, maps: Any) -> list[list[int]]:
        tree = ArrayTree(tokens, given.parents, tree_batches.depth(given), tree_batches.width(given), END)
        rows = GivenRows(given.targets, drafts)
        return decide_merged_tree(rule.decide, ArrayCoin(given.uniforms), tree, rows, maps)[1].nodes.tolist()  # type: ignore[arg-type]

    wanted = nodes(given.tokens, given.drafts, places)
    assert nodes(*renamed(given, places)) == wanted
    assert nodes(*renamed(given, places, shift=1)) != wanted
    assert nodes(given.tokens, given.drafts, np.broadcast_to(places, (len(given.tokens), 4))) == wanted


def _another_map(decide: Any, coin: Any, tree: Any, rows: Any, places: Any) -> Any:
    return decide_merged_tree(decide, coin, tree, rows, np.roll(places, 1))


def _another_row(decide: Any, coin: Any, tree: Any, rows: Any, places: Any) -> Any:
    return decide_merged_tree(decide, coin, tree, GivenRows(np.roll(rows.targets, 1, axis=1), rows.drafts), places)


@pytest.mark.parametrize("wrong", [_another_map, _another_row])
@rules
def test_wrong_formulas_over_another_vocabulary_are_found(rule: TreeRule, wrong: Any) -> None:
    assert sum(differing(wrong, rule, *drafted(rule, seed)) for seed in range(2)) > 0


def blocks(generate: Any, places: Any) -> dict[tuple[int, ...], Any]:
    """The law of the next two tokens, of a target on three tokens and a draft on two, the first of which it lacks."""
    rng = np.random.default_rng(1)
    target = Rows(tuple(exact(row.astype(object)) / row.sum() for row in rng.integers(1, 5, (5, 3))))
    draft = Rows(tuple(exact(row.astype(object)) / row.sum() for row in rng.integers(1, 5, (5, 2))))
    both = models(target, draft, places)
    total: dict[tuple[int, ...], Any] = {}
    found = law(lambda coin: placed_path(coin, generate(coin, *both), target, places))
    for path, mass in found.items():
        for text, rest in continued(path, target):
            total[text] = total.get(text, mass * 0) + mass * rest
    wanted = {text: mass for text, mass in continued((), target) if mass}
    return {text: total.get(text, 0) - wanted.get(text, 0) for text in {*total, *wanted}}


def continued(path: tuple[int, ...], target: Any) -> list[tuple[tuple[int, ...], Any]]:
    found = [(path[:2], target(())[0] * 0 + 1)]
    for _ in range(2 - len(path)):
        found = [((*text, y), mass * t) for text, mass in found for y, t in enumerate(target(text))]
    return found


def _chain(coin: Coin, target: Model, draft: Model) -> Tokens:
    return chain.generate(coin, target, draft, (), 1)


def _traversal(coin: Coin, target: Model, draft: Model) -> Tokens:
    return traversal.generate(coin, target, draft, (), (2,))


@pytest.mark.parametrize("generate", [_chain, _traversal])
def test_blocks_over_another_vocabulary_have_the_targets_law(generate: Any) -> None:
    for places in (np.array([-1, 2]), np.array([1, 0]), np.array([-1, -1])):
        assert set(blocks(generate, places).values()) == {0}
