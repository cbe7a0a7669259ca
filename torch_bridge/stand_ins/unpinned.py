"""torch without pinned memory, which only a machine with an accelerator has: the same functions without it."""

from __future__ import annotations

from typing import Any

import torch

PINNING = ("tensor", "ones", "zeros", "full", "empty", "arange")


class Unpinned:
    """The module torch, whose functions that make tensors do not heed pin_memory.

    >>> Unpinned().ones(1, pin_memory=True).tolist()
    [1.0]
    """

    def __getattr__(self, name: str) -> Any:
        plain = getattr(torch, name)
        if name not in PINNING:
            return plain

        def made(*args: Any, pin_memory: bool = False, **named: Any) -> Any:
            del pin_memory
            return plain(*args, **named)

        return made


def uniform_probs(many: int, *_: Any) -> torch.Tensor:
    """Draw the uniforms of a batch without seeds, as vLLM does: in float64.

    >>> uniform_probs(3, [3], {}, "cpu").dtype
    torch.float64
    """
    return torch.rand((many,), dtype=torch.float64)
