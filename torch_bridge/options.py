"""The way from logits to laws: temperature, then top-k, then top-p, the same for the target's rows and the draft's.

Source: TokenTiming, Table 5, for temperature, top-k and top-p.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from spec_math.arrays import count


def _each(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


@dataclass(frozen=True, eq=False)
class Options:
    """Options that apply to every row of logits, and how the work is done.

    temperature: logits are divided by it; 0 is the one-hot law of the first maximum. top_k keeps exactly k tokens,
    lowest index first among equal logits. top_p keeps the smallest prefix of the descending stable order with mass ≥ p,
    after top_k. Each is a number, or a tensor [B] with one for each request. allowed: a mask [V] or [B, V], for trees
    also [B, N + 1, V], of the tokens that a grammar allows, which comes before all else; the drafts must come from the
    law so masked. end: the token that nothing follows. depth, width: how deep trees are, and how many
    drafts follow a node, at most; without them the trees are looked at (with `check`), or N is taken.
    check: look at the data before anything is launched, which waits for the device; without it nothing does.
    chunk_bytes: how much of the laws is held at a time; None takes 8 MiB on a CPU, 256 MiB elsewhere.

    Raises:
        TypeError, ValueError: a temperature below 0 or not finite, top_k no count, top_p outside (0, 1], an end
            that is no token.

    >>> Options(temperature=0.7, top_k=50).top_p
    """

    temperature: Any = 1.0
    top_k: Any = None
    top_p: Any = None
    check: bool = True
    chunk_bytes: int | None = None
    allowed: Any = None
    end: int | None = None
    depth: int | None = None
    width: int | None = None

    def __post_init__(self) -> None:
        if not _each(self.temperature) and not 0 <= self.temperature < float("inf"):
            raise ValueError(
                f"a temperature must be finite and >= 0; got {self.temperature}; 0 means the first maximum alone"
            )
        if self.top_p is not None and not _each(self.top_p) and not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be a mass in (0, 1]; got {self.top_p}; None keeps every token")
        for name in ("top_k", "chunk_bytes", "depth", "width"):
            value = getattr(self, name)
            if value is not None and not _each(value):
                count(value, name)
        end: Any = self.end
        if end is not None and (isinstance(end, bool) or not isinstance(end, int)):
            raise TypeError(f"end is a token, a whole number; got {end!r}; None where no token ends a text")
        if end is not None and end < 0:
            raise ValueError(f"end is a token, 0 or more; got {end}; None where no token ends a text")

    @property
    def each(self) -> bool:
        """True if a number differs from request to request."""
        return any(_each(value) for value in (self.temperature, self.top_k, self.top_p))

    @property
    def keeps(self) -> Any:
        """The most tokens that are kept, a number, [B], or None for all: top_k, and 1 at temperature 0."""
        if not _each(self.temperature):
            return 1 if self.temperature == 0 else self.top_k
        one = torch.ones_like(self.temperature, dtype=torch.int64)
        return torch.where(self.temperature == 0, one, 2**62 if self.top_k is None else self.top_k)

    @property
    def divisor(self) -> Any:
        """The divisor of gaps between logits, a number or [B]; with one token left it does not matter."""
        if _each(self.temperature):
            return torch.where(self.temperature == 0, torch.ones_like(self.temperature), self.temperature)
        return self.temperature or 1.0

    def at(self, requests: Any, slots: Any = None) -> Options:
        """Return the options of some requests of the batch, a slice or an index [b]; of a row of each, at its slot."""
        if not self.each and self.allowed is None:
            return self
        own = {name: getattr(self, name) for name in ("temperature", "top_k", "top_p")}
        own = {name: value[requests] for name, value in own.items() if _each(value)}
        if _each(self.allowed) and self.allowed.ndim > 1:
            by_row = slots is not None and self.allowed.ndim == 3
            own["allowed"] = self.allowed[requests, slots] if by_row else self.allowed[requests]
        return replace(self, **own)


DEFAULT = Options()


def column(value: Any, like: Any) -> Any:
    """Return a number as it is, and numbers [b] of requests so that they meet an array [b, ...] request by request."""
    return value.reshape(-1, *[1] * (like.ndim - 1)) if _each(value) else value


def restricted(logits: Any, options: Options) -> Any:
    """Put −inf in place of the logits [..., V] that the mask, top-k and top-p drop; the others stay as they are.

    top_p is decided in float64, whatever the type of the logits. No value is looked at on the host. Where a number
    differs from request to request, logits are [B, ..., V].

    Raises:
        ValueError: top_k exceeds V.
    """
    if options.allowed is not None:
        allowed = options.allowed
        while 1 < allowed.ndim < logits.ndim:
            allowed = allowed[:, None]
        logits = logits.masked_fill(~allowed, -torch.inf)
    size, keeps = logits.shape[-1], options.keeps
    if not options.each and keeps is not None and keeps > size:
        raise ValueError(f"top_k keeps k tokens, and k must not exceed the vocabulary; k = {keeps}, V = {size}")
    if not options.each and keeps is None and options.top_p is None:
        return logits
    if options.each or keeps is None or keeps == size:
        ordered, tokens = torch.sort(logits, dim=-1, descending=True, stable=True)
    else:
        tokens = _largest(logits, keeps)
        ordered = logits.gather(-1, tokens)
    if options.each and keeps is not None:
        ranks = torch.arange(size, device=logits.device)
        ordered = ordered.masked_fill(ranks >= column(keeps, logits), -torch.inf)
    if options.top_p is not None:
        ordered = _smallest_prefix(ordered, column(options.divisor, logits), column(options.top_p, logits))
    return torch.full_like(logits, -torch.inf).scatter_(-1, tokens, ordered)


def _smallest_prefix(ordered: Any, divisor: Any, top_p: Any) -> Any:
    gaps = (ordered.double() - ordered[..., :1].double()) / divisor
    sums = torch.softmax(gaps, dim=-1).cumsum(dim=-1)
    # A token stays when the mass BEFORE it has not reached p; the first always does.
    dropped = torch.zeros_like(ordered, dtype=torch.bool)
    dropped[..., 1:] = sums[..., :-1] >= top_p
    return ordered.masked_fill(dropped, -torch.inf)


def _largest(logits: Any, k: int) -> Any:
    """Return the k tokens of the largest logits [..., k] in descending stable order: topk leaves ties open."""
    size = logits.shape[-1]
    least = logits.topk(k, dim=-1).values[..., -1:]
    above = (logits > least).sum(dim=-1, keepdim=True)
    # Keys: tokens above the k-th logit come first in any order, then its equals by their index.
    index = torch.arange(size, device=logits.device)
    behind = torch.where(logits == least, index, size)
    equals = behind.topk(k, dim=-1, largest=False).values
    first = torch.where(logits > least, index, size).topk(k, dim=-1, largest=False).values
    places = torch.arange(k, device=logits.device)
    tokens = torch.where(places < above, first, equals.gather(-1, (places - above).clamp(min=0)))
    # Only a row with NaN, which nothing is promised for, can name `size` here; it must not read beyond its end.
    tokens = tokens.clamp(max=size - 1)
    order = logits.gather(-1, tokens).argsort(dim=-1, descending=True, stable=True)
    return tokens.gather(-1, order)
