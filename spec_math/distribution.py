"""Formulas over laws [..., V]: overlap, residual, total variation, and the restrictions that samplers apply.

Each is written once and serves Fractions, NumPy floats and torch tensors.

Source: SpecTr, Eq. 1 and Alg. 1; the restrictions as in TokenTiming, Table 5.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import (
    Array,
    array_namespace,
    as_law,
    as_laws,
    count,
    divide,
    is_exact,
    ones_like,
    positive_part,
    sum_gap,
    zeros_like,
)

STEPWISE = 32
"""Powers beyond this one go through logarithms, whose roundings do not add up."""


def overlap(target: Any, draft: Any) -> Any:
    """Return the overlap of two laws, Σ min(t, d) = 1 − TV: the acceptance of maximal coupling.

    Laws [..., V] of one number type; a probability [...]. Source: SpecTr, Eq. 1 (corrected) and Alg. 1.

    Raises:
        ValueError, TypeError: as `arrays.as_laws`.

    >>> overlap(["1/4", "3/4"], ["1/2", "1/2"])
    Fraction(3, 4)
    """
    t, d = as_laws(target, draft)
    xp = array_namespace(t)
    return as_probability(xp.sum(xp.minimum(t, d), axis=-1), t, d)


def total_variation(target: Any, draft: Any) -> Any:
    """Return the total variation distance, Σ (t − d)+, of laws [..., V].

    Raises:
        ValueError, TypeError: as `arrays.as_laws`.

    >>> total_variation(["1/4", "3/4"], ["1/2", "1/2"])
    Fraction(1, 4)
    """
    t, d = as_laws(target, draft)
    return array_namespace(t).sum(positive_part(t - d), axis=-1)


def residual(target: Any, draft: Any) -> Array:
    """Return the residual law (t − d)+ / Σ (t − d)+; where t = d it is the target itself, and never drawn.

    Laws [..., V]. It divides by its own sum, not by a total variation computed elsewhere. Source: SpecTr, Alg. 1.

    Raises:
        ValueError, TypeError: as `arrays.as_laws`.

    >>> residual(["1/4", "3/4"], ["1/2", "1/2"]).tolist()
    [Fraction(0, 1), Fraction(1, 1)]
    """
    return residual_of(*as_laws(target, draft))


def residual_of(target: Array, draft: Array) -> Array:
    """Return the residual of two laws [..., V] already checked: a program checks its laws once, at its entrance.

    >>> from spec_math.arrays import exact
    >>> residual_of(exact(["1/4", "3/4"]), exact(["1/2", "1/2"])).tolist()
    [Fraction(0, 1), Fraction(1, 1)]
    """
    return normalised(positive_part(target - draft), target)


def as_probability(value: Any, target: Array, draft: Array, k: int = 1) -> Any:
    """Cut what a closed form finds for k drafts, [...], to [0, 1], where no more than rounding took it out of there.

    Laws [..., V] already checked. Sums of V masses and powers of them are off by (2k + 8)(V + 8)u at most, as in
    `token_level.streamed.rounding`, and by k times what the laws themselves lie from a sum of 1. What lies further out
    is a fault, stays as it is, and breaks an invariant; exact numbers are never touched.

    >>> t = np.array([0.5, 0.5])
    >>> [float(as_probability(np.float64(value), t, t)) for value in (1 + 2.0**-52, -3e-263, 1.01)]
    [1.0, 0.0, 1.01]
    """
    if is_exact(target) or not bool(array_namespace(target).any((value < 0) | (value > 1))):
        return value
    steps, unit = 2 * min(k, STEPWISE) + 8, float(array_namespace(target).finfo(target.dtype).eps) / 2
    return cut(value, steps * (target.shape[-1] + 8) * unit + k * (sum_gap(target) + sum_gap(draft)))


def cut(values: Array, bound: Any) -> Array:
    """Cut float values [...] to [0, 1] where they lie outside by at most a bound, a number or [...]; leave others.

    >>> cut(np.array([-0.25, 0.5, 1.5]), 0.25).tolist()
    [0.0, 0.5, 1.5]
    """
    xp = array_namespace(values)
    nothing = values - values
    inside = xp.minimum(xp.maximum(values, nothing), nothing + 1)
    found = xp.where(abs(values - inside) <= bound, inside, values)
    return found[()] if isinstance(found, np.ndarray) else found


def excess(target: Any, draft: Any, scale: Any) -> Any:
    """Return Σ (t − scale·d)+: the target mass left over when the draft's is counted `scale` times.

    Laws [..., V] already checked, scale a number or [...]. Every acceptance by thresholds of t/d is a function of it:
    the overlap is 1 − excess(1), K-SEQ's β(γ) is (1 − excess(γ))/γ. Convex and decreasing in scale.

    >>> from spec_math.arrays import exact
    >>> excess(exact(["1/4", "3/4"]), exact(["1/2", "1/2"]), 1)
    Fraction(1, 4)
    """
    xp = array_namespace(target)
    scale = scale[..., None] if getattr(scale, "ndim", 0) else scale
    return xp.sum(positive_part(target - scale * draft), axis=-1)


def capped_ratio(top: Any, bottom: Any) -> Any:
    """Return min(1, top/bottom) for two masses, without the quotient where it is not below 1.

    A float quotient of a mass by a denormal one lies beyond all floats. A probability.

    >>> capped_ratio(Fraction(1, 4), Fraction(1, 2)), capped_ratio(0.5, 5e-324)
    (Fraction(1, 2), 1.0)
    """
    return top / bottom if top < bottom else top * 0 + 1


def normalised(masses: Array, otherwise: Array) -> Array:
    """Divide masses [..., V] by their own sums; a row of zeros becomes the row of `otherwise`.

    >>> from spec_math.arrays import exact
    >>> normalised(exact([1, 3]), exact([1, 0])).tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    """
    totals = array_namespace(masses).sum(masses, axis=-1, keepdims=True)
    return divide(masses, totals, otherwise)


def one_hot(token: Any, like: Array) -> Array:
    """Return the law of one certain token, in the number type and shape [V] of `like`.

    >>> one_hot(1, as_law(["1/2", "1/2"])).tolist()
    [Fraction(0, 1), Fraction(1, 1)]
    """
    hot = zeros_like(like)
    hot[int(token)] = ones_like(like[:1])[0]
    return hot


def restricted(masses: Any, keep: Array) -> Array:
    """Restrict a law [..., V] to the tokens where keep [..., V] is true, divided by the mass kept.

    Raises:
        ValueError: the subset has no mass, so that there is not a probability distribution on it.

    >>> restricted(["1/4", "1/4", "1/2"], np.array([True, False, True])).tolist()
    [Fraction(1, 3), Fraction(0, 1), Fraction(2, 3)]
    """
    return restriction(as_law(masses), keep)


def restriction(x: Array, keep: Array) -> Array:
    """Restrict a law [..., V] already checked to the tokens where keep [..., V] is true.

    Raises:
        ValueError: the subset has no mass, so that there is not a probability distribution on it.

    >>> from spec_math.arrays import exact
    >>> restriction(exact(["1/4", "1/4", "1/2"]), np.array([True, False, True])).tolist()
    [Fraction(1, 3), Fraction(0, 1), Fraction(2, 3)]
    """
    xp = array_namespace(x)
    kept = xp.where(keep, x, zeros_like(x))
    totals = xp.sum(kept, axis=-1, keepdims=True)
    if bool((totals == 0).any()):
        raise ValueError("the subset to restrict to has mass 0, so it has no distribution; choose tokens with mass")
    return kept / totals


def temperature(masses: Any, value: Any) -> Array:
    """Return the law ∝ mass^(1/T) for a temperature T; T = 0 is the one-hot law of the first maximum.

    Laws [..., V]. Exact laws need 1/T to be a whole number, so that powers stay rational.

    Raises:
        ValueError: T is negative or not finite; 1/T is not whole on an exact law.

    >>> temperature(["1/4", "3/4"], Fraction(1, 2)).tolist()
    [Fraction(1, 10), Fraction(9, 10)]
    """
    return heated_law(as_law(masses), value)


def heated_law(x: Array, value: Any) -> Array:
    """Return `temperature` of a law [..., V] already checked.

    Raises:
        ValueError: as `temperature`.

    >>> heated_law(np.array([0.25, 0.75]), 0.5).round(12).tolist()
    [0.1, 0.9]
    """
    xp = array_namespace(x)
    if not value >= 0 or value == float("inf"):
        raise ValueError(f"a temperature must be finite and >= 0; got {value}")
    if value == 0:
        ranks = xp.arange(x.shape[-1])
        first = xp.argmax(x, axis=-1, keepdims=True) if not is_exact(x) else np.argmax(x, axis=-1, keepdims=True)
        hot = ranks == first
        return xp.where(hot, zeros_like(x) + 1, zeros_like(x))
    if is_exact(x):
        inverse = 1 / Fraction(value)
        if inverse.denominator != 1:
            raise ValueError(f"an exact temperature needs 1/T to be a whole number; T = {value} gives {inverse}")
        powers = x ** int(inverse)
    else:
        # Divided by the largest mass first, so that no power underflows as a whole row, and no sum is 0.
        powers = xp.pow(x / xp.max(x, axis=-1, keepdims=True), 1 / float(value))
    return powers / xp.sum(powers, axis=-1, keepdims=True)


def top_k(masses: Any, k: int) -> Array:
    """Keep exactly k tokens of a law [..., V], lowest index first among equals, divided by the mass kept.

    Raises:
        TypeError, ValueError: k is not a positive integer, or exceeds V.

    >>> top_k(["1/4", "1/4", "1/2"], 2).tolist()
    [Fraction(1, 3), Fraction(0, 1), Fraction(2, 3)]
    """
    x = as_law(masses)
    if count(k) > x.shape[-1]:
        raise ValueError(f"top_k keeps k tokens, and k must not exceed the vocabulary; k = {k}, V = {x.shape[-1]}")
    return restriction(x, descending_rank(x) < k)


def top_p(masses: Any, p: Any) -> Array:
    """Keep the smallest prefix of the descending stable order whose mass reaches p, divided by the mass kept.

    Raises:
        ValueError: p outside (0, 1].

    Masses [..., V].

    >>> top_p(["1/2", "1/4", "1/4"], Fraction(3, 5)).tolist()
    [Fraction(2, 3), Fraction(1, 3), Fraction(0, 1)]
    """
    x = as_law(masses)
    xp = array_namespace(x)
    if not 0 < p <= 1:
        raise ValueError(f"top_p needs a mass in (0, 1]; got {p}")
    order = _descending(x)
    ordered = gathered(x, order)
    # A token is kept when the mass BEFORE it has not reached p: an exclusive sum, by shifting.
    sums = np.cumsum(ordered, axis=-1) if isinstance(x, np.ndarray) else xp.cumulative_sum(ordered, axis=-1)
    before = xp.concat([zeros_like(ordered[..., :1]), sums[..., :-1]], axis=-1)
    rank = descending_rank(x)
    return restriction(x, gathered(before, rank) < _number_of(x, p))


def min_p(masses: Any, p: Any) -> Array:
    """Keep the tokens whose mass is at least p times the largest, divided by the mass kept.

    Raises:
        ValueError: p outside [0, 1].

    Masses [..., V].

    >>> min_p(["1/2", "1/4", "1/4"], Fraction(3, 5)).tolist()
    [Fraction(1, 1), Fraction(0, 1), Fraction(0, 1)]
    """
    x = as_law(masses)
    if not 0 <= p <= 1:
        raise ValueError(f"min_p needs a fraction of the largest mass in [0, 1]; got {p}")
    largest = array_namespace(x).max(x, axis=-1, keepdims=True) if not is_exact(x) else np.max(x, -1, keepdims=True)
    return restriction(x, x >= _number_of(x, p) * largest)


def _number_of(x: Array, p: Any) -> Any:
    """Return p in the number type of x: a float times a Fraction would round, a Fraction times a tensor fail."""
    return Fraction(p) if is_exact(x) else float(p)


def _descending(x: Array) -> Array:
    if isinstance(x, np.ndarray):
        return np.argsort(-x, axis=-1, kind="stable")
    return array_namespace(x).argsort(x, axis=-1, descending=True, stable=True)


def descending_rank(x: Array) -> Array:
    """Return each token's place in the descending order of x [..., V], lowest index first among equals.

    >>> descending_rank(np.array([0.25, 0.5, 0.25])).tolist()
    [1, 0, 2]
    """
    order = _descending(x)
    if not isinstance(x, np.ndarray):
        return order.argsort(dim=-1)
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(x.shape[-1]), x.shape), -1)
    return rank


def gathered(x: Array, order: Array) -> Array:
    """Gather rows [..., V] in an order; torch's own way along an axis wraps every index first.

    >>> gathered(as_law([0.25, 0.75]), np.array([1, 0])).tolist()
    [0.75, 0.25]
    """
    return np.take_along_axis(x, order, -1) if isinstance(x, np.ndarray) else x.gather(-1, order)
