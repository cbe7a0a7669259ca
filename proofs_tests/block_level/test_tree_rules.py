"""The program that each rule of drafted trees names is the one that it is compared with, and tosses no more coins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proofs_tests.block_level import tree_batches
from proofs_tests.block_level.tree_batches import Batch, batch
from proofs_tests.block_level.tree_shapes import shapes
from proofs_tests.token_level.replayed_rows import Watching
from spec_math.block_level import tree_rules
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import Node
from spec_math.block_level.tree_rules import TreeRule


def nodes(given: Batch, row: int, above: int = -1) -> tuple[Node, ...]:
    """The children of a node in the arrays, with all that is below them."""
    places = zip(given.tokens[row].tolist(), given.parents[row].tolist(), strict=True)
    return tuple(
        Node(token, nodes(given, row, place))
        for place, (token, parent) in enumerate(places)
        if token >= 0 and parent == above
    )


@pytest.mark.parametrize("end", [None, 3])
@pytest.mark.parametrize("rule", tree_rules.TREE_RULES, ids=lambda rule: rule.name)
def test_a_rule_names_the_program_that_it_is_compared_with(rule: TreeRule, end: Any) -> None:
    """Trees with and without nodes, on the same uniforms."""
    sizes = shapes(rule, np.random.default_rng(5), 12, 5)
    given = batch(rule, sizes, 5, end)
    given.tokens[-1] = -1
    for row in range(len(sizes)):
        ours, theirs = Watching(given.uniforms[row]), Watching(given.uniforms[row])
        laws, drafted = Conditionals(*given.models, ()), nodes(given, row)
        assert rule.program(ours, drafted, laws) == tree_batches.replayed(rule, given, row, theirs)
        assert ours.used == theirs.used <= rule.coins(int((given.tokens[row] >= 0).sum()))
