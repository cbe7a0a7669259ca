"""Layouts of trees: shared beginnings change nothing that is emitted, and the engines' links and paths are one tree."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofs_tests.block_level.tree_batches import random_parents  # noqa: E402
from proofs_tests.torch_bridge.no_wait import NoWait  # noqa: E402
from spec_math.block_level import tree_rules  # noqa: E402
from torch_bridge import chain_tree, explore, tree_columns, tree_of_links, tree_of_paths, verify_tree  # noqa: E402
from torch_bridge.options import Options  # noqa: E402

WITHOUT_ORDER = [rule for rule in tree_rules.TREE_RULES if rule.siblings == "any" and not rule.ordered]
ORDERED = [rule for rule in tree_rules.TREE_RULES if rule.ordered]


@pytest.mark.parametrize("rule", WITHOUT_ORDER, ids=lambda rule: rule.name)
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


T, D = torch.tensor([0.5, 0.5]).double(), torch.tensor([0.75, 0.25]).double()


def emitted_law(rule: tree_rules.TreeRule, shared: bool, k: int = 3) -> list[float]:
    """The exact law of one token: all tuples of k drafts with their weights, all coins of each tuple followed."""
    found = [0.0, 0.0]
    # The array form of the plan works in NumPy, where random tensors are not followed: its program is taken.
    rule = replace(rule, decide=None) if rule == tree_rules.PLAN else rule
    for drafts in product(range(2), repeat=k):
        tokens, parents, copies = chain_tree(torch.tensor([[[token] for token in drafts]]), shared)
        rows = [each.log().expand(1, k + 1, 2) for each in (T, D)]
        options = Options(depth=1, width=k, check=False) if rule.decide else Options()

        def call(rows: Any = rows, tree: Any = (tokens, parents), copies: Any = copies, options: Any = options) -> int:
            uniforms = torch.rand(1, tree_columns(rule, k), dtype=torch.float64)
            some = copies if shared else None
            return int(verify_tree(rule, *rows, *tree, uniforms, options, some).emitted[0, 0])

        law: Any = explore(call)
        weight = float(torch.stack([D[token] for token in drafts]).prod())
        found = [mass + weight * law.get(token, 0.0) for token, mass in enumerate(found)]
    return found


@pytest.mark.parametrize("rule", WITHOUT_ORDER, ids=lambda rule: rule.name)
@pytest.mark.parametrize("shared", [False, True])
def test_rules_without_an_order_emit_the_target_from_shared_chains(rule: tree_rules.TreeRule, shared: bool) -> None:
    assert emitted_law(rule, shared) == pytest.approx(T.tolist(), abs=1e-12)


@pytest.mark.parametrize("rule", ORDERED, ids=lambda rule: rule.name)
def test_rules_that_need_the_order_emit_the_target_and_refuse_shared_chains(rule: tree_rules.TreeRule) -> None:
    """Three drafts a, b, a are no longer in the order drawn where the two a's are one node."""
    assert emitted_law(rule, shared=False) == pytest.approx(T.tolist(), abs=1e-12)
    shared = chain_tree(torch.tensor([[[0], [1], [0]]]), shared=True)
    rows, uniforms = torch.zeros(1, 4, 2), torch.full((1, 7), 0.5)
    for options in (Options(), Options(check=False, width=3)):
        with pytest.raises(ValueError, match=r"order|drawn first.*in request 0 node 0 has 2 copies"):
            _ = verify_tree(rule, rows, rows, shared.tokens, shared.parents, uniforms, options, shared.copies)


def test_shared_chains_would_emit_another_law_where_the_order_matters() -> None:
    """The control: with the refusal left out K-SEQ emits (.534, .466)."""
    unordered = replace(tree_rules.K_SEQUENTIAL, ordered=False)
    assert emitted_law(unordered, shared=True) == pytest.approx([0.534, 0.466], abs=5e-4)


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


@pytest.mark.parametrize(
    ("links", "message"),
    [
        (([[1, 2, 1]], [[-1, -1, -1]]), r"next_token\[0, 2\] leads to slot 1, as does next_token\[0, 0\]"),
        (([[-1, 2, -1]], [[-1, -1, 1]]), r"in request 0 next_sibling\[0, 2\] leads to slot 1, .* in a cycle"),
        (([[1, 0, -1]], [[-1, -1, -1]]), r"next_token\[0, 1\] leads to the root"),
        (([[1, 3, -1]], [[-1, -1, -1]]), r"slots in 1\.\.2, or are -1; next_token\[0, 1\] is 3"),
    ],
)
def test_links_that_are_no_tree_are_refused(links: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _ = tree_of_links(torch.tensor([[9, 5, 6]]), *(torch.tensor(each) for each in links))


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ([[0, 1, 3], [0, 2, 3]], "in request 0 slot 3 follows slot 1 in one path and slot 2 in another"),
        ([[0, 1, -1], [0, -1, 2]], r"-1 only behind its end; retrieve_indices\[0, 1\] is \[0, -1, 2\]"),
        ([[1, 2, 3]], "a path starts at the root, slot 0"),
        ([[0, 4, -1]], r"slots in 0\.\.3"),
    ],
)
def test_paths_that_are_no_tree_are_refused(paths: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _ = tree_of_paths(torch.tensor([[9, 5, 6, 7]]), torch.tensor([paths]))


@pytest.mark.parametrize("shared", [False, True])
def test_a_chain_that_goes_on_behind_its_end_is_refused(shared: bool) -> None:
    with pytest.raises(ValueError, match=r"chains\[0, 1\] is \[5, -1, 6\], with a token at 2 behind -1 at 1"):
        _ = chain_tree(torch.tensor([[[5, 6, 7], [5, -1, 6]]]), shared)


def test_layouts_without_checks_look_at_no_value() -> None:
    with NoWait():
        _ = chain_tree(torch.tensor([[[5, -1, 6]]]), shared=True, check=False)
        _ = tree_of_links(*torch.tensor([[[9, 5]], [[1, -1]], [[-1, 1]]]), check=False)
        _ = tree_of_paths(torch.tensor([[9, 5]]), torch.tensor([[[0, 1], [1, 0]]]), check=False)
