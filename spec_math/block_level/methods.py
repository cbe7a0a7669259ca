"""All methods on K paths side by side: how each generates, its exact expected length, and what it makes of drafts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb, perm
from typing import Any

from spec_math.block_level import (
    block,
    chain,
    chain_priorities,
    multi_path,
    spectr,
    traversal,
    tree_rules,
    without_replacement,
)
from spec_math.block_level.chain_priorities import Priorities
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lengths import given_drafts
from spec_math.block_level.lengths.given_drafts import AtNode, Chances, Nodes
from spec_math.block_level.method import CHAINS, DISTINCT, Expected, Given, Method, Proven, Terms, paths
from spec_math.block_level.multi_path import HighestRank
from spec_math.block_level.selected_chain import SelectionWithMasses
from spec_math.block_level.spectr import Verifier
from spec_math.block_level.tree import Node, grow
from spec_math.chance import Coin
from spec_math.chance import law as law_of
from spec_math.distribution import capped_ratio
from spec_math.language.model import Model
from spec_math.scheme import Tokens, draw_independent
from spec_math.token_level import k_sequential, recursive
from spec_math.token_level import without_replacement as distinct


def traversal_expected(target: Model, draft: Model, prefix: Sequence[int], lookahead: int, k: int) -> Any:
    """Return the expected number of tokens per target call of traversal verification on K paths, without whole trees.

    The law: the children of the root are enumerated; one that is tried has the chance w_1 of its test, and the chain
    below it is a block that starts with that weight, so that E[w_i], w_i = min(1, w_{i−1} t/d), is its chance to be
    accepted up to i. V!/(V − k)! · V^(lookahead − 1) terms. Units: tokens per call.

    Raises:
        ValueError, TypeError: as `traversal.generate`.

    >>> traversal_expected(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], (), 2, 2)
    Fraction(45, 16)
    """
    laws = Conditionals(target, draft, prefix)
    one = laws.target()[0] * 0 + 1

    def below(path: Tokens, weight: Any) -> Any:
        total = weight * 0 if laws.ends(path) else weight
        if len(path) < lookahead and not laws.ends(path):
            for token, (t, d) in enumerate(zip(laws.target(path), laws.draft(path), strict=True)):
                if d > 0:
                    total = total + d * below((*path, token), capped_ratio(weight * t, d))
        return total

    total = one
    for roots, mass in law_of(lambda coin: distinct.draw(coin, laws.draft(), k)).items():
        reached = mass
        for root, chance in zip(roots, given_drafts.root_tests(laws, roots), strict=True):
            total = total + reached * below((root,), chance)
            reached = reached * (1 - chance)
    return total


def _of_one(
    name: str, generate: Any, expected: Any, given: Callable[[Conditionals, Tokens, int], Chances], **facts: Any
) -> Method:
    """A method of one chain: it ignores k."""

    def prepare(nodes: Nodes, k: int) -> Given:  # noqa: ARG001
        return lambda chains, lookahead: given(nodes.laws, chains[0], lookahead)

    return Method(
        name,
        CHAINS,
        None,
        lambda coin, laws, lookahead, _: (chain.draw(coin, laws, lookahead),),
        lambda coin, target, draft, prefix, lookahead, _: generate(coin, target, draft, prefix, lookahead),
        lambda target, draft, prefix, lookahead, _: expected(target, draft, prefix, lookahead),
        prepare,
        lambda size, lookahead, _: size**lookahead,
        **facts,
    )


def _walk(name: str, verifier: Verifier, at_node: Callable[[Nodes], AtNode], terms: Terms, **facts: Any) -> Method:
    """SpecTr's walk with a verifier at every node."""

    def on_tree(coin: Coin, target: Model, draft: Model, prefix: Tokens, widths: tuple[int, ...]) -> Tokens:
        return spectr.generate(coin, target, draft, prefix, widths, verifier)

    def expected(target: Model, draft: Model, prefix: Tokens, lookahead: int, k: int) -> Any:
        return spectr.expected(target, draft, prefix, paths(lookahead, k), verifier)

    def prepare(nodes: Nodes, k: int) -> Given:  # noqa: ARG001
        return lambda chains, lookahead: given_drafts.at_nodes(nodes.laws, chains, lookahead, at_node(nodes))

    return Method(
        name,
        CHAINS,
        TOKEN_BY_TOKEN,
        lambda coin, laws, lookahead, k: _leaves(grow(coin, laws, paths(lookahead, k), draw_independent)),
        lambda coin, target, draft, prefix, lookahead, k: on_tree(coin, target, draft, prefix, paths(lookahead, k)),
        expected,
        prepare,
        terms,
        verifier=verifier,
        on_tree=on_tree,
        **facts,
    )


def _of_roots(name: str, alone: Method, on_tree: Any, expected: Expected, given: Any, **facts: Any) -> Method:
    """A tree whose first tokens are drawn without replacement."""

    def prepare(nodes: Nodes, k: int) -> Given:  # noqa: ARG001
        return lambda chains, lookahead: given(nodes.laws, chains, lookahead, nodes.root_tests)

    return Method(
        name,
        DISTINCT,
        alone,
        lambda coin, laws, lookahead, k: _leaves(grow(coin, laws, paths(lookahead, k), distinct.draw)),
        lambda coin, target, draft, prefix, lookahead, k: on_tree(coin, target, draft, prefix, paths(lookahead, k)),
        expected,
        prepare,
        lambda size, lookahead, k: perm(size, min(k, size)) * size ** (lookahead - 1),
        on_tree=on_tree,
        **facts,
    )


