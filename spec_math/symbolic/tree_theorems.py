"""Theorems about chosen trees, beams and blocks from their end, for all laws: lossless with any context.

Source: the theorem pages `target_only`, `stochastic_beam` and `hierarchical` of the book.
"""

from __future__ import annotations

from spec_math.block_level import hierarchical, stochastic_beam, target_only
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import Node
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.symbolic.block_theorems import Block, lossless
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
    )


def _on(tree: tuple[Node, ...]) -> Block:
    def generate(coin: Coin, target: Model, draft: Model, prefix: Tokens) -> Tokens:
        return target_only.verify(coin, tree, Conditionals(target, draft, prefix))

    return generate


def _beam(coin: Coin, target: Model, draft: Model, prefix: Tokens) -> Tokens:
    return stochastic_beam.generate(coin, target, draft, prefix, 1, 2)


def _hierarchical(coin: Coin, target: Model, draft: Model, prefix: Tokens) -> Tokens:
    return hierarchical.generate(coin, target, draft, prefix, 2)
