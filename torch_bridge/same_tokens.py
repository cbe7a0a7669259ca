"""Compare the tokens of two verifiers on the same uniforms, and name the first decision that differs.

Source: worked out here.
"""

from __future__ import annotations

from typing import Any

import torch


class DifferentTokensError(AssertionError):
    """Two verifiers decided differently on the same uniforms, further from a threshold than rounding explains."""


def assert_same_tokens(expected: Any, got: Any, distance: Any, bound: Any, uniforms: Any = None) -> None:
    """Raise unless two verifiers emit the same tokens wherever the distance to a threshold exceeds the bound.

    expected, got: tokens [B, L + 1] padded with −1, or [B]; distance: how far each row is from another decision,
    [B]; bound: a number or [B]; uniforms [B, ...] are shown if given.

    Raises:
        DifferentTokensError: naming the batch row, the position, both tokens, the uniforms and the distance.
        ValueError: the shapes differ, or a distance is no number.

    >>> assert_same_tokens([[1, 2]], [[1, 3]], [0.1], 1e-5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    torch_bridge.same_tokens.DifferentTokensError: row 0, position 1: expected token 2, got 3; the row is 0.1 from ...
    """
    wanted, found = torch.as_tensor(expected), torch.as_tensor(got)
    far = torch.as_tensor(distance).double()
    if wanted.shape != found.shape or far.shape != wanted.shape[:1]:
        raise ValueError(
            f"expected and got must have one shape [B, ...], distance [B]; got {tuple(wanted.shape)}, "
            f"{tuple(found.shape)} and {tuple(far.shape)}"
        )
    if bool(torch.isnan(far).any()):
        raise ValueError("distances must be numbers; one is NaN, so that nothing could be compared there")
    limits = torch.as_tensor(bound, dtype=torch.float64, device=far.device).expand_as(far)
    rows, columns = wanted.reshape(len(far), -1), found.to(wanted.device).reshape(len(far), -1)
    wrong = (rows != columns) & (far > limits).to(wanted.device)[:, None]
    if not bool(wrong.any()):
        return
    row, place = (int(index) for index in wrong.nonzero()[0])
    drawn = "" if uniforms is None else f"; its uniforms are {torch.as_tensor(uniforms)[row].tolist()}"
    raise DifferentTokensError(
        f"row {row}, position {place}: expected token {int(rows[row, place])}, got {int(columns[row, place])}; the row "
        f"is {float(far[row]):.6g} from the nearest threshold, and rounding explains {float(limits[row]):.3g} at most"
        f"{drawn} ({int(wrong.any(dim=1).sum())} of {len(far)} rows differ)"
    )
