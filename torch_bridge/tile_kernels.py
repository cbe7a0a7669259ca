"""Triton kernels of chain verification: logits are read in tiles, and nothing of the size of a law is written."""

# Kernels have no types: Triton reads annotations of its own, and runs what it finds as another language.
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import triton
import triton.language as tl


def jit(function: Callable[..., Any]) -> Any:
    """Make a kernel of a function: `triton.jit`, whose types are not known where it is not installed."""
    return triton.jit(function)


def check_device(tensor: Any) -> None:
    """Check that kernels can be launched where a tensor lies.

    Raises:
        ValueError: it lies on a CPU and Triton's interpreter is off, or on a device that Triton has no code for.
    """
    kind = tensor.device.type
    if kind != "cuda" and not (kind == "cpu" and triton.knobs.runtime.interpret):
        raise ValueError(
            f"kernels run on CUDA devices, and on a CPU under TRITON_INTERPRET=1; these tensors lie on {kind}: call "
            "the function of the same name in torch_bridge, which runs anywhere"
        )


@jit
def tile_sums(rows, maxima, sums, size, tiles, inverse, TILE: tl.constexpr):  # noqa: PLR0913
    """Write of each tile of each row its largest logit and Σ exp((x − largest)/T); inverse is 1/T."""
    row = tl.program_id(0).to(tl.int64)
    tile = tl.program_id(1)
    at = tile * TILE + tl.arange(0, TILE)
    logits = tl.load(rows + row * size + at, mask=at < size, other=float("-inf")).to(tl.float32)
    largest = tl.max(logits, axis=0)
    top = tl.where(largest == float("-inf"), 0.0, largest)
    tl.store(maxima + row * tiles + tile, largest)
    tl.store(sums + row * tiles + tile, tl.sum(tl.exp((logits - top) * inverse), axis=0))


@jit
def decide(  # noqa: PLR0913
    targets,
    drafts,
    tokens,
    uniforms,
    target_maxima,
    target_sums,
    draft_maxima,
    draft_sums,
    decisions,
    scales,
    size,
    tiles,
    inverse,
    LENGTH: tl.constexpr,
    TILES: tl.constexpr,
):
    """Toss the coins of one request: write how many tokens are accepted and whether one was rejected, and of the rows
    at the next position the largest logit and log Σ exp((x − largest)/T): target's, then draft's."""
    request = tl.program_id(0).to(tl.int64)
    accepted = tl.full((), 0, tl.int32)
    rejected = tl.full((), 0, tl.int32)
    going = tl.full((), 1, tl.int32)
    for place in range(LENGTH):
        token = tl.load(tokens + request * LENGTH + place).to(tl.int64)
        going = tl.where(token < 0, 0, going)
        if going == 1:
            row = request * (LENGTH + 1) + place
            top, rest = _log_sum(target_maxima, target_sums, row, tiles, inverse, TILES)
            t = (tl.load(targets + row * size + token).to(tl.float64) - top) * inverse - rest
            row = request * LENGTH + place
            top, rest = _log_sum(draft_maxima, draft_sums, row, tiles, inverse, TILES)
            d = (tl.load(drafts + row * size + token).to(tl.float64) - top) * inverse - rest
            passes = tl.load(uniforms + request * (LENGTH + 1) + place) < tl.exp(t - d)
            accepted += passes.to(tl.int32)
            rejected = 1 - passes.to(tl.int32)
            going = passes.to(tl.int32)
    tl.store(decisions + 2 * request, accepted)
    tl.store(decisions + 2 * request + 1, rejected)
    top, rest = _log_sum(target_maxima, target_sums, request * (LENGTH + 1) + accepted, tiles, inverse, TILES)
    tl.store(scales + 4 * request, top)
    tl.store(scales + 4 * request + 1, rest)
    if rejected == 1:
        top, rest = _log_sum(draft_maxima, draft_sums, request * LENGTH + accepted, tiles, inverse, TILES)
        tl.store(scales + 4 * request + 2, top)
        tl.store(scales + 4 * request + 3, rest)


@jit
def left_sums(  # noqa: PLR0913
    targets, drafts, decisions, scales, left, size, tiles, inverse, LENGTH: tl.constexpr, TILE: tl.constexpr
):
    """Write Σ (t − d)+ over each tile of the row at which a request was rejected; nothing where none was."""
    request = tl.program_id(0).to(tl.int64)
    tile = tl.program_id(1)
    if tl.load(decisions + 2 * request + 1) == 1:
        at = tile * TILE + tl.arange(0, TILE)
        masses = _left(targets, drafts, decisions, scales, request, at, size, inverse, LENGTH)
        tl.store(left + request * tiles + tile, tl.sum(masses, axis=0))


