"""Sums and maxima along the rows of arrays, for Fractions, NumPy and torch alike."""

from __future__ import annotations

import numpy as np

from spec_math.arrays import Array, array_namespace, is_exact, ones_like, zeros_like


def sums_at(values: Array, index: Array, size: int) -> Array:
    """Return the sums [R, size] of the values [R, n] that carry each index [R, n].

    >>> sums_at(np.array([[0.25, 0.5, 0.25]]), np.array([[1, 0, 1]]), 3).tolist()
    [[0.5, 0.5, 0.0]]
    """
    if not isinstance(values, np.ndarray):
        return values.new_zeros((len(values), size)).scatter_add_(1, index, values)
    flat = (index + size * np.arange(len(index))[:, None]).ravel()
    if not is_exact(values):
        return np.bincount(flat, values.ravel(), size * len(values)).reshape(-1, size)
    found = zeros_like(np.empty(size * len(values), dtype=object))
    np.add.at(found, flat, values.ravel())
    return found.reshape(-1, size)


def running_sum(values: Array) -> Array:
    """Return Σ_{j≤i} v_j along the rows [R, n].

    >>> running_sum(np.array([[0.5, 0.25]])).tolist()
    [[0.5, 0.75]]
    """
    return values.cumsum(1)


def running_max(values: Array) -> Array:
    """Return max_{j≤i} v_j along the rows [R, n].

    >>> running_max(np.array([[1, 0, 2]])).tolist()
    [[1, 1, 2]]
    """
    return np.maximum.accumulate(values, axis=1) if isinstance(values, np.ndarray) else values.cummax(1).values


def sums_below(values: Array) -> Array:
    """Return Σ_{j<i} v_j, i = 0..n, [R, n + 1], of rows [R, n].

    >>> sums_below(np.array([[0.5, 0.25]])).tolist()
    [[0.0, 0.5, 0.75]]
    """
    return array_namespace(values).concat([zeros_like(values[:, :1]), running_sum(values)], axis=1)


def sums_above(values: Array) -> Array:
    """Return Σ_{j≥i} v_j, i = 0..n, [R, n + 1], of rows [R, n].

    >>> sums_above(np.array([[0.5, 0.25]])).tolist()
    [[0.75, 0.25, 0.0]]
    """
    xp = array_namespace(values)
    return xp.flip(sums_below(xp.flip(values, axis=1)), axis=1)


def chord(low: Array, high: Array, size: Array, most: int) -> Array:
    """Return Σ_{j<k} low^j high^(k−1−j), the slope of x^k, for rows that have a k of their own.

    Rows [R, n], `size` [R] the k of each, at most `most`.

    >>> from spec_math.arrays import exact
    >>> chord(exact([["1/2"], [0]]), exact([[1], [1]]), np.array([3, 2]), 3).tolist()
    [[Fraction(7, 4)], [Fraction(1, 1)]]
    """
    xp = array_namespace(low)
    total, power = zeros_like(low + high), ones_like(low + high)
    for place in range(most):
        total = xp.where((place < size)[:, None], total * low + power, total)
        power = power * high
    return total
