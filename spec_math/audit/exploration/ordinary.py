"""Ordinary numbers for a path that was walked: the code run on them must do what it did on what stood for them.

Objects stand for random numbers while a function is explored. Code that asks for their type, shows them, catches the
error of a use that is not followed, or writes them where they are lost, does something else on ordinary numbers; this
finds it, whatever the use was.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from math import isfinite, log
from typing import Any

from spec_math.audit.exploration.atom import Atom

COARSE, FINE, NARROW = Fraction(1, 64), Fraction(1, 10**4), Fraction(1, 10**9)
"""How wide an interval of a uniform must be for rounding not to decide: of a path that returns, where no float has more
digits than half precision has, and where one has; and of a path that fails.
"""

_HALF = 11
"""The binary digits of a number in half precision."""

_WHERE = ((0.25, 0.5), (0.03, 0.04), (0.93, 0.04))
"""Where in an interval numbers are chosen, by their seed: in the middle of it, near its start, or near its end."""

_TRIES = 400
_MARGIN = 1.001
"""By how much a race is won, so that rounding does not turn it."""
_CLOSE = 1e-6
"""How close a number in its own type must be to the one chosen: half precision is not asked."""


def numbers_for(atoms: Sequence[Atom], seed: int, width: Fraction) -> dict[Atom, Any] | None:
    """Return a number for each uniform of a path that decides it as the path did; None where none is found.

    The number is that of the atom: u in [0, 1), or k of a grid. Numbers keep away from the ends of their intervals.

    >>> from spec_math.audit.exploration.tape import Tape
    >>> atom = Atom(Tape(), "u", None)
    >>> found = numbers_for([atom], 3, COARSE)
    >>> found is not None and Fraction(1, 4) < found[atom] < Fraction(3, 4)
    True
    """
    if any(atom.bits is None and not atom.races and atom.high - atom.low < width for atom in atoms):
        return None
    races = {id(race): race for atom in atoms for race in atom.races}
    winners = {winner for _, winner in races.values()}
    stream = _stream(seed)
    start, reach = _WHERE[seed % len(_WHERE)]
    for turn in range(_TRIES):
        hurry = 6 * turn / _TRIES
        found = {
            atom: _raced(atom, next(stream), hurry if atom in winners else 0)
            if atom.races
            else _between(atom, start + reach * next(stream))
            for atom in atoms
        }
        if all(_won(race, found) for race in races.values()):
            return found if all(_is_close(atom, number) for atom, number in found.items()) else None
        if not races:
            return None
    return None


def width_for(exact: bool, digits: Collection[int]) -> Fraction:
    """Return how wide an interval must be, by the digits of the floats that random numbers were compared with.

    >>> width_for(False, {3, 11}), width_for(False, {53})
    (Fraction(1, 64), Fraction(1, 10000))
    """
    return FINE if exact or max(digits, default=0) > _HALF else COARSE


def ring(atom: Atom, number: Any) -> float:
    """Return the time of the ring of an atom's clock: e to the minus of it is the atom's number.

    >>> from spec_math.audit.exploration.tape import Tape
    >>> ring(Atom(Tape(), "u", None), 1.0)
    -0.0
    """
    return -log(number if atom.bits is None else (number or 0.5) / (1 << atom.bits))


def _raced(atom: Atom, share: float, hurry: float) -> Any:
    """Choose a number of which a clock is made; that of a winner rings early."""
    share = 0.02 + 0.96 * share
    return _between(atom, 1 - (1 - share) * 10 ** (-hurry * share))


def _between(atom: Atom, share: float) -> Any:
    """Return the number that lies so far into an atom's interval."""
    if atom.bits is None and atom.low == 0 and atom.high == 1:
        return share  # as nearly all clocks are: the number that Fractions would give, digit for digit
    number = atom.low + (atom.high - atom.low) * Fraction(share)
    return float(number) if atom.bits is None else int(number)


def _won(race: tuple[dict[Atom, Fraction], Atom], found: dict[Atom, Any]) -> bool:
    rates, winner = race
    times = {atom: ring(atom, found[atom]) / float(rate) for atom, rate in rates.items() if rate and float(rate)}
    mine = times.get(winner)
    return mine is not None and all(
        0 < mine * _MARGIN < time and isfinite(time) for atom, time in times.items() if atom is not winner
    )


def _is_close(atom: Atom, number: Any) -> bool:
    return atom.bits is not None or atom.number is None or abs(float(atom.number(number)) - number) < _CLOSE


def _stream(seed: int) -> Iterator[float]:
    """Numbers in [0, 1) of a generator that is nobody else's."""
    state = seed * 2 + 1
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        yield (state >> 11) / (1 << 53)