@jit
def finish(  # noqa: PLR0913
    targets,
    drafts,
    tokens,
    uniforms,
    target_maxima,
    target_sums,
    decisions,
    scales,
    left,
    emitted,
    counts,
    size,
    tiles,
    inverse,
    LENGTH: tl.constexpr,
    TILES: tl.constexpr,
    TILE: tl.constexpr,
):
    """Draw the token after the accepted ones, first its tile and then itself, and write what is emitted."""
    request = tl.program_id(0).to(tl.int64)
    accepted = tl.load(decisions + 2 * request)
    rejected = tl.load(decisions + 2 * request + 1) == 1
    tile = tl.arange(0, TILES)
    row = request * (LENGTH + 1) + accepted
    rest = tl.load(left + request * tiles + tile, mask=(tile < tiles) & rejected, other=0.0).to(tl.float64)
    largest = tl.load(target_maxima + row * tiles + tile, mask=tile < tiles, other=float("-inf")).to(tl.float64)
    sums = tl.load(target_sums + row * tiles + tile, mask=tile < tiles, other=0.0).to(tl.float64)
    taken = tl.max(rest, axis=0) > 0
    sums = tl.where(taken, rest, sums * tl.exp((largest - tl.max(largest, axis=0)) * inverse))
    # The running sums' own end is the total: with another sum the largest uniforms could meet no token.
    running = tl.cumsum(sums, axis=0)
    goal = tl.load(uniforms + request * (LENGTH + 1) + LENGTH) * tl.max(running, axis=0)
    chosen = tl.sum((running <= goal).to(tl.int32), axis=0)
    share = tl.sum(tl.where(tile == chosen, sums, 0.0), axis=0)
    before = tl.sum(tl.where(tile == chosen, running, 0.0), axis=0) - share
    into = tl.minimum(tl.maximum((goal - before) / share, 0.0), 1.0 - 1.1102230246251565e-16)
    at = chosen * TILE + tl.arange(0, TILE)
    if taken:
        masses = _left(targets, drafts, decisions, scales, request, at, size, inverse, LENGTH)
    else:
        masses = _masses(targets, row, scales + 4 * request, at, size, inverse)
    running = tl.cumsum(masses.to(tl.float64), axis=0)
    inside = tl.sum((running <= into * tl.max(running, axis=0)).to(tl.int32), axis=0)
    for place in range(LENGTH + 1):
        token = tl.load(tokens + request * LENGTH + place, mask=place < accepted, other=-1).to(tl.int64)
        token = tl.where(place == accepted, (chosen * TILE + inside).to(tl.int64), token)
        tl.store(emitted + request * (LENGTH + 1) + place, token)
    tl.store(counts + request, (accepted + 1).to(tl.int64))


@jit
def _log_sum(maxima, sums, row, tiles, inverse, TILES: tl.constexpr):
    """Return the largest logit of a row and log Σ exp((x − largest)/T), put together from its tiles in float64."""
    tile = tl.arange(0, TILES)
    largest = tl.load(maxima + row * tiles + tile, mask=tile < tiles, other=float("-inf")).to(tl.float64)
    parts = tl.load(sums + row * tiles + tile, mask=tile < tiles, other=0.0).to(tl.float64)
    top = tl.max(largest, axis=0)
    return top, tl.log(tl.sum(parts * tl.exp((largest - top) * inverse), axis=0))


@jit
def _masses(rows, row, scale, at, size, inverse):
    """Return the masses of some tokens of a row, in float32."""
    logits = tl.load(rows + row * size + at, mask=at < size, other=float("-inf")).to(tl.float32)
    top, rest = tl.load(scale), tl.load(scale + 1)
    return tl.exp((logits - top.to(tl.float32)) * inverse - rest.to(tl.float32))


@jit
def _left(targets, drafts, decisions, scales, request, at, size, inverse, LENGTH: tl.constexpr):  # noqa: PLR0913
    """Return (t − d)+ of some tokens at the position at which a request was rejected."""
    place = tl.load(decisions + 2 * request)
    t = _masses(targets, request * (LENGTH + 1) + place, scales + 4 * request, at, size, inverse)
    d = _masses(drafts, request * LENGTH + place, scales + 4 * request + 2, at, size, inverse)
    return tl.maximum(t - d, 0.0)
