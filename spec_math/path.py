"""One way through a program that tosses coins: what it returned, with what probability, and by which choices.

Source: worked out here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spec_math.masses import in_short
from spec_math.number_types import as_text

Choice = tuple[str, Any, list[tuple[Any, Any]], int]
"""Flip or draw, what was asked, the answers with their masses, and which of them was given."""


@dataclass(frozen=True)
class Path:
    """One way through a program: what it returned, with what probability, and each choice made on the way.

    >>> from fractions import Fraction
    >>> half = Fraction(1, 2)
    >>> Path("heads", half, (("flip", half, [(True, half), (False, half)], 0),)).choices
    ('flip(1/2) = True',)
    """

    outcome: Any
    mass: Any
    taken: tuple[Choice, ...]

    @property
    def choices(self) -> tuple[str, ...]:
        """The choices in words; they are put into words when they are asked for, as most walks never ask."""
        return in_words(self.taken)


def in_words(taken: tuple[Choice, ...]) -> tuple[str, ...]:
    """Put the choices of a path into words.

    >>> in_words((("draw", [0.5, 0.5], [(0, 0.5), (1, 0.5)], 1),))
    ('draw(0.5, 0.5) = 1',)
    """
    return tuple(
        f"{kind}({in_short(question) if kind == 'draw' else as_text(question)}) = {options[at][0]}"
        for kind, question, options, at in taken
    )
