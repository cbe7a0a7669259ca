"""Drafts over another vocabulary without a dense row: all the target's tokens that the draft lacks count as one token.

Source: worked out here; union and intersection: Timor et al., Alg. 1 and 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from spec_math.array_coin import ArrayCoin
from spec_math.arrays import Array, array_namespace, is_exact, zeros_like
from spec_math.block_level.batch.array_tree import ArrayTree, Rows, Walked
from spec_math.block_level.batch.array_tree import places as numbers
from spec_math.block_level.tree_rules import DecideTree
from spec_math.chance import Coin
from spec_math.drafting.correspondence import Ending
from spec_math.language.model import Model
from spec_math.scheme import Emission, Tokens
from spec_math.token_level.batch.drafts import Decide, Emitted, Remaining, favourite

Total = Callable[[Array], Array]
"""The sums [B] of masses [B, V]."""


def merged_target(target: Array, places: Array, total: Total) -> tuple[Array, Array]:
    """Return a target [B, V] as masses [B, D + 1] of the draft's tokens and of all others as one, and those others'.

    places [B, D] are the target's tokens of the draft's, −1 where it has none; no token twice. The law: t(place) for
    the draft's tokens, 0 where there is none, and last Σ t over the tokens that are no place; [B, V] holds those
    tokens' masses alone. A token without draft mass is emitted from residuals and from the target alone, where its mass
    stays as it is, so that any verifier emits one of them with their mass, and one drawn from them afterwards has its
    own; nor does any verifier accept more or less for it.

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> found, rest = merged_target(exact([["1/2", "1/3", "1/6"]]), np.array([[1, -1]]), lambda rows: rows.sum(-1))
    >>> found.tolist(), rest.tolist()
    ([[Fraction(1, 3), Fraction(0, 1), Fraction(2, 3)]], [[Fraction(1, 2), Fraction(0, 1), Fraction(1, 6)]])
    """
    xp = array_namespace(target)
    known = places >= 0
    shared = xp.take_along_axis(target, xp.where(known, places, 0), axis=-1)
    shared = xp.where(known, shared, zeros_like(shared))
    rest = _without(target, places)
    left = total(rest)[:, None]
    left = left if is_exact(target) else xp.astype(left, target.dtype, copy=False)
    return xp.concat([shared, left], axis=-1), rest


def padded(draft: Array) -> Array:
    """Return a draft [B, ..., D] with a last mass of 0, for the tokens that it lacks.

    >>> import numpy as np
    >>> padded(np.array([[0.25, 0.75]])).tolist()
    [[0.25, 0.75, 0.0]]
    """
    return array_namespace(draft).concat([draft, zeros_like(draft[..., :1])], axis=-1)


def decide_merged(decide: Decide, coin: ArrayCoin, tokens: Array, rows: tuple[Array, Array], places: Array) -> Emitted:
    """Decide with a verifier of one position on drafts over another vocabulary, as `emit` does.

    tokens [B, k] are the draft's, rows the target [B, V] and the draft [B, D], or a `Remaining` of it; places as
    `merged_target`. Emitted are the target's tokens; where the verifier emits one that the draft lacks, one more coin
    says which.

    >>> from spec_math.arrays import exact
    >>> from spec_math.token_level.batch.rejection import decide_recursive
    >>> import numpy as np
    >>> coin, laws = ArrayCoin(exact([["3/4", 0, "1/4"]])), (exact([["1/4", "3/8", "3/8"]]), exact([["1/2", "1/2"]]))
    >>> decide_merged(decide_recursive, coin, np.array([[1]]), laws, np.array([[0, -1]])).token.tolist()
    [1]
    """
    target, rest = merged_target(rows[0], places, coin.total)
    draft = _PaddedLeft(rows[1]) if callable(rows[1]) else padded(rows[1])
    found = decide(coin, tokens, target, draft)
    return Emitted(unmerged(coin, found.token, rest, places), found.accepted)


class _PaddedLeft(NamedTuple):
    """The rest of draft laws, with a last mass of 0: the favourite is the same token."""

    left: Remaining

    def __call__(self, tokens: Array) -> Array:
        return padded(self.left(tokens))

    def favourite(self, whole: Array) -> Array:
        return favourite(self.left, whole)


def unmerged(coin: ArrayCoin, token: Array, rest: Array, places: Array) -> Array:
    """Return the target's token [B] of an emitted one [B] in 0..D, drawn from rest [B, V] where it is D; −1 stays.

    >>> import numpy as np
    >>> rest, places = np.array([[0.0, 0.5]]), np.array([[0, -1]])
    >>> unmerged(ArrayCoin(np.array([[0.5]])), np.array([2]), rest, places).tolist()
    [1]
    """
    xp = array_namespace(rest)
    size = places.shape[-1]
    drawn = coin.draw(rest, token == size)
    own = xp.take_along_axis(places, xp.where((token < 0) | (token == size), 0, token)[:, None], axis=-1)[:, 0]
    return xp.where(token < 0, token, xp.where(token == size, drawn, own))


def emit(
    coin: Coin, verifier: Callable[..., Emission], tokens: Tokens, laws: tuple[Array, Array], places: Any
) -> Emission:
    """Verify drafts [k] over another vocabulary by the `emit` of a scheme, given the target's law [V] and the draft's.

    The law: the emitted token has the target's law. The draft's law [D] is the one that the drafts were drawn from:
    the whole one (union), or the one on the tokens of both (intersection). places [D] as `merged_target`.

    >>> from spec_math import SCHEMES
    >>> from spec_math.arrays import exact
    >>> from spec_math.chance import law
    >>> import numpy as np
    >>> laws = exact(["1/4", "3/8", "3/8"]), exact(["1/2", "1/2"])
    >>> found = law(lambda coin: emit(coin, SCHEMES[0].emit, (coin.draw(laws[1]),), laws, np.array([0, -1])).token)
    >>> [str(found[token]) for token in range(3)]
    ['1/4', '3/8', '3/8']
    """
    target, rest = row(laws[0], places)
    if not tokens:
        return Emission(placed(coin, coin.draw(target), rest, places), accepted=False)
    found = verifier(coin, tokens, target, padded(laws[1]))
    return Emission(placed(coin, found.token, rest, places), found.accepted)


def row(target: Array, places: Any) -> tuple[Array, Array]:
    """Return `merged_target` of one law [V] and its places [D].

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> row(exact(["1/4", "3/4"]), np.array([1]))[0].tolist()
    [Fraction(3, 4), Fraction(1, 4)]
    """
    found, rest = merged_target(target[None], places[None], lambda rows: rows.sum(-1))
    return found[0], rest[0]


def placed(coin: Coin, token: int, rest: Array, places: Any) -> int:
    """Return the target's token of an emitted one in 0..D, drawn from rest [V] where it is D.

    >>> import numpy as np
    >>> placed(None, 0, None, np.array([7]))
    7
    """
    return int(places[token]) if token < len(places) else coin.draw(rest / rest.sum())


def _without(target: Array, places: Array) -> Array:
    """Return the target [B, V] with mass 0 on the places [B, D]; −1 there stands for no place."""
    xp = array_namespace(target)
    best = xp.max(places, axis=-1)[:, None]
    # An absent place repeats one that there is; a row without any keeps the mass of token 0.
    at = xp.where(places < 0, xp.where(best < 0, 0, best), places)
    held = xp.take_along_axis(target, at, axis=-1)
    nothing = xp.where(best < 0, held, zeros_like(held))
    if hasattr(target, "scatter"):
        return target.scatter(-1, at, nothing)
    found = target.copy()
    found[numbers(target, len(target))[:, None], at] = nothing
    return found


def decide_merged_tree(
    decide: DecideTree, coin: ArrayCoin, tree: ArrayTree, rows: Rows, places: Array
) -> tuple[ArrayTree, Walked]:
    """Verify trees of the draft's tokens by a rule for trees; return them in the target's tokens, and what is accepted.

    places [D], or [B, D] where requests differ, or [B, N + 1, D] where nodes do: the target's tokens of those that the
    draft's rows [B, D] are about, −1 for none. `tree.tokens` are indices of those rows, `tree.end` is the target's.
    The coins are those of the rule; one more says which token follows where it is one that the draft lacks.

    >>> from types import SimpleNamespace
    >>> from spec_math.arrays import exact
    >>> from spec_math.block_level.tree_rules import TOKEN_BY_TOKEN
    >>> import numpy as np
    >>> targets, drafts = exact([["1/4", "3/4", 0], [0, 0, 1]]), exact([["1/2", "1/2"], [1, 0]])
    >>> laws = SimpleNamespace(target=lambda slot: targets[slot], draft=lambda slot, without: drafts[slot])
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
    index = {1: (at,), 2: (here, at), 3: (here, xp.where(there, tree.parents + 1, 0), at)}[places.ndim]
    return ArrayTree(xp.where(there, places[index], -1), tree.parents, tree.depth, tree.width, tree.end, tree.copies)


class MergedRows:
    """The rows of a batch of trees with the target's tokens that the draft lacks as one: targets and drafts [B, D + 1].

    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> rows = SimpleNamespace(target=lambda slot: np.array([[0.25, 0.25, 0.5]])[slot])
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
        Ending(lambda prefix: row(target_model(known(prefix)), places)[0], own),
        Ending(lambda prefix: padded(draft_model(prefix)), own),
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
