"""Coins on tensors: of a whole batch, drawing a token by its block, and of one program replayed from a row."""

from __future__ import annotations

from typing import Any

import torch

from spec_math import array_coin
from spec_math.array_coin import ArrayCoin
from spec_math.chance import Cumulative
from torch_bridge.softmax_rows import BLOCK, block_sums, in_block

BELOW_ONE = 1 - 2.0**-53


def batch_coin(uniforms: Any, last_draws: bool = False) -> ArrayCoin:
    """Return the coin of a batch on any device: sums run in the working type over blocks, in float64 over the blocks.

    Uniforms [B, C] in [0, 1); with `last_draws` a draw takes the last of them.

    >>> batch_coin(torch.tensor([[0.25, 0.5]])).draw(torch.tensor([[0.25, 0.0, 0.75]])).tolist()
    [2]
    """
    return ArrayCoin(uniforms.double(), False, drawn_from, total, last_draws)


def drawn_from(masses: Any, uniforms: Any) -> Any:
    """Return for each row of masses [B, V] the token that a uniform [B] draws, −1 where a row has no mass.

    The first i with v_0 + … + v_i > u · Σv, found in two steps: its block by float64 sums of blocks, then the token in
    its block. A token of mass 0 is never drawn.

    >>> drawn_from(torch.tensor([[0.25, 0.0, 0.75]]), torch.tensor([0.25])).tolist()
    [2]
    """
    size = masses.shape[-1]
    if size <= BLOCK:
        return array_coin.drawn(masses, uniforms)
    sums, uniforms = block_sums(masses).double(), uniforms.double()
    block = array_coin.drawn(sums, uniforms)
    at = block.clamp(min=0)[:, None]
    running = sums.cumsum(dim=-1)
    share = sums.gather(-1, at)
    # How far into its block the uniform points, from 0 to 1: rounding may push it out, not beyond the block.
    into = (uniforms[:, None] * running[:, -1:] - (running.gather(-1, at) - share)) / share
    tokens = in_block(at, size)
    # The last block may end early: its last token must not count again.
    within = masses.gather(-1, tokens.clamp(max=size - 1)).masked_fill(tokens >= size, 0)
    token = array_coin.drawn(within, into[:, 0].clamp(0, BELOW_ONE))
    return torch.where(block < 0, block, tokens.gather(-1, token.clamp(min=0)[:, None])[:, 0])


def total(masses: Any) -> Any:
    """Return the sums [B] of masses [B, V], in float64 over blocks.

    >>> total(torch.ones(1, 300)).tolist()
    [300.0]
    """
    return block_sums(masses).sum(dim=-1, dtype=torch.float64)


class TensorCoin:
    """Each flip and each draw takes the next uniform [C]: `flip(p)` is u < p, `draw(v)` the first i beyond u·Σv.

    The decisions are those of `spec_math.chance.replay`; the uniforms may be random numbers that `explore` follows.

    >>> import torch
    >>> coin = TensorCoin(torch.tensor([0.25, 0.5], dtype=torch.float64))
    >>> coin.flip(0.5), coin.draw([0.25, 0.75])
    (True, 1)
    """

    def __init__(self, uniforms: Any) -> None:
        self._uniforms = uniforms
        self._used = 0

    def flip(self, p: Any) -> bool:
        """Return whether the next uniform is below p."""
        return bool(self._next() < float(p))

    def draw(self, masses: Any) -> int:
        """Return the token that the next uniform draws from masses [V]; never one of mass 0."""
        law = masses if isinstance(masses, Cumulative) else Cumulative(masses)
        point = self._next() * law.sums[-1]
        low, high = 0, len(law.sums) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if bool(point < law.sums[middle]) else (middle + 1, high)
        while law.masses[low] == 0:
            low -= 1
        return low

    def _next(self) -> Any:
        self._used += 1
        return self._uniforms[self._used - 1]
