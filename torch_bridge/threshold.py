"""How far the uniforms of a batch lie from another decision, and within which distance rounding may take another."""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import Any

import torch

from spec_math import array_draw
from spec_math.block_level.batch import array_form
from spec_math.block_level.batch.array_form import Coins
from torch_bridge.options import DEFAULT, Options, column, restricted
from torch_bridge.softmax_rows import BLOCK, working

EXPONENTIAL = 40
"""Unit roundoffs that an exponential of a softmax may be off by: 20 units in the last place."""


def bound(dtype: Any, size: int, lookahead: int = 0) -> float:
    """Return the margin beyond which `verify_token` (lookahead 0) and `verify_block` decide as replayed programs do.

    With the unit roundoff u of the working type, a weight of a softmax over V = `size` tokens is off by a relative
    (40 + 2)u for its exponential and its division and 3u·g for the rounding of its gap g to the largest logit, whose
    mean is ln V at most, under the law and within its heaviest block (plus 1). A sum over blocks of 128 adds 127u. So a
    law, divided by its own sum, is off by (2·42 + 6 ln V + 127)u in L1, and the logarithm of a row's sum by
    ε = (2·42 + 6 ln V + 3 + 2·127)u, which covers both. Coins of single tokens: their chance by 2ε. Weights w of
    blocks: 2Lε after L tokens. Masses (w·t − d)+ by (2L + 2)ε in L1, their block sums by 130u more; a draw compares two
    such sums: (4L + 4)ε + 260u, less than (4L + 5)ε. A block's coin ρ/(ρ + 1 − w), times ρ + 1 − w, by the errors of ρ
    and of w, less than that. The reference works in float64, sums of V terms in any order; a 256th more covers squares.

    >>> 1e-5 < bound(torch.bfloat16, 32_000) == bound(torch.float32, 32_000) < 2e-4
    True
    """
    unit = torch.finfo(working(dtype)).eps / 2
    single = (2 * (EXPONENTIAL + 2) + 6 * log(size) + 3 + 2 * (BLOCK - 1)) * unit + (size + 100) * array_draw.UNIT
    return (1 + 2.0**-8) * (4 * lookahead + 5) * single + 4 * array_draw.rounding(size)


def laws(logits: Any, options: Options = DEFAULT) -> Any:
    """Return the laws [..., V] of rows of logits in float64: what `verify_token` and `verify_block` verify.

    >>> laws(torch.tensor([0.0, 1.0]), Options(temperature=0)).tolist()
    [0.0, 1.0]
    """
    return torch.softmax(restricted(logits, options).double() / column(options.divisor, logits), dim=-1)


def kept_margin(logits: Any, options: Options = DEFAULT) -> Any:
    """Return for each row [...] of logits [..., V] how far top_p is from keeping another set of tokens; 1 without it.

    The least |Σ before a token − p| over all but the first. `verify_token` decides it in float64, so that only a
    kernel that sums in a narrower type may keep another set.

    >>> kept_margin(torch.tensor([0.0, 0.0]), Options(top_p=0.75)).tolist()
    0.25
    """
    if options.top_p is None:
        return torch.ones_like(logits[..., 0], dtype=torch.float64)
    ordered = laws(logits, replace(options, top_p=None)).sort(dim=-1, descending=True).values
    return (ordered.cumsum(dim=-1)[..., :-1] - options.top_p).abs().amin(dim=-1)


def margin_token(target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options = DEFAULT) -> Any:
    """Return for each request [B] how far its uniforms are from another decision of `verify_token`.

    The least, over the coins tossed, of |u − chance|, and of the draw's distance from a border between two tokens times
    the mass drawn from. Arguments as `verify_token`, data checked already; all laws are held in float64.

    >>> logits, uniforms = torch.zeros(1, 2, 2), torch.tensor([[0.25, 0.75]])
    >>> margin_token(logits, logits[:, :1], torch.tensor([[0]]), uniforms).tolist()
    [0.25]
    """
    t, d, tokens, uniforms = _reference(target_logits, draft_logits, tokens, uniforms, options)
    masses = array_form.drafted_masses(t, tokens), array_form.drafted_masses(d, tokens)
    coins = array_form.chain_coins(*masses, tokens, uniforms)
    return _least(coins, torch.ones_like(coins.chances), (t, d, tokens, uniforms))


def margin_block(target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options = DEFAULT) -> Any:
    """Return for each request [B] how far its uniforms are from another decision of `verify_block`.

    As `margin_token`; a coin of chance ρ/(ρ + 1 − w) counts with its distance times ρ + 1 − w. Coins before the last
    one that accepts change nothing, and do not count.

    >>> logits, uniforms = torch.zeros(1, 2, 2), torch.tensor([[0.25, 0.75]])
    >>> margin_block(logits, logits[:, :1], torch.tensor([[0]]), uniforms).tolist()
    [0.25]
    """
    t, d, tokens, uniforms = _reference(target_logits, draft_logits, tokens, uniforms, options)
    size, scales = array_form.lengths(tokens), [torch.ones_like(uniforms[:, 0])]

    def left(place: int, weight: Any) -> Any:
        rest = (weight[:, None] * t[:, place] - d[:, place]).clamp(min=0).sum(dim=-1)
        # The last coin of a chain has the chance w itself.
        scales.insert(-1, torch.where(place < size, rest + (1 - weight), torch.ones_like(rest)))
        return rest

    masses = array_form.drafted_masses(t, tokens), array_form.drafted_masses(d, tokens)
    coins = array_form.block_coins(masses, left, tokens, uniforms)
    places = torch.arange(tokens.shape[1], device=tokens.device)
    coins = coins._replace(tossed=coins.tossed & (places + 1 >= coins.accepted[:, None]))
    return _least(coins, torch.stack(scales, dim=1), (t, d, tokens, uniforms))


def _reference(
    target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options
) -> tuple[Any, Any, Any, Any]:
    return laws(target_logits, options), laws(draft_logits, options), tokens.long(), uniforms.double()


def _least(coins: Coins, scales: Any, batch: tuple[Any, Any, Any, Any]) -> Any:
    t, d, tokens, uniforms = batch
    far = ((uniforms[:, :-1] - coins.chances).abs() * scales).masked_fill(~coins.tossed, 1.0)
    masses = array_form.following(t, d, coins.accepted, array_form.lengths(tokens), coins.weight)
    draw = array_draw.distance(masses, uniforms[:, -1]) * masses.sum(dim=-1)
    return torch.minimum(far.amin(dim=-1), draw)
