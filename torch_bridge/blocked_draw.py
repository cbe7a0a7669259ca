"""One token from each row of masses in two steps: its block by float64 sums of blocks, then the token in its block."""

from __future__ import annotations

from typing import Any

import torch

from spec_math.block_level import array_draw
from torch_bridge.softmax_rows import block_sums, in_block

BELOW_ONE = 1 - 2.0**-53


def drawn(left: Any, otherwise: Any, rejected: Any, uniforms: Any) -> Any:
    """Return for each row the first token i with v_0 + … + v_i > u · Σv, and −1 where a row has no mass.

    The masses v [B, V] are `left` where `rejected` [B] is true and left has mass, and `otherwise` elsewhere; both in
    the working type, uniforms [B] in [0, 1). A token of mass 0 is never drawn. Running sums are those of `block_sums`,
    in float64 from block to block.

    >>> left, otherwise = torch.tensor([[0.25, 0.0, 0.75]]), torch.tensor([[0.0, 1.0, 0.0]])
    >>> drawn(left, otherwise, torch.tensor([True]), torch.tensor([0.25])).tolist()
    [2]
    """
    size = left.shape[-1]
    rest, uniforms = block_sums(left), uniforms.double()
    taken = rejected[:, None] & (rest.amax(dim=-1, keepdim=True) > 0)
    sums = torch.where(taken, rest, block_sums(otherwise)).double()
    block = array_draw.drawn(sums, uniforms)
    at = block.clamp(min=0)[:, None]
    running = sums.cumsum(dim=-1)
    share = sums.gather(-1, at)
    # How far into its block the uniform points, from 0 to 1: rounding may push it out, not beyond the block.
    into = (uniforms[:, None] * running[:, -1:] - (running.gather(-1, at) - share)) / share
    tokens = in_block(at, size)
    there = tokens.clamp(max=size - 1)
    masses = torch.where(taken, left.gather(-1, there), otherwise.gather(-1, there))
    # The last block may end early: its last token must not count again.
    masses = masses.masked_fill(tokens >= size, 0)
    token = array_draw.drawn(masses, into[:, 0].clamp(0, BELOW_ONE))
    return torch.where(block < 0, block, tokens.gather(-1, token.clamp(min=0)[:, None])[:, 0])
