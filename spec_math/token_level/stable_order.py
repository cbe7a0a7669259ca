"""Stable argsort of rows."""

from __future__ import annotations

from spec_math.arrays import Array, array_namespace


def stable_order(key: Array) -> Array:
    """Return the tokens [B, V] by their keys [B, V] ascending, the lower index first among equals.

    >>> import numpy as np
    >>> stable_order(np.array([[0.5, 0.25, 0.5]])).tolist()
    [[1, 0, 2]]
    """
    return array_namespace(key).argsort(key, axis=1, stable=True)
