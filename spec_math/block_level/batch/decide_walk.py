"""Drafted trees on a batch: a walk down, a traversal upwards, or one selected chain that is verified as a block.

Source: SpecTr, Alg. 3, for the walk with all copies; Sequoia, for distinct siblings; Sun et al. 2024 for block
verification; Thomas and Pal 2026 for greedy multi-path.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from spec_math.array_coin import ArrayCoin, running_sums, wide
from spec_math.arrays import Array, array_namespace, divide, is_exact, positive_part, zeros_like
from spec_math.block_level.batch.array_tree import ArrayTree, Rows, Walked, chord, first_of, path_to, places
from spec_math.token_level.batch.drafts import (
    Decide,
    Emitted,
    drawn_or_target,
    mass_of,
    ratio,
    stable_order,
    times,
    without_tokens,
    written,
)
from spec_math.token_level.batch.plan import highest, ratios


def decide_walk(at_node: Decide, coin: ArrayCoin, tree: ArrayTree, rows: Rows, tested: bool = False) -> Walked:
    """Walk down while the emitted token is among the drafts, as `spectr.verify` does, with all drafts below its copies.

    The drafts of a node are those after all its copies, by index. With `tested` the walk goes on where a test accepted
    a draft, as `without_replacement.verify` does, and the verifier of distinct drafts is given a `Remaining`.
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
            left = partial(_left, rows, slot, further, target)
            draft = left if tested else xp.where(further, rows.draft(slot), target)
        token, accepted = at_node(coin, tree.tokens_of(tree.listed(members)), target, draft)
        agreeing = members & (tree.tokens == token[:, None]) & going[:, None]
        met = xp.any(agreeing, axis=1)
        met = met & accepted if tested else met
        last, size = xp.where(met, first_of(agreeing), last), xp.where(met, level + 1, size)
        follows = xp.where(going & ~met, token, follows)
        going = met & ~tree.ends(token)
        group = xp.concat([xp.zeros_like(agreeing[:, :1]), agreeing], axis=1)
    coin.going = coin.one > 0
    return Walked(path_to(tree, last[:, None], size[:, None])[:, 0], follows)


def _left(rows: Rows, slot: Array, further: Array, target: Array, tokens: Array) -> Array:
    """Return the rest of the draft's rows at the slots [B] without some tokens; the target where nothing is drafted."""
    found = rows.draft(slot, tokens)
    return array_namespace(found).where(further, found, target)


