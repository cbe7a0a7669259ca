"""Compare the tokens of two verifiers on the same uniforms, as tensors on any device.

Source: worked out here.
"""

from __future__ import annotations

from typing import Any

import torch

from spec_math import testing
from spec_math.testing import DifferentTokensError

__all__ = ["DifferentTokensError", "assert_same_tokens"]


def assert_same_tokens(expected: Any, got: Any, distance: Any, bound: Any, uniforms: Any = None) -> None:
    """Raise unless two verifiers emit the same tokens wherever the distance to a threshold exceeds the bound.

    expected, got: tokens [B, L + 1] padded with −1, or [B]; distance: how far each row is from another decision,
    [B]; bound: a number or [B]; uniforms [B, ...] are shown if given. Without torch: `spec_math.testing`.

    Raises:
        DifferentTokensError: naming the batch row, the position, both tokens, the uniforms and the distance.
        ValueError: the shapes differ, or a distance is not a number.

    >>> assert_same_tokens([[1, 2]], torch.tensor([[1, 3]]), [0.1], 1e-5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spec_math.testing.DifferentTokensError: row 0, position 1: expected token 2, got 3; the row is 0.1 from ...
    """
    limits = torch.as_tensor(bound, dtype=torch.float64)
    shown = None if uniforms is None else _array(uniforms)
    testing.assert_same_tokens(_array(expected), _array(got), _array(distance), _array(limits), shown)


def _array(values: Any) -> Any:
    tensor = torch.as_tensor(values).detach().cpu()
    # NumPy has no bfloat16.
    return (tensor.double() if tensor.is_floating_point() else tensor).numpy()
