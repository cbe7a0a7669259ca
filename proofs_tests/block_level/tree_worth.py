"""All small trees, and what each is worth, by multiplying out."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

Paths = frozenset[tuple[int, ...]]


def trees(size: int, nodes: int, depth: int, end: int | None = None) -> Iterator[Paths]:
    """All trees of at most `nodes` nodes, as sets of paths: grown a node at a time from the empty one."""
    found: set[Paths] = {frozenset()}
    for _ in range(nodes):
        grown = {
            tree | {(*path, token)}
            for tree in found
            for path in (*tree, ())
            for token in range(size)
            if len(path) < depth and (not path or path[-1] != end)
        }
        found |= grown
    yield from found


def worth(tree: Any, model: Any, end: int | None = None) -> Fraction:
    """1 + Σ over the paths of a tree of their probability, multiplied out one by one."""
    total = Fraction(1)
    for path in tree:
        mass = Fraction(1)
        for place, token in enumerate(path):
            mass *= model(path[:place])[token]
        total += mass if path[-1] != end else 0
    return total
