"""Batches of drafted tokens as arrays [B, k], −1 for no token, and what array formulas of verifiers ask of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from spec_math.array_coin import ArrayCoin, wide
from spec_math.arrays import Array, array_namespace, divide, is_exact, positive_part, zeros_like
from spec_math.kernels import inner_kernel, kernel
from spec_math.token_level.optimum.ratio_order import stable_argsort


class Emitted(NamedTuple):
    """The token that each request of a batch emits, [B], and whether a test accepted a draft, [B]."""

    token: Array
    accepted: Array


Decide = Callable[[ArrayCoin, Array, Array, Array], Emitted]
"""(coin, tokens [B, k], target [B, V], draft [B, V]) -> what a verifier of one position emits.

Tokens are −1 behind the last one of a request; a request without drafts draws from its target. Masses are in proportion
to their own sums. Fractions, NumPy or torch; no value is looked at on the host, and no shape depends on one. A flip and
a draw take uniforms in the order in which the program does. Formulas of distinct drafts also take a `Remaining` for the
draft. A token without draft mass was not drafted: no test of it passes, and it is passed over where nothing waits.
"""

Remaining = Callable[[Array], Array]
"""(tokens [B, m], −1 behind the last) -> what is left of a batch of draft laws without them, [B, V].

Each row is in proportion to its own sum alone. Where a law is worked out anew without the tokens, what is left of a
sharp one keeps its digits; what is left of masses that are held may have underflowed.
"""

MassesOf = Callable[[Any], Array]
"""(rows: an index of some requests [b], or a slice) -> their masses [b, V]."""


def on_host(values: Array) -> bool:
    """Say whether a value may be looked at: in the host's memory, and in no graph that a compiler records."""
    if isinstance(values, np.ndarray):
        return True
    torch: Any = sys.modules["torch"]
    return values.device.type == "cpu" and not torch.compiler.is_compiling()


def in_numpy(*arrays: Array) -> tuple[Any, ...]:
    """Return tensors in the host's memory as NumPy arrays of the same memory, and all others as they are."""
    return tuple(each if isinstance(each, np.ndarray) or not on_host(each) else each.numpy() for each in arrays)


def sizes(tokens: Array) -> Array:
    """Return how many drafts each request [B, k] has."""
    return array_namespace(tokens).sum(tokens >= 0, axis=1)


def mass_of(rows: Array, token: Array) -> Array:
    """Return the masses [B] of one token each in rows [B, V], wide; 0 where the token is −1."""
    xp = array_namespace(rows)
    there = token >= 0
    found = wide(xp.take_along_axis(rows, xp.where(there, token, 0)[:, None], axis=1)[:, 0])
    return xp.where(there, found, zeros_like(found))


def times(rows: Array, factor: Array) -> Array:
    """Return rows [B, V] times a factor [B] each, in the type of the rows."""
    return rows * _of_type(factor, rows)[:, None]


def left_over(rows: Array, taken: Array, factor: Array) -> Array:
    """Return (rows − factor·taken)+ of rows [B, V] and a factor [B] each, in the type of the rows."""
    if isinstance(rows, np.ndarray):
        return positive_part(rows - times(taken, factor))
    # One pass and one array in place of three.
    xp = array_namespace(rows)
    return xp.addcmul(rows, taken, _of_type(factor, rows)[:, None], value=-1).clamp_(min=0)


def without_tokens(rows: Array, tokens: Array) -> Array:
    """Return rows [B, V] with mass 0 on the tokens [B, m]; −1 there stands for no token."""
    xp = array_namespace(rows)
    # A column without a token repeats the first; a row without any keeps the mass of token 0.
    some = tokens[:, :1] >= 0
    at = xp.where(some, xp.where(tokens < 0, tokens[:, :1], tokens), 0)
    nothing = xp.take_along_axis(rows, at, axis=1)
    return written(rows, at, xp.where(some, zeros_like(nothing), nothing))


def written(rows: Array, at: Array, values: Array, own: bool = False) -> Array:
    """Return rows [B, V] with values [B, m] at places [B, m]; written into the rows themselves where they are `own`."""
    if not isinstance(rows, np.ndarray):
        return rows.scatter_(1, at, values) if own else rows.scatter(1, at, values)
    found = rows if own else rows.copy()
    np.put_along_axis(found, at, values, 1)
    return found


def with_mass(rows: Array, token: Array, mass: Array, own: bool = False) -> Array:
    """Return rows [B, V] with a mass [B] on one token [B] of each; none changes where that is −1.

    The rows themselves are written into where they are the caller's `own`.
    """
    xp = array_namespace(rows)
    there = token >= 0
    at = xp.where(there, token, 0)[:, None]
    masses = xp.where(there[:, None], _of_type(mass, rows)[:, None], xp.take_along_axis(rows, at, axis=1))
    return written(rows, at, masses, own)


def remaining(draft: Array | Remaining) -> Remaining:
    """Return what is left of draft laws without some tokens: of rows [B, V] that are held, or as it is worked out."""
    return draft if callable(draft) else partial(without_tokens, draft)


