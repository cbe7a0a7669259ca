"""Any rule that selects a drafted chain, verified as a block against the law of what it selects, is lossless."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level import methods_on_trees
from proofs_tests.block_level.models import Rows, model_pairs
from proofs_tests.token_level.coupling_verifier import verifier_from_coupling
from spec_math import check_lossless_block
from spec_math.arrays import Array, exact
from spec_math.block_level import block, chain, chain_priorities, length, selected_chain, spectr
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import grow
from spec_math.chance import Coin, law
from spec_math.token_level import draft_law, plan, pooled_priority, transport, without_replacement

Path = tuple[int, ...]


class Rule:
    """A rule that selects one of k chains, and the law of what it selects, by enumeration of all drafts."""

    def __init__(self, laws: Conditionals, lookahead: int, k: int) -> None:
        self.laws, self.k, self.lookahead = laws, k, lookahead
        self.selected = law(self._program)

    def _program(self, coin: Coin) -> Path:
        return self.select(coin, [chain.draw(coin, self.laws, self.lookahead) for _ in range(self.k)])

    def law(self, path: Path) -> Array:
        masses = exact([0] * self.laws.size)
        for chosen, mass in self.selected.items():
            if chosen[: len(path)] == path:
                masses[chosen[len(path)]] += mass
        return masses / masses.sum()

    def select(self, coin: Coin, chains: Sequence[Path]) -> Path:
        raise NotImplementedError


class AnyTable(Rule):
    """An arbitrary chance for each chain, by its place, of each tuple of chains."""

    def select(self, coin: Coin, chains: Sequence[Path]) -> Path:
        random = Random(str(chains))
        weights = [random.randint(0, 3) for _ in chains]
        total = sum(weights)
        return chains[coin.draw([Fraction(w, total) for w in weights]) if total else 0]


class NodeByNode(Rule):
    """The pooled-priority plan at each node, for as many chains as follow it: its copies go on together."""

    def select(self, coin: Coin, chains: Sequence[Path]) -> Path:
        path: Path = ()
        alive = list(chains)
        while len(path) < self.lookahead and not self.laws.ends(path):
            tokens = [drafts[len(path)] for drafts in alive]
            token = put_forward(coin, tokens, self.laws.target(path), self.laws.draft(path))
            path = (*path, token)
            alive = [drafts for drafts in alive if drafts[: len(path)] == path]
        return path


def put_forward(coin: Coin, tokens: list[int], target: Array, draft: Array) -> int:
    made = plan.plan(target, draft, len(tokens))
    places = [made.order.tokens.tolist().index(token) for token in tokens]
    low, _ = made.pools.pool(coin.draw(made.pools.weights), max(places))
    hits = [token for token, place in zip(tokens, places, strict=True) if place >= low]
    return hits[coin.draw([Fraction(1, len(hits))] * len(hits))]


def generator(target: Any, draft: Any, lookahead: int, k: int, rule: Callable[..., Rule]) -> Any:
    known: dict[Path, Rule] = {}

    def generate(coin: Coin, prefix: Path) -> Path:
        if prefix not in known:
            known[prefix] = rule(Conditionals(target, draft, prefix), lookahead, k)
        return selected_chain.generate(coin, known[prefix], lookahead)

    return generate


@settings(max_examples=15)
@given(st.data(), st.sampled_from([AnyTable, NodeByNode]), st.sampled_from([(2, 2, 2), (2, 2, 3), (3, 1, 2)]))
def test_any_selection_is_lossless_as_a_block(
    data: st.DataObject, rule: Callable[..., Rule], shape: tuple[int, int, int]
) -> None:
    size, lookahead, k = shape
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(generator(target, draft, lookahead, k, rule), target, lookahead + 1)
    assert verdict, str(verdict)


TARGET = Rows((exact(["2/3", "1/3"]), exact(["1/6", "5/6"])))
DRAFT = Rows((exact(["1/4", "3/4"]), exact(["2/3", "1/3"])))


class LawOfAnother(NodeByNode):
    def law(self, path: Path) -> Array:
        return AnyTable(self.laws, self.lookahead, self.k).law(path)


def test_selection_against_the_law_of_another_rule_is_lossy() -> None:
    assert check_lossless_block(generator(TARGET, DRAFT, 2, 2, NodeByNode), TARGET, 3)
    assert not check_lossless_block(generator(TARGET, DRAFT, 2, 2, LawOfAnother), TARGET, 3)


def seeded(seed: int, size: int, lookahead: int) -> Any:
    rows = {}
    for path in [path for depth in range(lookahead + 1) for path in product(range(size), repeat=depth)]:
        random = Random(f"{seed} {path}")
        weights = [random.randint(0, 9) for _ in range(size)]
        weights = weights if any(weights) else [1] * size
        rows[path] = exact([Fraction(w, sum(weights)) for w in weights])
    return rows.__getitem__


def node_by_node(target: Any, draft: Any, lookahead: int, k: int) -> Fraction:
    return selected_chain.expected(target, NodeByNode(Conditionals(target, draft, ()), lookahead, k), lookahead)


@pytest.mark.parametrize(("k", "instances"), [(2, 20), (3, 5)])
def test_selection_node_by_node_lies_between_acceptance_node_by_node_and_chain_priorities(
    k: int, instances: int
) -> None:
    """For two levels: the same selection accepted token by token, verified as a block, and the refined priorities."""
    for seed in range(instances):
        target, draft = seeded(2 * seed, 2, 2), seeded(2 * seed + 1, 2, 2)
        between = node_by_node(target, draft, 2, k)
        assert spectr.expected(target, draft, (), (k, 1), pooled_priority.verify) <= between
        assert between <= chain_priorities.expected(target, draft, (), 2, k)


def test_chain_priorities_may_fall_behind_selection_node_by_node_for_three_levels() -> None:
    target, draft = seeded(56, 2, 3), seeded(57, 2, 3)
    ours = chain_priorities.expected(target, draft, (), 3, 2)
    assert spectr.expected(target, draft, (), (2, 1, 1), pooled_priority.verify) < ours
    assert ours < node_by_node(target, draft, 3, 2)


def tree_generator(target: Any, draft: Any, widths: tuple[int, ...]) -> Any:
    """A tree without replacement: a child is selected at each node with the law of the plan, the leaf is verified."""
    known: dict[Path, tuple[Array, Any]] = {}

    def prepared(laws: Conditionals, path: Path) -> tuple[Array, Any]:
        where = laws.prefix + path, widths[len(path)]
        if where not in known:
            selection = plan.plan_without_replacement(laws.target(path), laws.draft(path), where[1]).selection
            drafts = draft_law.drawn(without_replacement.draw, laws.draft(path), where[1])
            known[where] = selection, verifier_from_coupling(transport.solve(selection, drafts))
        return known[where]

    def generate(coin: Coin, prefix: Path) -> Path:
        laws = Conditionals(target, draft, prefix)
        path: Path = ()
        children = grow(coin, laws, widths, without_replacement.draw)
        while children:
            selection, choose = prepared(laws, path)
            tokens = tuple(child.token for child in children)
            path = (*path, choose(coin, tokens, selection, laws.draft(path)))
            children = next(child.children for child in children if child.token == path[-1])
        targets = [laws.target(path[:at]) for at in range(len(path) + (not laws.ends(path)))]
        return block.verify(coin, path, targets, [prepared(laws, path[:at])[0] for at in range(len(path))])

    return generate


@settings(max_examples=20)
@given(st.data(), st.sampled_from([(2, (2, 1)), (2, (1, 2)), (3, (2, 1))]))
def test_plan_of_each_node_of_a_tree_is_lossless_as_a_block(
    data: st.DataObject, shape: tuple[int, tuple[int, ...]]
) -> None:
    size, widths = shape
    target, draft = data.draw(model_pairs(size))
    generate = tree_generator(target, draft, widths)
    verdict = check_lossless_block(generate, target, len(widths) + 1)
    assert verdict, str(verdict)
    tokens, _ = methods_on_trees.of_trees(target, draft, (), widths)
    assert tokens["optimal plan at every node, as a block"] == length.expected(generate, ())
    assert tokens["optimal plan at every node, as a block"] >= tokens["optimal plan at every node"]


def test_float_masses_of_zero_are_clipped_from_it_and_fractions_are_not() -> None:
    assert selected_chain.clip_from_zero(np.array([0.5, 0.0, 2.0**-1020])).tolist() == [0.5, 2.0**-1000, 2.0**-1000]
    assert selected_chain.clip_from_zero(exact(["1/2", 0])).tolist() == [Fraction(1, 2), 0]
