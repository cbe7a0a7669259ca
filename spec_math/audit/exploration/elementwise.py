"""A random number on the left of an array: each entry is met by itself, as with the array on the left."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from spec_math.audit.exploration.atom import ExploreError

Number = TypeVar("Number")

_METHODS = ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__add__", "__sub__", "__mul__", "__truediv__", "__pow__")


def elementwise(number: type[Number]) -> type[Number]:
    """Let a class of random numbers leave what it meets to NumPy where that is an array of them.

    On a grid, where the arithmetic of the code's own types is followed, such a meeting is refused: NumPy would do it
    in another type.

    >>> from spec_math.audit.exploration.explore import explore
    >>> import random
    >>> explore(lambda: int((random.random() < np.array([0.25, 0.75])).sum())) == {0: 1 / 4, 1: 1 / 2, 2: 1 / 4}
    True
    """
    for name in _METHODS:
        if name in vars(number):
            setattr(number, name, _beside_arrays(getattr(number, name)))
    return number


def _beside_arrays(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    @wraps(method)
    def met(self: Any, other: Any) -> Any:
        if not isinstance(other, np.ndarray) or not other.ndim:
            return method(self, other)
        if self.atom.bits is not None:
            raise ExploreError(
                f"{self!r} stands to the left of an array; on a grid explore follows it beside one number: take one "
                "entry of the array, or ideal uniforms"
            )
        return NotImplemented

    return met
