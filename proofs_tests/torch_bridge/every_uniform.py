"""All values that torch.rand of a type takes, counted one by one."""

from __future__ import annotations

from functools import cache
from typing import Any

from proofs_tests.torch_bridge.randomness.explored_laws import torch


@cache
def every_uniform(dtype: str) -> tuple[Any, Any]:
    """All values of torch.rand of a type of at most 24 bits, and how many of the 2^24 each has."""
    rising = (torch.arange(2**24, dtype=torch.float32) / 2**24).to(getattr(torch, dtype))
    below = int((rising < 1).sum())  # what is rounded up to 1 becomes 0, which is the least
    values, counts = torch.unique_consecutive(rising[:below], return_counts=True)
    counts[0] += len(rising) - below
    return values, counts
