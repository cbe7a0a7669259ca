"""Stored logits read as float32: half precision exactly, float64 after the row's largest is subtracted."""

from __future__ import annotations

from typing import Any

import numpy as np

_STORED: dict[str, Any] = {"bfloat16": np.uint16}


def stored_type(dtype: str) -> np.dtype[Any]:
    """Return the NumPy type in which the bytes of a logit are held; of bfloat16, 16 bits.

    >>> stored_type("bfloat16").name
    'uint16'
    """
    return np.dtype(_STORED.get(dtype, dtype))


def type_name(array: Any) -> str:
    """Return the name of an array's type as a trace writes it.

    >>> import ml_dtypes
    >>> type_name(np.zeros(1, dtype=np.float16)), type_name(np.zeros(1, dtype=ml_dtypes.bfloat16))
    ('float16', 'bfloat16')
    """
    return array.dtype.name


def as_float32(stored: np.ndarray[Any, Any], dtype: str, into: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return rows [m, V] as float32, in `into` [≥ m, V] where they are not float32 already.

    A float64 row is shifted so that its largest logit is 0 before it is rounded: float32 near 100 would lose what
    float32 near 0 keeps.

    >>> as_float32(np.array([[0x3F80]], dtype=np.uint16), "bfloat16", np.empty((1, 1), np.float32)).tolist()
    [[1.0]]
    """
    if dtype == "float32":
        return stored
    shown = into[: len(stored)]
    if dtype == "bfloat16":
        bits = shown.view(np.uint32)
        np.left_shift(stored, np.uint32(16), out=bits, casting="unsafe", dtype=np.uint32)
    elif dtype == "float64":
        tops = stored.max(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", over="ignore"):
            np.subtract(stored, np.where(np.isfinite(tops), tops, 0.0), out=shown, casting="same_kind")
    else:
        np.copyto(shown, stored)
    return shown
