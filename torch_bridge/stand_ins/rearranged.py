"""einops.rearrange as far as axes of length one come and go and no two axes are joined."""

from __future__ import annotations

from typing import Any

import torch


def rearrange(tensor: torch.Tensor, pattern: str) -> torch.Tensor:
    """Return a tensor with its named axes in another order, and axes of length one added or taken away.

    Raises:
        NotImplementedError: the pattern joins or divides axes.

    >>> rearrange(torch.zeros(2, 1, 3), "b 1 d -> b d").shape, rearrange(torch.zeros(2), "... -> ... 1").shape
    (torch.Size([2, 3]), torch.Size([2, 1]))
    """
    if "(" in pattern:
        raise NotImplementedError(f"axes are joined or divided in {pattern!r}; install einops")
    before, after = (side.split() for side in pattern.split("->"))
    left = tensor.dim() - sum(axis != "..." for axis in before)
    rest = [f"_{place}" for place in range(left)]
    before, after = (_spread(side, rest) for side in (before, after))
    named = [axis for axis in before if axis != "1"]
    plain: Any = tensor.reshape([size for size, axis in zip(tensor.shape, before, strict=True) if axis != "1"])
    plain = plain.permute([named.index(axis) for axis in after if axis != "1"])
    for place, axis in enumerate(after):
        if axis == "1":
            plain = plain.unsqueeze(place)
    return plain


def _spread(axes: list[str], rest: list[str]) -> list[str]:
    return [one for axis in axes for one in (rest if axis == "..." else [axis])]
