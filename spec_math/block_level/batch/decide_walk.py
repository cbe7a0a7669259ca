"""Walks down a batch of trees: at every node a verifier of one position emits a token, and agreeing drafts go on.

Source: SpecTr, Alg. 3, for the walk with all copies; Sequoia, for distinct siblings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from spec_math.array_coin import ArrayCoin
from spec_math.arrays import Array, array_namespace, divide, positive_part, zeros_like
from spec_math.block_level.batch.array_tree import ArrayTree, Rows, Walked, first_of, path_to, places
from spec_math.token_level.batch.drafts import (
    Decide,
    Emitted,
    drawn_or_target,
    mass_of,
    ratio,
    times,
    without_tokens,
)


def decide_walk(at_node: Decide, coin: ArrayCoin, tree: ArrayTree, rows: Rows, tested: bool = False) -> Walked:
    """Walk down while the emitted token is among the drafts, as `spectr.verify` does, with all drafts below its copies.

    The drafts of a node are those after all its copies, by index. With `tested` the walk goes on where a test accepted
    a draft, as `without_replacement.verify` does, and the verifier of distinct drafts is given a `Remaining`.

    >>> from spec_math.arrays import exact
    >>> from spec_math.block_level.batch.array_tree import GivenRows
    >>> from spec_math.token_level.batch.rejection import decide_recursive
    >>> import numpy as np
    >>> laws = exact([[["1/4", "3/4"], ["1/2", "1/2"]]])
    >>> tree = ArrayTree(np.array([[1]]), np.array([[-1]]), depth=1, width=1)
    >>> decide_walk(decide_recursive, ArrayCoin(exact([["1/5", "3/5", 0]])), tree, GivenRows(laws, laws))
    Walked(nodes=array([[0]]), follows=array([1]))
    """
    xp = array_namespace(tree.tokens)
    group, going, follows = tree.root(), coin.going, xp.full_like(tree.tokens[:, 0], -1)
    last, size = follows, tree.tokens[:, 0] * 0
    for level in range(tree.depth + 1):
        coin.going = going
        members = tree.children(group)
        slot = first_of(group)
        target = rows.target(slot)
        # Where nothing is drafted, as below the last level, a draft law may be anything, and the target stands in.
        further = xp.any(members, axis=1)[:, None]
        draft: Any = target
        if level < tree.depth:
            draft = _Left(rows, slot, further, target) if tested else xp.where(further, rows.draft(slot), target)
        token, accepted = at_node(coin, tree.tokens_of(tree.listed(members)), target, draft)
        agreeing = members & (tree.tokens == token[:, None]) & going[:, None]
        met = xp.any(agreeing, axis=1)
        met = met & accepted if tested else met
        last, size = xp.where(met, first_of(agreeing), last), xp.where(met, level + 1, size)
        follows = xp.where(going & ~met, token, follows)
        going = met & ~tree.ends(token)
        group = xp.concat([xp.zeros_like(agreeing[:, :1]), agreeing], axis=1)
    coin.going = coin.one > 0
    return Walked(path_to(tree, last, size), follows)


class _Left(NamedTuple):
    """What is left of the draft's rows at the slots [B] without some tokens; the target where nothing is drafted."""

    rows: Rows
    slot: Array
    further: Array
    target: Array

    def __call__(self, tokens: Array) -> Array:
        found = self.rows.draft(self.slot, tokens)
        return array_namespace(found).where(self.further, found, self.target)


