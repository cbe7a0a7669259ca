"""The likeliest paths of several depths in one search are, for each depth, the first of all paths put in order."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import product
from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest

from spec_math.block_level.likeliest_tree import likeliest_of_depths, top

DEPTHS = (1, 2, 4)


def tables(even: bool) -> list[Any]:
    """Laws of four tokens by the last one, dyadic, so that products are exact and many are equal, or of any weights."""
    random = Random(5)
    found: list[Any] = []
    for _ in range(12):
        dyadic = [[random.sample([0.5, 0.25, 0.125, 0.125, 0.0], 4) for _ in range(4)] for _ in range(4)]
        free = [[random.random() ** 4 for _ in range(4)] for _ in range(4)]
        found.append([np.array(rows[0]) for rows in dyadic] if even else [np.array(row) for row in free])
    return found


def in_order(rows: Any, depth: int, end: int | None) -> list[tuple[float, tuple[int, ...]]]:
    """Every path with its mass, the likeliest first, then the shorter, then the lower tokens."""
    paths = [path for size in range(1, depth + 1) for path in product(range(4), repeat=size)]
    masses = [prod((float(rows[(0, *path)[at]][token]) for at, token in enumerate(path)), start=1.0) for path in paths]
    held = [(-mass, len(path), path) for mass, path in zip(masses, paths, strict=True) if mass > 0 and end not in path]
    return [(-negative, path) for negative, _, path in sorted(held)]


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("end", [None, 2])
@pytest.mark.parametrize("nodes", [1, 3, 7, 40, 400])
def test_paths_of_each_depth_are_the_first_of_all(nodes: int, end: int | None, even: bool) -> None:
    for rows in tables(even):
        found = likeliest_of_depths(lambda path, rows=rows: top(rows[(0, *path)[-1]], nodes, end), nodes, DEPTHS)
        for depth in DEPTHS:
            assert found[depth] == in_order(rows, depth, end)[:nodes]


def one_search(masses: Any, nodes: int, depth: int) -> list[tuple[int, ...]]:
    """The likeliest paths of one depth, all children of a path put on the heap."""
    kept: list[tuple[int, ...]] = []
    heap: list[Any] = [(-1, 0, ())]
    while heap and len(kept) <= nodes:
        negative, length, path = heappop(heap)
        kept.append(path)
        for token, share in top(masses(path), nodes, None) if length < depth else ():
            heappush(heap, (negative * share, length + 1, (*path, token)))
    return kept[1:]


def test_paths_of_many_tokens_are_those_of_one_search_a_depth() -> None:
    """Of 2,000 tokens, where most are never offered."""
    random = np.random.default_rng(1)
    rows = [np.exp(scale * random.normal(size=2000)) for scale in (0.5, 1.0, 2.0, 3.0)]
    rows = [row / row.sum() for row in rows]

    def masses(path: tuple[int, ...]) -> Any:
        return rows[sum(path) % 4]

    found = likeliest_of_depths(lambda path: top(masses(path), 64, None), 64, (2, 4, 8))
    for depth, taken in found.items():
        assert [path for _, path in taken] == one_search(masses, 64, depth)
