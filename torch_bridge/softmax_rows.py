"""Rows of logits as laws: softmax weights in the working type, a few requests at a time, for the rows in use alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from spec_math import array_coin
from spec_math.array_coin import ArrayCoin
from spec_math.block_level.batch.array_tree import ArrayTree, places
from spec_math.token_level.batch import drafts as batch_drafts
from torch_bridge.options import Options, column, restricted

BLOCK = 128
"""Sums run in the working type over blocks of this many tokens, and in float64 over the blocks."""


def working(dtype: Any) -> Any:
    """Return the type that exponentials are taken in: float64 for float64 logits, float32 for all others."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def weigh(logits: Any, options: Options) -> Any:
    """Return softmax(logits / temperature) of rows [..., V] already restricted, in the working type.

    The largest logit is taken off before the division, so that its rounding is one of the gap and not of the logit.
    """
    kind = working(logits.dtype)
    divisor = column(options.divisor, logits)
    if not options.each and divisor == 1:
        return torch.softmax(logits, dim=-1, dtype=kind)
    gaps = logits.to(kind) - logits.amax(dim=-1, keepdim=True).to(kind)
    return torch.softmax(gaps.mul_(1 / divisor), dim=-1)


def weigh_rest(kept: Any, tokens: Any, options: Options) -> Any:
    """Return the softmax of rows [B, V] already restricted, without the tokens [B, m], −1 behind the last of each row.

    The largest logit that is LEFT is taken off, so that what is left of a sharp law does not underflow. Where nothing
    is left the row is 0.
    """
    if tokens.shape[-1]:
        # A column without a token repeats the first; a row without any keeps the logit of token 0.
        some = tokens[:, :1] >= 0
        at = torch.where(some, torch.where(tokens < 0, tokens[:, :1], tokens), 0)
        kept = kept.scatter(-1, at, kept.gather(-1, at).masked_fill(some, -torch.inf))
    rows = weigh(kept, options)
    # The softmax of a row of −inf is NaN everywhere.
    return rows.masked_fill_(rows[:, :1].isnan(), 0)


def block_sums(masses: Any) -> Any:
    """Return the sums [..., blocks] of masses [..., V] over blocks of `BLOCK` tokens; the last block may be shorter."""
    size = masses.shape[-1]
    whole = size - size % BLOCK
    sums = masses[..., :whole].unflatten(-1, (-1, BLOCK)).sum(dim=-1) if whole else masses[..., :0]
    return sums if whole == size else torch.cat([sums, masses[..., whole:].sum(dim=-1, keepdim=True)], dim=-1)


CHUNK_BYTES = {"cpu": 2**23}
ELSEWHERE = 2**28

HELD = 3
"""About how many rows of a request of a tree, or over another vocabulary, are held at a time."""


def chunks(logits: Any, masses: int, options: Options) -> Iterator[slice]:
    """Yield the requests of logits [B, …, V], as many at a time as the bytes hold, for so many masses held of each."""
    held = options.chunk_bytes or CHUNK_BYTES.get(logits.device.type, ELSEWHERE)
    size = max(1, held // (masses * working(logits.dtype).itemsize))
    for start in range(0, len(logits), size):
        yield slice(start, start + size)


class Law(NamedTuple):
    """A model's logits [B, N + 1, V] of the nodes of trees, and the options that they are read with."""

    logits: Any
    options: Options


class LogitRows:
    """The laws of a batch of trees [B, N], worked out for the rows that a formula asks for.

    `laws` are the target's and the draft's; `tree` has the target's tokens, −1 for none, and `drafted` [B, N] are the
    draft's where they are not the same. Formulas ask for a row of every request, also where they decide nothing by it.
    A row after no node or after an end, and the draft's rows of a tree without drafts, may hold anything: their masses
    are all 1, as are those of requests that the coin no longer goes on with, where the host may ask.
    """

    def __init__(self, laws: tuple[Law, Law], tree: ArrayTree, coin: ArrayCoin, drafted: Any = None) -> None:
        self._laws, self._coin = laws, coin
        some = ((tree.tokens if drafted is None else drafted) >= 0).any(dim=1, keepdim=True)
        goes_on = (tree.tokens >= 0) & ~tree.ends(tree.tokens)
        self._unused = ~torch.cat([torch.ones_like(some), goes_on], 1), ~torch.cat([some, goes_on], 1)

    def target(self, slot: Any) -> Any:
        """Return the target's masses [B, V] at the slots [B]."""
        return self._row(0, slot)

    def draft(self, slot: Any, without: Any = None) -> Any:
        """Return the draft's masses [B, D] at the slots [B].

        Without some tokens [B, m] they are weighed anew, so that what is left does not underflow.
        """
        return self._row(1, slot, without)

    def _row(self, role: int, slot: Any, without: Any = None) -> Any:
        requests = places(slot, len(slot))
        unused = self._unused[role][requests, slot]
        if not batch_drafts.on_host(slot):
            return self._weighed(role, requests, slot, without).masked_fill_(unused[:, None], 1)
        used = (self._coin.going & ~unused).nonzero()[:, 0]
        if len(used) == len(slot):
            return self._weighed(role, requests, slot, without)
        logits = self._laws[role].logits
        rows = torch.ones((len(slot), logits.shape[-1]), dtype=working(logits.dtype))
        rows[used] = self._weighed(role, used, slot[used], None if without is None else without[used])
        return rows

    def _weighed(self, role: int, requests: Any, slot: Any, without: Any) -> Any:
        """Return the masses [b, V] of some requests [b] at their slots [b]."""
        logits, options = self._laws[role]
        options = options.at(requests, slot)
        if logits.is_contiguous():
            # Three times as fast as indexing with two arrays.
            rows = torch.index_select(logits.view(-1, logits.shape[-1]), 0, requests * logits.shape[1] + slot)
        else:
            rows = logits[requests, slot]
        kept = restricted(rows, options)
        return weigh(kept, options) if without is None else weigh_rest(kept, without, options)


BELOW_ONE = 1 - 2.0**-53


def batch_coin(uniforms: Any, last_draws: bool = False) -> ArrayCoin:
    """Return the coin of a batch on any device: sums run in the working type over blocks, in float64 over the blocks.

    Uniforms [B, C] in [0, 1); with `last_draws` a draw takes the last of them.
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
    tokens = at * BLOCK + torch.arange(min(BLOCK, size), device=at.device)
    # The last block may end early: its last token must not count again.
    within = masses.gather(-1, tokens.clamp(max=size - 1)).masked_fill(tokens >= size, 0)
    token = array_coin.drawn(within, into[:, 0].clamp(0, BELOW_ONE))
    return torch.where(block < 0, block, tokens.gather(-1, token.clamp(min=0)[:, None])[:, 0])


def total(masses: Any) -> Any:
    """Return the sums [B] of masses [B, V], in float64 over blocks."""
    return block_sums(masses).sum(dim=-1, dtype=torch.float64)
