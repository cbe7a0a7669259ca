"""Many drafted chains by way of one, on a batch: the chain of highest rank, or the only one, verified as a block.

Source: Sun et al. 2024 (block verification); Thomas and Pal 2026 (greedy multi-path).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spec_math.array_coin import ArrayCoin, running_sums, wide
from spec_math.arrays import Array, array_namespace, divide, is_exact, positive_part, zeros_like
from spec_math.block_level.batch.array_tree import ArrayTree, Rows, Walked, chord, first_of, path_to
from spec_math.token_level.batch.drafts import mass_of, ratio, stable_order, times
from spec_math.token_level.batch.plan import highest, ratios

Selects = Callable[[Array, Array, Array], tuple[Array, Array]]
"""(tokens [B, K] that follow, target [B, V], draft [B, V]) -> the one selected [B], and the law [B, V] it has."""


def decide_block(coin: ArrayCoin, tree: ArrayTree, rows: Rows) -> Walked:
    """Verify the one chain of each tree as a block, as `block.verify` does.

    >>> from spec_math.arrays import exact
    >>> from spec_math.block_level.batch.array_tree import GivenRows
    >>> laws = GivenRows(exact([[["1/4", "3/4"], ["1/2", "1/2"]]]), exact([[["1/2", "1/2"], ["1/2", "1/2"]]]))
    >>> tree = ArrayTree(np.array([[0]]), np.array([[-1]]), depth=1, width=1)
    >>> decide_block(ArrayCoin(exact([["3/5", 0]])), tree, laws)
    Walked(nodes=array([[-1]]), follows=array([1]))
    """
    return verified(lambda tokens, _, draft: (tokens[:, 0], draft), coin, tree, rows)


def decide_multi_path(coin: ArrayCoin, tree: ArrayTree, rows: Rows) -> Walked:
    """Verify the chain of highest rank among i.i.d. chains as a block, as `multi_path` does.

    >>> from spec_math.arrays import exact
    >>> from spec_math.block_level.batch.array_tree import GivenRows
    >>> laws = GivenRows(exact([[["1/4", "3/4"], [1, 0], [1, 0]]]), exact([[["1/2", "1/2"], [1, 0], [1, 0]]]))
    >>> tree = ArrayTree(np.array([[0, 1]]), np.array([[-1, -1]]), depth=1, width=2)
    >>> decide_multi_path(ArrayCoin(exact([["3/5", 0]])), tree, laws)
    Walked(nodes=array([[1]]), follows=array([0]))
    """
    return verified(_HighestRank(tree), coin, tree, rows)


def verified(selects: Selects, coin: ArrayCoin, tree: ArrayTree, rows: Rows) -> Walked:
    """Go down the tree along the selected chain, tossing the coins of block verification against the selected laws.

    After i tokens the weight is w_i = min(1, w_{i−1} t/s); position i < l has the chance ρ_i/(ρ_i + 1 − w_i), ρ_i =
    Σ (w_i t − s)+, and the last one w_l. The last position that accepts is kept, and the token after it drawn from its
    (w t − s)+, or from t at the end.

    >>> from spec_math.arrays import exact
    >>> from spec_math.block_level.batch.array_tree import GivenRows
    >>> laws = exact([[["1/4", "3/4"], ["1/2", "1/2"]]])
    >>> tree = ArrayTree(np.array([[0]]), np.array([[-1]]), depth=1, width=1)
    >>> first = lambda tokens, target, draft: (tokens[:, 0], draft)
    >>> verified(first, ArrayCoin(exact([["3/5", 0]])), tree, GivenRows(laws, laws)).nodes.tolist()
    [[0]]
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
    return Walked(path_to(tree, last, size), xp.where(silent, -1, follows))


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
    """Return values [B, V], given in an order of tokens [B, V], by token.

    >>> put_back(np.array([[1, 0]]), np.array([[0.25, 0.75]])).tolist()
    [[0.75, 0.25]]
    """
    if isinstance(values, np.ndarray):
        found = np.empty_like(values)
        np.put_along_axis(found, order, values, 1)
        return found
    return values.new_empty(values.shape).scatter_(1, order, values)
