"""A coin that replays a program from a row of uniforms in a tensor, by comparisons alone, which can be followed.

Source: worked out here.
"""

from __future__ import annotations

from typing import Any

from spec_math.chance import Cumulative


class TensorCoin:
    """Each flip and each draw takes the next uniform [C]: `flip(p)` is u < p, `draw(v)` the first i beyond u·Σv.

    The decisions are those of `spec_math.chance.replay`; the uniforms may be random numbers that `explore` follows.

    >>> import torch
    >>> coin = TensorCoin(torch.tensor([0.25, 0.5], dtype=torch.float64))
    >>> coin.flip(0.5), coin.draw([0.25, 0.75])
    (True, 1)
    """

    def __init__(self, uniforms: Any) -> None:
        self._uniforms = uniforms
        self._used = 0

    def flip(self, p: Any) -> bool:
        """Return whether the next uniform is below p."""
        return bool(self._next() < float(p))

    def draw(self, masses: Any) -> int:
        """Return the token that the next uniform draws from masses [V]; never one of mass 0."""
        law = masses if isinstance(masses, Cumulative) else Cumulative(masses)
        point = self._next() * law.sums[-1]
        low, high = 0, len(law.sums) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if bool(point < law.sums[middle]) else (middle + 1, high)
        while law.masses[low] == 0:
            low -= 1
        return low

    def _next(self) -> Any:
        self._used += 1
        return self._uniforms[self._used - 1]
