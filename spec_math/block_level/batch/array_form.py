"""Chain and block verification over whole batches: the programs of `chain` and `block` as array formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import array_api_compat

from spec_math import array_coin
from spec_math.array_coin import wide
from spec_math.arrays import (
    Array,
    array_namespace,
    check_same_number_type,
    divide,
    ones_like,
    positive_part,
    zeros_like,
)


class Verified(NamedTuple):
    """What a batch emits: tokens [B, L + 1], padded with −1, and how many of them each block has, [B]."""

    emitted: Array
    count: Array


class Decisions(NamedTuple):
    """What a batch decides: the chance of each coin, which coins are tossed, what is accepted, and what is drawn from.

    `chances` and `tossed` are [B, L], column i the coin of position i; `accepted` [B] counts the drafted tokens kept;
    `masses` [B, V], not divided by their sum, are those of the token that follows, all 0 where none does.
    """

    chances: Array
    tossed: Array
    accepted: Array
    masses: Array


class Coins(NamedTuple):
    """What the coins of a batch say: `chances`, `tossed` and `accepted` as in `Decisions`, and the `weight` [B] kept.

    The token that follows has the masses (weight·t − d)+ of its position where a draft was rejected.
    """

    chances: Array
    tossed: Array
    accepted: Array
    weight: Array


Decide = Callable[[Array, Array, Array, Array], Decisions]
"""A rule of verification: (targets [B, L + 1, V], drafts [B, L, V], tokens [B, L], uniforms [B, L + 1])."""


def verify_chain(targets: Array, drafts: Array, tokens: Array, uniforms: Array) -> Verified:
    """Verify a batch of drafted chains token by token, as `chain.verify` does each.

    Laws targets [B, L + 1, V] and drafts [B, L, V], row i given the first i tokens, checked already (`arrays.as_laws`);
    tokens [B, L], −1 from where a chain is shorter; uniforms [B, L + 1] in [0, 1), column i the coin of position i and
    the last the final draw. A row of zeros in targets says that nothing follows. NumPy, torch or Fractions, in float64
    where they float; no value is looked at on the host, and no shape depends on one.

    Raises:
        TypeError, ValueError: the arrays are of different number types or shapes.

    Source: Timor et al., Alg. 5; SpecTr, Alg. 4.

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> targets, drafts = exact([[["1/4", "3/4"], ["1/2", "1/2"]]]), exact([[["1/2", "1/2"]]])
    >>> verify_chain(targets, drafts, np.array([[0]]), exact([["3/5", "1/5"]])).emitted.tolist()
    [[1, -1]]
    """
    return verified(decide_chain, targets, drafts, tokens, uniforms)


def verify_block(targets: Array, drafts: Array, tokens: Array, uniforms: Array) -> Verified:
    """Verify a batch of drafted chains each as a block, as `block.verify` does each; arguments as `verify_chain`.

    Source: Sun et al. 2024 (block verification).

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> targets, drafts = exact([[["1/4", "3/4"], ["1/2", "1/2"]]]), exact([[["1/2", "1/2"]]])
    >>> verify_block(targets, drafts, np.array([[0]]), exact([["2/5", "1/5"]])).count.tolist()
    [2]
    """
    return verified(decide_block, targets, drafts, tokens, uniforms)


def verified(decide: Decide, targets: Array, drafts: Array, tokens: Array, uniforms: Array) -> Verified:
    """Return what a batch emits under a rule of verification: the accepted tokens, and one drawn after them.

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> laws = exact([[[1, 0], [0, 1]]]), exact([[[1, 0]]])
    >>> verified(decide_chain, *laws, np.array([[0]]), exact([[0, 0]])).emitted.tolist()
    [[0, 1]]
    """
    check(targets, drafts, tokens, uniforms)
    decisions = decide(targets, drafts, tokens, uniforms)
    return joined(tokens, decisions.accepted, array_coin.drawn(decisions.masses, uniforms[:, -1]))


def joined(tokens: Array, accepted: Array, follows: Array) -> Verified:
    """Return the first `accepted` [B] of the tokens [B, L] and after them the token that `follows` [B], if not −1.

    >>> import numpy as np
    >>> joined(np.array([[3, 4]]), np.array([1]), np.array([5])).emitted.tolist()
    [[3, 5, -1]]
    """
    xp = array_namespace(tokens)
    places = _places(tokens, tokens.shape[1] + 1)[None, :]
    padded = xp.concat([tokens, xp.full_like(tokens[:, :1], -1)], axis=1)
    last = xp.where(places == accepted[:, None], follows[:, None], -1)
    return Verified(
        xp.where(places < accepted[:, None], padded, last), accepted + xp.astype(follows >= 0, tokens.dtype)
    )


def decide_chain(targets: Array, drafts: Array, tokens: Array, uniforms: Array) -> Decisions:
    """Decide token by token: position i is tossed while all before it are accepted, with chance min(1, t/d).

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> laws = exact([[["1/4", "3/4"], ["1/2", "1/2"]]]), exact([[["1/2", "1/2"]]])
    >>> decide_chain(*laws, np.array([[0]]), exact([["3/5", 0]])).masses.tolist()
    [[Fraction(0, 1), Fraction(1, 4)]]
    """
    coins = chain_coins(drafted_masses(targets, tokens), drafted_masses(drafts, tokens), tokens, uniforms)
    return _decided(coins, targets, drafts, tokens)


def chain_coins(t: Array, d: Array, tokens: Array, uniforms: Array) -> Coins:
    """Toss the coins of `decide_chain`, given the masses t and d [B, L] of the drafted tokens alone.

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> chain_coins(exact([["1/4"]]), exact([["1/2"]]), np.array([[0]]), exact([["3/5", 0]])).accepted.tolist()
    [0]
    """
    xp = array_namespace(tokens)
    accepted = xp.zeros_like(tokens[:, 0])
    going = accepted == 0
    chances: list[Array] = []
    tossed: list[Array] = []
    one = ones_like(t[:, 0])
    for place in range(tokens.shape[1]):
        going = going & (tokens[:, place] >= 0)
        chances.append(xp.minimum(one, divide(t[:, place], d[:, place], one)))
        tossed.append(going)
        going = going & (uniforms[:, place] < chances[-1])
        accepted = accepted + xp.astype(going, tokens.dtype)
    return Coins(xp.stack(chances, axis=1), xp.stack(tossed, axis=1), accepted, one)


def decide_block(targets: Array, drafts: Array, tokens: Array, uniforms: Array) -> Decisions:
    """Decide as a block: all positions are tossed, and what the last accepting one keeps is accepted.

    The law: w_0 = 1, w_i = min(1, w_{i−1} t/d); position i < l has the chance ρ_i/(ρ_i + 1 − w_i), where
    ρ_i = Σ (w_i t − d)+ over the laws after i tokens, and the last position l has w_l.

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> laws = exact([[["1/4", "3/4"], ["1/2", "1/2"]]]), exact([[["1/2", "1/2"]]])
    >>> decide_block(*laws, np.array([[0]]), exact([["3/5", 0]])).chances.tolist()
    [[Fraction(1, 2)]]
    """

    def left(place: int, weight: Array) -> Array:
        return array_namespace(targets).sum(_left(targets[:, place], drafts[:, place], weight), axis=1)

    coins = block_coins((drafted_masses(targets, tokens), drafted_masses(drafts, tokens)), left, tokens, uniforms)
    return _decided(coins, targets, drafts, tokens)


def block_coins(
    masses: tuple[Array, Array], left: Callable[[int, Array], Array], tokens: Array, uniforms: Array
) -> Coins:
    """Toss the coins of `decide_block`, given the masses (t, d) [B, L] of the drafted tokens and ρ = left(place, w).

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> masses, uniforms = (exact([["1/4"]]), exact([["1/2"]])), exact([["2/5", 0]])
    >>> block_coins(masses, lambda place, weight: weight, np.array([[0]]), uniforms).accepted.tolist()
    [1]
    """
    xp = array_namespace(tokens)
    size, accepted = lengths(tokens), xp.zeros_like(tokens[:, 0])
    t, d = masses
    one = ones_like(t[:, 0])
    weight = kept = one
    chances: list[Array] = []
    tossed: list[Array] = []
    for place in range(tokens.shape[1]):
        # w·t first: it is at most 1, where t/d may overflow.
        weight = xp.minimum(one, divide(weight * t[:, place], d[:, place], weight))
        chance, here = weight, place < size
        if place + 1 < tokens.shape[1]:
            rest = left(place + 1, weight)
            # At 0/0 a later coin accepts whatever this one says.
            chance = xp.where(place + 1 < size, divide(rest, rest + (1 - weight), weight), weight)
        accepts = here & (uniforms[:, place] < chance)
        accepted = xp.where(accepts, place + 1, accepted)
        kept = xp.where(accepts, weight, kept)
        chances.append(chance)
        tossed.append(here)
    return Coins(xp.stack(chances, axis=1), xp.stack(tossed, axis=1), accepted, kept)


def lengths(tokens: Array) -> Array:
    """Return how many tokens each chain [B, L] has: those before its first −1.

    >>> import numpy as np
    >>> lengths(np.array([[0, 1], [0, -1], [-1, 1]])).tolist()
    [2, 1, 0]
    """
    xp = array_namespace(tokens)
    size = xp.zeros_like(tokens[:, 0])
    for place in range(tokens.shape[1]):
        size = size + xp.astype((size == place) & (tokens[:, place] >= 0), tokens.dtype)
    return size


def check(targets: Array, drafts: Array, tokens: Array, uniforms: Array) -> None:
    """Check that the four arrays fit: one number type, and shapes [B, L + 1, V], [B, L, V], [B, L], [B, L + 1], L ≥ 1.

    Raises:
        TypeError, ValueError: they do not.

    >>> import numpy as np
    >>> laws, tokens = np.ones((1, 1, 2)), np.array([[0]])
    >>> check(laws, laws, tokens, np.zeros((1, 2)))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: targets, drafts, tokens and uniforms must be [B, L + 1, V], [B, L, V], [B, L] and [B, L + 1] with ...
    """
    check_same_number_type(targets, drafts)
    shapes = [tuple(array.shape) for array in (targets, drafts, tokens, uniforms)]
    batch, size, vocabulary = (*shapes[2], 0, 0)[:2] + (shapes[0] or (0,))[-1:]
    wanted = [(batch, size + 1, vocabulary), (batch, size, vocabulary), (batch, size), (batch, size + 1)]
    if shapes != wanted or size < 1 or vocabulary < 1:
        raise ValueError(
            f"targets, drafts, tokens and uniforms must be [B, L + 1, V], [B, L, V], [B, L] and [B, L + 1] with L ≥ 1; "
            f"got {', '.join(map(str, shapes))}"
        )


def following(targets: Array, drafts: Array, accepted: Array, size: Array, weight: Array) -> Array:
    """Return the masses [B, V] after the accepted tokens: t where all `size` are accepted, else (w·t − d)+, or t if 0.

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> laws = exact([[["1/4", "3/4"], ["1/2", "1/2"]]]), exact([[["1/2", "1/2"]]])
    >>> following(*laws, np.array([0]), np.array([1]), exact([1])).tolist()
    [[Fraction(0, 1), Fraction(1, 4)]]
    """
    xp = array_namespace(targets)
    rows = _places(accepted, accepted.shape[0])
    t = wide(targets[rows, accepted])
    left = _left(t, drafts[rows, xp.minimum(accepted, xp.full_like(accepted, drafts.shape[1] - 1))], weight)
    rejected = (accepted < size)[:, None] & (xp.sum(left, axis=1, keepdims=True) > 0)
    return xp.where(rejected, left, t)


def _left(target: Array, draft: Array, weight: Array) -> Array:
    return positive_part(weight[:, None] * wide(target) - wide(draft))


def drafted_masses(rows: Array, tokens: Array) -> Array:
    """Return the masses [B, L] of the drafted tokens in the laws [B, ≥ L, V] of their positions; 0 where none is.

    >>> from spec_math.arrays import exact
    >>> import numpy as np
    >>> drafted_masses(exact([[["1/4", "3/4"], [1, 0]]]), np.array([[1, -1]])).tolist()
    [[Fraction(3, 4), Fraction(0, 1)]]
    """
    xp = array_namespace(rows)
    there = tokens >= 0
    at = xp.where(there, tokens, 0)
    masses = wide(xp.take_along_axis(rows[:, : tokens.shape[1]], at[:, :, None], axis=-1)[:, :, 0])
    return xp.where(there, masses, zeros_like(masses))


def _decided(coins: Coins, targets: Array, drafts: Array, tokens: Array) -> Decisions:
    masses = following(targets, drafts, coins.accepted, lengths(tokens), coins.weight)
    return Decisions(*coins[:3], masses)


def _places(like: Array, size: int) -> Any:
    return array_namespace(like).arange(size, dtype=like.dtype, device=array_api_compat.device(like))
