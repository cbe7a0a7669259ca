"""A coin that keeps its tosses, for explanations of one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from spec_math.chance import Replaying
from spec_math.masses import Cumulative, FlipAndDraw


@dataclass(frozen=True)
class Toss:
    """One coin as it fell: its uniform, the chance of a test (None for a draw), its answer, and a draw's masses.

    >>> Toss(0.7, 0.5, 0).masses
    ()
    """

    uniform: Any
    chance: Any
    answer: int
    masses: tuple[Any, ...] = ()


class Recording(FlipAndDraw):
    """A coin that decides by given uniforms, as in `replay`, and keeps its tosses.

    >>> from fractions import Fraction
    >>> coin = Recording([0.7, 0.2])
    >>> coin.flip(Fraction(1, 2)), coin.tosses[0].chance, coin.draw([Fraction(1)]), len(coin.tosses)
    (False, Fraction(1, 2), 0, 2)
    """

    def __init__(self, uniforms: Iterable[Any]) -> None:
        self._last: Any = None
        self._coin = Replaying(self._noted(uniforms))
        self.tosses: list[Toss] = []

    def _noted(self, uniforms: Iterable[Any]) -> Iterator[Any]:
        for uniform in uniforms:
            self._last = uniform
            yield uniform

    def flip(self, p: Any) -> bool:
        """Return whether the next uniform is below p."""
        answer = self._coin.flip(p)
        self.tosses.append(Toss(self._last, p, int(answer)))
        return answer

    def draw(self, masses: Any) -> int:
        """Return the token that the next uniform draws."""
        answer = self._coin.draw(masses)
        listed = masses.masses if isinstance(masses, Cumulative) else masses
        self.tosses.append(Toss(self._last, None, answer, tuple(listed)))
        return answer
