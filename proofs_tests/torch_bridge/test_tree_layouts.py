"""Layouts of trees: shared beginnings change nothing that is emitted, and the engines' links and paths are one tree."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofs_tests.block_level.tree_batches import random_parents  # noqa: E402
from spec_math.block_level import tree_rules  # noqa: E402
from torch_bridge import chain_tree, tree_columns, tree_of_links, tree_of_paths, verify_tree  # noqa: E402

OF_CHAINS = [rule for rule in tree_rules.TREE_RULES if rule.siblings == "any"]


@pytest.mark.parametrize("rule", OF_CHAINS, ids=lambda rule: rule.name)
def test_shared_beginnings_change_nothing_that_is_emitted(rule: tree_rules.TreeRule) -> None:
    differing = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        # Chains in order, so that copies stand next to each other, as the shared layout counts them.
        ordered = torch.tensor([sorted(each) for each in rng.integers(0, 3, (8, 3, 3)).tolist()])
        uniforms = torch.from_numpy(rng.random((8, tree_columns(rule, 9))))
        apart, shared = chain_tree(ordered), chain_tree(ordered, shared=True)
        target, draft = _rows_of(ordered, seed)
        plain = verify_tree(rule, target, draft, apart.tokens, apart.parents, uniforms)
        merged = verify_tree(rule, target, draft, shared.tokens, shared.parents, uniforms, copies=shared.copies)
        assert plain.emitted.tolist() == merged.emitted.tolist()
        if not rule.chains:  # the control: a copy counted once
            once = verify_tree(rule, target, draft, shared.tokens, shared.parents, uniforms)
            differing += once.emitted.tolist() != plain.emitted.tolist()
    assert rule.chains or differing > 0


def _rows_of(chains: Any, seed: int) -> tuple[Any, Any]:
    """Rows of both models that depend on the path alone."""
    rng = np.random.default_rng(seed)
    requests, many, length = chains.shape
    laws = rng.standard_normal((2, 4**length, 3))
    codes = np.zeros(chains.shape, dtype=np.int64)
    listed = chains.numpy()
    for place in range(length):
        codes[..., place] = 4 * (codes[..., place - 1] if place else 0) + listed[..., place] + 1
    rows = np.concatenate([np.zeros((requests, 1), dtype=np.int64), codes.reshape(requests, many * length)], axis=1)
    return torch.from_numpy(laws[0][rows]), torch.from_numpy(laws[1][rows])


def links(parents: list[int]) -> tuple[list[int], list[int]]:
    """First child and next sibling of each slot, the root's slot first, as an engine links them."""
    children: dict[int, list[int]] = {slot: [] for slot in range(len(parents) + 1)}
    for node, parent in enumerate(parents):
        children[parent + 1].append(node + 1)
    first = [each[0] if each else -1 for each in children.values()]
    following = [-1] * (len(parents) + 1)
    for each in children.values():
        for slot, sibling in pairwise(each):
            following[slot] = sibling
    return first, following


def paths(parents: list[int]) -> list[list[int]]:
    """The slots from the root to each leaf."""
    found: list[list[int]] = []
    for node in set(range(len(parents))) - set(parents):
        path = [node + 1]
        while path[0]:
            path.insert(0, parents[path[0] - 1] + 1)
        found.append(path)
    depth = max(map(len, found))
    return [path + [-1] * (depth - len(path)) for path in found]


def test_links_and_paths_of_engines_are_the_same_tree() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 2, 5, 9):
        for _ in range(5):
            parents = random_parents(rng, size)
            candidates = torch.from_numpy(rng.integers(0, 50, (1, size + 1)))
            by_links = tree_of_links(candidates, *(torch.tensor([each]) for each in links(parents)))
            by_paths = tree_of_paths(candidates, torch.tensor([paths(parents)]))
            for found in (by_links, by_paths):
                assert found.parents.tolist() == [parents]
                assert found.tokens.tolist() == candidates[:, 1:].tolist()


def test_a_slot_that_nothing_leads_to_is_no_node() -> None:
    found = tree_of_links(torch.tensor([[9, 5, 6]]), torch.tensor([[1, -1, -1]]), torch.tensor([[-1, -1, -1]]))
    assert found.tokens.tolist() == [[5, -1]]
    with pytest.raises(ValueError, match="the root first"):
        _ = tree_of_links(torch.zeros(1, 2), torch.zeros(1, 3), torch.zeros(1, 2))
    with pytest.raises(ValueError, match="B, K, L"):
        _ = chain_tree(torch.zeros(1, 2, 3))
