"""The contexts of a text, counted: a tree that grows from the newest token towards older ones."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from spec_math.arrays import count

START = -1
"""The mark before the first token of a text. It stands in contexts; it is never a next token."""


class ContextTree:
    """The contexts seen, as a tree that grows towards older tokens, each with its list of successors and counts.

    Node 0 is the empty context; node i + 1 is entry i of `keys`, which holds parent · (V + 1) + older token + 1.
    The parents come first, so `keys` is sorted as a whole. The successors of a node are start[node] : start[node + 1].
    """

    def __init__(self, text: np.ndarray[Any, Any], order: int, size: int) -> None:
        self.order, self.size = order, size
        marked = np.concatenate([[START], text])
        places = np.flatnonzero(marked >= 0)
        node = np.zeros(len(places), dtype=np.int64)
        made = 1
        keys: list[np.ndarray[Any, Any]] = []
        pair_keys: list[np.ndarray[Any, Any]] = []
        pair_counts: list[np.ndarray[Any, Any]] = []
        parents = np.zeros(1, dtype=np.int64)
        older = marked[places]
        for depth in range(order):
            if depth:
                older = marked[places - depth]
                level, inverse = np.unique(node * (size + 1) + older + 1, return_inverse=True)
                keys.append(level)
                parents = level // (size + 1)
                node = made + inverse
            level_pairs, occurrences = np.unique(node * size + marked[places], return_counts=True)
            if depth:
                # Each pair here is one more token seen before the pair of its parent. The parents that begin with the
                # start of a text have no pairs here: they keep their occurrences.
                above = parents[level_pairs // size - made] * size + level_pairs % size
                above, different = np.unique(above, return_counts=True)
                pair_counts[-1][np.searchsorted(pair_keys[-1], above)] = different
                made += len(parents)
                going_on = older >= 0
                places, node = places[going_on], node[going_on]
            pair_keys.append(level_pairs)
            pair_counts.append(occurrences)
        self.keys = np.concatenate([*keys, np.empty(0, dtype=np.int64)])
        self.pair_keys = np.concatenate(pair_keys)
        self.pair_count = np.concatenate(pair_counts)
        self.pair_token = self.pair_keys % size
        self.start = np.searchsorted(self.pair_keys, np.arange(made + 1) * size)
        self.types = np.diff(self.start)
        self.total = np.add.reduceat(self.pair_count, self.start[:-1])

    def nodes(self, contexts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the node of each context's last 0, 1, …, order - 1 tokens, [n, order], -1 where never seen."""
        found = np.full((len(contexts), self.order), -1, dtype=np.int64)
        found[:, 0] = 0
        alive = np.arange(len(contexts))
        node = found[:, 0]
        for depth in range(1, self.order):
            wanted = node * (self.size + 1) + contexts[alive, self.order - 1 - depth] + 1
            at = np.searchsorted(self.keys, wanted)
            hit = np.append(self.keys, -1)[at] == wanted
            alive, node = alive[hit], at[hit] + 1
            found[alive, depth] = node
        return found


def padded(tokens: tuple[int, ...], reach: int) -> tuple[int, ...]:
    """Return the last `reach` tokens of a text that starts with these, padded in front with -1: a context.

    >>> padded((5, 6, 7), 2), padded((5,), 3)
    ((6, 7), (-1, -1, 5))
    """
    return (START,) * (reach - len(tokens)) + tokens[max(0, len(tokens) - reach) :]


def windows(tokens: Any, order: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Cut a text into (contexts [n, order - 1], next tokens [n]), one row for each token that is no -1.

    A context ends where its text starts: it is padded in front with -1.

    Raises:
        TypeError, ValueError: order is not a positive integer, or tokens is not a list of indices.

    >>> contexts, following = windows([5, 6, -1, 7], order=3)
    >>> contexts.tolist(), following.tolist()
    ([[-1, -1], [-1, 5], [-1, -1]], [5, 6, 7])
    """
    order = count(order, "order")
    text = indices(tokens, "tokens", 1)
    marked = np.concatenate([[START], text])
    places = np.flatnonzero(marked >= 0)
    contexts = np.full((len(places), order - 1), START, dtype=np.int64)
    inside = np.ones(len(places), dtype=bool)
    for back in range(1, order):
        older = marked[np.maximum(places - back, 0)]
        inside &= older >= 0
        contexts[inside, order - 1 - back] = older[inside]
    return contexts, marked[places]


def indices(values: Any, name: str, dimensions: int | None) -> np.ndarray[Any, Any]:
    """Bring token indices to int64, refusing floats and bools (which a list would otherwise turn into ints).

    Raises:
        TypeError: a value is not an int.
        ValueError: the array has another number of dimensions (None: any will do).

    >>> indices([[0, 1]], "contexts", 2).tolist()
    [[0, 1]]
    """
    array: np.ndarray[Any, Any] = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    if array.dtype == object:
        for value in array.flat:
            if not isinstance(value, int | np.integer) or isinstance(value, bool):
                raise TypeError(f"{name} must be ints; got {value!r} of type {type(cast('object', value)).__name__}")
    elif array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be ints; got an array of {array.dtype}")
    if dimensions is not None and array.ndim != dimensions:
        raise ValueError(f"{name} must have {dimensions} dimension(s); the shape is {array.shape}")
    return array.astype(np.int64, copy=False)


def check_range(values: np.ndarray[Any, Any], size: int, name: str, least: int = START) -> None:
    """Refuse token indices outside [least, size): -1, the start of a text, may stand among them where least is -1.

    Raises:
        ValueError: naming the place of the first.

    >>> check_range(np.array([0, 1]), 2, "tokens")
    """
    outside = (values < least) | (values >= size)
    if bool(outside.any()):
        place = tuple(int(i) for i in np.argwhere(outside)[0])
        extra = " (or -1 for the start of a text)" if least < 0 else ""
        raise ValueError(f"{name} must be indices in [0, {size}){extra}; place {place} has {values[place]}")
