"""Distances of a batch's uniforms from another decision, and within which distance rounding may take another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import torch

from spec_math import array_coin, testing
from spec_math.field import chain_kernel
from torch_bridge.options import DEFAULT, Options, column, restricted
from torch_bridge.softmax_rows import BLOCK, working

EXPONENTIAL = 40
"""Unit roundoffs that an exponential of a softmax may be off by: 20 units in the last place."""


def bound(dtype: Any, size: int, lookahead: int = 0) -> float:
    """Return the margin beyond which `verify_token` (lookahead 0) and `verify_block` decide as replayed programs do.

    With the unit roundoff u of the working type, a weight of a softmax over V = `size` tokens is off by a relative
    (40 + 2)u for its exponential and its division and 3u·g for the rounding of its gap g to the largest logit, whose
    mean is ln V at most, under the law. A sum over blocks of 128 adds 127u. So a law, divided by its own sum, is off by
    (2·42 + 6 ln V + 127)u in L1, less than ε = (2·42 + 6 ln V + 3 + 2·127)u. Coins of single tokens: t/d by
    ε + 84u + 3u(g_t + g_d), times t/d where that is below 1, which leaves at most ε + 87u + 6u·g_d. That is 2ε at most
    for a draft g_d < 41 + ln V nats below the likeliest: all others are drawn with probability e^−41. Weights w of
    blocks: 2Lε after L tokens. Masses (w·t − d)+ by (2L + 2)ε in L1, their block sums by 130u more; a draw compares two
    such sums: (4L + 4)ε + 260u, less than (4L + 5)ε. A block's coin ρ/(ρ + 1 − w), times ρ + 1 − w, by the errors of ρ
    and of w, less than that. The reference works in float64, sums of V terms in any order; a 256th more covers squares.
    """
    unit = torch.finfo(working(dtype)).eps / 2
    single = (2 * (EXPONENTIAL + 2) + 6 * log(size) + 3 + 2 * (BLOCK - 1)) * unit + (size + 100) * array_coin.UNIT
    return (1 + 2.0**-8) * (4 * lookahead + 5) * single + 4 * array_coin.rounding(size)


def laws(logits: Any, options: Options = DEFAULT) -> Any:
    """Return the laws [..., V] of rows of logits in float64: what `verify_token` and `verify_block` verify."""
    return torch.softmax(restricted(logits, options).double() / column(options.divisor, logits), dim=-1)


def kept_margin(logits: Any, options: Options = DEFAULT) -> Any:
    """Return for each row [...] of logits [..., V] how far top_p is from keeping another set of tokens; 1 without it.

    The least |Σ before a token − p| over all but the first. `verify_token` decides it in float64, so that only a
    kernel that sums in a narrower type may keep another set.
    """
    if options.top_p is None:
        return torch.ones_like(logits[..., 0], dtype=torch.float64)
    ordered = laws(logits, replace(options, top_p=None)).sort(dim=-1, descending=True).values
    return (ordered.cumsum(dim=-1)[..., :-1] - options.top_p).abs().amin(dim=-1)


def margin_token(target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options = DEFAULT) -> Any:
    """Return for each request [B] how far its uniforms are from another decision of `verify_token`.

    The least, over the coins tossed, of |u − chance|, and of the draw's distance from a border between two tokens times
    the mass drawn from. Arguments as `verify_token`, data checked already; all laws are held in float64.
    """
    given = target_logits, draft_logits, tokens, uniforms
    return _margin(chain_kernel.decide_chain, lambda place, accepted: place <= accepted, given, options)


def margin_block(target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options = DEFAULT) -> Any:
    """Return for each request [B] how far its uniforms are from another decision of `verify_block`.

    As `margin_token`; a coin of chance ρ/(ρ + 1 − w) counts with its distance times ρ + 1 − w. Coins before the last
    one that accepts change nothing, and do not count.
    """
    given = target_logits, draft_logits, tokens, uniforms
    return _margin(chain_kernel.decide_block, lambda place, accepted: place + 1 >= accepted, given, options)


def _margin(
    decide: chain_kernel.Decide, counts: Callable[[Any, Any], Any], given: tuple[Any, Any, Any, Any], options: Options
) -> Any:
    """Return the least distance [B]: of a coin that counts from its chance, scaled, or of the draw from a border.

    `counts` says it of a coin by its place [L], where so many tokens [B, 1] are accepted.
    """
    targets, drafts = (_array(laws(logits, options)) for logits in given[:2])
    tokens, uniforms = map(_array, given[2:])
    found, places = decide(targets, drafts, tokens, uniforms), np.arange(tokens.shape[1])
    tossed = counts(places, found.accepted[:, None]) & (places < chain_kernel.lengths(tokens)[:, None])
    far = np.where(tossed, abs(uniforms[:, :-1] - found.chances) * found.scales, 1.0)
    draw = array_coin.distance(found.masses, uniforms[:, -1]) * found.masses.sum(axis=-1)
    return torch.from_numpy(np.minimum(far.min(axis=-1), draw)).to(given[2].device)


def assert_same_tokens(expected: Any, got: Any, distance: Any, bound: Any, uniforms: Any = None) -> None:
    """Raise unless two verifiers emit the same tokens wherever the distance to a threshold exceeds the bound.

    expected, got: tokens [B, L + 1] padded with −1, or [B]; distance: how far each row is from another decision,
    [B]; bound: a number or [B]; uniforms [B, ...] are shown if given. Without torch: `spec_math.testing`.

    Raises:
        DifferentTokensError: naming the batch row, the position, both tokens, the uniforms and the distance.
        ValueError: the shapes differ, or a distance is not a number.

    >>> assert_same_tokens([[1, 2]], torch.tensor([[1, 3]]), [0.1], 1e-5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spec_math.testing.DifferentTokensError: row 0, position 1: expected token 2, got 3; the row is 0.1 from ...
    """
    limits = torch.as_tensor(bound, dtype=torch.float64)
    shown = None if uniforms is None else _array(uniforms)
    testing.assert_same_tokens(_array(expected), _array(got), _array(distance), _array(limits), shown)


def _array(values: Any) -> Any:
    tensor = torch.as_tensor(values).detach().cpu()
    # NumPy has no bfloat16.
    return (tensor.double() if tensor.is_floating_point() else tensor).numpy()