def decide_target_only(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:  # noqa: ARG001
    """Accept one of distinct children [B, k] by one coin that reads the target alone, as `target_only.verify` does.

    The law: x_i where Σ_{j<i} t(x_j) ≤ u < Σ_{j≤i} t(x_j), else a draw from t without the children.

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> coin = ArrayCoin(exact([["1/3", 0]]))
    >>> decide_target_only(coin, np.array([[1]]), exact([["1/4", "3/4"]]), exact([[0, 0]])).token.tolist()
    [1]
    """
    xp = array_namespace(target)
    some = tokens[:, 0] >= 0
    rest = without_tokens(target, tokens)
    left = coin.total(rest)
    masses = [*(mass_of(target, tokens[:, place]) for place in range(tokens.shape[1])), left]
    met = coin.draw(xp.stack(masses, axis=1), some)
    accepted = some & (met < tokens.shape[1]) & coin.going
    token = xp.take_along_axis(tokens, xp.where(accepted, met, 0)[:, None], axis=1)[:, 0]
    follows = drawn_or_target(coin, rest, xp.where(some, left, zeros_like(left)), target, ~accepted)
    return Emitted(xp.where(accepted, token, follows), accepted)


class Tour(NamedTuple):
    """When each node [B, N] is entered and left on a way round its tree, in 0..2N − 1, and how deep it lies, from 1.

    Children are gone through by their index. Padding in place of nodes is never met.
    """

    enters: Array
    leaves: Array
    level: Array


def tour(tree: ArrayTree) -> Tour:
    """Return the way round each tree, from its parents alone.

    >>> import numpy as np
    >>> found = tour(ArrayTree(np.array([[5, 6, 7]]), np.array([[-1, 0, -1]]), depth=2, width=2))
    >>> found.enters.tolist(), found.leaves.tolist(), found.level.tolist()
    ([[0, 1, 4]], [[3, 2, 5]], [[1, 2, 1]])
    """
    xp = array_namespace(tree.tokens)
    there = tree.tokens >= 0
    index = places(tree.tokens, tree.tokens.shape[1])
    above = xp.where(there, tree.parents, -2)
    # within[b, a, v]: a is v or lies above it.
    within = (index[:, None] == index[None, :])[None] & there[:, None, :]
    upward = tree.parents
    for _ in range(tree.depth - 1):
        within = within | ((index[None, :, None] == upward[:, None, :]) & (there & (upward >= 0))[:, None, :])
        found = xp.take_along_axis(tree.parents, xp.where(upward < 0, 0, upward), axis=1)
        upward = xp.where(upward < 0, -1, found)
    numbers = xp.astype(within, xp.int64)
    level, size = xp.sum(numbers, axis=1), xp.sum(numbers, axis=2)
    earlier = (above[:, :, None] == above[:, None, :]) & (index[:, None] < index[None, :])[None]
    earlier = earlier & there[:, :, None] & there[:, None, :]
    # Everything below earlier siblings of a node, or of one above it, has been left when it is entered.
    mass = xp.sum(xp.where(earlier, size[:, :, None], 0), axis=1)
    done = xp.sum(xp.where(within, mass[:, :, None], 0), axis=1)
    enters = 2 * done + level - 1
    leaves = enters + 2 * size - 1
    return Tour(xp.where(there, enters, -1), xp.where(there, leaves, -1), xp.where(there, level, 0))


def decide_traversal(coin: ArrayCoin, tree: ArrayTree, rows: Rows) -> Walked:
    """Judge trees of distinct siblings from their leaves upwards, as `traversal.verify` does.

    A node's target, changed by the children rejected below it, is held once for each level; its draft is what is left
    of its law without them. A child without draft mass was not drafted: it is passed over with all that is below it.

    >>> import numpy as np
    >>> from spec_math.arrays import exact
    >>> from spec_math.block_level.batch.array_tree import GivenRows
    >>> laws = GivenRows(exact([[["1/4", "3/4"], ["1/2", "1/2"]]]), exact([[["1/2", "1/2"], ["1/2", "1/2"]]]))
    >>> tree = ArrayTree(np.array([[0]]), np.array([[-1]]), depth=1, width=1)
    >>> decide_traversal(ArrayCoin(exact([["3/5", 0]])), tree, laws)
    Walked(nodes=array([[-1]]), follows=array([1]))
    """
    xp = array_namespace(tree.tokens)
    way, batch = tour(tree), len(tree.tokens)
    number = tree.tokens.shape[1]
    slots = places(tree.tokens, number + 1)
    here = places(tree.tokens, batch)
    weight = xp.broadcast_to(coin.one[:, None], (batch, number + 1))
    touched = xp.zeros_like(tree.root())
    states = _States(tree, rows)
    going, best = coin.going, xp.full_like(tree.tokens[:, 0], -1)
    for moment in range(2 * number):
        entered, left = way.enters == moment, way.leaves == moment
        node = first_of(entered | left)
        some = going & xp.any(entered | left, axis=1)
        leaving = some & xp.any(left, axis=1)
        token, parent = tree.tokens[here, node], tree.parents[here, node] + 1
        level = way.level[here, node] - 1
        accepts = coin.flip(weight[here, node + 1], leaving)
        best, going = xp.where(accepts, node, best), going & ~accepts
        rejected = leaving & ~accepts
        t = states.at(parent, level, touched[here, parent])
        gone = (tree.tokens >= 0) & (way.leaves < moment) & (tree.parents + 1 == parent[:, None])
        d = rows.draft(parent, tree.tokens_of(tree.listed(gone)))
        mass = mass_of(d, token)
        rejected = rejected & (mass > 0)
        total, drawn = coin.total(t), coin.total(d)
        own = weight[here, parent]
        # A node whose drafts are used up has no draft mass left, and no child either.
        lacking = positive_part(times(t, divide(own * drawn, total, own)) - d)
        rest = divide(coin.total(lacking), drawn, drawn)
        share = divide(rest, rest + (1 - own), own)
        states.put(level, rejected, xp.where((rest > 0)[:, None], lacking, t))
        reached = xp.minimum(coin.one, ratio(own * mass_of(t, token) * drawn, total * mass))
        at_parent = (slots == parent[:, None]) & rejected[:, None]
        at_node = (slots == node[:, None] + 1) & (some & ~leaving)[:, None]
        touched = touched | at_parent
        weight = xp.where(at_parent, share[:, None], xp.where(at_node, reached[:, None], weight))
    level = xp.where(best >= 0, way.level[here, xp.where(best < 0, 0, best)], 0)
    target = states.at(best + 1, level, touched[here, best + 1])
    ended = (best >= 0) & tree.ends(tree.tokens[here, xp.where(best < 0, 0, best)])
    follows = drawn_or_target(coin, target, coin.total(target), target, ~ended)
    return Walked(path_to(tree, best, level), xp.where(ended, -1, follows))


class _States:
    """What is left of the target at one node of each level, [D + 1, B, V], where a child was rejected."""

    def __init__(self, tree: ArrayTree, rows: Rows) -> None:
        self.rows = rows
        like = rows.target(tree.tokens[:, 0] * 0)
        self._requests = places(tree.tokens, len(tree.tokens))
        self._held = array_namespace(like).stack([zeros_like(like)] * (tree.depth + 1))

    def at(self, slot: Array, level: Array, touched: Array) -> Array:
        """Return the target [B, V] of the nodes at the slots [B] as it stands now."""
        held = self._held[level, self._requests]
        return array_namespace(level).where(touched[:, None], held, self.rows.target(slot))

    def put(self, level: Array, where: Array, target: Array) -> None:
        """Keep what is left at the levels [B] of the requests `where` [B]."""
        held = self._held[level, self._requests]
        self._held[level, self._requests] = array_namespace(level).where(where[:, None], target, held)
