"""Drafted tokens that weigh too little for the type that laws are weighed in: no drafter draws them.

Source: worked out here.
"""

from __future__ import annotations

from math import log
from typing import Any

import torch

from torch_bridge.options import Options, restricted
from torch_bridge.softmax_rows import working

AT_ONCE = 2**22
"""How many logits are looked at at a time."""


def least_gap(dtype: Any, size: int) -> float:
    """Return how far, in nats, a token may lie below the largest logit and keep all digits of its weight.

    A weight is e^gap/Σ, and Σ ≤ V: down to ln(V · the smallest normal number) it is a normal number of the working
    type. A law puts less than V² times that number on all tokens below, 3e-28 for float32 and 152k tokens.

    >>> round(least_gap(torch.bfloat16, 2), 1), round(least_gap(torch.float64, 2), 1)
    (-86.6, -707.7)
    """
    return log(torch.finfo(working(dtype)).tiny) + log(size)


def gaps(kept: Any, slots: Any, tokens: Any, distinct: bool, options: Options) -> Any:
    """Return how far [b, N] in nats drafted tokens lie below the largest logit that was left, in float64.

    Rows of logits [b, S, V] already restricted; draft i was drawn from row slots [b, N] and is tokens [b, N], −1 for
    none (0 there). Where drafts are `distinct`, those before a draft were taken off its row.

    >>> rows, tokens = torch.tensor([[[0.0, -120.0, -128.0]]]), torch.tensor([[0, 1]])
    >>> [gaps(rows, tokens * 0, tokens, distinct, Options()).tolist() for distinct in (False, True)]
    [[[0.0, -120.0]], [[0.0, 0.0]]]
    """
    there, request = tokens >= 0, torch.arange(len(tokens), device=tokens.device)[:, None].expand_as(tokens)
    own = kept[request, slots, tokens.clamp(min=0)].double().masked_fill(~there, -torch.inf)
    if distinct:
        rest = kept.clone()
        rest[request[there], slots[there], tokens[there]] = -torch.inf
        behind = (slots[:, :, None] == slots[:, None]) & torch.ones_like(own[0]).diag().cummax(dim=1).values.bool()
        drafted = own[:, None].expand_as(behind).masked_fill(~behind, -torch.inf).amax(dim=-1)
        largest = torch.maximum(rest.amax(dim=-1).gather(1, slots).double(), drafted)
    else:
        largest = kept.amax(dim=-1).gather(1, slots).double()
    divisor = torch.as_tensor(options.divisor, dtype=torch.float64, device=own.device).reshape(-1, 1)
    return ((own - largest) / divisor).masked_fill(~there, 0)


def check_weights(draft_logits: Any, tokens: Any, distinct: bool, options: Options) -> None:
    """Check that no draft of one position [B, k], drawn from rows [B, V] or [B, k, V], weighs too little to be drawn.

    It waits for the device.

    Raises:
        ValueError: naming the first draft that does.

    >>> check_weights(torch.tensor([[0.0, -120.0]]), torch.tensor([[1]]), True, Options())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: tokens[0, 0] is 1, 120 nats below the draft's largest logit that was left, over the temperature: ...
    """
    tokens, size = tokens.long(), draft_logits.shape[-1]
    step = max(1, AT_ONCE // draft_logits[0].numel())
    for start in range(0, len(tokens), step):
        here = slice(start, start + step)
        own, drafted = options.at(here), tokens[here]
        kept = restricted(draft_logits[here], own)
        slots = torch.arange(tokens.shape[1], device=tokens.device).expand_as(drafted)
        kept, slots = (kept, slots) if kept.ndim == 3 else (kept[:, None], slots * 0)
        found = gaps(kept, slots, drafted, distinct, own)
        light = (found < least_gap(kept.dtype, size)).nonzero()
        if len(light):
            row, place = (int(index) for index in light[0])
            name = f"tokens[{start + row}, {place}] is {int(drafted[row, place])}"
            raise ValueError(too_light(name, float(found[row, place]), kept.dtype, size))


def too_light(name: str, gap: float, dtype: Any, size: int) -> str:
    """Return the message for a draft at a gap below `least_gap`.

    >>> too_light("token 1 of node 0", -120.0, torch.float32, 2)[:60]
    "token 1 of node 0, 120 nats below the draft's largest logit "
    """
    kind = str(working(dtype)).removeprefix("torch.")
    return (
        f"{name}, {-gap:.4g} nats below the draft's largest logit that was left, over the temperature: weights in "
        f"{kind} reach {-least_gap(dtype, size):.4g} nats down at V = {size}, and no drafter draws below; give the "
        "logits and options that the drafts were drawn with"
    )
