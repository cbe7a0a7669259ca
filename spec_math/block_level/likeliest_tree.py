"""Trees that a drafter chooses without randomness: the likeliest paths by some estimate, under a budget of nodes.

Source: EAGLE-2, Li et al. 2024 (expansion and reranking); OPT-Tree, Wang et al. 2024; Sequoia, Chen et al. 2024.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush, heappushpop
from itertools import pairwise
from typing import Any

import numpy as np

from spec_math.arrays import Array, count
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import Node, checked_widths
from spec_math.scheme import Tokens

Masses = Callable[[Tokens], Any]
"""What a chooser believes of the token after a path: its estimate of the target's law [V] there."""

Choose = Callable[[Conditionals], tuple[Node, ...]]
"""A rule that chooses the drafted tree, the children of its root, without randomness."""


def likeliest(masses: Masses, nodes: int, depth: int, end: int | None = None) -> tuple[Node, ...]:
    """Return the tree of the `nodes` likeliest paths of at most `depth` tokens: the best tree where masses are true.

    The law: the value of a tree is Σ_v m(path to v), m(path) the product of `masses` [V] along it. As m falls along a
    path, the N largest values belong to a tree, and no tree of N nodes has a larger sum. Equal masses: the shorter path
    first, then the lower tokens. Paths that end with `end` are left out, as no token follows them; so are those of mass
    0. Source: OPT-Tree, whose trees these are for the draft's masses.

    Raises:
        TypeError, ValueError: nodes or depth is not a positive integer.
    """
    return as_tree(likeliest_paths(masses, nodes, depth, end))


def likeliest_paths(masses: Masses, nodes: int, depth: int, end: int | None = None) -> list[Tokens]:
    """Return those paths, the likeliest first: the first n of them are the tree of n nodes."""
    return [path for _, path in likeliest_of_depths(lambda path: top(masses(path), nodes, end), nodes, (depth,))[depth]]


def beam(masses: Masses, nodes: int, depth: int, width: int, end: int | None = None) -> tuple[Node, ...]:
    """Return EAGLE-2's tree: expand the `width` likeliest paths of each level, then keep the `nodes` likeliest of all.

    Each expanded path offers its `width` likeliest tokens. With width ≥ nodes this is `likeliest`: of its paths at most
    `nodes` lie on one level, and they are the likeliest there. Masses [V].

    Raises:
        TypeError, ValueError: nodes, depth or width is not a positive integer.

    Source: EAGLE-2, Section 4.
    """
    nodes, depth, width = count(nodes, "nodes"), count(depth, "depth"), count(width, "width")
    level: list[tuple[Any, Tokens]] = [(1, ())]
    offered: list[tuple[Any, int, Tokens]] = []
    for length in range(1, depth + 1):
        below = [
            (-mass * share, (*path, token)) for mass, path in level for token, share in top(masses(path), width, end)
        ]
        offered += [(negative, length, path) for negative, path in below]
        level = [(-negative, path) for negative, path in sorted(below)[:width]]
    return as_tree([path for _, _, path in sorted(offered)[:nodes]])


def by_ranks(rates: Sequence[Any], nodes: int, depth: int) -> tuple[Node, ...]:
    """Return Sequoia's tree as a shape: tokens stand for ranks, 0 the drafter's first choice.

    `rates[r]`, a number each, is the chance that the child of rank r is met, descending, the same at every node. The
    paper's dynamic program maximises Σ Π rates over trees of `nodes`; as products fall with depth and rank, that is
    `likeliest` for these masses.

    Raises:
        TypeError, ValueError: nodes or depth is not a positive integer; rates that ascend.

    Source: Sequoia, Section 4.1.
    """
    listed = list(rates)
    if any(later > earlier for earlier, later in pairwise(listed)):
        raise ValueError(f"the rates of ranks must not ascend, the likeliest first; got {listed}")
    return likeliest(lambda _: listed, nodes, depth)


def placed(shape: tuple[Node, ...], laws: Conditionals) -> tuple[Node, ...]:
    """Fill a shape of ranks with tokens: rank r becomes the r-th likeliest token of the draft after the path.

    A rank beyond the draft's support is left out with all below it; nothing is drafted after the end token.
    """

    def below(path: Tokens, ranks: tuple[Node, ...]) -> tuple[Node, ...]:
        if not ranks or laws.ends(path):
            return ()
        ranked = [token for token, _ in top(laws.draft(path), max(node.token for node in ranks) + 1, None)]
        chosen = [(ranked[node.token], node.children) for node in ranks if node.token < len(ranked)]
        return tuple(Node(token, below((*path, token), children)) for token, children in chosen)

    return below((), shape)


