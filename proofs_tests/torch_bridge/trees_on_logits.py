"""Drafted trees as logits, and how their programs decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofs_tests.block_level import tree_batches  # noqa: E402
from proofs_tests.block_level.tree_batches import Batch, batch  # noqa: E402
from proofs_tests.block_level.tree_shapes import floats, shapes  # noqa: E402
from proofs_tests.token_level.replayed_rows import Watching  # noqa: E402
from spec_math.block_level.tree import Node  # noqa: E402
from spec_math.block_level.tree_rules import TREE_RULES, TreeRule  # noqa: E402

rules = pytest.mark.parametrize("rule", TREE_RULES, ids=lambda rule: rule.name)


def tensors(given: Batch, dtype: Any = torch.float64) -> tuple[Any, ...]:
    """target_logits, draft_logits, tokens, parents and uniforms of a batch of float laws."""
    logits = [torch.from_numpy(np.asarray(each, dtype=np.float64)).log().to(dtype) for each in given[:2]]
    return (*logits, *(torch.from_numpy(np.asarray(each)) for each in given[2:5]))


def drafted(rule: TreeRule, seed: int, many: int = 20, largest: int = 12, end: int | None = 3) -> Batch:
    parents = shapes(rule, np.random.default_rng(seed), many, largest)
    return floats(batch(rule, parents, seed, end), seed)


def differing(rule: TreeRule, given: Batch, found: Any, bound: float) -> tuple[int, int]:
    wrong = excused = 0
    for row, (emitted, count) in enumerate(zip(found.emitted.tolist(), found.count.tolist(), strict=True)):
        coin = Watching(given.uniforms[row])
        want = tree_batches.replayed(rule, given, row, coin)
        if coin.distance <= bound:
            excused += 1
        else:
            wrong += tuple(emitted[:count]) != want or set(emitted[count:]) - {-1} != set()
        nodes = [node for node in found.accepted_nodes[row].tolist() if node >= 0]
        assert [int(given.parents[row, node]) for node in nodes] == [-1, *nodes][: len(nodes)]
        assert given.tokens[row, nodes].tolist() == emitted[: len(nodes)]
    return wrong, excused


def arrays(nodes: tuple[Node, ...], above: int = -1, start: int = 0) -> list[tuple[int, int]]:
    """The nodes of a drafted tree with their parents, each before its children."""
    found: list[tuple[int, int]] = []
    for node in nodes:
        found.append((node.token, above))
        found += arrays(node.children, start + len(found) - 1, start + len(found))
    return found
