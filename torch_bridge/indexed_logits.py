"""An output head evaluated for some tokens only: SpecVocab's U[k, :]·h, for a subset of the vocabulary per request."""

from __future__ import annotations

from typing import Any

import torch

from torch_bridge.input_validation import check_whole_numbers


def indexed_logits(head: Any, hidden: Any, tokens: Any) -> Any:
    """Return the logits [B, k] of k tokens a request: row tokens[b, j] of the head [V, d], times hidden [B, d].

    d·k multiplications a request in place of d·V. Products run in the type of the head; a token −1 gets −inf, so that
    subsets may be of different sizes. No value is looked at on the host.

    Raises:
        TypeError, ValueError: shapes, types or devices do not fit.

    Source: SpecVocab, step 3.

    >>> head, hidden = torch.eye(3), torch.tensor([[1.0, 2.0, 3.0]])
    >>> indexed_logits(head, hidden, torch.tensor([[2, 0, -1]])).tolist()
    [[3.0, 1.0, -inf]]
    """
    check(head, hidden, tokens)
    rows = head[tokens.clamp(min=0)]
    logits = torch.bmm(rows, hidden[:, :, None])[:, :, 0]
    return logits.masked_fill(tokens < 0, -torch.inf)


def check(head: Any, hidden: Any, tokens: Any) -> None:
    """Check shapes [V, d], [B, d] and [B, k], types and devices; no value is looked at.

    Raises:
        TypeError, ValueError: they do not fit.

    >>> check(torch.eye(3), torch.zeros(1, 3), torch.tensor([[2]]))
    """
    shapes = tuple(head.shape), tuple(hidden.shape), tuple(tokens.shape)
    if [len(shape) for shape in shapes] != [2, 2, 2] or shapes[0][1] != shapes[1][1] or shapes[1][0] != shapes[2][0]:
        raise ValueError(f"head, hidden and tokens must be [V, d], [B, d] and [B, k]; got {shapes}")
    check_whole_numbers("tokens", tokens)
    if not head.is_floating_point() or head.dtype != hidden.dtype:
        raise TypeError(f"head and hidden must be of one floating type; got {head.dtype} and {hidden.dtype}")
    if not head.device == hidden.device == tokens.device:
        raise ValueError(
            f"head, hidden and tokens must lie on one device; got {head.device}, {hidden.device} and {tokens.device}"
        )
