"""All methods on K paths side by side: how each generates, its exact expected length, and what it makes of drafts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, perm
from typing import Any

from spec_math.block_level import (
    block,
    chain,
    chain_priorities,
    given_drafts,
    multi_path,
    spectr,
    traversal,
    without_replacement,
)
from spec_math.block_level.chain_priorities import Priorities
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.copies import Verifier
from spec_math.block_level.given_drafts import AtNode, Chances, Nodes
from spec_math.block_level.multi_path import HighestRank
from spec_math.block_level.selected_chain import Selection
from spec_math.block_level.tree import Node, grow
from spec_math.chance import Coin
from spec_math.chance import law as law_of
from spec_math.distribution import capped_ratio
from spec_math.language.model import Model
from spec_math.scheme import Tokens, draw_independent
from spec_math.token_level import k_sequential, recursive
from spec_math.token_level import without_replacement as distinct

Draft = Callable[[Coin, Conditionals, int, int], tuple[Tokens, ...]]
"""(coin, laws, lookahead, k) -> the drafted paths."""

Generate = Callable[[Coin, Model, Model, Tokens, int, int], Tokens]
"""(coin, target, draft, prefix, lookahead, k) -> the emitted tokens."""

Expected = Callable[[Model, Model, Tokens, int, int], Any]
"""(target, draft, prefix, lookahead, k) -> tokens per target call, exactly."""

Given = Callable[[Sequence[Tokens], int], Chances]
"""(chains, lookahead) -> the numbers of `given_drafts`."""


Terms = Callable[[int, int, int], float]
"""(V, lookahead, k) -> about how many terms the exact expected length adds up."""


def _at_most_one(k: int) -> int:  # noqa: ARG001
    return 1


TOKEN_BY_TOKEN, AS_A_BLOCK = "one chain, token by token", "one chain, as a block"


@dataclass(frozen=True)
class Method:
    """A way to verify K paths of `lookahead` tokens.

    `drafts`: "one" where one path is drafted whatever k, "independent" for K i.i.d. chains, "distinct" for K chains
    whose first tokens are drawn without replacement; `draft` is the first part of `generate`, which drafts the paths.
    `alone` names the method of one chain that it is for k = 1, `verifier` is that of each node of a walk.
    `prepare(nodes, k)` says what `given_drafts` makes of drafts. `effort` says how many samples of the other methods
    one of this method is worth, where time is short. `largest(k)` bounds each number of `given_drafts`: 1 where it is
    a chance given all chains.
    """

    name: str
    drafts: str
    alone: str
    draft: Draft
    generate: Generate
    expected: Expected
    prepare: Callable[[Nodes, int], Given]
    terms: Terms
    effort: int = 1
    verifier: Verifier | None = None
    largest: Callable[[int], int] = _at_most_one


def paths(lookahead: int, k: int) -> tuple[int, ...]:
    """Return the widths of K paths: a tree that branches at its root alone.

    >>> paths(3, 2)
    (2, 1, 1)
    """
    return (k, *[1] * (lookahead - 1))


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


def _of_one(name: str, generate: Any, expected: Any, given: Callable[[Conditionals, Tokens, int], Chances]) -> Method:
    """A method of one chain: it ignores k."""

    def prepare(nodes: Nodes, k: int) -> Given:  # noqa: ARG001
        return lambda chains, lookahead: given(nodes.laws, chains[0], lookahead)

    return Method(
        name,
        "one",
        name,
        lambda coin, laws, lookahead, _: (chain.draw(coin, laws, lookahead),),
        lambda coin, target, draft, prefix, lookahead, _: generate(coin, target, draft, prefix, lookahead),
        lambda target, draft, prefix, lookahead, _: expected(target, draft, prefix, lookahead),
        prepare,
        lambda size, lookahead, _: size**lookahead,
    )


def _walk(name: str, verifier: Verifier, at_node: Callable[[Nodes], AtNode], terms: Terms) -> Method:
    """SpecTr's walk with a verifier at every node."""

    def generate(coin: Coin, target: Model, draft: Model, prefix: Tokens, lookahead: int, k: int) -> Tokens:
        return spectr.generate(coin, target, draft, prefix, paths(lookahead, k), verifier)

    def expected(target: Model, draft: Model, prefix: Tokens, lookahead: int, k: int) -> Any:
        return spectr.expected(target, draft, prefix, paths(lookahead, k), verifier)

    def prepare(nodes: Nodes, k: int) -> Given:  # noqa: ARG001
        return lambda chains, lookahead: given_drafts.at_nodes(nodes.laws, chains, lookahead, at_node(nodes))

    return Method(
        name,
        "independent",
        TOKEN_BY_TOKEN,
        lambda coin, laws, lookahead, k: _leaves(grow(coin, laws, paths(lookahead, k), draw_independent)),
        generate,
        expected,
        prepare,
        terms,
        verifier=verifier,
    )