def _selecting(
    name: str, module: Any, rule: Callable[[Conditionals, int], SelectionWithMasses], terms: int = 1, **facts: Any
) -> Method:
    """One of K i.i.d. chains is selected, and verified as a block; the numbers of its exact law may be long."""

    def prepare(nodes: Nodes, k: int) -> Given:
        selection = rule(nodes.laws, k)
        return lambda chains, lookahead: given_drafts.selected(nodes.laws, chains, lookahead, selection)

    return Method(
        name,
        CHAINS,
        AS_A_BLOCK,
        lambda coin, laws, lookahead, k: tuple(chain.draw(coin, laws, lookahead) for _ in range(k)),
        module.generate,
        module.expected,
        prepare,
        lambda size, lookahead, k: terms * size**lookahead * k,
        **facts,
    )


def _leaves(nodes: Sequence[Node], path: Tokens = ()) -> tuple[Tokens, ...]:
    found: list[Tokens] = []
    for node in nodes:
        longer = (*path, node.token)
        found += _leaves(node.children, longer) if node.children else [longer]
    return tuple(found)


def _rejection_expected(target: Model, draft: Model, prefix: Tokens, lookahead: int, k: int) -> Any:
    return without_replacement.expected(target, draft, prefix, paths(lookahead, k))


def _states(size: int, lookahead: int, k: int) -> float:
    """Return the most pairs of a path and a number of drafts that a walk meets."""
    return sum(size**level * comb(k + level - 1, level) for level in range(lookahead))


def _enumerated(size: int, lookahead: int, k: int) -> float:
    return 4 * _states(size, lookahead, k) * size**k


def _in_closed_form(size: int, lookahead: int, k: int) -> float:
    return _states(size, lookahead, k) * size * k * k


def _all_of_them(k: int) -> int:
    return k


TOKEN_BY_TOKEN = _of_one(
    "one chain, token by token",
    chain.generate,
    chain.expected,
    given_drafts.token_by_token,
    proven=(Proven((1, 1), 1.2, length=1.5), Proven((1, 1), 0.3, end=1), Proven((1,), 3.0, rounds=2)),
    tree=tree_rules.TOKEN_BY_TOKEN,
    pages=("theorems/chain", "how_to/write_a_block_verifier"),
)
AS_A_BLOCK = _of_one(
    "one chain, as a block",
    block.generate,
    block.expected,
    given_drafts.as_block,
    proven=(Proven((1, 1), 3.0, length=10.5), Proven((1, 1), 0.5, end=1)),
    tree=tree_rules.AS_A_BLOCK,
    pages=("theorems/block", "how_to/write_a_block_verifier"),
)
PLAN_AT_EVERY_NODE = _walk(
    "optimal plan at every node",
    spectr.by_plan,
    lambda nodes: nodes.plan,
    _enumerated,
    proven=(),
    tree=tree_rules.PLAN,
    pages=("theorems/spectr", "theorems/pooled_priority"),
)
METHODS: tuple[Method, ...] = (
    TOKEN_BY_TOKEN,
    AS_A_BLOCK,
    _walk(
        "recursive rejection at every node",
        recursive.verify,
        lambda nodes: nodes.recursive,
        _enumerated,
        proven=(Proven((2, 1), 3.6),),
        tree=tree_rules.RECURSIVE,
        pages=("theorems/spectr", "theorems/recursive"),
    ),
    _walk(
        "K-SEQ at every node",
        k_sequential.verify,
        lambda nodes: nodes.k_sequential,
        _in_closed_form,
        proven=(),
        tree=tree_rules.K_SEQUENTIAL,
        pages=("theorems/spectr", "theorems/k_sequential"),
    ),
    PLAN_AT_EVERY_NODE,
    _of_roots(
        "recursive rejection, distinct first tokens",
        TOKEN_BY_TOKEN,
        without_replacement.generate,
        _rejection_expected,
        given_drafts.distinct_roots,
        proven=(Proven((2, 2), 3.0),),
        tree=tree_rules.DISTINCT,
        pages=("theorems/without_replacement",),
    ),
    _of_roots(
        "traversal, distinct first tokens",
        AS_A_BLOCK,
        traversal.generate,
        traversal_expected,
        given_drafts.traversed,
        # A chain adds at most its weight, whatever becomes of those before it further down: k weights of at most 1.
        largest=_all_of_them,
        proven=(Proven((2, 1), 2.9), Proven((2, 2), 3.4)),
        tree=tree_rules.TRAVERSAL,
        pages=("theorems/traversal",),
    ),
    _selecting(
        "greedy multi-path",
        multi_path,
        HighestRank,
        tree=tree_rules.MULTI_PATH,
        proven=(Proven((2, 1), 40.0),),
        pages=("theorems/multi_path",),
    ),
    _selecting(
        "chain priorities",
        chain_priorities,
        Priorities,
        terms=16,
        effort=2,
        proven=(Proven((2,), 0.4), Proven((3,), 0.6)),
        tree=tree_rules.PRIORITIES,
        pages=("theorems/chain_priorities",),
    ),
)
"""Every method of this floor that takes K paths, those of one chain first."""


def named(name: str) -> Method:
    """Return the method whose name holds these words, the first of several.

    Raises:
        ValueError: there is none; the message lists them.

    >>> named("multi-path").name
    'greedy multi-path'
    """
    fitting = [method for method in METHODS if name.lower() in method.name.lower()]
    if not fitting:
        raise ValueError(f"no method is named {name!r}; there are: {'; '.join(method.name for method in METHODS)}")
    return fitting[0]
