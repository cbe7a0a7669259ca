"""Input validation: is this array a probability distribution? The number types are passed on from `number_types`.

Source: the bounds of sums are derived in the tests.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from numbers import Integral
from typing import Any, cast

import numpy as np

from spec_math.number_types import Array as Array
from spec_math.number_types import Symbol, is_torch_array
from spec_math.number_types import array_namespace as array_namespace
from spec_math.number_types import asarray as asarray
from spec_math.number_types import check_same_number_type as check_same_number_type
from spec_math.number_types import divide as divide
from spec_math.number_types import exact as exact
from spec_math.number_types import is_exact as is_exact
from spec_math.number_types import number_type as number_type
from spec_math.number_types import ones_like as ones_like
from spec_math.number_types import positive_part as positive_part
from spec_math.number_types import zeros_like as zeros_like
from spec_math.remembering import remembering

# How far a law's sum may lie from 1, by the type its masses are STORED in; the sum itself is taken in float64.
# float64: 2^-36 covers a sequential sum of 2^17 masses, each rounded by 2^-53. float32: 2^-16 is 256 unit roundoffs;
# softmax in float32 at 152k tokens is seen to be off by up to 1e-5. Half precision: every mass is rounded by up to
# 2^-9 (bfloat16), or by 2^-25 each below its smallest normal (float16, 4.5e-3 in all at 152k tokens): 2^-7 covers both.
SUM_BOUND = {"float64": 2.0**-36, "float32": 2.0**-16, "float16": 2.0**-7, "bfloat16": 2.0**-7}


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
    with np.errstate(over="ignore"):
        totals = array_namespace(rows).sum(rows, axis=-1, keepdims=True)
    if bool((totals == 0).any()):
        raise ValueError("weights must have a positive sum to be proportional to; a row sums to 0")
    if bool((totals == float("inf")).any()):
        raise ValueError("the weights of a row sum to more than its type can hold; divide them by their largest first")
    return rows / totals


def as_law(values: Any, name: str = "distribution") -> Array:
    """Check that each row of values [..., V] is a law, and return it in the type its formulas are computed in.

    Lists of int, Fraction or str become object arrays of Fraction, lists with a float become float64; arrays keep
    their number type (float32 and half precision are widened). What is to be kept and checked again is a `stored_law`.

    Raises:
        ValueError: a mass is negative, NaN or infinite, a row is empty, or a sum is off.
        TypeError: the values are not numbers, or bools.

    >>> as_law(["1/4", "3/4"]).tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    >>> as_law(["1/4", "2/3"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: distribution: masses must sum to exactly 1; these 2 sum to 11/12 (1/12 too little); if you mean ...
    """
    rows = stored_law(values, name)
    return rows if is_exact(rows) else _widened(rows)


def stored_law(values: Any, name: str = "distribution") -> Array:
    """Check that each row of values [..., V] is a law, and return it in the type it is stored in.

    Exact rows must sum to exactly 1, floating rows to within `SUM_BOUND` of their type: that bound would be lost with
    the type, and a float32 law, once widened, refused.

    Raises:
        ValueError, TypeError: as `law`.

    >>> stored_law(stored_law(np.array([0.1, 0.9], dtype=np.float32))).dtype
    dtype('float32')
    """
    if type(values) is np.ndarray and len(values.shape) == 1 and values.size and _passes_at_once(values):
        return values
    rows = asarray(values)
    if rows.ndim and rows.shape[-1] == 0:
        raise ValueError(f"{name}: a distribution needs at least one token; got shape {tuple(rows.shape)}")
    if _passes_at_once(rows):
        return rows
    _check_masses(rows, name)
    if is_exact(rows):
        _check_exact_sums(rows, name)
    else:
        _check_float_sums(_widened(rows), storage(rows), name)
    return rows


def named_law(values: Any, name: str = "distribution") -> Array:
    """Check values [..., V] as `stored_law` does, with errors that all begin with a name.

    Raises:
        ValueError, TypeError: as `law`.

    >>> named_law([True], "prefix (0,)")
    Traceback (most recent call last):
    TypeError: prefix (0,): True is not a mass; write 1 or 0
    """
    try:
        return stored_law(values, name)
    except (TypeError, ValueError) as error:
        if str(error).startswith(name):
            raise
        raise type(error)(f"{name}: {error}") from error


def as_laws(target: Any, draft: Any) -> tuple[Array, Array]:
    """Check two laws of one call: both laws, of one number type and one shape [..., V].

    Raises:
        TypeError: one law is exact and the other floating, or they come from different libraries.
        ValueError: the shapes differ, or either is not a probability distribution.

    >>> target, draft = as_laws(["1/4", "3/4"], [1, 0])
    >>> draft.tolist()
    [Fraction(1, 1), Fraction(0, 1)]
    """
    first, second = as_law(target, "target"), as_law(draft, "draft")
    check_same_number_type(first, second)
    if first.shape != second.shape:
        raise ValueError(
            f"target and draft must have one shape; target has {tuple(first.shape)}, draft has {tuple(second.shape)}"
        )
    return first, second


def copied(x: Array) -> Array:
    """Return a copy of an array, as NumPy makes it or torch.

    >>> law = exact(["1/4", "3/4"])
    >>> copied(law).tolist() == law.tolist(), copied(law) is law
    (True, False)
    """
    return x.copy() if isinstance(x, np.ndarray) else x.clone()


def count(value: Any, name: str = "k") -> int:
    """Return a count as an int: a whole number of at least 1.

    Raises:
        TypeError: the value is a bool, a float (2.9 is not a positive integer) or no number.
        ValueError: the value is below 1.

    >>> count(3)
    3
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number >= 1 (an int); got {value!r} of type {type(value).__name__}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1; got {value!r}")
    return int(value)


def _passes_at_once(rows: Array) -> bool:
    """Say whether one row [V] is a law at a glance, as nearly all are; what fails here is looked at once more for why.

    NaN makes a comparison false, an infinite mass the sum.
    """
    if not isinstance(rows, np.ndarray) or rows.ndim != 1:
        return False
    if rows.dtype == np.float64:
        return bool(rows.min() >= 0) and bool(abs(rows.sum() - 1) <= SUM_BOUND["float64"])
    return rows.dtype == object and sums_to_one(rows.tolist())


def sums_to_one(masses: list[Any]) -> bool:
    """Say whether masses are Fractions or symbols ≥ 0 that sum to 1.

    Of Fractions the whole numbers over their least common denominator are summed.

    >>> sums_to_one([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]), sums_to_one([1])
    (True, False)
    """
    for mass in masses:
        if type(mass) is not Fraction:
            return isinstance(mass, Symbol) and _symbols_sum_to_one(tuple(masses))
        if mass.numerator < 0:
            return False
    if not masses:
        return False
    whole = lcm(*[mass.denominator for mass in masses])
    return sum(mass.numerator * (whole // mass.denominator) for mass in masses) == whole


@remembering(256)
def _symbols_sum_to_one(masses: tuple[Any, ...]) -> bool:
    if not all(type(mass) is Fraction or isinstance(mass, Symbol) for mass in masses):
        return False
    negative = [bool(mass < 0) for mass in masses]
    return not any(negative) and sum(masses, Fraction(0)) == 1


def _widened(rows: Array) -> Array:
    """Bring masses to the type the formulas compute in: float64 on NumPy; on torch at least float32."""
    if is_torch_array(rows):
        return rows.float() if rows.element_size() < 4 else rows
    return rows.astype(np.float64, copy=False)


def divided_in_float64(row: Array) -> Array:
    """Return a floating law [V] as float64, divided by its sum; a tensor stays a tensor.

    >>> divided_in_float64(np.array([0.25, 0.75], dtype=np.float16)).tolist()
    [0.25, 0.75]
    """
    wide = row.double() if is_torch_array(row) else row.astype(np.float64, copy=False)
    return wide / wide.sum()


def storage(rows: Array) -> str:
    """Name the type that masses are stored in, as `SUM_BOUND` names it.

    >>> storage(np.array([0.5, 0.5], dtype=np.float32))
    'float32'
    """
    return str(rows.dtype).removeprefix("torch.")


def _check_masses(rows: Array, name: str) -> None:
    if rows.ndim == 0:
        raise ValueError(f"{name}: a distribution is a row of masses; got the single number {rows}")
    if not is_exact(rows):
        rows = _widened(rows)
        finite = array_namespace(rows).isfinite(rows)
        if not bool(finite.all()):
            place = _first(~finite)
            raise ValueError(f"{name}: masses must be finite; {_token(place)} is {float(rows[place])}")
    negative = rows < 0
    if bool(negative.any()):
        place = _first(negative)
        raise ValueError(
            f"{name}: masses must be >= 0; {_token(place)} has {rows[place]}; if these are logits, take their softmax"
        )


def _first(bad: Array) -> tuple[int, ...]:
    places = np.argwhere(bad) if isinstance(bad, np.ndarray) else bad.nonzero()
    return tuple(int(index) for index in places[0])


def _token(place: tuple[int, ...]) -> str:
    return f"token {place[-1]}" + (f" of row {place[:-1]}" if len(place) > 1 else "")


def _check_exact_sums(rows: Array, name: str) -> None:
    for place in np.ndindex(rows.shape[:-1]) if rows.ndim > 1 else [()]:
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
    if 0 in gaps.shape:
        return
    worst = float(gaps.max())
    if worst <= bound:
        return
    flat = gaps.reshape(-1)
    where = int(flat.argmax())
    row = f" (row {where} of {flat.shape[0]})" if flat.shape[0] > 1 else ""
    half = "; half precision cannot hold a distribution: store logits" if stored in ("float16", "bfloat16") else ""
    raise ValueError(
        f"{name}{row}: masses stored as {stored} must sum to 1 within {bound:.2g}; these {rows.shape[-1]} are off by "
        f"{worst:.3g}; if you mean weights, call proportional_to{half}"
    )


def sum_gap(rows: Array) -> Array:
    """Return |Σ masses − 1| for each row of a floating law [..., V], the sum taken in float64.

    >>> float(sum_gap(np.array([0.5, 0.25])))
    0.25
    """
    if is_torch_array(rows):
        return (rows.detach().double().sum(dim=-1) - 1).abs()
    return np.abs(rows.astype(np.float64, copy=False).sum(axis=-1) - 1)
