"""What NumPy itself makes of the arguments of a draw: which it refuses, and the shape and type of what it returns."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np


class _Aside(np.random.PCG64):
    """A bit generator that is nobody's source of random numbers."""

    of_a_run = True


class _OldAside(np.random.MT19937):
    """As `_Aside`, for the old generators."""

    of_a_run = True


_NEW, _OLD = np.random.Generator(_Aside(0)), np.random.RandomState(_OldAside(0))


def formed(generator: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """Return what a method of a generator returns for these arguments, drawn from one like it that is set aside.

    Raises:
        ValueError, TypeError: as NumPy does.
        ExploreError: an argument is a random number, which NumPy would take the value of.

    >>> formed(np.random.default_rng(), "integers", 3, size=2).shape
    (2,)
    """
    old = issubclass(type(generator), type(_OLD))
    numbers = {key: _as_floats(value) for key, value in kwargs.items()}
    return getattr(_OLD if old else _NEW, name)(*(_as_floats(value) for value in args), **numbers)


def _as_floats(value: Any) -> Any:
    """Fractions are numbers where NumPy asks for them."""
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value.astype(float)
    return value


def shape_of(form: Any) -> tuple[int, ...] | None:
    """Return the shape of what NumPy returns, None for a number by itself.

    >>> shape_of(np.zeros(2)), shape_of(1.0)
    ((2,), None)
    """
    return form.shape if isinstance(form, np.ndarray) else None


def as_formed(values: list[Any], form: Any) -> Any:
    """Return values in the shape and the type that NumPy returns.

    >>> as_formed([1, 2], np.zeros(2, dtype=np.uint8)).dtype
    dtype('uint8')
    """
    if isinstance(form, np.ndarray):
        return np.array(values, dtype=form.dtype).reshape(form.shape)
    return type(form)(values[0])
