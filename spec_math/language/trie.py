"""The trie of a vocabulary's tokens, in flat arrays: what longest-prefix tokenising, ψ and segmentation counts walk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.extending import register_jitable

from spec_math.kernels import kernel

Integers = np.ndarray[Any, Any]

compiled: Any = kernel
"""Compile with Numba and keep the machine code."""


@dataclass(frozen=True)
class Trie:
    """Every prefix of every token as a node, numbered by depth and then by spelling; the root is node 0.

    The children of node u are the nodes start[u] … start[u + 1] − 1, and byte[v] labels the step into v: so children
    of one node are neighbours in ascending order of their bytes, and every step leads to a higher number.
    token[u] is the token that node u spells, or −1; longest[u] the token of the longest prefix of u that is one, or −1.
    node[i] is the node of token i, or −1 for a token without text.
    """

    start: Integers
    byte: Integers
    token: Integers
    longest: Integers
    node: Integers

    def __len__(self) -> int:
        """Return the number of nodes, the root included."""
        return len(self.token)

    @property
    def open(self) -> Integers:
        """Return, for each node, whether it has children: whether its text is a proper prefix of some token."""
        return self.start[1:] > self.start[:-1]


def pack(texts: Sequence[bytes]) -> tuple[Integers, Integers]:
    """Lay texts end to end: all bytes, and the offsets at which each text starts and the last one ends.

    >>> data, offset = pack([b"ab", b"", b"c"])
    >>> bytes(data), offset.tolist()
    (b'abc', [0, 2, 2, 3])
    """
    offset = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)), out=offset[1:])
    return np.frombuffer(b"".join(texts), dtype=np.uint8), offset


def build(tokens: Sequence[bytes]) -> Trie:
    """Build the trie of the tokens that have text; of two tokens with the same bytes the LAST one is kept.

    Linear in the bytes after one sort. Tokens without text (b"") have no node.

    >>> trie = build([b"ab", b"a", b"abc"])
    >>> len(trie), trie.token.tolist(), trie.longest.tolist(), trie.open.tolist()
    (4, [-1, 1, 0, 2], [-1, 1, 0, 2], [True, True, True, False])
    """
    # A stable sort keeps equal spellings in ascending order of index, so that the last of them is written last.
    order = sorted(range(len(tokens)), key=tokens.__getitem__)
    data, offset = pack([tokens[index] for index in order])
    return Trie(*_build(data, offset, np.array(order, dtype=np.int32), len(tokens)))


@compiled
def _build(data: Integers, offset: Integers, order: Integers, size: int) -> Any:
    deepest = 0
    for i in range(len(order)):
        deepest = max(deepest, offset[i + 1] - offset[i])
    # How many letters each text shares with the one before it, in sorted order; the rest of its letters are new nodes.
    shared = np.zeros(len(order), np.int64)
    level = np.zeros(deepest + 2, np.int64)
    level[1] = 1
    for i in range(len(order)):
        here, length = offset[i], offset[i + 1] - offset[i]
        if i > 0:
            before = offset[i - 1]
            common = min(length, here - before)
            while shared[i] < common and data[before + shared[i]] == data[here + shared[i]]:
                shared[i] += 1
        for depth in range(shared[i] + 1, length + 1):
            level[depth + 1] += 1
    for depth in range(deepest + 1):
        level[depth + 1] += level[depth]
    nodes = level[deepest + 1]

    start = np.zeros(nodes + 1, np.int32)
    byte = np.zeros(nodes, np.uint8)
    parent = np.zeros(nodes, np.int32)
    token = np.full(nodes, -1, np.int32)
    node = np.full(size, -1, np.int32)
    path = np.zeros(deepest + 1, np.int32)
    for i in range(len(order)):
        length = offset[i + 1] - offset[i]
        for depth in range(shared[i] + 1, length + 1):
            new = level[depth]
            level[depth] += 1
            byte[new] = data[offset[i] + depth - 1]
            parent[new] = path[depth - 1]
            start[path[depth - 1] + 1] += 1
            path[depth] = new
        if length > 0:
            token[path[length]] = order[i]
            node[order[i]] = path[length]
    start[0] = 1
    for u in range(nodes):
        start[u + 1] += start[u]
    longest = token.copy()
    for u in range(1, nodes):
        if longest[u] < 0:
            longest[u] = longest[parent[u]]
    return start, byte, token, longest, node


@register_jitable
def first_from(values: Any, low: int, high: int, wanted: int) -> int:
    """Return the first place in [low, high) whose value, of ascending ones, is no less than wanted, or high.

    >>> first_from([1, 3, 5], 0, 3, 3), first_from([1, 3, 5], 0, 3, 6)
    (1, 3)
    """
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def child(start: Integers, byte: Integers, node: int, letter: int) -> int:
    """Return the child of a node along a byte, or −1: a binary search among its children.

    >>> trie = build([b"a", b"b"])
    >>> [int(trie.byte[child(trie.start, trie.byte, 0, letter)]) for letter in b"ab"]
    [97, 98]
    >>> child(trie.start, trie.byte, 0, 99)
    -1
    """
    low = first_from(byte, start[node], start[node + 1], letter)
    return low if low < start[node + 1] and byte[low] == letter else -1


def most_tokens(target: Trie, draft: Trie) -> Integers:
    """Return for each node of the target trie the most draft tokens that spell it, or −1.

    target, draft: tries; the result has shape [K] for the K nodes of the target.

    >>> most_tokens(build([b"aab"]), build([b"a", b"aa"])).tolist()
    [0, 1, 2, -1]
    """
    most = np.full(len(target), -1, np.int64)
    _deepen((target.start, target.byte), (draft.start, draft.byte, draft.token >= 0), most)
    return most


@compiled
def _deepen(target: Any, draft: Any, most: Integers) -> None:
    """Find for each node of the target trie the most draft tokens that spell it, or leave −1."""
    start, byte = target
    first, letter, spelled = draft
    most[0] = 0
    for u in range(len(most)):
        if most[u] < 0:
            continue
        pairs = [(u, 0)]
        while len(pairs) > 0:
            v, e = pairs.pop()
            w = start[v]
            for f in range(first[e], first[e + 1]):
                while w < start[v + 1] and byte[w] < letter[f]:
                    w += 1
                if w < start[v + 1] and byte[w] == letter[f]:
                    if spelled[f]:
                        most[w] = max(most[w], most[u] + 1)
                    pairs.append((int(w), int(f)))
