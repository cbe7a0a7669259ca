"""What is done to a uniform after a power was taken of it: monotone steps, through which a threshold is carried back.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, Protocol

Bend = tuple[Literal["scale", "shift", "power"], Fraction]
"""x · c, x + c, or x to the power c of an x that is not negative."""


class Meeting(Protocol):
    """What a threshold needs of the tape."""

    exact: bool

    def meet(self, number: Fraction) -> None:
        """Note a binary float."""
        ...


def positive(scale: Fraction, shift: Fraction, bends: Sequence[Bend]) -> bool:
    """Say whether scale · U + shift, so bent, is never negative.

    >>> positive(Fraction(-1), Fraction(1), [("power", Fraction(-1)), ("scale", Fraction(2))])
    True
    """
    if not bends:
        return min(shift, shift + scale) >= 0
    start = max((place for place, (kind, _) in enumerate(bends) if kind == "power"), default=-1)
    return all(c >= 0 for _, c in bends[start + 1 :])


def rising(bends: Sequence[Bend]) -> bool:
    """Say whether the steps keep the order.

    >>> rising([("power", Fraction(-1)), ("scale", Fraction(-2))])
    True
    """
    return sum(kind != "shift" and c < 0 for kind, c in bends) % 2 == 0


def unbent(threshold: Fraction, bends: Sequence[Bend], tape: Meeting) -> Fraction | bool:
    """Return the number that the steps carry to a threshold; where it lies below all powers, whether it is not reached.

    >>> from spec_math.audit.exploration.tape import Tape
    >>> unbent(Fraction(3), [("power", Fraction(-1)), ("shift", Fraction(1))], Tape())
    Fraction(1, 2)
    """
    for place in range(len(bends) - 1, -1, -1):
        kind, c = bends[place]
        if kind == "scale":
            threshold /= c
        elif kind == "shift":
            threshold -= c
        elif threshold <= 0:
            return not rising(bends[place + 1 :])
        else:
            threshold = _root(threshold, c, tape)
    return threshold


def shown(base: str, bends: Sequence[Bend]) -> str:
    """Return the steps in words.

    >>> shown("u", [("power", Fraction(-1)), ("scale", Fraction(2))])
    '(u)^-1 · 2'
    """
    for kind, c in bends:
        base = f"({base})^{c}" if kind == "power" else f"{base} · {c}" if kind == "scale" else f"{base} + {c}"
    return base


def _root(value: Fraction, power: Fraction, tape: Meeting) -> Fraction:
    if abs(power) == 1:
        return value ** int(power)
    found = Fraction(float(value) ** float(1 / power))
    tape.meet(found)
    return found
