"""Memory of pure functions of numbers, symbols among them: a bounded cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from spec_math.number_types import Symbol

Result = TypeVar("Result")

LONGEST = 256
"""Longer arrays of floats are not kept: a walk over paths, which asks for the same again, is of fewer tokens."""


def remembering(size: int) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Remember the last results of a pure function of numbers, tuples and laws [V], as functools.lru_cache does.

    Symbols refuse a hash, since a program may tell equal masses apart by it. A pure function cannot: where it is asked
    again for an equal symbol with another key, it computes the same once more.

    >>> from fractions import Fraction
    >>> calls = []
    >>> @remembering(8)
    ... def total(masses):
    ...     calls.append(masses)
    ...     return sum(masses)
    >>> total((1, Fraction(1, 2))), total((1, Fraction(1, 2))), len(calls)
    (Fraction(3, 2), Fraction(3, 2), 1)
    """

    def decorated(function: Callable[..., Result]) -> Callable[..., Result]:
        @lru_cache(maxsize=size)
        def by_keys(*keys: Any) -> Result:
            return function(*map(_unlocked, keys))

        @wraps(function)
        def remembered(*arguments: Any) -> Result:
            return by_keys(*map(_keyed, arguments)) if all(map(_is_kept, arguments)) else function(*arguments)

        return remembered

    return decorated


@dataclass(frozen=True)
class _Key:
    """A symbol by its key."""

    key: Any
    symbol: Symbol = field(compare=False)


class _Row(NamedTuple):
    """An array [V] as a key: its masses, of floats as bytes, and their type."""

    masses: Any
    type: Any


def _is_kept(value: Any) -> bool:
    if not hasattr(value, "dtype"):
        return True
    return isinstance(value, np.ndarray) and value.ndim == 1 and (value.dtype == object or len(value) <= LONGEST)


def _keyed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _Row(_keyed(tuple(value)) if value.dtype == object else value.tobytes(), value.dtype)
    if isinstance(value, tuple):
        return tuple(map(_keyed, cast("tuple[Any, ...]", value)))
    return _Key(value.key(), value) if isinstance(value, Symbol) else value


def _unlocked(key: Any) -> Any:
    if isinstance(key, _Row):
        exactly = isinstance(key.masses, tuple)
        return np.array(_unlocked(key.masses), key.type) if exactly else np.frombuffer(key.masses, key.type)
    if isinstance(key, tuple):
        return tuple(map(_unlocked, cast("tuple[Any, ...]", key)))
    return key.symbol if isinstance(key, _Key) else key
