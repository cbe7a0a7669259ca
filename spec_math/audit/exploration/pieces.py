"""One race of exponential clocks that is asked about in pieces: whether this one wins, and only then which does.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from spec_math.audit.exploration.clock import Clock, race


class Race:
    """Clocks that race when somebody asks; called, it returns the index of the one that rings first.

    The law: i wins with chance rate_i / Σ rates. `is_won_by(i)` forks in two where a winner among V would fork in V,
    and what is asked afterwards has its law given the answers. A clock that has raced before is raced as a whole, and
    one that races again elsewhere has its winner here drawn first, so that the joint law of the two is kept.

    >>> from spec_math import law
    >>> from spec_math.audit.exploration.atom import Atom
    >>> from spec_math.audit.exploration.tape import Tape
    >>> def second_of_three(coin):
    ...     tape = Tape()
    ...     tape.begin(coin)
    ...     clocks = [Clock(Atom(tape, name, None)) for name in "abc"]
    ...     return Race(lambda: [clocks[0], clocks[1] / 2, clocks[2]]).is_won_by(1)
    >>> law(second_of_three)
    {True: Fraction(1, 2), False: Fraction(1, 2)}
    """

    def __init__(self, clocks: Callable[[], Sequence[Clock]]) -> None:
        self._made = clocks
        self._clocks: Sequence[Clock] | None = None
        self._lost: set[int] = set()
        self._winner: int | None = None

    def __call__(self) -> int:
        """Return the index of the clock that rings first."""
        if self._winner is None:
            again = self._asked_before()
            if self._lost:
                self._won(self._drawn())
            else:
                self._winner = race(self.entered(), smallest=True) if again is None else again()
        return self._winner if self._winner is not None else 0

    def is_won_by(self, index: int) -> bool:
        """Return whether a clock rings first; the others need not be told apart."""
        again = self._asked_before()
        if again is not None:
            return again.is_won_by(index)
        if self._winner is not None or not self._alone():
            return self() == index
        if index in self._lost or not 0 <= index < len(self.entered()):
            return False
        left = self._left()
        first = self.entered()[0].atom
        if first.tape.flip(f"whether {index} wins the race of {first.name}", left[index] / sum(left)):
            self._won(index)
            return True
        self._lost.add(index)
        for clock in self.entered():
            clock.atom.become("clock")
            clock.atom.unsettled = self
        return False

    def may_win(self) -> list[int]:
        """Return the clocks that may ring first, by what has been answered: those of some rate that have not lost."""
        asked = self._asked_before() or self
        return [index for index, rate in enumerate(asked._left()) if rate]

    def _asked_before(self) -> Race | None:
        """The race of the same clocks that was asked about, if there is one: noise may be drawn a second time."""
        entered = self.entered()
        other = entered[0].atom.unsettled if entered else None
        if other is None or other is self:
            return None
        mine, known = ([(one.atom, one.rate) for one in clocks] for clocks in (entered, other.entered()))
        return other if mine == known else None

    def _alone(self) -> bool:
        """Whether nothing but this race says anything of its clocks, and each of them is a ring as it was drawn."""
        clocks = self.entered()
        plain = all(not one.is_log and (one.power, one.sign, one.guard) == (1, 1, 0) for one in clocks)
        apart = all(not one.atom.races and one.atom.unsettled in (None, self) for one in clocks)
        return plain and apart and len({one.atom for one in clocks}) == len(clocks) and any(self._left())

    def entered(self) -> Sequence[Clock]:
        """Return the clocks that race."""
        if self._clocks is None:
            self._clocks = self._made()
        return self._clocks

    def _left(self) -> list[Fraction]:
        """Return the rates of the clocks that have not lost, 0 for the others."""
        return [Fraction(0) if n in self._lost else Fraction(one.rate) for n, one in enumerate(self.entered())]

    def _drawn(self) -> int:
        left, first = self._left(), self.entered()[0].atom
        return first.tape.draw(f"the rest of the race of {first.name}", [one / sum(left) for one in left])

    def _won(self, index: int) -> None:
        """Note the winner where later races look for what is known of their clocks."""
        self._winner = index
        clocks = self.entered()
        known = {one.atom: Fraction(one.rate) for one in clocks}, clocks[index].atom
        for one in clocks:
            one.atom.become("clock")
            one.atom.unsettled = None
            one.atom.races.append(known)
