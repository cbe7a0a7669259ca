"""The worlds of numbers: Fractions, NumPy floats and torch tensors, and the one entrance that checks a law."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any, cast

import array_api_compat
import numpy as np

Array = Any
"""An object array of Fractions, a floating NumPy array or a torch tensor, of shape [..., V]."""

# How far a law's sum may lie from 1, by the type its masses are STORED in; the sum itself is taken in float64.
# float64: 2^-36 covers a sequential sum of 2^17 masses, each rounded by 2^-53. float32: 2^-16 is 256 unit roundoffs;
# softmax in float32 at 152k tokens is seen to be off by up to 1e-5. Half precision: every mass is rounded by up to
# 2^-9 (bfloat16), or by 2^-25 each below its smallest normal (float16, 4.5e-3 in all at 152k tokens): 2^-7 covers both.
SUM_BOUND = {"float64": 2.0**-36, "float32": 2.0**-16, "float16": 2.0**-7, "bfloat16": 2.0**-7}


def exact(values: Any) -> Array:
    """Convert numbers to an object array of Fractions, without rounding and without any check of their sum.

    Strings are read as written ("1/3", "0.25"), binary floats as the dyadic number they hold.

    Raises:
        TypeError: a value is a bool, None or no number at all.
        ValueError: a value is NaN or infinite, or a string that is no number.

    >>> exact(["1/3", "2/3"]).tolist()
    [Fraction(1, 3), Fraction(2, 3)]
    >>> exact([0.5, 0.5]).sum()
    Fraction(1, 1)
    """
    if array_api_compat.is_torch_array(values):
        values = values.detach().cpu().double().numpy()
    source = np.asarray(values, dtype=object)
    result = np.empty(source.shape, dtype=object)
    for place in np.ndindex(source.shape):
        result[place] = _fraction(source[place])
    return result


def proportional_to(weights: Any) -> Array:
    """Divide non-negative weights by their sum, row by row: the only place where an input is rescaled.

    The law: mass_i = weight_i / Σ weight, over the last axis of weights [..., V]; exact weights give an exact law.

    Raises:
        ValueError: a weight is negative or not finite, or a row sums to zero.

    >>> proportional_to([1, 2, 1]).tolist()
    [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]
    """
    rows = asarray(weights)
    _check_masses(rows, "weights")
    if not is_exact(rows):
        rows = _widened(rows)
    totals = array_namespace(rows).sum(rows, axis=-1, keepdims=True)
    if bool((totals == 0).any()):
        raise ValueError("weights must have a positive sum to be proportional to; a row sums to 0")
    return rows / totals


def law(values: Any, name: str = "law") -> Array:
    """Check that each row of values [..., V] is a law, and return it in the type its formulas are computed in.

    Lists of int, Fraction or str become object arrays of Fraction, lists with a float become float64; arrays keep
    their world (half precision is widened). Exact rows must sum to exactly 1, floating rows to within `SUM_BOUND`.

    Raises:
        ValueError: a mass is negative, NaN or infinite, a row is empty, or a sum is off.
        TypeError: the values are no numbers, or bools.

    >>> law(["1/4", "3/4"]).tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    >>> law(["1/4", "2/3"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: law: masses must sum to exactly 1; these 2 sum to 11/12 (1/12 too little); if you mean weights, ...
    """
    rows = asarray(values)
    if rows.ndim == 0 or rows.shape[-1] == 0:
        raise ValueError(f"{name}: a law needs at least one token on its last axis; the shape is {tuple(rows.shape)}")
    _check_masses(rows, name)
    if is_exact(rows):
        _check_exact_sums(rows, name)
        return rows
    wide = _widened(rows)
    _check_float_sums(wide, _dtype_name(rows), name)
    return wide


def laws(target: Any, draft: Any) -> tuple[Array, Array]:
    """Check two laws of one call: both laws, of one world and one shape [..., V].

    Raises:
        TypeError: one law is exact and the other floating, or they come from different libraries.
        ValueError: the shapes differ, or either is no law.

    >>> target, draft = laws(["1/4", "3/4"], [1, 0])
    >>> draft.tolist()
    [Fraction(1, 1), Fraction(0, 1)]
    """
    first, second = law(target, "target"), law(draft, "draft")
    check_same_world(first, second)
    if first.shape != second.shape:
        raise ValueError(
            f"target and draft must have one shape; target has {tuple(first.shape)}, draft has {tuple(second.shape)}"
        )
    return first, second


def check_same_world(target: Array, draft: Array) -> None:
    """Refuse to mix exact with floating masses, or arrays of two libraries.

    Raises:
        TypeError: naming both worlds and the cure.

    >>> check_same_world(exact(["1/2", "1/2"]), exact([1, 0]))
    """
    ours, theirs = world(target), world(draft)
    if ours != theirs:
        raise TypeError(
            f"all laws of a call must be of one world; target is {ours}, draft is {theirs}: "
            "write both as ints, Fractions or strings, or both as floats"
        )


def count(value: Any, name: str = "k") -> int:
    """Return a count as an int: a whole number of at least 1.

    Raises:
        TypeError: the value is a bool, a float (2.9 is no count) or no number.
        ValueError: the value is below 1.

    >>> count(3)
    3
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number >= 1 (an int); got {value!r} of type {type(value).__name__}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1; got {value!r}")
    return int(value)


def over(top: Array, bottom: Array, otherwise: Array) -> Array:
    """Divide top by bottom where bottom is not 0 and take `otherwise` elsewhere: the one place that divides laws.

    Arrays [..., V] of one world; the three broadcast.

    >>> over(exact([1, 3]), exact([2, 0]), exact([7, 7])).tolist()
    [Fraction(1, 2), Fraction(7, 1)]
    """
    xp = array_namespace(bottom)
    empty = bottom == 0
    safe = xp.where(empty, ones_like(bottom), bottom)
    return xp.where(empty, otherwise, top / safe)


def asarray(values: Any) -> Array:
    """Bring lists and arrays into their world without a check of masses: exact, floating NumPy, or torch.

    Raises:
        TypeError: complex or boolean arrays, or values that are no numbers.

    >>> asarray([1, "1/2"]).tolist()
    [Fraction(1, 1), Fraction(1, 2)]
    """
    if array_api_compat.is_torch_array(values):
        if not values.is_floating_point():
            raise TypeError(f"torch laws must be floating; got {values.dtype}")
        return values
    if isinstance(values, np.ndarray):
        return _from_numpy(cast("np.ndarray[Any, Any]", values))
    leaves = list(_leaves(values))
    _check_rectangular(values)
    if any(isinstance(leaf, float | np.floating) for leaf in leaves):
        if any(isinstance(leaf, str) for leaf in leaves):
            raise TypeError("a law mixes floats with strings; write all masses as strings, or all as floats")
        if any(isinstance(leaf, bool | np.bool_) for leaf in leaves):
            raise TypeError("True and False are no masses")
        return np.asarray(values, dtype=np.float64)
    return exact(values)


def array_namespace(x: Array) -> Any:
    """Return the array API namespace of x (NumPy's serves object arrays of Fractions too).

    >>> array_namespace(exact([1])).__name__
    'array_api_compat.numpy'
    """
    return array_api_compat.array_namespace(x)


def is_exact(x: Array) -> bool:
    """Say whether x is an exact array, an object array of Fractions.

    >>> is_exact(exact([1, 0]))
    True
    """
    return isinstance(x, np.ndarray) and x.dtype == object


def world(x: Array) -> str:
    """Name the world of an array: exact, NumPy or torch.

    >>> world(exact([1]))
    'exact (Fractions)'
    """
    if is_exact(x):
        return "exact (Fractions)"
    return "torch" if array_api_compat.is_torch_array(x) else "floating (NumPy)"


def zeros_like(x: Array) -> Array:
    """Return zeros of x's own kind: Fraction(0) in exact arrays, where a literal 0 would leak an int.

    >>> zeros_like(exact([1, 2])).tolist()
    [Fraction(0, 1), Fraction(0, 1)]
    """
    return np.full(x.shape, Fraction(0), dtype=object) if is_exact(x) else array_namespace(x).zeros_like(x)


def ones_like(x: Array) -> Array:
    """Return ones of x's own kind: Fraction(1) in exact arrays.

    >>> ones_like(exact([0])).tolist()
    [Fraction(1, 1)]
    """
    return np.full(x.shape, Fraction(1), dtype=object) if is_exact(x) else array_namespace(x).ones_like(x)


def positive_part(x: Array) -> Array:
    """Return max(x, 0), element by element.

    >>> positive_part(exact(["1/2", "-1/2"])).tolist()
    [Fraction(1, 2), Fraction(0, 1)]
    """
    return array_namespace(x).maximum(x, zeros_like(x))


def _fraction(value: Any) -> Fraction:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{value!r} is no mass; write 1 or 0")
    if isinstance(value, str):
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError) as error:
            raise ValueError(f"{value!r} is no number; write '1/3' or '0.25'") from error
    if isinstance(value, np.floating):
        value = float(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"masses must be finite; got {value!r}")
        return Fraction(value)
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    raise TypeError(f"masses must be int, Fraction, float or str; got {value!r} of type {type(value).__name__}")


def _from_numpy(values: np.ndarray[Any, Any]) -> Array:
    if values.dtype == object:
        return values if all(type(value) is Fraction for value in values.flat) else exact(values)
    if values.dtype.kind in "iu":
        return exact(values.astype(object))
    if values.dtype.kind == "f" or values.dtype.name == "bfloat16":
        return values
    raise TypeError(f"laws must hold numbers; got an array of {values.dtype}")


def _leaves(values: Any) -> Iterable[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        yield values
        return
    for value in cast("Iterable[Any]", values):
        yield from _leaves(value)


def _check_rectangular(values: Any) -> None:
    try:
        cells = np.asarray(values, dtype=object)
    except ValueError as error:
        raise ValueError("all rows must have one length; these do not") from error
    if any(isinstance(cell, list | tuple) for cell in cells.flat):
        raise ValueError("all rows must have one length; these do not")


def _widened(rows: Array) -> Array:
    """Bring masses to the type the formulas compute in: float64 on NumPy; on torch at least float32."""
    if array_api_compat.is_torch_array(rows):
        return rows.float() if rows.element_size() < 4 else rows
    return rows.astype(np.float64, copy=False)


def _dtype_name(rows: Array) -> str:
    return str(rows.dtype).removeprefix("torch.")


def _check_masses(rows: Array, name: str) -> None:
    if not is_exact(rows):
        xp = array_namespace(rows)
        wide = _widened(rows)
        if not bool(xp.all(xp.isfinite(wide))):
            bad = "NaN" if bool(xp.any(xp.isnan(wide))) else "infinite"
            raise ValueError(f"{name}: masses must be finite; at least one is {bad}")
        rows = wide
    if bool((rows < 0).any()):
        least = rows.min()
        raise ValueError(f"{name}: masses must be >= 0; the least is {least}")


def _check_exact_sums(rows: Array, name: str) -> None:
    for place in np.ndindex(rows.shape[:-1]):
        total = cast(Fraction, sum(rows[place], Fraction(0)))
        if total == 1:
            continue
        gap = abs(total - 1)
        where = f" (row {place})" if place else ""
        dyadic = all(mass.denominator & (mass.denominator - 1) == 0 for mass in rows[place])
        if dyadic and gap < Fraction(1, 2**20):
            power = (gap.denominator // gap.numerator).bit_length() - 1
            raise ValueError(
                f"{name}{where}: masses must sum to exactly 1; these {rows.shape[-1]} sum to 1 "
                f"{'−' if total < 1 else '+'} {'' if gap == Fraction(1, 2**power) else 'about '}2^-{power}; "
                "they were binary floats: write strings or call proportional_to"
            )
        raise ValueError(
            f"{name}{where}: masses must sum to exactly 1; these {rows.shape[-1]} sum to {total} "
            f"({gap} too {'little' if total < 1 else 'much'}); if you mean weights, call proportional_to"
        )


def _check_float_sums(rows: Array, stored: str, name: str) -> None:
    bound = SUM_BOUND.get(stored, SUM_BOUND["float64"])
    gaps = sum_gap(rows)
    worst = float(gaps.max())
    if worst <= bound:
        return
    flat = gaps.reshape(-1)
    where = int(flat.argmax())
    row = f" (row {where} of {flat.shape[0]})" if flat.shape[0] > 1 else ""
    half = "; half precision cannot hold a law: store logits" if stored in ("float16", "bfloat16") else ""
    raise ValueError(
        f"{name}{row}: masses stored as {stored} must sum to 1 within {bound:.2g}; these {rows.shape[-1]} are off by "
        f"{worst:.3g}; if you mean weights, call proportional_to{half}"
    )


def sum_gap(rows: Array) -> Array:
    """Return |Σ masses − 1| for each row of a floating law [..., V], the sum taken in float64.

    >>> float(sum_gap(np.array([0.5, 0.25])))
    0.25
    """
    if array_api_compat.is_torch_array(rows):
        return (rows.double().sum(dim=-1) - 1).abs()
    return np.abs(rows.astype(np.float64, copy=False).sum(axis=-1) - 1)
