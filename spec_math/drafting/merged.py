"""Drafts over another vocabulary without a dense row: all the target's tokens that the draft lacks count as one token.

Source: worked out here; union and intersection: Timor et al., Alg. 1 and 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from spec_math.array_coin import ArrayCoin
from spec_math.arrays import Array, array_namespace, is_exact, zeros_like
from spec_math.block_level.batch.array_tree import places as numbers
from spec_math.chance import Coin
from spec_math.scheme import Emission, Tokens
from spec_math.token_level.array_drafts import Decide, Emitted, Remaining, favourite

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
    >>> from spec_math.token_level.decide_rejection import decide_recursive
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
    """What is left of draft laws, with a last mass of 0: the favourite is the same token."""

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
