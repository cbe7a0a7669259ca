"""Theorems about trees, beams, and blocks verified otherwise, for all laws: lossless with any context, and lengths.

Source: the theorem pages `target_only`, `stochastic_beam`, `hierarchical`, `univer`, `tree_monte_carlo`, `planned_tree`
and `jacobi` of the book.
"""

from __future__ import annotations

from typing import Any

from spec_math.block_level import planned_tree, stochastic_beam, target_only, univer
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import Node
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.papers import hierarchical, jacobi, tree_monte_carlo
from spec_math.scheme import Tokens
from spec_math.symbolic.block_theorems import Block, length_as_its_formula, lossless
from spec_math.symbolic.theorem import Theorem

TREES = (
    ("a chain", (Node(0, (Node(1),)),), 2, 2),
    ("a whole level and a branch", (Node(0, (Node(1), Node(0))), Node(1)), 2, 2),
    ("two of three tokens", (Node(0), Node(2)), 3, 1),
)
"""Shapes of chosen trees, with the tokens V and the levels for which they are proved."""


def theorems() -> tuple[Theorem, ...]:
    """Return the theorems of these methods.

    >>> theorems()[0].name
    'target-only, a chain: lossless'
    """
    chosen = [
        lossless(f"target-only, {name}", _on(tree), tokens, levels, end)
        for name, tree, tokens, levels in TREES
        for end in ((None, 1) if name == "a chain" else (None,))
    ]
    return (
        *chosen,
        lossless("stochastic beam, 2 sequences", _beam, 2, 1),
        lossless("hierarchical verification", _hierarchical, 2, 2, seconds=12.0),
        lossless("tree Monte Carlo", _tree_monte_carlo, 2, 2, seconds=6.0),
        lossless("UniVer, 2 drafts", _united(2), 2, 1),
        length_as_its_formula("UniVer, 2 drafts", _united(2), _length_of_united, 1),
        lossless("UniVer, a tree (2, 1)", _united(2, 1), 2, 2, seconds=29.0),
        lossless("UniVer, a tree (2, 1)", _united(2, 1), 2, 2, 1, seconds=5.0),
        lossless("UniVer, a tree (1, 2)", _united(1, 2), 2, 2, seconds=18.0),
        lossless("planned tree, 2 drafts", _planned, 2, 1),
        lossless("speculative Jacobi, windows of 1", _jacobi(1, keep=False), 2, 1),
        lossless("speculative Jacobi, windows of 2, continued", _jacobi(2, keep=True), 2, 1, seconds=8.0),
    )


def _on(tree: tuple[Node, ...]) -> Block:
    def generate(coin: Coin, target: Model, draft: Model, prefix: Tokens) -> Tokens:
        return target_only.verify(coin, tree, Conditionals(target, draft, prefix))

    return generate


def _beam(coin: Coin, target: Model, draft: Model, prefix: Tokens) -> Tokens:
    return stochastic_beam.generate(coin, target, draft, prefix, 1, 2)


def _hierarchical(coin: Coin, target: Model, draft: Model, prefix: Tokens) -> Tokens:
    return hierarchical.generate(coin, target, draft, prefix, 2)


def _tree_monte_carlo(coin: Coin, target: Model, draft: Model, prefix: Tokens) -> Tokens:
    return tree_monte_carlo.generate(coin, target, draft, prefix, 2)


def _united(*widths: int) -> Block:
    def generate(coin: Coin, target: Model, draft: Model, prefix: Tokens) -> Tokens:
        return univer.generate(coin, target, draft, prefix, widths)

    return generate


def _length_of_united(target: Model, draft: Model, prefix: Tokens, lookahead: int) -> Any:
    return univer.expected(target, draft, prefix, (2,) * lookahead)


def _planned(coin: Coin, target: Model, draft: Model, prefix: Tokens) -> Tokens:
    return planned_tree.generate(coin, target, draft, prefix, (2,))


def _jacobi(window: int, keep: bool) -> Block:
    """Two tokens of the target's own; no drafter is asked."""

    def generate(coin: Coin, target: Model, draft: Model, prefix: Tokens) -> Tokens:  # noqa: ARG001
        return jacobi.generate(coin, target, prefix, 2, window, keep)[0]

    return generate
