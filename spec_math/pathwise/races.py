"""The joint law of the winners of several races of the same exponential clocks, run at different rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import inf
from typing import Any

from spec_math.pathwise.atom import Atom, ExploreError
from spec_math.pathwise.clock import Clock


def race(entries: Sequence[Any], smallest: bool) -> int:
    """Return the index of the smallest (or largest) of numbers made of clocks: i with chance rate_i / Σ rates.

    A further race with the same noise is drawn from its law given the earlier ones, see `races.joint`.

    Raises:
        ExploreError: the entries are not all numbers of one kind whose winner is the clock that rings first.

    >>> import numpy as np
    >>> from spec_math.pathwise.exploration import explore
    >>> explore(lambda: int(np.argmin(np.random.default_rng().exponential(size=2) / np.array([1, 3], dtype=object))))
    {0: Fraction(1, 4), 1: Fraction(3, 4)}
    """
    if any(hasattr(entry, "as_noise") for entry in entries):
        entries = [entry.as_noise() if hasattr(entry, "as_noise") else _logarithm(entry) for entry in entries]
    clocks = [entry for entry in entries if isinstance(entry, Clock)]
    plain = [entry for entry in entries if not isinstance(entry, Clock)]
    # A token of mass 0 may have left a plain number, 0/E = 0 or E/0 = inf, which no ring loses to.
    inverse = all(not clock.is_log and clock.power * clock.sign < 0 < clock.sign for clock in clocks)
    if not clocks or any(not _never_wins(number, smallest, inverse) for number in plain):
        raise ExploreError("argmin and argmax are followed over exponential or Gumbel noise only")
    if any(clock.rings_late != smallest for clock in clocks):
        raise ExploreError(
            "a race is won by the clock that rings first: argmin of E/w, argmax of w/E or of Gumbel noise"
        )
    kinds = {(clock.is_log, clock.factor if clock.is_log else (clock.power, clock.sign)) for clock in clocks}
    if len(kinds) > 1:
        raise ExploreError("the numbers of one race are made in different ways; explore follows one")
    for clock in clocks:
        clock.atom.become("clock")
        clock.atom.settle(clock.guard)
    rates = {clock.atom: Fraction(clock.rate) for clock in clocks}
    if len(rates) < len(clocks):
        raise ExploreError("one clock takes part in a race twice")
    if not any(rates.values()):
        return 0  # all equal: argmin and argmax return the first
    winner = _winner(rates)
    return next(i for i, entry in enumerate(entries) if isinstance(entry, Clock) and entry.atom is winner)


def _logarithm(entry: Any) -> Any:
    """A number beside uniforms: 0 is what a token of mass 0 has in u ** (1/w), and infinity in u ** (−1/w)."""
    if isinstance(entry, Clock) or entry not in (0, inf):
        raise ExploreError("argmin and argmax are followed over exponential or Gumbel noise, or over uniforms, only")
    return entry or -inf


def _never_wins(number: Any, smallest: bool, inverse: bool) -> bool:
    """True if a number loses to every ring: 0 does to w/E alone, and not to −E, nor to the logarithm of either."""
    return number == float("inf") if smallest else (number == float("-inf") or (inverse and number == 0))


def _winner(rates: dict[Atom, Fraction]) -> Atom:
    tape = next(iter(rates)).tape
    for atom in rates:
        if atom.unsettled is not None:
            atom.unsettled()
    past = _entangled(rates)
    for known, winner in past:
        totals = sum(known.values()), sum(rates.values())
        if all(known.get(one, 0) * totals[1] == rates.get(one, 0) * totals[0] for one in {**known, **rates}):
            return winner  # it is the same race
    atoms = list(dict.fromkeys(atom for known in (*(race for race, _ in past), rates) for atom in known))
    listed = [[known.get(atom, Fraction(0)) for atom in atoms] for known in (*(race for race, _ in past), rates)]
    won = [atoms.index(winner) for _, winner in past]
    chances = [joint(listed, [*won, y]) for y in range(len(atoms))]
    total = sum(chances, Fraction(0))
    asked = f"the race of {', '.join(atom.name for atom in rates)}"
    result = atoms[tape.draw(asked, [chance / total for chance in chances], (rates, past))]
    for atom in rates:
        atom.races.append((rates, result))
    return result


def _entangled(rates: dict[Atom, Fraction]) -> list[tuple[dict[Atom, Fraction], Atom]]:
    """Return the earlier races that say something of these atoms: theirs, those of the atoms in them, and so on."""
    found: list[tuple[dict[Atom, Fraction], Atom]] = []
    atoms, seen = list(rates), set(rates)
    for atom in atoms:
        for known in atom.races:
            if not any(known is one for one in found):
                found.append(known)
                atoms += [other for other in known[0] if other not in seen]
                seen.update(known[0])
    return found


Bounds = list[list[Fraction]]
"""bounds[a][b] is the r of the condition s_a ≥ r·s_b; 0 where there is no such condition."""


def joint(rates: Sequence[Sequence[Fraction]], winners: Sequence[int]) -> Fraction:
    """Return P(argmin E/rates[j] = winners[j] for all j), for independent exponentials E of rate 1, in rationals.

    The law: let Y be the set of winners, s_y the noise of y in Y, and R(i, y) the largest rates[j][i] / rates[j][y]
    over the races that y won. All E_i ≥ R(i, y)·s_y, so that the chance is ∫ exp(−Σ s_y − Σ_i max_y R(i, y)·s_y) ds
    over i outside Y and the s > 0 with s_y ≥ R(y, z)·s_z. A rate of 0 never wins.

    >>> half, one, none = Fraction(1, 2), Fraction(1), Fraction(0)
    >>> joint([[half, half], [one, none]], [1, 0])
    Fraction(1, 2)
    """
    if any(race[x] == 0 for race, x in zip(rates, winners, strict=True)):
        return Fraction(0)
    found = sorted(set(winners))
    needs = [
        [max(race[i] / race[y] for race, x in zip(rates, winners, strict=True) if x == y) for y in found]
        for i in range(len(rates[0]))
    ]
    bounds = _closed([[needs[y][b] if y != found[b] else Fraction(0) for b in range(len(found))] for y in found])
    if bounds is None:
        return Fraction(0)
    # Tokens whose needs are proportional have their maximum at one place: they count as one.
    merged: dict[tuple[Fraction, ...], Fraction] = {}
    slopes = [Fraction(1)] * len(found)
    for i, row in enumerate(needs):
        if i in found:
            continue
        places = [b for b, need in enumerate(row) if need]
        if len(places) == 1:
            slopes[places[0]] += row[places[0]]
        elif places:
            size = sum(row, Fraction(0))
            direction = tuple(need / size for need in row)
            merged[direction] = merged.get(direction, Fraction(0)) + size
    return _over_cells(bounds, slopes, list(merged.items()))


def _over_cells(
    bounds: Bounds, slopes: list[Fraction], left: Sequence[tuple[tuple[Fraction, ...], Fraction]]
) -> Fraction:
    """Add up the integral over the cells in which each maximum of those left is at one place."""
    if not left:
        return _integral(bounds, slopes)
    (direction, size), *rest = left
    total = Fraction(0)
    for place, need in enumerate(direction):
        inside = _extreme_at(bounds, place, direction, largest=True) if need else None
        if inside is not None:
            total += _over_cells(inside, _raised(slopes, place, size * need), rest)
    return total


def _integral(bounds: Bounds, slopes: Sequence[Fraction]) -> Fraction:
    """Return ∫ exp(−slopes·s) ds over the s > 0 that keep the bounds, which are closed.

    One variable at a time: ∫ exp(−c·s) ds = (exp(−c·L) − exp(−c·U))/c from its largest lower bound L to its least upper
    bound U, each of which is r·s_b for one b in each cell of the others. An empty L is 0, an empty U infinite.
    """
    last = len(slopes) - 1
    if last == 0:
        return 1 / slopes[0]
    slope = slopes[last]
    below = bounds[last][:last]
    # s_b ≥ r·s_last bounds it from above by s_b/r.
    above = [1 / bounds[b][last] if bounds[b][last] else Fraction(0) for b in range(last)]
    rest = [row[:last] for row in bounds[:last]]
    total = Fraction(0) if any(below) else _integral(rest, slopes[:last])
    # The largest of the lower bounds counts, and the least of the upper ones, which is taken off.
    for factors, largest, sign in ((below, True, 1), (above, False, -1)):
        for place, factor in enumerate(factors):
            inside = _extreme_at(rest, place, factors, largest) if factor else None
            if inside is not None:
                total += sign * _integral(inside, _raised(slopes[:last], place, slope * factor))
    return total / slope


def _raised(slopes: Sequence[Fraction], place: int, by: Fraction) -> list[Fraction]:
    return [slope + (by if b == place else 0) for b, slope in enumerate(slopes)]


def _extreme_at(bounds: Bounds, place: int, factors: Sequence[Fraction], largest: bool) -> Bounds | None:
    """Add the conditions that factors[place]·s_place is the largest, or the least, of the factors[b]·s_b with a factor.

    None where no volume is left.
    """
    tighter = [list(row) for row in bounds]
    for b, factor in enumerate(factors):
        if b != place and factor:
            above, below = (place, b) if largest else (b, place)
            tighter[above][below] = max(tighter[above][below], factors[below] / factors[above])
    return _closed(tighter)


def _closed(bounds: Bounds) -> Bounds | None:
    """Return bounds with all that follow from two of them; None where they leave no volume."""
    size = len(bounds)
    for through, a, b in product(range(size), repeat=3):
        bounds[a][b] = max(bounds[a][b], bounds[a][through] * bounds[through][b])
    if any(bounds[a][a] >= 1 for a in range(size)):
        return None
    for a in range(size):
        bounds[a][a] = Fraction(0)
    return bounds


class Race:
    """Clocks that race when somebody asks; called, it returns the index of the one that rings first.

    The law: i wins with chance rate_i / Σ rates. `is_won_by(i)` forks in two where a winner among V would fork in V,
    and what is asked afterwards has its law given the answers. A clock that has raced before is raced as a whole, and
    one that races again elsewhere has its winner here drawn first, so that the joint law of the two is kept.

    >>> from spec_math import law
    >>> from spec_math.pathwise.atom import Atom
    >>> from spec_math.pathwise.tape import Tape
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
                left, first = self._left(), self.entered()[0].atom
                asked = f"the rest of the race of {first.name}"
                self._won(first.tape.draw(asked, [one / sum(left) for one in left], (self._rates(), [])))
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
        sides = [[index], [other for other, rate in enumerate(left) if rate and other != index]]
        asked = f"whether {index} wins the race of {first.name}"
        if first.tape.flip(asked, left[index] / sum(left), (self._rates(), sides)):
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
        """True if nothing but this race says anything of its clocks, and each of them is a ring as it was drawn."""
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

    def _rates(self) -> dict[Atom, Fraction]:
        return {one.atom: Fraction(one.rate) for one in self.entered()}

    def _won(self, index: int) -> None:
        """Note the winner where later races look for what is known of their clocks."""
        self._winner = index
        clocks = self.entered()
        known = self._rates(), clocks[index].atom
        for one in clocks:
            one.atom.become("clock")
            one.atom.unsettled = None
            one.atom.races.append(known)
