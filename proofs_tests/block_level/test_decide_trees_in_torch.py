"""The array formulas of trees decide tensors as the replayed programs do: on the host, and by the steps of a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofs_tests.block_level import tree_batches  # noqa: E402
from proofs_tests.block_level.given_rows import GivenRows  # noqa: E402
from proofs_tests.block_level.tree_batches import Batch, batch  # noqa: E402
from proofs_tests.block_level.tree_shapes import floats, shapes  # noqa: E402
from proofs_tests.token_level.replayed_rows import Watching  # noqa: E402
from proofs_tests.torch_bridge.no_wait import NoWait  # noqa: E402
from spec_math.array_coin import ArrayCoin  # noqa: E402
from spec_math.block_level import tree_rules  # noqa: E402
from spec_math.block_level.batch import array_tree  # noqa: E402
from spec_math.block_level.batch.array_tree import ArrayTree  # noqa: E402
from spec_math.block_level.tree_rules import TreeRule  # noqa: E402

rules = pytest.mark.parametrize(
    "rule", [rule for rule in tree_rules.TREE_RULES if rule.decide is not None], ids=lambda rule: rule.name
)

pytestmark = pytest.mark.usefixtures("coarse_grid")

NEAR = 2.0**-36
"""A tree with a uniform so close to a threshold is decided by rounding."""


def decided(rule: TreeRule, given: Batch) -> tuple[Any, Any, Any]:
    """The tokens that each tree emits [B, D + 1], how many [B], and how many uniforms it used [B]."""
    targets, drafts, tokens, parents, uniforms = (torch.from_numpy(each) for each in given[:5])
    # Masses are in proportion to their own sums: factors of two round nothing.
    up = 2.0 ** torch.arange(targets[..., 0].numel()).reshape(targets[..., :1].shape).remainder(5)
    targets, drafts = targets * up, drafts / up.roll(1, 1)
    tree = ArrayTree(tokens, parents, tree_batches.depth(given), tree_batches.width(given), given.end)
    coin = ArrayCoin(uniforms)
    assert rule.decide is not None
    # What is made without naming the batch's own device is made elsewhere, and does not mix with it.
    with torch.device("meta"):
        with NoWait():
            device = rule.decide(coin, tree, GivenRows(targets, drafts))
            found = *array_tree.emitted(tree, device), coin.column
        host = rule.decide(ArrayCoin(uniforms), tree, GivenRows(targets, drafts))
    assert host.follows.tolist() == device.follows.tolist()
    assert host.nodes.tolist() == device.nodes.tolist()
    return found


@pytest.mark.parametrize("end", [None, 3])
@rules
def test_tensors_of_trees_are_decided_as_by_the_replayed_programs(rule: TreeRule, end: int | None) -> None:
    parents = shapes(rule, np.random.default_rng(7), 30, 9)
    given = floats(batch(rule, parents, 7, end), 7)
    found = [(tuple(tokens[:count]), used) for tokens, count, used in zip(*_listed(decided(rule, given)), strict=True)]
    watching = [Watching(uniforms) for uniforms in given.uniforms]
    wanted = [(tree_batches.replayed(rule, given, row, coin), coin.used) for row, coin in enumerate(watching)]
    far = [row for row, coin in enumerate(watching) if coin.distance > NEAR]
    assert len(far) >= len(parents) * 3 / 4
    assert [found[row] for row in far] == [wanted[row] for row in far]
    # Control: the answers to another request.
    assert any(found[row - 1] != wanted[row] for row in far)


def _listed(found: tuple[Any, Any, Any]) -> list[list[Any]]:
    return [each.tolist() for each in found]
