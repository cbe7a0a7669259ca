"""The number types: Fractions, NumPy floats and torch tensors, and arithmetic that serves all three.

Source: the array API standard, 2024.12; the exact type is our own.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable
from fractions import Fraction
from numbers import Rational
from typing import Any, cast

import numpy as np

Array = Any
"""An object array of Fractions, a floating NumPy array or a torch tensor, of shape [..., V]."""


class Symbol:
    """A number that stands for many: exact arithmetic passes it through as it is. See `spec_math.symbolic`."""

    __slots__ = ()

    def possible(self) -> bool:
        """Say whether a chance of this size is to be followed."""
        raise NotImplementedError

    def as_text(self) -> str:
        """Return how the number is shown."""
        raise NotImplementedError

    def key(self) -> Hashable:
        """Return what tells the number from others that it may be computed with; equal numbers may have two keys."""
        raise NotImplementedError


def as_text(value: Any) -> str:
    """Return a number as text: str of it, but for symbols, which refuse str where a text might become a key.

    >>> as_text(Fraction(1, 3))
    '1/3'
    """
    return value.as_text() if isinstance(value, Symbol) else str(value)


def exact(values: Any) -> Array:
    """Convert numbers to an object array of Fractions, without rounding and without any check of their sum.

    Strings are read as written ("1/3", "0.25"), binary floats as the dyadic number they hold.

    Raises:
        TypeError: a value is a bool, None or no number at all.
        ValueError: a value is NaN or infinite, or a string that is not a number.

    >>> exact(["1/3", "2/3"]).tolist()
    [Fraction(1, 3), Fraction(2, 3)]
    >>> exact([0.5, 0.5]).sum()
    Fraction(1, 1)
    """
    if is_torch_array(values):
        values = values.detach().cpu()
        values = (values.double() if values.is_floating_point() else values).numpy()
    source = np.asarray(values, dtype=object)
    return np.fromiter(map(_fraction, source.flat), dtype=object, count=source.size).reshape(source.shape)


def is_torch_array(x: Any) -> bool:
    """Say whether x is a torch tensor, without loading torch.

    >>> is_torch_array([0.5, 0.5])
    False
    """
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def check_same_number_type(target: Array, draft: Array) -> None:
    """Refuse to mix exact with floating masses, or arrays of two libraries.

    Raises:
        TypeError: naming both number types and the cure.

    >>> check_same_number_type(exact(["1/2", "1/2"]), exact([1, 0]))
    """
    ours, theirs = number_type(target), number_type(draft)
    if ours != theirs:
        raise TypeError(
            f"all distributions of a call must be of one number type; target is {ours}, draft is {theirs}: "
            "write both as ints, Fractions or strings, or both as floats"
        )


def divide(top: Array, bottom: Array, otherwise: Array) -> Array:
    """Divide top by bottom where bottom is not 0 and take `otherwise` elsewhere: the one place that divides laws.

    Arrays [..., V] of one number type; the three broadcast.

    >>> divide(exact([1, 3]), exact([2, 0]), exact([7, 7])).tolist()
    [Fraction(1, 2), Fraction(7, 1)]
    """
    if _are_floats(top, bottom, otherwise) and bottom.all():
        found = top / bottom
        if found.shape == np.broadcast_shapes(found.shape, otherwise.shape) and found.dtype == otherwise.dtype:
            return found
    xp = array_namespace(bottom)
    empty = bottom == 0
    safe = xp.where(empty, ones_like(bottom), bottom)
    return xp.where(empty, otherwise, top / safe)


def asarray(values: Any) -> Array:
    """Bring lists and arrays into their number type without a check of masses: exact, floating NumPy, or torch.

    Raises:
        TypeError: complex or boolean arrays, or values that are not numbers.

    >>> asarray([1, "1/2"]).tolist()
    [Fraction(1, 1), Fraction(1, 2)]
    """
    if is_torch_array(values):
        if not values.is_floating_point():
            raise TypeError(f"torch distributions must be floating; got {values.dtype}")
        return values
    if isinstance(values, np.ndarray):
        return _from_numpy(cast("np.ndarray[Any, Any]", values))
    leaves = list(_leaves(values))
    _check_rectangular(values)
    if any(isinstance(leaf, float | np.floating) for leaf in leaves):
        if any(isinstance(leaf, str) for leaf in leaves):
            raise TypeError("a distribution mixes floats with strings; write all masses as strings, or all as floats")
        if any(isinstance(leaf, bool | np.bool_) for leaf in leaves):
            raise TypeError("True and False are not masses; write 1 and 0")
        return np.asarray(values, dtype=np.float64)
    return exact(values)


_NAMESPACES: dict[type, Any] = {np.ndarray: np}
"""The namespaces of the types of arrays that were met: that of an array is the same for all of its type."""


def array_namespace(x: Array) -> Any:
    """Return the array API namespace of x (NumPy's serves object arrays of Fractions too).

    >>> array_namespace(exact([1])).__name__
    'numpy'
    """
    kind = type(x)
    if kind not in _NAMESPACES:
        import array_api_compat

        _NAMESPACES[kind] = array_api_compat.array_namespace(x)
    return _NAMESPACES[kind]


def is_exact(x: Array) -> bool:
    """Say whether x is an exact array, an object array of Fractions.

    >>> is_exact(exact([1, 0]))
    True
    """
    return isinstance(x, np.ndarray) and x.dtype == object


def number_type(x: Array) -> str:
    """Name the number type of an array: exact, NumPy or torch.

    >>> number_type(exact([1]))
    'exact (Fractions)'
    """
    if is_exact(x):
        return "exact (Fractions)"
    return "torch" if is_torch_array(x) else "floating (NumPy)"


def zeros_like(x: Array) -> Array:
    """Return zeros of x's own kind: Fraction(0) in exact arrays, where a literal 0 would leak an int.

    >>> zeros_like(exact([1, 2])).tolist()
    [Fraction(0, 1), Fraction(0, 1)]
    """
    if type(x) is not np.ndarray:
        return array_namespace(x).zeros_like(x)
    return np.full(x.shape, Fraction(0), dtype=object) if is_exact(x) else np.zeros_like(x)


def ones_like(x: Array) -> Array:
    """Return ones of x's own kind: Fraction(1) in exact arrays.

    >>> ones_like(exact([0])).tolist()
    [Fraction(1, 1)]
    """
    if type(x) is not np.ndarray:
        return array_namespace(x).ones_like(x)
    return np.full(x.shape, Fraction(1), dtype=object) if is_exact(x) else np.ones_like(x)


def positive_part(x: Array) -> Array:
    """Return max(x, 0), element by element.

    >>> positive_part(exact(["1/2", "-1/2"])).tolist()
    [Fraction(1, 2), Fraction(0, 1)]
    """
    if is_torch_array(x):
        return x.clamp(min=0)  # one pass, where a maximum would first make zeros of the same size
    if _are_floats(x):
        return np.maximum(x, x.dtype.type(0))
    return array_namespace(x).maximum(x, zeros_like(x))


def _are_floats(*arrays: Array) -> bool:
    """Say whether all of these are floating arrays of NumPy, for which whole passes can be left out."""
    return all(type(x) is np.ndarray and x.dtype != object for x in arrays)


def _fraction(value: Any) -> Fraction:
    if isinstance(value, Fraction | Symbol):
        return cast(Fraction, value)
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{value!r} is not a mass; write 1 or 0")
    if isinstance(value, str):
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError) as error:
            raise ValueError(f"{value!r} is not a number; write '1/3' or '0.25'") from error
    if isinstance(value, float | np.floating):
        if not np.isfinite(value):
            raise ValueError(f"masses must be finite; got {value!r}")
        return Fraction(*value.as_integer_ratio())
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
    raise TypeError(f"distributions must hold numbers; got an array of {values.dtype}")


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
