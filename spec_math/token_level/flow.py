"""Maximum flow and minimum cut over whole numbers (Dinic's algorithm)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Flow:
    """A maximum flow: its value, the flow on each edge as listed, and the nodes on the source's side of a least cut."""

    value: int
    flows: list[int]
    source_side: frozenset[int]


def maximum_flow(nodes: int, edges: Sequence[tuple[int, int, int]], source: int, sink: int) -> Flow:
    """Return a maximum flow of a network with edges (tail, head, capacity), capacities whole numbers of any size.

    The problem: maximise what leaves the source, 0 ≤ flow ≤ capacity, conserved at every other node. The source side
    is the smallest one of a minimum cut: the nodes that the source still reaches.

    Raises:
        ValueError: a capacity is negative, or source and sink are one node.

    >>> maximum_flow(3, [(0, 1, 5), (1, 2, 3)], 0, 2)
    Flow(value=3, flows=[3, 3], source_side=frozenset({0, 1}))
    """
    if source == sink or any(capacity < 0 for _, _, capacity in edges):
        raise ValueError("a flow needs two distinct ends and capacities >= 0")
    # Edge 2i is the i-th edge with what it has left, edge 2i + 1 its reverse, which may give back what it carries.
    heads = [node for tail, head, _ in edges for node in (head, tail)]
    left = [number for _, _, capacity in edges for number in (capacity, 0)]
    leaving: list[list[int]] = [[] for _ in range(nodes)]
    for place, (tail, head, _) in enumerate(edges):
        leaving[tail].append(2 * place)
        leaving[head].append(2 * place + 1)
    value = 0
    while True:
        level = _levels(heads, left, leaving, source)
        if level[sink] < 0:
            side = frozenset(node for node in range(nodes) if level[node] >= 0)
            return Flow(value, left[1::2], side)
        value += _blocking(heads, left, leaving, level, (source, sink))


def _levels(heads: list[int], left: list[int], leaving: list[list[int]], source: int) -> list[int]:
    level = [-1] * len(leaving)
    level[source] = 0
    front = [source]
    while front:
        reached: list[int] = []
        for node in front:
            for edge in leaving[node]:
                head = heads[edge]
                if level[head] < 0 and left[edge]:
                    level[head] = level[node] + 1
                    reached.append(head)
        front = reached
    return level


def _blocking(
    heads: list[int], left: list[int], leaving: list[list[int]], level: list[int], ends: tuple[int, int]
) -> int:
    """Fill the shortest paths from end to end until each of them has a full edge, and return what was added."""
    source, sink = ends
    place = [0] * len(leaving)
    path: list[int] = []
    node, added = source, 0
    while True:
        if node == sink:
            least = min(left[edge] for edge in path)
            added += least
            for edge in path:
                left[edge] -= least
                left[edge ^ 1] += least
            full = next(step for step, edge in enumerate(path) if not left[edge])
            node = heads[path[full] ^ 1]
            del path[full:]
            continue
        edges = leaving[node]
        while place[node] < len(edges):
            edge = edges[place[node]]
            if left[edge] and level[heads[edge]] == level[node] + 1:
                break
            place[node] += 1
        if place[node] < len(edges):
            path.append(edges[place[node]])
            node = heads[path[-1]]
        elif path:
            # A dead end: step back, and do not try this edge again.
            node = heads[path.pop() ^ 1]
            place[node] += 1
        else:
            return added