def drawn_or_target(coin: ArrayCoin, masses: Array, total: Array, target: Array, where: Array) -> Array:
    """Draw from masses [B, V] of this total [B], and from the target where nothing is left."""
    return drawn_rows(coin, lambda rows: masses[rows], target, where & (total > 0), where)


def drawn_rows(coin: ArrayCoin, masses_of: MassesOf, target: Array, left: Array, where: Array) -> Array:
    """Draw within `where` [B]: from masses worked out for the requests of `left` [B] alone, else from the target.

    `masses_of(rows)` are those of some requests, [b, V]. On the host only the requests that draw are worked on; on a
    device, where no shape may depend on a value, all of them are. Where masses that should be left have all rounded to
    0, the host draws from the target. Tokens outside `where` mean nothing.
    """
    xp = array_namespace(target)
    if coin.measure or not on_host(target):
        everyone = slice(None)
        return coin.draw(xp.where(left[:, None], masses_of(everyone), target), where)
    found = xp.astype(where, xp.int64) * 0 if not is_exact(target) else (where * 0).astype(int)
    uniforms = coin.take(where)
    some, others = (xp.nonzero(where & among)[0] for among in (left, ~left))
    if len(some):
        found[some] = coin.drawn(masses_of(some), uniforms[some])
        others = xp.concat([others, some[found[some] < 0]])
    if len(others):
        found[others] = coin.drawn(target[others], uniforms[others])
    return found


def favourite(draft: Array | Remaining, whole: Array) -> Array:
    """Return the first maximum [B] of draft laws, given their masses `whole` [B, V].

    A `Remaining` that knows its favourite by more than its masses, which may round alike, is asked: it then has a
    method `favourite(whole)`.
    """
    own = getattr(draft, "favourite", None)
    return whole.argmax(axis=1) if own is None else own(whole)


def or_else(coin: ArrayCoin, left: Array, target: Array) -> Array:
    """Return masses left [B, V], and the target in rows where nothing is left but by a rounding.

    On the host `drawn_rows` sees such rows itself.
    """
    if not coin.measure and on_host(target):
        return left
    return array_namespace(target).where((coin.total(left) > 0)[:, None], left, target)


def ratio(top: Array, bottom: Array) -> Array:
    """Return top/bottom [B], and 0 where the bottom is 0: what has no draft mass was not drafted."""
    return divide(top, bottom, zeros_like(bottom))


def _of_type(factor: Array, rows: Array) -> Any:
    if is_exact(rows) or factor.dtype == rows.dtype:
        return factor
    xp = array_namespace(rows)
    # Infinity times a mass of 0 is no number.
    return xp.astype(xp.clip(factor, None, xp.finfo(rows.dtype).max), rows.dtype)


def sums_left(
    coin: ArrayCoin, laws: tuple[Array, Array], factor: Array, without: Array | None = None, where: Array | None = None
) -> Array:
    """Return Σ (t − factor·d)+, [B], over all tokens but those of `without` [B, m]; −1 there stands for no token.

    `laws` are t and d, [B, V] each, the factor [B]. Outside `where` [B] the sums mean nothing. On the host floats are
    summed in float64, a row at a time and only within `where`; elsewhere as the coin sums the rows that are left.
    """
    target, draft = laws
    if is_exact(target) or not on_host(target):
        left = left_over(target, draft, factor)
        return coin.total(left if without is None else without_tokens(left, without))
    found = zeros_like(factor)
    rows = np.arange(len(target))
    if where is not None:
        (rows,) = in_numpy(array_namespace(where).nonzero(where)[0])
    gone = np.empty((len(target), 0), dtype=np.int64) if without is None else in_numpy(without)[0]
    given = (*in_numpy(target, draft, factor), gone, rows)
    _fill(*(np.ascontiguousarray(each) for each in given), *in_numpy(found))
    return found


@kernel
def _fill(target: Any, draft: Any, factor: Any, gone: Any, rows: Any, found: Any) -> None:
    size = target.shape[1]
    for row in rows:
        total, start = 0.0, 0
        while start < size:
            stop = size
            for token in gone[row]:
                if start <= token < stop:
                    stop = token
            total += _left(target[row, start:stop], draft[row, start:stop], factor[row])
            start = stop + 1
        found[row] = total


# Sums in any order become vector instructions, in loops of their own.
@inner_kernel(fastmath={"reassoc", "contract"})
def _left(target: Any, draft: Any, factor: float) -> float:
    total = 0.0
    for i in range(target.shape[0]):
        left = np.float64(target[i]) - factor * np.float64(draft[i])
        total += left if left > 0.0 else 0.0
    return total


def stable_order(key: Array) -> Array:
    """Return the tokens [B, V] by their keys [B, V] ascending, the lower index first among equals."""
    if is_exact(key) or not on_host(key):
        return array_namespace(key).argsort(key, axis=1, stable=True)
    order = np.stack([stable_argsort(row) for row in np.asarray(key)])
    torch: Any = sys.modules.get("torch")
    return order if isinstance(key, np.ndarray) else torch.from_numpy(order)
