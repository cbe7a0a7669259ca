"""Draft logits over another vocabulary, or over part of one, with the target's token for each of the draft's.

Source: union and intersection: Timor et al., Alg. 1 and 4; reduced heads: SpecVocab, Sections 2 and 3.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import torch

from torch_bridge.options import Options


class MappedLogits(NamedTuple):
    """Draft logits [B, D] (trees: [B, N + 1, D]), and which of the target's tokens [D] the draft's are.

    `places` is −1 where the target has no such token, and names no token twice: [D] once for all (two vocabularies,
    FR-Spec, VocabTrim, EAGLE-3), [B, D] for requests with subsets of their own (SpecVocab), or [B, N + 1, D] for trees
    with a subset at each node. `shared` says that drafts were drawn from the shared tokens alone, logits masked to them
    before temperature, top-k and top-p (intersection, TLI); False that they were drawn from all of the draft's
    (union), of which those that the target lacks are never accepted. Nothing is laid out over the target's vocabulary
    but the target itself.

    >>> MappedLogits(torch.zeros(1, 2), torch.tensor([5, -1])).shared
    True
    """

    logits: Any
    places: Any
    shared: bool = True

    def options(self, options: Options) -> Options:
        """Return the options for the draft's rows: what the target's say, along the places, and on shared tokens.

        >>> found = MappedLogits(torch.zeros(1, 2), torch.tensor([5, -1])).options(Options(top_k=3))
        >>> found.top_k, found.allowed.tolist()
        (2, [True, False])
        """
        allowed, known = options.allowed, self.places >= 0
        if allowed is not None:
            at = self.places.clamp(min=0)
            # Masks and places of more than one axis begin with the requests; a tree's have one for each node.
            axes = max(allowed.ndim, at.ndim)
            shape = torch.broadcast_shapes(_with_axes(allowed, axes).shape[:-1], _with_axes(at, axes).shape[:-1])
            wide, at = (_with_axes(each, axes).expand(*shape, -1) for each in (allowed, at))
            allowed = wide.gather(-1, at) & _with_axes(known, axes)
        elif self.shared:
            allowed = known
        keeps: Any = options.top_k
        if keeps is not None:
            size = self.logits.shape[-1]
            keeps = keeps.clamp(max=size) if isinstance(keeps, torch.Tensor) else min(keeps, size)
        return replace(options, allowed=allowed, top_k=keeps)

    def at(self, requests: Any) -> MappedLogits:
        """Return the draft's logits of some requests of the batch, a slice."""
        places = self.places if self.places.ndim == 1 else self.places[requests]
        return self._replace(logits=self.logits[requests], places=places)


def _with_axes(array: Any, axes: int) -> Any:
    return array[:, None] if 1 < array.ndim < axes else array.reshape(*[1] * (axes - array.ndim), *array.shape)


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
    _check_head(head, hidden, tokens)
    rows = head[tokens.clamp(min=0)]
    logits = torch.bmm(rows, hidden[:, :, None])[:, :, 0]
    return logits.masked_fill(tokens < 0, -torch.inf)


def _check_head(head: Any, hidden: Any, tokens: Any) -> None:
    """Check shapes [V, d], [B, d] and [B, k], types and devices; no value is looked at."""
    shapes = tuple(head.shape), tuple(hidden.shape), tuple(tokens.shape)
    if [len(shape) for shape in shapes] != [2, 2, 2] or shapes[0][1] != shapes[1][1] or shapes[1][0] != shapes[2][0]:
        raise ValueError(f"head, hidden and tokens must be [V, d], [B, d] and [B, k]; got {shapes}")
    if tokens.is_floating_point() or tokens.is_complex() or tokens.dtype == torch.bool:
        raise TypeError(f"tokens must be whole numbers; got {tokens.dtype}")
    if not head.is_floating_point() or head.dtype != hidden.dtype:
        raise TypeError(f"head and hidden must be of one floating type; got {head.dtype} and {hidden.dtype}")
    if not head.device == hidden.device == tokens.device:
        raise ValueError(
            f"head, hidden and tokens must lie on one device; got {head.device}, {hidden.device} and {tokens.device}"
        )