def of_draft(nodes: int, depth: int, width: int | None = None) -> Choose:
    """Return the rule that takes the draft's likeliest paths, or with a `width` EAGLE-2's beam of them."""
    if width is None:
        return lambda laws: likeliest(laws.draft, nodes, depth, laws.end)
    return lambda laws: beam(laws.draft, nodes, depth, width, laws.end)


def of_target(nodes: int, depth: int) -> Choose:
    """Return the rule that takes the target's own likeliest paths: the best there is, and what no drafter knows."""
    return lambda laws: likeliest(laws.target, nodes, depth, laws.end)


def of_widths(widths: Sequence[int]) -> Choose:
    """Return the rule that takes the draft's widths[i] likeliest tokens below each node of level i, as Medusa does.

    Raises:
        TypeError, ValueError: widths are not positive integers.
    """
    levels = checked_widths(tuple(widths))
    shape: tuple[Node, ...] = ()
    for width in reversed(levels):
        shape = tuple(Node(rank, shape) for rank in range(width))
    return lambda laws: placed(shape, laws)


def of_ranks(rates: Sequence[Any], nodes: int, depth: int) -> Choose:
    """Return Sequoia's rule: one shape for all contexts, filled by the draft's ranking of tokens.

    Raises:
        TypeError, ValueError: as `by_ranks`.
    """
    shape = by_ranks(rates, nodes, depth)
    return lambda laws: placed(shape, laws)


def top(law: Any, number: int, end: int | None) -> list[tuple[int, Any]]:
    """Return the `number` likeliest tokens of a law [V] with their masses, the lowest first among equals, but `end`.

    Tokens of mass 0 are left out.
    """
    row = np.asarray(law)
    tokens: list[int] = first_places(-row, number + 1).tolist()
    masses = row[tokens].tolist() if row.dtype == np.float64 else [law[token] for token in tokens]
    pairs = zip(tokens, masses, strict=True)
    return [(token, mass) for token, mass in pairs if mass > 0 and token != end][:number]


def as_tree(paths: Sequence[Tokens]) -> tuple[Node, ...]:
    """Return a set of paths that holds the beginnings of each of its paths as a tree, children in the order given."""
    below: dict[Tokens, list[int]] = {}
    for path in paths:
        below.setdefault(path[:-1], []).append(path[-1])

    def built(path: Tokens) -> tuple[Node, ...]:
        return tuple(Node(token, built((*path, token))) for token in below.get(path, ()))

    return built(())


def first_places(keys: Array, number: int) -> Array:
    """Return the places of the least `number` ≥ 1 of some keys [n] in stable order, without sorting all."""
    if keys.dtype == object or len(keys) <= 4 * number:
        return np.argsort(keys, kind="stable")[:number]
    bar = np.partition(keys, number - 1)[number - 1]
    places = np.flatnonzero(keys <= bar)
    return places[np.argsort(keys[places], kind="stable")][:number]


def likeliest_of_depths(
    ranked: Callable[[Tokens], Sequence[tuple[int, Any]]], nodes: int, depths: Sequence[int]
) -> dict[int, list[tuple[Any, Tokens]]]:
    """Return for each depth the paths of `likeliest_paths` with their masses, the likeliest first.

    `ranked` returns the `top` tokens after a path, at least `nodes` of them where there are so many.

    The law: paths are met in one order, the likeliest first, for every limit of depth, and each limit takes those that
    are short enough until it has `nodes`. Under a limit nothing below the `nodes`-th largest mass that was offered so
    far can be taken, so that no such path is kept.

    Raises:
        TypeError, ValueError: nodes or a depth is not a positive integer.
    """
    nodes, limits = count(nodes, "nodes"), sorted({count(depth, "depth") for depth in depths})
    kept: dict[int, list[tuple[Any, Tokens]]] = {limit: [] for limit in limits}
    largest: dict[int, list[Any]] = {limit: [] for limit in limits}
    heap: list[tuple[Any, int, Tokens]] = []

    def offer(path: Tokens, mass: Any) -> None:
        under = [limit for limit in limits if limit > len(path) and len(kept[limit]) < nodes]
        for token, share in ranked(path) if under else ():
            # The limit that has the fewest paths to choose from has the lowest bar.
            value, bars = mass * share, largest[under[0]]
            if len(bars) == nodes and value < bars[0]:
                break
            heappush(heap, (-value, len(path) + 1, (*path, token)))
            for limit in under:
                push = heappushpop if len(largest[limit]) == nodes else heappush
                _ = push(largest[limit], value)

    offer((), 1)
    while heap and any(len(taken) < nodes for taken in kept.values()):
        negative, length, path = heappop(heap)
        for limit in limits:
            if length <= limit and len(kept[limit]) < nodes:
                kept[limit].append((-negative, path))
        offer(path, -negative)
    return kept
