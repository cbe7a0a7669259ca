"""Rows of logits as laws: weights in the working type, their float64 sums, and log-masses of single tokens."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from torch_bridge.options import Options, column, restricted

BLOCK = 128
"""Sums run in the working type over blocks of this many tokens, and in float64 over the blocks."""


class Rows(NamedTuple):
    """What is kept of laws of rows [..., V] once their weights are gone: token x has the mass e^(x/T − log_sum).

    `log_sums` [...] and the `drafted` logits [...] of one token of each row are float64, −inf for a token dropped;
    `totals` [...] are the float64 sums of the weights, near 1.
    """

    log_sums: Any
    drafted: Any
    totals: Any

    def log_masses(self, options: Options) -> Any:
        """Return the logarithms [...] of the drafted tokens' masses."""
        return self.drafted / column(options.divisor, self.drafted) - self.log_sums


def working(dtype: Any) -> Any:
    """Return the type that exponentials are taken in: float64 for float64 logits, float32 for all others.

    >>> working(torch.bfloat16)
    torch.float32
    """
    return torch.float64 if dtype == torch.float64 else torch.float32


def weigh(logits: Any, options: Options, into: Any = None) -> Any:
    """Return softmax(logits / temperature) of rows [..., V] already restricted, in the working type.

    The largest logit is taken off before the division, so that its rounding is one of the gap and not of the logit.

    >>> weigh(torch.tensor([0.0, 0.0]), Options()).tolist()
    [0.5, 0.5]
    """
    kind = working(logits.dtype)
    into = torch.empty(logits.shape, dtype=kind, device=logits.device) if into is None else into
    if logits.device.type == "cpu" and logits.ndim > 2 and not logits.is_contiguous() and logits[0].is_contiguous():
        # The softmax would copy a slice first, in memory that is far from the cache.
        for request, (row, place) in enumerate(zip(logits, into, strict=True)):
            own = options.at(slice(request, request + 1))
            weigh(row[None], own, place[None])
        return into
    divisor = column(options.divisor, logits)
    if not options.each and divisor == 1:
        return torch.softmax(logits, dim=-1, dtype=kind, out=into)
    torch.sub(logits, logits.amax(dim=-1, keepdim=True).to(kind), out=into)
    return torch.softmax(into.mul_(1 / divisor), dim=-1, out=into)


def weigh_rest(kept: Any, tokens: Any, options: Options) -> Any:
    """Return the softmax of rows [B, V] already restricted, without the tokens [B, m], −1 behind the last of each row.

    The largest logit that is LEFT is taken off, so that what is left of a sharp law does not underflow. Where nothing
    is left the row is 0.

    >>> logits = torch.tensor([[0.0, -900.0, -900.0]])
    >>> weigh_rest(logits, torch.tensor([[0]]), Options()).tolist()
    [[0.0, 0.5, 0.5]]
    >>> weigh(logits, Options()).tolist()
    [[1.0, 0.0, 0.0]]
    """
    if tokens.shape[-1]:
        # A column without a token repeats the first; a row without any keeps the logit of token 0.
        some = tokens[:, :1] >= 0
        at = torch.where(some, torch.where(tokens < 0, tokens[:, :1], tokens), 0)
        kept = kept.scatter(-1, at, kept.gather(-1, at).masked_fill(some, -torch.inf))
    rows = weigh(kept, options)
    # The softmax of a row of −inf is NaN everywhere.
    return rows.masked_fill_(rows[:, :1].isnan(), 0)


def rows_of(logits: Any, tokens: Any, options: Options, into: Any = None) -> Rows:
    """Weigh rows of logits [..., V] and keep what coins need, for one token [...] of each; weights go `into` a tensor.

    The logarithm of a row's sum is found at its heaviest block, whose weights are far from underflow: that block's
    logits are summed in float64 and its share of all weights taken off. Masses too small for the working type are then
    right all the same.

    >>> rows = rows_of(torch.tensor([[0.0, 0.0]]), torch.tensor([1]), Options())
    >>> rows.log_masses(Options()).exp().tolist()
    [0.5]
    """
    kept = restricted(logits, options)
    sums = block_sums(weigh(kept, options, into))
    totals = sums.sum(dim=-1, dtype=torch.float64)
    heaviest = sums.argmax(dim=-1, keepdim=True)
    places = in_block(heaviest, logits.shape[-1])
    block = kept.gather(-1, places.clamp(max=logits.shape[-1] - 1)).double() / column(options.divisor, logits)
    block = block.masked_fill(places >= logits.shape[-1], -torch.inf)
    share = sums.gather(-1, heaviest)[..., 0].double() / totals
    drafted = kept.gather(-1, tokens[..., None])[..., 0].double()
    return Rows(block.logsumexp(dim=-1) - share.log(), drafted, totals)


def in_block(block: Any, size: int) -> Any:
    """Return the tokens [..., min(`BLOCK`, V)] of one block [..., 1]; indices beyond V − 1 are padding.

    >>> in_block(torch.tensor([1]), 200)[:3].tolist()
    [128, 129, 130]
    """
    return block * BLOCK + torch.arange(min(BLOCK, size), device=block.device)


def block_sums(masses: Any) -> Any:
    """Return the sums [..., blocks] of masses [..., V] over blocks of `BLOCK` tokens; the last block may be shorter.

    >>> block_sums(torch.ones(129)).tolist()
    [128.0, 1.0]
    """
    size = masses.shape[-1]
    whole = size - size % BLOCK
    sums = masses[..., :whole].unflatten(-1, (-1, BLOCK)).sum(dim=-1) if whole else masses[..., :0]
    if whole == size:
        return sums
    return torch.cat([sums, masses[..., whole:].sum(dim=-1, keepdim=True)], dim=-1)