def decide_target_only(coin: ArrayCoin, tokens: Array, target: Array, draft: Array) -> Emitted:  # noqa: ARG001
    """Accept one of distinct children [B, k] by one coin that reads the target alone, as `target_only.verify` does.

    The law: x_i where Σ_{j<i} t(x_j) ≤ u < Σ_{j≤i} t(x_j), else a draw from t without the children.
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
    """The times when each node [B, N] is entered and left on a way round its tree, in 0..2N − 1, and its depth, from 1.

    Children are gone through by their index. Padding in place of nodes is never met.
    """

    enters: Array
    leaves: Array
    level: Array


def tour(tree: ArrayTree) -> Tour:
    """Return the way round each tree, from its parents alone."""
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
    return Walked(path_to(tree, best[:, None], level[:, None])[:, 0], xp.where(ended, -1, follows))


class _States:
    """The rest of the target at one node of each level, [D + 1, B, V], where a child was rejected."""

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


Selects = Callable[[Array, Array, Array], tuple[Array, Array]]
"""(tokens [B, K] that follow, target [B, V], draft [B, V]) -> the one selected [B], and the law [B, V] it has."""


def decide_block(coin: ArrayCoin, tree: ArrayTree, rows: Rows) -> Walked:
    """Verify the one chain of each tree as a block, as `block.verify` does."""
    return verified(lambda tokens, _, draft: (tokens[:, 0], draft), coin, tree, rows)


def decide_multi_path(coin: ArrayCoin, tree: ArrayTree, rows: Rows) -> Walked:
    """Verify the chain of highest rank among i.i.d. chains as a block, as `multi_path` does."""
    return verified(_HighestRank(tree), coin, tree, rows)


def verified(selects: Selects, coin: ArrayCoin, tree: ArrayTree, rows: Rows) -> Walked:
    """Go down the tree along the selected chain, tossing the coins of block verification against the selected laws.

    After i tokens the weight is w_i = min(1, w_{i−1} t/s); position i < l has the chance ρ_i/(ρ_i + 1 − w_i), ρ_i =
    Σ (w_i t − s)+, and the last one w_l. The last position that accepts is kept, and the token after it drawn from its
    (w t − s)+, or from t at the end.
    """
    xp = array_namespace(tree.tokens)
    group, going = tree.root(), coin.going
    size = xp.zeros_like(tree.tokens[:, 0])
    weight: Array = coin.one
    kept: Any = None
    node = last = xp.full_like(tree.tokens[:, 0], -1)
    ended = silent = size < 0
    for level in range(tree.depth + 1):
        members = tree.children(group) & ~ended[:, None]
        further = going & xp.any(members, axis=1)
        slot = first_of(group)
        target = rows.target(slot)
        # Where nothing is drafted a draft law may be anything, and the target stands in.
        draft = xp.where(further[:, None], rows.draft(slot), target) if level < tree.depth else target
        token, law = selects(tree.tokens_of(tree.listed(members)), target, draft)
        t, s = coin.total(target), coin.total(law)
        left = positive_part(times(target, weight * s / t) - law)
        rest = coin.total(left) / s
        masses = xp.where((further & (rest > 0))[:, None], left, target)
        if kept is None:
            kept = masses
        else:
            # At 0/0 a later coin accepts whatever this one says.
            chance = xp.where(further, divide(rest, rest + (1 - weight), weight), weight)
            accepts = coin.flip(chance, going, xp.where(further, rest + (1 - weight), coin.one))
            kept, silent = xp.where(accepts[:, None], masses, kept), xp.where(accepts, ended, silent)
            size, last = xp.where(accepts, level, size), xp.where(accepts, node, last)
        agreeing = members & (tree.tokens == token[:, None])
        node = xp.where(further, first_of(agreeing), node)
        reached = ratio(weight * mass_of(target, token) / t, mass_of(law, token) / s)
        weight = xp.where(further, xp.minimum(coin.one, reached), weight)
        ended, going = further & tree.ends(token), further
        group = xp.concat([xp.zeros_like(agreeing[:, :1]), agreeing], axis=1)
    follows = coin.draw(kept, ~silent)
    return Walked(path_to(tree, last[:, None], size[:, None])[:, 0], xp.where(silent, -1, follows))


class _HighestRank:
    """The highest of k i.i.d. chains by t/d, token by token; (a, 1 − a) is where the paths so far lie among all."""

    def __init__(self, tree: ArrayTree) -> None:
        xp = array_namespace(tree.tokens)
        members = xp.astype(tree.children(tree.root()), tree.tokens.dtype)
        weights = members if tree.copies is None else members * tree.copies
        self.k, self.most = xp.sum(weights, axis=1), tree.width
        self.below: Any = None

    def __call__(self, tokens: Array, target: Array, draft: Array) -> tuple[Array, Array]:
        xp = array_namespace(target)
        key = ratios(target, draft)
        best = highest(key, tokens)
        order = stable_order(key)
        sums = running_sums(xp.take_along_axis(draft, order, axis=1))
        sums = sums / sums[:, -1:]
        below = zeros_like(sums[:, :1]) if self.below is None else self.below
        ends = below + (1 - below) * sums
        rises = divide(self._slope(ends[:, :-1], ends[:, 1:]), self._slope(below, ends[:, -1:]), ends[:, :-1])
        law = wide(draft) * put_back(order, rises)
        place = xp.argmax(xp.astype(order == best[:, None], xp.int8), axis=1)[:, None]
        low, high = (xp.take_along_axis(ends, at, axis=1) for at in (place, place + 1))
        own = (1 - below) * divide(mass_of(draft, best)[:, None], wide(draft).sum(1)[:, None], below)
        # The path's own mass, and not a difference of sums, which may cancel.
        self.below = divide(low, low + own, high - high)
        return best, law if is_exact(law) else xp.astype(law, target.dtype, copy=False)

    def _slope(self, low: Array, high: Array) -> Array:
        return chord(low, high, self.k, self.most)


def put_back(order: Array, values: Array) -> Array:
    """Return values [B, V], given in an order of tokens [B, V], by token."""
    return written(values, order, values)
