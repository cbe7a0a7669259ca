"""Drafted trees: at each node several next tokens, drawn from the draft's law after that node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spec_math.arrays import Array, count
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin
from spec_math.scheme import Tokens


@dataclass(frozen=True)
class Node:
    """A drafted token with the drafts that follow it. Siblings may carry one token twice, each with its own drafts."""

    token: int
    children: tuple[Node, ...] = ()


def grow(
    coin: Coin, laws: Conditionals, widths: tuple[int, ...], draw: Callable[[Coin, Array, int], Tokens]
) -> tuple[Node, ...]:
    """Draft a tree, depth first: widths[i] tokens below each node of level i, none below the end token.

    `draw(coin, law, k)` draws the siblings: i.i.d. (`scheme.draw_independent`) or without replacement. Returns the
    children of the root. Source: SpecTr, Alg. 5 (with its drafts from the small model, erratum e).
    """

    def below(path: Tokens) -> tuple[Node, ...]:
        if len(path) == len(widths) or laws.ends(path):
            return ()
        tokens = draw(coin, laws.draft(path), widths[len(path)])
        return tuple(Node(token, below((*path, token))) for token in tokens)

    return below(())


def checked_widths(widths: Any) -> tuple[int, ...]:
    """Return the widths of a tree, level by level, as a tuple of counts.

    Raises:
        ValueError: there is no level, or a width below 1.
        TypeError: widths is not a tuple or list, or a width is not a whole number.
    """
    if not isinstance(widths, tuple | list):
        raise TypeError(f"widths must be a tuple of positive integers, one a level, such as (2, 1, 1); got {widths!r}")
    levels: tuple[Any, ...] = tuple(widths)
    if not levels:
        raise ValueError("widths must name at least one level; got (): draft one token with (1,)")
    return tuple(count(width, f"width {level} of {levels}") for level, width in enumerate(levels))


def inner(tree: tuple[Node, ...], path: Tokens) -> list[Tokens]:
    """Return the paths below which something is drafted."""
    if not tree:
        return []
    return [path, *(found for node in tree for found in inner(node.children, (*path, node.token)))]


def leaves(nodes: tuple[Node, ...], path: Tokens = ()) -> list[Tokens]:
    """Return the paths to the leaves of a drafted tree, as often as they were drafted."""
    found: list[Tokens] = []
    for node in nodes:
        longer = (*path, node.token)
        found += leaves(node.children, longer) if node.children else [longer]
    return found
