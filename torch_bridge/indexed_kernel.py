"""A Triton kernel for an output head evaluated for some tokens only: its rows are read where they lie."""

# Kernels have no types: Triton reads annotations of its own, and runs what it finds as another language.
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from torch_bridge.indexed_logits import check
from torch_bridge.tile_kernels import check_device, jit

ROWS, COLUMNS = 16, 256
"""How many tokens and how many of their dimensions a program multiplies at a time."""


def indexed_logits(head: Any, hidden: Any, tokens: Any) -> Any:
    """Return what `torch_bridge.indexed_logits` does, reading each row of the head once and writing logits alone.

    head [V, d] and hidden [B, d] of one floating type, tokens [B, k], −1 for none; logits [B, k]. Sums run in float32,
    in float64 for a float64 head. On a CUDA device, or under Triton's interpreter on a CPU. Its speed on a GPU has not
    been measured yet (`python -m benchmarks.gpu` does), so that nothing chooses it by itself.

    Raises:
        TypeError, ValueError: as the reference; or the tensors lie on a device without kernels.

    Source: SpecVocab, step 3.
    """
    check(head, hidden, tokens)
    check_device(head)
    requests, looked = tokens.shape
    logits = torch.empty((requests, looked), dtype=head.dtype, device=head.device)
    if logits.numel():
        _dots[(requests, triton.cdiv(looked, ROWS))](
            head.contiguous(),
            hidden.contiguous(),
            tokens.contiguous(),
            logits,
            looked,
            head.shape[1],
            ROWS=ROWS,
            COLUMNS=COLUMNS,
            KIND=tl.float64 if head.dtype == torch.float64 else tl.float32,
        )
    return logits


@jit
def _dots(  # noqa: PLR0913
    head,
    hidden,
    tokens,
    logits,
    looked,
    dimension,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    KIND: tl.constexpr,
):
    request = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    token = tl.load(tokens + request * looked + place, mask=place < looked, other=-1).to(tl.int64)
    sums = tl.zeros((ROWS, COLUMNS), dtype=KIND)
    for start in range(0, dimension, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        there = (token >= 0)[:, None] & (column < dimension)[None, :]
        row = tl.load(head + token[:, None] * dimension + column[None, :], mask=there, other=0.0).to(KIND)
        state = tl.load(hidden + request * dimension + column, mask=column < dimension, other=0.0).to(KIND)
        sums += row * state[None, :]
    result = tl.where(token >= 0, tl.sum(sums, axis=1), float("-inf"))
    tl.store(logits + request * looked + place, result.to(logits.dtype.element_ty), mask=place < looked)
