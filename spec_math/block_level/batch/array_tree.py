"""A batch of drafted trees as arrays: tokens [B, N] and parents [B, N], −1 where there is no node and for the root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from spec_math.arrays import Array, array_namespace, is_exact, ones_like, zeros_like


class Rows(Protocol):
    """The laws of a batch of trees, asked for one node a request at a time."""

    def target(self, slot: Array) -> Array:
        """Return the target's masses [B, V] after the node slot − 1 of each request, after the root for slot [B] 0."""
        ...

    def draft(self, slot: Array, without: Array | None = None) -> Array:
        """Return the draft's masses [B, V] there, or what is left without the tokens [B, m], −1 behind the last.

        Each row is in proportion to its own sum, and so is what is left of it.
        """
        ...


class Walked(NamedTuple):
    """The nodes that a batch of trees accepts, and what follows.

    `nodes` [B, D] are the accepted nodes from the root down, −1 behind the last of them; `follows` [B] is the token
    after them, −1 where nothing follows.
    """

    nodes: Array
    follows: Array


@dataclass(frozen=True, eq=False)
class ArrayTree:
    """Trees of up to N nodes, of which `depth` lie below each other and `width` drafts follow a node at most.

    A place with the token −1 holds no node. Nodes of one token after copies of one path are copies: i.i.d. drafts that
    agree; `copies` [B, N] says how many drafts a node stands for, one each where it is None. `end` is the token that
    nothing follows.
    """

    tokens: Array
    parents: Array
    depth: int
    width: int
    end: int | None = None
    copies: Array | None = None

    def root(self) -> Array:
        """Return the group of slots [B, N + 1] that holds the root alone; slot i + 1 is node i."""
        xp = array_namespace(self.tokens)
        slots = places(self.tokens, self.tokens.shape[1] + 1)
        return xp.broadcast_to(slots[None, :] == 0, (len(self.tokens), len(slots)))

    def children(self, group: Array) -> Array:
        """Return which nodes [B, N] follow a group of slots [B, N + 1]."""
        xp = array_namespace(self.tokens)
        return (self.tokens >= 0) & xp.take_along_axis(group, self.parents + 1, axis=1)

    def listed(self, members: Array) -> Array:
        """Return the members [B, N] as nodes [B, width] by their index, each as often as it has copies, then −1."""
        xp = array_namespace(self.tokens)
        weights = xp.astype(members, self.tokens.dtype)
        found = repeated(weights if self.copies is None else weights * self.copies, self.width)
        return xp.where(found < self.tokens.shape[1], found, -1)

    def tokens_of(self, nodes: Array) -> Array:
        """Return the tokens [B, m] of nodes [B, m], −1 where there is none."""
        xp = array_namespace(self.tokens)
        found = xp.take_along_axis(self.tokens, xp.where(nodes < 0, 0, nodes), axis=1)
        return xp.where(nodes < 0, -1, found)

    def ends(self, token: Array) -> Array:
        """Return whether nothing follows a token [B]."""
        return token < -1 if self.end is None else token == self.end


def repeated(counts: Array, width: int) -> Array:
    """Return the indices [B, width] of counts [B, N], each as often as it counts, N or more behind the last."""
    xp = array_namespace(counts)
    sums = xp.cumulative_sum(counts, axis=1)
    return xp.stack([xp.sum(xp.astype(sums <= place, counts.dtype), axis=1) for place in range(width)], axis=1)


def first_of(members: Array) -> Array:
    """Return the first member [B] of each row of [B, m]; 0 where there is none."""
    xp = array_namespace(members)
    return xp.argmax(xp.astype(members, xp.int8), axis=1)


def path_to(tree: ArrayTree, node: Array, level: Array) -> Array:
    """Return the nodes [B, K, D] from the root's child down to nodes [B, K] of the levels [B, K], −1 behind them."""
    xp = array_namespace(tree.tokens)
    columns: list[Any] = []
    for place in range(tree.depth, 0, -1):
        on = (node >= 0) & (level >= place)
        columns.append(xp.where(on, node, -1))
        node = xp.where(on, xp.take_along_axis(tree.parents, xp.where(node < 0, 0, node), axis=1), node)
    return xp.stack(columns[::-1], axis=-1)


def emitted(tree: ArrayTree, walked: Walked) -> tuple[Array, Array]:
    """Return the emitted tokens [B, D + 1], −1 behind them, and how many they are [B]."""
    xp = array_namespace(tree.tokens)
    accepted = tree.tokens_of(walked.nodes)
    size = xp.sum(xp.astype(walked.nodes >= 0, tree.tokens.dtype), axis=1)
    padded = xp.concat([accepted, xp.full_like(walked.follows[:, None], -1)], axis=1)
    at = places(tree.tokens, padded.shape[1])[None, :] == size[:, None]
    return xp.where(at, walked.follows[:, None], padded), size + xp.astype(walked.follows >= 0, size.dtype)


def places(like: Array, size: int) -> Any:
    """Return 0..size − 1 on the device of an array."""
    return array_namespace(like).arange(size, device=like.device)


def sums_at(values: Array, index: Array, size: int) -> Array:
    """Return the sums [R, size] of the values [R, n] that carry each index [R, n]."""
    if not isinstance(values, np.ndarray):
        return values.new_zeros((len(values), size)).scatter_add_(1, index, values)
    flat = (index + size * np.arange(len(index))[:, None]).ravel()
    if not is_exact(values):
        return np.bincount(flat, values.ravel(), size * len(values)).reshape(-1, size)
    found = zeros_like(np.empty(size * len(values), dtype=object))
    np.add.at(found, flat, values.ravel())
    return found.reshape(-1, size)


def running_max(values: Array) -> Array:
    """Return max_{j≤i} v_j along the rows [R, n]."""
    return np.maximum.accumulate(values, axis=1) if isinstance(values, np.ndarray) else values.cummax(1).values


def sums_below(values: Array) -> Array:
    """Return Σ_{j<i} v_j, i = 0..n, [R, n + 1], of rows [R, n]."""
    return array_namespace(values).concat([zeros_like(values[:, :1]), values.cumsum(1)], axis=1)


def sums_above(values: Array) -> Array:
    """Return Σ_{j≥i} v_j, i = 0..n, [R, n + 1], of rows [R, n]."""
    xp = array_namespace(values)
    return xp.flip(sums_below(xp.flip(values, axis=1)), axis=1)


def chord(low: Array, high: Array, size: Array, most: int) -> Array:
    """Return Σ_{j<k} low^j high^(k−1−j), the slope of x^k, for rows that have a k of their own.

    Rows [R, n], `size` [R] the k of each, at most `most`.
    """
    xp = array_namespace(low)
    total, power = zeros_like(low + high), ones_like(low + high)
    for place in range(most):
        total = xp.where((place < size)[:, None], total * low + power, total)
        power = power * high
    return total
