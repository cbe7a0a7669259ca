"""Trees and chains drafted over another vocabulary: each node's target as masses of the draft's tokens and one more.

Source: worked out here, see `merged`.
"""

from __future__ import annotations

from typing import Any

from spec_math.array_coin import ArrayCoin
from spec_math.arrays import Array, array_namespace
from spec_math.block_level.batch.array_tree import ArrayTree, Rows, Walked
from spec_math.block_level.batch.array_tree import places as numbers
from spec_math.block_level.tree_rules import DecideTree
from spec_math.chance import Coin
from spec_math.drafting.merged import Total, merged_target, padded, placed, row, unmerged
from spec_math.language.model import Model
from spec_math.scheme import Tokens


def decide_merged_tree(
    decide: DecideTree, coin: ArrayCoin, tree: ArrayTree, rows: Rows, places: Array
) -> tuple[ArrayTree, Walked]:
    """Verify trees of the draft's tokens by a rule for trees; return them in the target's tokens, and what is accepted.

    places [D], or [B, D] where requests differ, or [B, N + 1, D] where nodes do: the target's tokens of those that the
    draft's rows [B, D] are about, −1 for none. `tree.tokens` are indices of those rows, `tree.end` is the target's.
    The coins are those of the rule; one more says which token follows where it is one that the draft lacks.

    >>> from spec_math.arrays import exact
    >>> from spec_math.block_level.batch.array_tree import GivenRows
    >>> from spec_math.block_level.tree_rules import TOKEN_BY_TOKEN
    >>> import numpy as np
    >>> laws = GivenRows(exact([[["1/4", "3/4", 0], [0, 0, 1]]]), exact([[["1/2", "1/2"], [1, 0]]]))
    >>> tree, coin = ArrayTree(np.array([[0]]), np.array([[-1]]), depth=1, width=1), ArrayCoin(exact([[0, 0, 0]]))
    >>> decide_merged_tree(TOKEN_BY_TOKEN.decide, coin, tree, laws, np.array([1, 0]))[1]
    Walked(nodes=array([[0]]), follows=array([2]))
    """
    xp = array_namespace(tree.tokens)
    merged = MergedRows(rows, places, coin.total)
    walked = decide(coin, ArrayTree(tree.tokens, tree.parents, tree.depth, tree.width, None, tree.copies), merged)
    own = placed_tree(tree, places)
    # Nodes are padded with −1, and a later one has the larger index.
    last = xp.max(walked.nodes, axis=-1)
    token = xp.take_along_axis(own.tokens, xp.where(last < 0, 0, last)[:, None], axis=-1)[:, 0]
    ended = (last >= 0) & own.ends(token)
    _, rest = merged.both(last + 1)
    follows = unmerged(coin, xp.where(ended, -1, walked.follows), rest, merged.places(last + 1))
    return own, Walked(walked.nodes, follows)


def placed_tree(tree: ArrayTree, places: Array) -> ArrayTree:
    """Return a tree of the draft's tokens in the target's, −1 for one that the target lacks; places as above.

    >>> import numpy as np
    >>> placed_tree(ArrayTree(np.array([[1, 0]]), np.array([[-1, 0]]), 2, 1), np.array([5, -1])).tokens.tolist()
    [[-1, 5]]
    """
    xp = array_namespace(tree.tokens)
    there = tree.tokens >= 0
    at = xp.where(there, tree.tokens, 0)
    here = numbers(at, len(at))[:, None]
    if places.ndim == 1:
        found = places[at]
    else:
        found = places[here, at] if places.ndim == 2 else places[here, xp.where(there, tree.parents + 1, 0), at]
    return ArrayTree(xp.where(there, found, -1), tree.parents, tree.depth, tree.width, tree.end, tree.copies)


class MergedRows:
    """The rows of a batch of trees with the target's tokens that the draft lacks as one: targets and drafts [B, D + 1].

    >>> from spec_math.block_level.batch.array_tree import GivenRows
    >>> import numpy as np
    >>> rows = GivenRows(np.array([[[0.25, 0.25, 0.5]]]), np.array([[[1.0]]]))
    >>> MergedRows(rows, np.array([2]), lambda masses: masses.sum(-1)).target(np.array([0])).tolist()
    [[0.5, 0.5]]
    """

    def __init__(self, rows: Rows, places: Array, total: Total) -> None:
        self._rows, self._places, self._total = rows, places, total

    def target(self, slot: Array) -> Array:
        """Return the target's masses [B, D + 1] at the slots [B]."""
        return self.both(slot)[0]

    def draft(self, slot: Array, without: Array | None = None) -> Array:
        """Return the draft's masses [B, D + 1] there, or what is left without the tokens [B, m]; the last one is 0."""
        return padded(self._rows.draft(slot, without))

    def both(self, slot: Array) -> tuple[Array, Array]:
        """Return the target's masses there, and those [B, V] of the tokens that the draft lacks."""
        return merged_target(self._rows.target(slot), self.places(slot), self._total)

    def places(self, slot: Array) -> Array:
        """Return the target's tokens [B, D] of the draft's there."""
        if self._places.ndim == 3:
            return self._places[numbers(slot, len(slot)), slot]
        shape = (len(slot), self._places.shape[-1])
        return array_namespace(slot).broadcast_to(self._places, shape)


def models(target_model: Model, draft_model: Model, places: Any) -> tuple[Model, Model]:
    """Return target and draft as models on D + 1 tokens: the draft's, and all that it lacks, which every rule takes.

    After a token that the target lacks, which is never accepted, its law is that after the tokens before.

    >>> import numpy as np
    >>> target, draft = models(lambda prefix: np.array([0.25, 0.75]), lambda prefix: np.array([1.0]), np.array([1]))
    >>> target((0,)).tolist(), draft(()).tolist()
    ([0.75, 0.25], [1.0, 0.0])
    """
    end = getattr(target_model, "end", None)
    own = None if end is None else next((x for x, place in enumerate(places) if place == end), None)

    def known(prefix: Tokens) -> Tokens:
        return tuple(int(places[x]) for x in prefix if places[x] >= 0)

    return (
        _Ending(lambda prefix: row(target_model(known(prefix)), places)[0], own),
        _Ending(lambda prefix: padded(draft_model(prefix)), own),
    )


def placed_path(coin: Coin, path: Tokens, target_model: Model, places: Any) -> Tokens:
    """Return a block emitted on D + 1 tokens in the target's; where it ends with the last one, a coin says which it is.

    >>> import numpy as np
    >>> placed_path(None, (0,), None, np.array([7]))
    (7,)
    """
    tokens = tuple(int(places[x]) for x in path[:-1])
    _, rest = row(target_model(tokens), places) if path[-1] == len(places) else (None, path)
    return (*tokens, placed(coin, path[-1], rest, places))


class _Ending:
    """A model with an end token of its own, or none."""

    def __init__(self, law: Model, end: int | None) -> None:
        self._law, self.end = law, end

    def __call__(self, prefix: Tokens) -> Array:
        return self._law(prefix)
