"""One token from each row of masses in two steps: its block by float64 sums of blocks, then the token in its block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from spec_math import array_draw
from spec_math.array_coin import ArrayCoin
from torch_bridge.softmax_rows import BLOCK, block_sums, in_block

BELOW_ONE = 1 - 2.0**-53


def batch_coin(uniforms: Any) -> ArrayCoin:
    """Return the coin of a batch on any device: sums run in the working type over blocks, in float64 over the blocks.

    Uniforms [B, C] in [0, 1).

    >>> batch_coin(torch.tensor([[0.25, 0.5]])).draw(torch.tensor([[0.25, 0.0, 0.75]])).tolist()
    [2]
    """
    return ArrayCoin(uniforms.double(), False, drawn_from, total)


def drawn_from(masses: Any, uniforms: Any) -> Any:
    """Return for each row of masses [B, V] the token that a uniform [B] draws, −1 where a row has no mass.

    >>> drawn_from(torch.tensor([[0.25, 0.0, 0.75]]), torch.tensor([0.25])).tolist()
    [2]
    """
    if masses.shape[-1] <= BLOCK:
        return array_draw.drawn(masses, uniforms)
    return _drawn(block_sums(masses).double(), uniforms.double(), masses.shape[-1], masses.gather)


def total(masses: Any) -> Any:
    """Return the sums [B] of masses [B, V], in float64 over blocks.

    >>> total(torch.ones(1, 300)).tolist()
    [300.0]
    """
    return block_sums(masses).sum(dim=-1, dtype=torch.float64)


def drawn(left: Any, otherwise: Any, rejected: Any, uniforms: Any) -> Any:
    """Return for each row the first token i with v_0 + … + v_i > u · Σv, and −1 where a row has no mass.

    The masses v [B, V] are `left` where `rejected` [B] is true and left has mass, and `otherwise` elsewhere; both in
    the working type, uniforms [B] in [0, 1). A token of mass 0 is never drawn. Running sums are those of `block_sums`,
    in float64 from block to block.

    >>> left, otherwise = torch.tensor([[0.25, 0.0, 0.75]]), torch.tensor([[0.0, 1.0, 0.0]])
    >>> drawn(left, otherwise, torch.tensor([True]), torch.tensor([0.25])).tolist()
    [2]
    """
    rest = block_sums(left)
    taken = rejected[:, None] & (rest.amax(dim=-1, keepdim=True) > 0)
    sums = torch.where(taken, rest, block_sums(otherwise)).double()

    def masses_at(dim: int, there: Any) -> Any:
        return torch.where(taken, left.gather(dim, there), otherwise.gather(dim, there))

    return _drawn(sums, uniforms.double(), left.shape[-1], masses_at)


def _drawn(sums: Any, uniforms: Any, size: int, masses_at: Callable[[int, Any], Any]) -> Any:
    """Draw a block of sums [B, n], then a token of its masses, which `masses_at` gathers along the last axis."""
    block = array_draw.drawn(sums, uniforms)
    at = block.clamp(min=0)[:, None]
    running = sums.cumsum(dim=-1)
    share = sums.gather(-1, at)
    # How far into its block the uniform points, from 0 to 1: rounding may push it out, not beyond the block.
    into = (uniforms[:, None] * running[:, -1:] - (running.gather(-1, at) - share)) / share
    tokens = in_block(at, size)
    # The last block may end early: its last token must not count again.
    masses = masses_at(-1, tokens.clamp(max=size - 1)).masked_fill(tokens >= size, 0)
    token = array_draw.drawn(masses, into[:, 0].clamp(0, BELOW_ONE))
    return torch.where(block < 0, block, tokens.gather(-1, token.clamp(min=0)[:, None])[:, 0])
