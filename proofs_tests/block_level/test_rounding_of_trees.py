"""Block verification and greedy multi-path part from their replayed programs within the derived bound of a threshold
alone, the other rules of trees within the chosen one; uniforms are laid on the thresholds, and wrong rows are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proofs_tests.block_level import tree_batches
from proofs_tests.block_level.given_rows import GivenRows
from proofs_tests.block_level.rounding_bounds import block_bound, multi_path_bound
from proofs_tests.block_level.tree_batches import Batch, batch, chains, noisy
from proofs_tests.block_level.tree_shapes import shapes
from proofs_tests.token_level.on_thresholds import STEPS, Compared, OnThreshold
from proofs_tests.token_level.replayed_rows import Watching
from spec_math.array_coin import ArrayCoin
from spec_math.block_level import tree_rules
from spec_math.block_level.batch import array_tree
from spec_math.block_level.batch.array_tree import ArrayTree
from spec_math.block_level.tree_rules import TreeRule

pytestmark = pytest.mark.usefixtures("coarse_grid")


def drafted(
    rule: TreeRule, parents: list[Any], seed: int, steps: Any
) -> tuple[Batch, list[tuple[float, tuple[int, ...]]]]:
    """Float trees, uniforms on the program's own thresholds; with the least distance of one, and what is emitted."""
    given, rng = noisy(batch(rule, parents, seed), seed), np.random.default_rng(seed)
    wanted: list[tuple[float, tuple[int, ...]]] = []
    for row in range(len(parents)):
        coin = OnThreshold(rng, steps)
        answer = tree_batches.replayed(rule, given, row, coin)
        given.uniforms[row, : len(coin.uniforms)] = coin.uniforms
        watching = Watching(coin.uniforms)
        assert tree_batches.replayed(rule, given, row, watching) == answer
        wanted.append((watching.distance, answer))
    return given, wanted


def differing(rule: TreeRule, parents: list[Any], seed: int, steps: Any = STEPS, shift: int = 0) -> list[Compared]:
    """Formula and program on each tree, the formula on the target's rows or on rows of other nodes."""
    given, wanted = drafted(rule, parents, seed, steps)
    coin = ArrayCoin(given.uniforms, measure=True)
    tree = ArrayTree(given.tokens, given.parents, tree_batches.depth(given), tree_batches.width(given), given.end)
    assert rule.decide is not None
    walked = rule.decide(coin, tree, GivenRows(np.roll(given.targets, shift, axis=1), given.drafts))
    emitted, count = array_tree.emitted(tree, walked)
    found = [tuple(path[:size].tolist()) for path, size in zip(emitted, count, strict=True)]
    rows_of = zip(coin.margin, found, wanted, strict=True)
    return [Compared(float(margin), distance, a != b) for margin, a, (distance, b) in rows_of]


CASES = [
    (tree_rules.AS_A_BLOCK, (1, 1)),
    (tree_rules.AS_A_BLOCK, (1, 5)),
    (tree_rules.MULTI_PATH, (2, 2)),
    (tree_rules.MULTI_PATH, (4, 3)),
]


def bound(rule: TreeRule, k: int, length: int) -> float:
    if rule is tree_rules.AS_A_BLOCK:
        return block_bound(tree_batches.SIZE, length)
    return multi_path_bound(tree_batches.SIZE, length, k)


@pytest.mark.parametrize(("rule", "form"), CASES, ids=lambda each: getattr(each, "name", str(each)))
def test_each_parts_from_its_program_within_the_bound_alone(rule: TreeRule, form: tuple[int, int]) -> None:
    least = bound(rule, *form)
    for seed in range(3):
        found = differing(rule, [chains(*form)] * 60, seed)
        assert all(each.margin <= least for each in found if each.parted)
    assert least < 2.0**-36


def test_uniforms_on_thresholds_are_decided_otherwise() -> None:
    """The control: without a bound the comparison fails, so that the test above looks where it matters."""
    found = [each for seed in range(3) for each in differing(tree_rules.MULTI_PATH, [chains(4, 3)] * 60, seed)]
    assert any(each.parted for each in found)


@pytest.mark.parametrize(("rule", "form"), CASES, ids=lambda each: getattr(each, "name", str(each)))
def test_the_row_of_the_next_node_is_found_beyond_the_bound(rule: TreeRule, form: tuple[int, int]) -> None:
    found = [each for seed in range(3) for each in differing(rule, [chains(*form)] * 60, seed, shift=1)]
    assert any(each.margin > bound(rule, *form) for each in found if each.parted)


CHOSEN = [
    tree_rules.TRAVERSAL,
    tree_rules.PLAN,
    tree_rules.K_SEQUENTIAL,
    tree_rules.PRIORITIES,
    tree_rules.ROUNDED_PRIORITIES,
]


@pytest.mark.parametrize("rule", CHOSEN, ids=lambda rule: rule.name)
def test_a_sixteenth_of_the_chosen_distance_beside_thresholds_is_decided_as_by_the_program(rule: TreeRule) -> None:
    """No bound is derived for trees of these: 2^-36 is chosen, and uniforms lie 2^-40 and more beside thresholds."""
    steps = (2.0**-40, 2.0**-38, 2.0**-36)
    for shift in (0, 1):
        found = list[Compared]()
        for seed in range(2):
            found += differing(rule, shapes(rule, np.random.default_rng(seed), 30, 8), seed, steps, shift)
        kept = [each.parted for each in found if each.distance > steps[0] / 2]
        assert len(kept) > len(found) / 2
        assert any(kept) == bool(shift)


@pytest.mark.parametrize(("shape", "roundings"), [((2, 1, 1), 100), ((2, 2, 2), 1120), ((3, 1, 2), 342)])
def test_the_bound_of_greedy_multi_path_is_its_recursion_worked_by_hand(shape: Any, roundings: int) -> None:
    """V = 2 and two tokens of two chains: σ is 40, then 132 with r = 23; ω is 92; 3·92 + 6·132 + 28 + 24 = 1120."""
    assert multi_path_bound(*shape) == (1 + 2.0**-8) * 2 * roundings * 2.0**-53


@pytest.mark.parametrize(("size", "length", "roundings"), [(2, 1, 72), (4, 3, 312), (256, 8, 33088)])
def test_the_bound_of_a_block_is_worked_by_hand(size: int, length: int, roundings: int) -> None:
    """16 roundings a token and 40 more, at each place: (32 + 40), 3·(64 + 40), 8·(4096 + 40)."""
    assert block_bound(size, length) == (1 + 2.0**-8) * roundings * 2.0**-53
