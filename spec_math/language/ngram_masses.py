"""Masses of single tokens at thousands of contexts of an n-gram model, without the rows, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from spec_math.kernels import kernel


@kernel
def weigh(tree: Any, numbers: Any, contexts: Any, tokens: Any, masses: Any) -> None:
    """Fill the masses [n, m] of tokens [n, m]: the sums of `NGram.rows` in their order, each token found in its list.

    Contexts [n, order - 1]; the tree is keys, starts, tokens of pairs and totals of a `ContextTree`, the numbers are
    what a pair's count adds, the weight of the next shorter context, and the shortest one's law.

    >>> tree = np.empty(0, np.int64), np.array([0, 1]), np.array([1]), np.array([4])
    >>> masses = np.empty((1, 2))
    >>> numbers = np.array([1.0]), np.array([1.0]), np.array([0.25, 0.75])
    >>> weigh(tree, numbers, np.empty((1, 0), np.int64), np.array([[1, 0]]), masses)
    >>> masses.tolist()
    [[0.75, 0.25]]
    """
    (_keys, start, successors, _total), (excess, _back, base) = tree, numbers
    nodes, scales = np.zeros(contexts.shape[1] + 1, np.int64), np.empty(contexts.shape[1] + 1)
    for row in range(contexts.shape[0]):
        deepest, weight = read(tree, numbers, contexts[row], nodes, scales)
        for column in range(tokens.shape[1]):
            mass = weight * base[tokens[row, column]]
            for depth in range(1, deepest + 1):
                end = start[nodes[depth] + 1]
                at = first_from(successors, start[nodes[depth]], end, tokens[row, column])
                if at < end and successors[at] == tokens[row, column]:
                    mass += excess[at] * scales[depth]
            masses[row, column] = mass


@register_jitable
def read(tree: Any, numbers: Any, context: Any, nodes: Any, scales: Any) -> tuple[int, float]:
    """Fill the nodes [order] of a context and what one count adds at each [order]; return how deep, and the weight.

    It is `ContextTree.nodes` and `NGram._weights` of one context; what `weigh` takes.

    >>> tree, numbers = ([1], None, None, [4, 2]), (None, [0.5, 0.25], [0.25, 0.75])
    >>> nodes, scales = [0, 0], [0.0, 0.0]
    >>> read(tree, numbers, [0], nodes, scales), nodes, scales
    ((1, 0.25), [0, 1], [0.0, 0.5])
    """
    (keys, _start, _tokens, total), (_excess, back, base) = tree, numbers
    deepest, weight = 0, 1.0
    for depth in range(1, len(nodes)):
        wanted = nodes[depth - 1] * (len(base) + 1) + context[len(nodes) - 1 - depth] + 1
        at = first_from(keys, 0, len(keys), wanted)
        if at == len(keys) or keys[at] != wanted:
            break
        nodes[depth], deepest = at + 1, depth
    for depth in range(deepest, 0, -1):
        scales[depth] = weight / total[nodes[depth]]
        weight *= back[nodes[depth]]
    return deepest, weight


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
