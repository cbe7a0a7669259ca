"""Walks down a batch of trees: at every node a verifier of one position emits a token, and agreeing drafts go on.

Source: SpecTr, Alg. 3, for the walk with all copies; Sequoia, for distinct siblings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from spec_math.array_coin import ArrayCoin
from spec_math.arrays import Array, array_namespace, zeros_like
from spec_math.block_level.array_tree import ArrayTree, Rows, Walked, first_of, path_to
from spec_math.token_level.batch.drafts import Decide, Emitted, drawn_or_target, mass_of, without_tokens


def decide_walk(at_node: Decide, coin: ArrayCoin, tree: ArrayTree, rows: Rows, tested: bool = False) -> Walked:
    """Walk down while the emitted token is among the drafts, as `spectr.verify` does, with all drafts below its copies.

    The drafts of a node are those after all its copies, by index. With `tested` the walk goes on where a test accepted
    a draft, as `without_replacement.verify` does, and the verifier of distinct drafts is given a `Remaining`.

    >>> from spec_math.arrays import exact
    >>> from spec_math.block_level.array_tree import GivenRows
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