def _of_roots(
    names: tuple[str, str], generate: Any, expected: Expected, given: Any, largest: Callable[[int], int] = _at_most_one
) -> Method:
    """A tree whose first tokens are drawn without replacement; its name, and what it is for one chain."""

    def prepare(nodes: Nodes, k: int) -> Given:  # noqa: ARG001
        return lambda chains, lookahead: given(nodes.laws, chains, lookahead)

    return Method(
        names[0],
        "distinct",
        names[1],
        lambda coin, laws, lookahead, k: _leaves(grow(coin, laws, paths(lookahead, k), distinct.draw)),
        lambda coin, target, draft, prefix, lookahead, k: generate(coin, target, draft, prefix, paths(lookahead, k)),
        expected,
        prepare,
        lambda size, lookahead, k: perm(size, min(k, size)) * size ** (lookahead - 1),
        largest=largest,
    )


def _selecting(
    name: str, module: Any, rule: Callable[[Conditionals, int], Selection], terms: int = 1, effort: int = 1
) -> Method:
    """One of K i.i.d. chains is selected, and verified as a block; the numbers of its exact law may be long."""

    def prepare(nodes: Nodes, k: int) -> Given:
        selection = rule(nodes.laws, k)
        return lambda chains, lookahead: given_drafts.selected(nodes.laws, chains, lookahead, selection)

    return Method(
        name,
        "independent",
        AS_A_BLOCK,
        lambda coin, laws, lookahead, k: tuple(chain.draw(coin, laws, lookahead) for _ in range(k)),
        module.generate,
        module.expected,
        prepare,
        lambda size, lookahead, k: terms * size**lookahead * k,
        effort,
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


METHODS: tuple[Method, ...] = (
    _of_one(TOKEN_BY_TOKEN, chain.generate, chain.expected, given_drafts.token_by_token),
    _of_one(AS_A_BLOCK, block.generate, block.expected, given_drafts.as_block),
    _walk("recursive rejection at every node", recursive.verify, lambda nodes: nodes.recursive, _enumerated),
    _walk("K-SEQ at every node", k_sequential.verify, lambda nodes: nodes.k_sequential, _in_closed_form),
    _walk("optimal plan at every node", spectr.by_plan, lambda nodes: nodes.plan, _enumerated),
    _of_roots(
        ("recursive rejection, distinct first tokens", TOKEN_BY_TOKEN),
        without_replacement.generate,
        _rejection_expected,
        given_drafts.distinct_roots,
    ),
    _of_roots(
        ("traversal, distinct first tokens", AS_A_BLOCK),
        traversal.generate,
        traversal_expected,
        given_drafts.traversed,
        # A chain adds at most its weight, whatever becomes of those before it further down: k weights of at most 1.
        lambda k: k,
    ),
    _selecting("greedy multi-path", multi_path, HighestRank),
    _selecting("chain priorities", chain_priorities, Priorities, terms=16, effort=2),
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
