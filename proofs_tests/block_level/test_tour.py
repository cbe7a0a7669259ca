"""The way round each tree of a batch, from its parents alone, is that of a walk depth first; chains are its leaves."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from spec_math.block_level.batch.array_tree import ArrayTree
from spec_math.block_level.batch.decide_priorities import listed
from spec_math.block_level.batch.decide_walk import tour


def drawn(random: Random, size: int) -> tuple[list[int], list[int]]:
    """Tokens and parents of a tree with places that hold no node, among the nodes and behind them."""
    tokens, parents = [], []
    for place in range(size):
        nodes = [-1, *(other for other in range(place) if tokens[other] >= 0)]
        there = random.random() < 3 / 4
        tokens.append(random.randrange(4) if there else -1)
        parents.append(random.choice(nodes) if there else -1)
    return tokens, parents


def walked(tokens: list[int], parents: list[int]) -> tuple[list[int], list[int], list[int], list[list[int]]]:
    """When each node is entered and left, its level, and the paths to the leaves, by a walk with a clock."""
    size = len(tokens)
    enters, leaves, level, paths = [-1] * size, [-1] * size, [0] * size, list[list[int]]()
    clock = 0

    def walk(node: int, above: list[int]) -> None:
        nonlocal clock
        path, below = [*above, node], [at for at in range(size) if parents[at] == node and tokens[at] >= 0]
        enters[node], level[node], clock = clock, len(path), clock + 1
        for child in below:
            walk(child, path)
        if not below:
            paths.append(path)
        leaves[node], clock = clock, clock + 1

    for root in range(size):
        if parents[root] < 0 <= tokens[root]:
            walk(root, [])
    return enters, leaves, level, paths


@pytest.mark.parametrize("seed", range(12))
def test_each_node_is_entered_and_left_as_by_a_walk_depth_first(seed: int) -> None:
    random = Random(seed)
    given = [drawn(random, 6) for _ in range(8)]
    wanted = [walked(*each) for each in given]
    depth = max(max(level) for _, _, level, _ in wanted) or 1
    width = max(len(paths) for *_, paths in wanted) or 1
    tokens, parents = (np.array(side) for side in zip(*given, strict=True))
    tree = ArrayTree(tokens, parents, depth, width)
    found = tour(tree)
    for row, (enters, leaves, level, _) in enumerate(wanted):
        assert (found.enters[row].tolist(), found.leaves[row].tolist(), found.level[row].tolist()) == (
            enters,
            leaves,
            level,
        )
    chains = listed(tree)
    for row, (*_, paths) in enumerate(wanted):
        assert chains.size[row] == len(paths)
        padded = [path + [-1] * (depth - len(path)) for path in paths]
        assert chains.nodes[row].tolist() == padded + [[-1] * depth] * (width - len(paths))


@pytest.mark.parametrize("seed", range(4))
def test_a_leaf_with_copies_is_listed_as_often(seed: int) -> None:
    random = Random(seed)
    given = [drawn(random, 4) for _ in range(6)]
    copies = [[random.randint(1, 3) for _ in tokens] for tokens, _ in given]
    wanted = [
        [path for path in walked(*each)[3] for _ in range(many[path[-1]])]
        for each, many in zip(given, copies, strict=True)
    ]
    depth = max(max(walked(*each)[2]) for each in given) or 1
    width = max(map(len, wanted)) or 1
    tokens, parents = (np.array(side) for side in zip(*given, strict=True))
    chains = listed(ArrayTree(tokens, parents, depth, width, copies=np.array(copies)))
    for row, paths in enumerate(wanted):
        assert chains.size[row] == len(paths)
        assert [[node for node in chain if node >= 0] for chain in chains.nodes[row].tolist() if chain[0] >= 0] == paths
