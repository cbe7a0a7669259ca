"""How logits become laws: temperature, then top-k, then top-p, the same for the target's rows and the draft's.

Source: TokenTiming, Table 5, for temperature, top-k and top-p.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from spec_math.arrays import count


@dataclass(frozen=True)
class Options:
    """What is applied to every row of logits, and how the work is done.

    temperature: logits are divided by it; 0 is the one-hot law of the first maximum. top_k keeps exactly k tokens,
    lowest index first among equal logits. top_p keeps the smallest prefix of the descending stable order with mass ≥ p,
    after top_k. check: look at the data before anything is launched, which waits for the device; without it nothing
    does. chunk_bytes: how much of the laws is held at a time; None takes 8 MiB on a CPU, 256 MiB elsewhere.

    Raises:
        TypeError, ValueError: a temperature below 0 or not finite, top_k no count, top_p outside (0, 1].

    >>> Options(temperature=0.7, top_k=50).top_p
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    check: bool = True
    chunk_bytes: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise ValueError(
                f"a temperature must be finite and >= 0; got {self.temperature}; 0 means the first maximum alone"
            )
        if self.top_k is not None:
            count(self.top_k, "top_k")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be a mass in (0, 1]; got {self.top_p}; None keeps every token")
        if self.chunk_bytes is not None:
            count(self.chunk_bytes, "chunk_bytes")

    @property
    def keeps(self) -> int | None:
        """How many tokens are kept at most: top_k, and 1 at temperature 0."""
        return 1 if self.temperature == 0 else self.top_k

    @property
    def divisor(self) -> float:
        """What gaps between logits are divided by; with one token left it does not matter."""
        return self.temperature or 1.0

    @property
    def restricts(self) -> bool:
        """Whether some tokens may lose all their mass."""
        return self.keeps is not None or self.top_p is not None


DEFAULT = Options()


def restricted(logits: Any, options: Options) -> Any:
    """Put −inf in place of the logits [..., V] that top-k and top-p drop; the others stay as they are.

    top_p is decided in float64, whatever the type of the logits. No value is looked at on the host.

    Raises:
        ValueError: top_k exceeds V.

    >>> restricted(torch.tensor([1.0, 2.0, 2.0]), Options(top_k=1)).tolist()
    [-inf, 2.0, -inf]
    """
    size = logits.shape[-1]
    if options.keeps is not None and options.keeps > size:
        raise ValueError(f"top_k keeps k tokens, and k must not exceed the vocabulary; k = {options.keeps}, V = {size}")
    if not options.restricts:
        return logits
    if options.keeps is None or options.keeps == size:
        ordered, tokens = torch.sort(logits, dim=-1, descending=True, stable=True)
    else:
        tokens = _largest(logits, options.keeps)
        ordered = logits.gather(-1, tokens)
    if options.top_p is not None:
        gaps = (ordered.double() - ordered[..., :1].double()) / options.divisor
        sums = torch.softmax(gaps, dim=-1).cumsum(dim=-1)
        # A token stays when the mass BEFORE it has not reached p; the first always does.
        dropped = torch.zeros_like(ordered, dtype=torch.bool)
        dropped[..., 1:] = sums[..., :-1] >= options.top_p
        ordered = ordered.masked_fill(dropped, -torch.inf)
    return torch.full_like(logits, -torch.inf).scatter_(-1, tokens, ordered)


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
