"""Chain verification by Triton kernels: the logits are read once, and the row of a rejection once more."""

from __future__ import annotations

from typing import Any

import torch
import triton

from spec_math.block_level.batch.array_form import Verified
from torch_bridge import input_validation
from torch_bridge.options import DEFAULT, Options
from torch_bridge.tile_kernels import check_device, decide, finish, left_sums, tile_sums

TILE = 4096
"""Tokens of one program. Its sum is one tree in float32; tiles are added in float64."""


def verify_token(
    target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options = DEFAULT, tile: int = TILE
) -> Verified:
    """Verify a batch of drafted chains token by token, as `torch_bridge.verify_token`, in five launches.

    Arguments, law and result are those of the reference, and within `threshold.bound` of the thresholds other tokens
    may come out: an exponential, one sum of at most 4,096 terms, another exponential and the tiles' sum, with what
    rounds a gap, add up to less than that bound allows to the sums of 128. Not for top-k, top-p, temperature 0 or
    float64. Memory of the size of the logits is neither taken nor written, and no value is looked at on the host but by
    `options.check`. On a CUDA device, or under Triton's interpreter on a CPU. Its speed on a GPU has not been measured
    yet (`python -m benchmarks.gpu` does), so that nothing chooses it by itself.

    Raises:
        TypeError, ValueError: as the reference; or options or types that the kernels do not have.

    Source: SpecTr, Alg. 4; Timor et al., Alg. 5.
    """
    given = (target_logits, draft_logits, tokens, uniforms)
    input_validation.check_fit(*given)
    check_device(target_logits)
    if options.restricts:
        raise ValueError(f"the kernels take logits as they are, at temperatures above 0; got {options}")
    if target_logits.dtype == torch.float64:
        raise TypeError("the kernels compute in float32; for float64 logits call torch_bridge.verify_token")
    if options.check:
        input_validation.check_data(*given, options)
    targets, drafts, tokens = (array.contiguous() for array in given[:3])
    requests, lookahead, size = drafts.shape
    tiles = triton.cdiv(size, tile)
    shared = {"LENGTH": lookahead}
    scalars = (size, tiles, 1 / options.divisor)

    def empty(*shape: int, dtype: Any = torch.float32) -> Any:
        return torch.empty(shape, dtype=dtype, device=targets.device)

    u = uniforms.double().contiguous()
    t = empty(requests * (lookahead + 1), tiles), empty(requests * (lookahead + 1), tiles)
    d = empty(requests * lookahead, tiles), empty(requests * lookahead, tiles)
    for rows, sums in ((targets, t), (drafts, d)):
        tile_sums[(len(sums[0]), tiles)](rows, *sums, *scalars, TILE=tile)
    decisions, scales = empty(requests, 2, dtype=torch.int32), empty(requests, 4, dtype=torch.float64)
    several = {**shared, "TILES": triton.next_power_of_2(tiles)}
    decide[(requests,)](targets, drafts, tokens, u, *t, *d, decisions, scales, *scalars, **several)
    left = empty(requests, tiles)
    left_sums[(requests, tiles)](targets, drafts, decisions, scales, left, *scalars, **shared, TILE=tile)
    emitted, counts = empty(requests, lookahead + 1, dtype=torch.int64), empty(requests, dtype=torch.int64)
    finish[(requests,)](
        targets, drafts, tokens, u, *t, decisions, scales, left, emitted, counts, *scalars, **several, TILE=tile
    )
    return Verified(emitted, counts)
