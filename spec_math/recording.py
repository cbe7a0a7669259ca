"""Coins that keep what they are asked: the tosses of one run, and the digits of numbers that look rounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import frexp, ldexp
from typing import Any

from spec_math.chance import Coin, Replaying
from spec_math.masses import Cumulative, FlipAndDraw, as_list
from spec_math.verdict_values import Lossy, Reason, Undecided, Verdict


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


DOUBLE, SINGLE, SIMPLE = 53, 24, 8
"""The significant bits of a number in float64 and in float32, and of one that is simple rather than rounded."""


class NotingBits(FlipAndDraw):
    """A coin that notes floats with so few significant bits that they look rounded to float32 or coarser."""

    def __init__(self, coin: Coin, bits: list[int]) -> None:
        self._coin, self._bits = coin, bits

    def flip(self, p: Any) -> bool:
        """Note p, and flip."""
        self._note([p])
        return self._coin.flip(p)

    def draw(self, masses: Any) -> int:
        """Note the masses, and draw."""
        self._note(masses.masses if isinstance(masses, Cumulative) else as_list(masses))
        return self._coin.draw(masses)

    def _note(self, numbers: list[Any]) -> None:
        for number in [] if self._bits else numbers:
            whole = int(ldexp(abs(frexp(float(number))[0]), DOUBLE)) if 0 < number <= 1 else 1
            bits = DOUBLE + 1 - (whole & -whole).bit_length()
            if SIMPLE < bits <= SINGLE:
                self._bits.append(bits)


def finer_in_words(finer: Lossy, bits: list[int]) -> Verdict:
    """Say what a judgement in float64 shows of a verifier that was right to within the rounding of its laws' own type.

    `bits` holds the significant bits of a number that looks rounded there too, and could explain what is wrong.
    """
    said = f"with the same distributions as float64, {finer.reason}"
    if not bits:
        return replace(finer, reason=said)
    coarse = f"; a number that it computed has {bits[0]} significant bits there: it may round to a coarser type"
    return Undecided(Reason.ROUNDING, said + coarse, finer.path)
