"""The likeliest paths under several limits of depth, in one search: what a comparison of many trees asks for.

Source: our own; a tree of a limit is that of `likeliest_tree.likeliest`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from spec_math.arrays import count
from spec_math.block_level.likeliest_tree import Masses, first_places
from spec_math.scheme import Tokens

AHEAD = 6
"""How many of the paths that stand next are looked up together with the one that is needed."""

Ranked = dict[int, list[tuple[float, Tokens]]]
"""For each depth the likeliest paths of at most so many tokens with their masses, the likeliest first."""


def likeliest_of_depths(
    masses: Masses,
    nodes: int,
    depths: Sequence[int],
    end: int | None = None,
    soon: Callable[[list[Tokens]], None] | None = None,
) -> Ranked:
    """Return for each depth the paths of `likeliest_paths` with their masses, from laws [V] of float64.

    The law: paths are met in one order, the likeliest first, for every limit of depth, and each limit takes those that
    are short enough until it has `nodes`. Under a limit nothing below the `nodes`-th largest mass that was offered so
    far can be taken, so that no such path is kept. `soon` is told which paths are about to be asked for.

    Raises:
        TypeError, ValueError: nodes or a depth is not a positive integer.

    >>> likeliest_of_depths(lambda path: np.array([0.75, 0.25]), 3, (1, 2))
    {1: [(0.75, (0,)), (0.25, (1,))], 2: [(0.75, (0,)), (0.5625, (0, 0)), (0.25, (1,))]}
    """
    nodes, limits = count(nodes, "nodes"), sorted({count(depth, "depth") for depth in depths})
    kept: Ranked = {limit: [] for limit in limits}
    largest: dict[int, list[float]] = {limit: [] for limit in limits}
    heap: list[tuple[float, int, Tokens]] = []
    asked: set[Tokens] = set()

    def offer(path: Tokens, mass: float) -> None:
        under = [limit for limit in limits if limit > len(path) and len(kept[limit]) < nodes]
        if not under:
            return
        if soon is not None and path not in asked:
            next_ones = [other for _, length, other in heap[:AHEAD] if length < limits[-1]]
            told = [one for one in (path, *next_ones) if one not in asked]
            asked.update(told)
            soon(told)
        row = mass * np.asarray(masses(path), dtype=np.float64)
        # The limit that has the fewest paths to choose from has the lowest bar.
        bars = largest[under[0]]
        bar = bars[0] if len(bars) == nodes else 0.0
        for token in _at_least(row, bar, nodes + 1):
            value = float(row[token])
            if token == end or value <= 0:
                continue
            heappush(heap, (-value, len(path) + 1, (*path, token)))
            for limit in under:
                heappush(largest[limit], value)
                if len(largest[limit]) > nodes:
                    _ = heappop(largest[limit])

    offer((), 1.0)
    while heap and any(len(taken) < nodes for taken in kept.values()):
        negative, length, path = heappop(heap)
        for limit in limits:
            if length <= limit and len(kept[limit]) < nodes:
                kept[limit].append((-negative, path))
        offer(path, -negative)
    return kept


def _at_least(row: Any, bar: float, most: int) -> list[int]:
    """Return the places of what is at least a bar, the `most` largest where there are more, the lowest among equals."""
    places = np.flatnonzero(row >= bar) if bar > 0 else np.arange(len(row))
    if len(places) > most:
        places = np.sort(places[first_places(-row[places], most)])
    return places.tolist()
