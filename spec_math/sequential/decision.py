"""Decisions between candidates that are compared in pairs on the same texts, valid whenever sampling stops.

A unit, such as a text, gives one bounded value of each candidate. Units need not be alike: a mean is the running
average of the conditional means E[x_i | units before i]. A wealth Σ_j w_j Π_i (1 + λ_j y_i), with constant stakes λ_j,
weights w_j that sum to 1 and λ_j y_i > −1, has mean at most 1 where the conditional means of y sum to at most 0. For
with μ_i those means, Π (1 + λ y_i)/(1 + λ μ_i) is a nonnegative martingale, and Π (1 + λ μ_i) ≤ exp(λ Σ μ_i) ≤ 1. So by
Ville it ever reaches 1/α with chance α at most.

Source: Waudby-Smith and Ramdas 2024 (betting), Section 4; Ville 1939. Even-Dar, Mannor and Mansour 2006 (successive
elimination).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, log, nan
from typing import Any, Literal, NamedTuple

import numpy as np

from spec_math.mean import Mean
from spec_math.wording import listed

FLOAT = np.ndarray[Any, np.dtype[Any]]

SHARES = 0.95 * 0.6 ** np.arange(9)
"""Shares of the wealth that the bets may lose; all start with the same money."""

FIRST, GROWTH, HEAD = 16, 1.25, 192
"""Units before the first look, the factor from one look to the next, and how many units later dear candidates enter."""

HALVINGS = 16
"""Halvings of a range on the way to an end of an interval; the end is rounded outwards."""

ROUNDING = 2.0**-20
"""More than a log wealth is off by."""

DECISIVE, DECIDING, STATED = 0.75, 4, 10
"""The share of the allowed error that the decision has. One-sided statements of each candidate: those of the decision;
and those of intervals, 2 ends of its mean, bound, and share each, or of its difference to another one, and 2 ends of
its difference to the taken one and of its bound's difference to itself."""


class Candidate(NamedTuple):
    """One of the things compared: its name, and the range of its values, least ≥ 0.

    One that is `dear` to measure enters later, on fewer units. One that is `bounded` has values that its own never
    exceed in the mean, in the same range, on the same units; they are cheap, and may show that it is slower before it
    is measured.

    Candidates of one `family` count the same chances a_1 ≥ a_2 ≥ … in [0, 1] with other weights, such as one method at
    several lookaheads. `steps` are a candidate's values where the first j chances are 1 and the others 0, j = 0, 1, …:
    a difference of two is linear in the chances, so that it lies between its values at these.

    One `beside` the race is measured for a table alone.
    """

    name: str
    least: float
    most: float
    dear: bool = False
    bounded: bool = False
    family: object = None
    steps: tuple[float, ...] = ()
    beside: bool = False

    def most_above(self, other: Candidate, factor: float = 1.0) -> float:
        """Return the most that its value may lie above `factor` times that of another on one unit.

        >>> short, long = (Candidate("", 1, most, family=1, steps=(1, 2, most)) for most in (2, 3))
        >>> short.most_above(long), long.most_above(short), Candidate("", 1, 3).most_above(short)
        (0.0, 1.0, 2.0)
        """
        if self.family is None or self.family != other.family:
            return self.most - factor * other.least
        return max(mine - factor * theirs for mine, theirs in zip(self.steps, other.steps, strict=True))


@dataclass(frozen=True)
class Terms:
    """The terms of a race: the most units, the confidence, and the relative margin within which two are equivalent.

    With `everyone`, all candidates are measured on all their units, whatever is decided. Dear ones are measured on one
    unit of `thin` in the budget, but on at least `FIRST`.
    """

    budget: int
    confidence: float = 0.99
    margin: float = 0.02
    everyone: bool = False
    thin: int = 1


Measure = Callable[[range, Sequence[int], bool], FLOAT]
"""(units, places, bounds) -> values [units, places] of candidates, or their bounds; fewer rows where the units end."""

Outcome = Literal["take", "equivalent", "undecided"]


@dataclass(frozen=True, eq=False)
class Decision:
    """The end of a race.

    `taken`: the place of the candidate to take, or of the leader where nothing is decided. `rivals`: the places of
    those that are not shown to be slower. `values` and `bounds`: for each candidate those on the first units. `more`:
    about how many more units would decide.

    The decision and all its intervals hold together with the stated confidence. The decision is wrong only where the
    best candidate is beaten in one of its own pairs, so that pairs without it need no share.
    """

    candidates: Sequence[Candidate]
    terms: Terms
    values: list[FLOAT]
    bounds: list[FLOAT]
    outcome: Outcome = "undecided"
    taken: int = 0
    rivals: tuple[int, ...] = ()
    more: int = 0

    @property
    def chance(self) -> float:
        """The chance that each end of an interval fails, at most."""
        return (1 - DECISIVE) * (1 - self.terms.confidence) / (STATED * len(self.candidates))

    @property
    def bar(self) -> float:
        """The log wealth at which a pair is decided."""
        return log(DECIDING * len(self.candidates) / (DECISIVE * (1 - self.terms.confidence)))

    def mean(self, place: int, bound: bool = False) -> Mean:
        """Return the mean of a candidate's values, or of its bounds, with its interval.

        >>> found = race([Candidate("a", 0, 1)], lambda units, places, _: np.full((len(units), 1), 0.5), Terms(64))
        >>> found.mean(0).value, found.mean(0).samples
        (0.5, 16)
        """
        _, least, most, *_ = self.candidates[place]
        return self._stated(interval((self.bounds if bound else self.values)[place], least, most, chance=self.chance))

    @cached_property
    def lead(self) -> Mean:
        """The mean of the taken candidate."""
        return self.mean(self.taken)

    def level(self, place: int) -> Mean:
        """Return a candidate's mean, corrected by the taken one's beyond the units of both."""
        if place == self.taken:
            return self.lead
        return _corrected(self.mean(place), self.lead, self.difference(place, self.taken))

    def bound(self, place: int, level: Mean) -> Mean:
        """Return the mean of a candidate's bounds, corrected by the candidate's own level, and no less than that."""
        own = self.mean(place, bound=True)
        own = replace(own, low=min(max(own.interval[0], level.interval[0]), own.interval[1])) if own.samples else own
        found = _corrected(own, level, self.difference(place, place, bound=True))
        return replace(found, value=min(max(found.value, level.value), found.interval[1])) if found.samples else found

    def share(self, place: int) -> Mean | None:
        """Return the mean of a candidate over that of its bounds, on the same units; None where it has none."""
        one, both = self.candidates[place], min(len(self.values[place]), len(self.bounds[place]))
        if not both:
            return None
        values, bounds = self.values[place][:both], self.bounds[place][:both]
        found = self._stated(interval(values, one.least, one.most, bounds, chance=self.chance)).between(0, 1)
        return replace(found, value=min(found.value, 1.0)) if found.value < 1 + 2.0**-40 else found

    def difference(self, place: int, other: int, bound: bool = False) -> Mean:
        """Return the mean difference of a candidate, or of its bounds, to another on the units of both."""
        me, you, mine = self.candidates[place], self.candidates[other], (self.bounds if bound else self.values)[place]
        both = min(len(mine), len(self.values[other]))
        least, most = (me.least - you.most, me.most - you.least) if bound else (-you.most_above(me), me.most_above(you))
        return self._stated(interval(mine[:both] - self.values[other][:both], least, most, chance=self.chance))

    def _stated(self, found: Mean) -> Mean:
        return replace(found, confidence=self.terms.confidence)

    def complete(self, measure: Measure, until: int, lead: int = 0) -> None:
        """Measure every candidate and every bound on the first units for a table; the taken one on `lead` units."""
        _extend(self, measure, [self.taken], 0 if self.candidates[self.taken].dear else lead, bounds=False)
        for bounds in (False, True):
            _extend(self, measure, range(len(self.candidates)), until, bounds)

    def sentence(self, thing: str = "samples") -> str:
        """Say what to take, or how many more units would decide.

        >>> rows = np.tile([1.0, 0.25], (200, 1))
        >>> pair = [Candidate("A", 0, 1), Candidate("B", 0, 1)]
        >>> race(pair, lambda units, places, _: rows[units][:, places], Terms(200)).sentence()
        'Take A: every other candidate is slower.'
        """
        name, margin = self.candidates[self.taken].name, f"{100 * self.terms.margin:g} %"
        others = [self.candidates[place].name for place in self.rivals]
        shown = listed(others if len(others) <= 3 else [*others[:2], f"{len(others) - 2} others"])
        if self.outcome == "take":
            return f"Take {name}: every other candidate is slower."
        if self.outcome == "equivalent" and self.simplest:
            return f"Take {name}: {name} and {shown} are equivalent within {margin}, and {name} is the simplest."
        if self.outcome == "equivalent":
            return f"Take {name}: no other candidate is more than {margin} faster. As fast may be {shown}."
        return (
            f"Not decided with this budget of {self.terms.budget:,} {thing}: {name} leads, and {shown} may be more "
            f"than {margin} faster. About {self.more:,} more {thing} would decide."
        )

    @property
    def simplest(self) -> bool:
        """True if the taken one is simpler than its rivals, and none is more than the margin slower."""
        return all(self.taken < one and self.beats(one, self.taken, self.terms.margin) for one in self.rivals)

    def beats(self, place: int, other: int, margin: float = 0.0) -> bool:
        """Say whether (1 + margin) times one candidate is shown to be faster than another, or than its bound."""
        me, you, mine = self.candidates[place], self.candidates[other], (1 + margin) * self.values[place]
        for theirs, worst in (
            (self.values[other], you.most_above(me, 1 + margin)),
            (self.bounds[other], you.most - (1 + margin) * me.least),
        ):
            both = min(len(mine), len(theirs))
            if both and log_wealth(mine[:both] - theirs[:both], worst) >= self.bar:
                return True
        return False


def _corrected(own: Mean, base: Mean, apart: Mean) -> Mean:
    """Return a mean as that of a base and of its difference to it, within the intervals of both."""
    both = base + apart
    low, high = max(own.interval[0], both.interval[0]), min(own.interval[1], both.interval[1])
    if own.samples and apart.samples and low <= high:
        return replace(own, value=min(max(both.value, low), high), low=low, high=high)
    return own


def log_wealth(gains: FLOAT, worst: float) -> float:
    """Return the log wealth of bets that gains [n] ≥ −worst have a positive running mean; inf where none can lose.

    Raises:
        ValueError: a gain below −worst.

    >>> log_wealth(np.ones(10), 1.0) > 4 > log_wealth(np.zeros(10), 1.0)
    True
    """
    _check(gains, -worst, inf, "gains")
    if worst <= 0:
        return inf if gains.any() else 0.0
    odds = np.maximum(gains, -worst) / worst
    grown = np.log1p(np.multiply.outer(SHARES, odds)).sum(axis=1)
    return float(np.logaddexp.reduce(grown)) - log(len(SHARES)) - ROUNDING


def interval(values: FLOAT, least: float, most: float, of: FLOAT | None = None, *, chance: float = 0.005) -> Mean:
    """Return the mean of values [n] in [least, most] with an interval that holds at every n, or their share of others.

    Each end is missed with that chance at most, ever. The share is the ratio of the running averages, where the others
    lie in [least, most] too, 0 ≤ least < most. A bet that the mean is above r gains s (x − r u)/(r most − least), which
    falls in r, and one that it is below gains s (r u − x)/(most − r least), which rises in r, for least ≤ x, u ≤ most.
    So each end is found by halving.

    Raises:
        ValueError: a value outside the range.

    >>> found = interval(np.array([0.0, 1.0] * 50), 0.0, 1.0)
    >>> found.value, [round(end, 2) for end in found.interval]
    (0.5, [0.32, 0.68])
    >>> interval(np.full(99, 1.0), 0.0, 2.0, np.full(99, 2.0)).value
    0.5
    """
    _check(values, least, most, "a mean")
    if not len(values) or least == most:
        return Mean(least if len(values) else nan, 0.0, len(values), least, most, 1 - 2 * chance)
    units, low, high = (np.ones(len(values)), 1.0, 1.0) if of is None else (of, least, most)
    mean = float(values.mean() / units.mean())
    floor, top = (least, most) if of is None else (0.0, max(1.0, mean))
    bar = -log(chance)

    def end(out: float, rejected: Callable[[float], bool]) -> float:
        inside = mean
        for _ in range(HALVINGS):
            middle = (out + inside) / 2
            out, inside = (middle, inside) if rejected(middle) else (out, middle)
        return out

    below = end(floor, lambda r: log_wealth(values - r * units, r * high - least) >= bar)
    above = end(top, lambda r: log_wealth(r * units - values, most - r * low) >= bar)
    spread = float((values - mean * units).std() / units.mean())
    return Mean(mean, spread / len(values) ** 0.5, len(values), below, above, 1 - 2 * chance)


def _check(values: FLOAT, least: float, most: float, name: str) -> None:
    slack = 2.0**-40 * max(1.0, abs(least), 0.0 if most == inf else abs(most))
    if len(values) and not (values.min() >= least - slack and values.max() <= most + slack):
        raise ValueError(f"{name}: values must lie in [{least:g}, {most:g}]; got {values.min():g} to {values.max():g}")


def race(candidates: Sequence[Candidate], measure: Measure, terms: Terms) -> Decision:
    """Compare candidates, the simplest first, until one is known to be at most the margin slower than every other.

    At each look, candidates that are shown to be slower than the leader go out, and are measured no more. The race ends
    when one is left, or when some candidate is shown to be at most the margin slower than all that are left: then the
    simplest such one is taken. Units are asked for by their numbers, from 0 on.

    Raises:
        ValueError: no candidates, a budget below 1, or values outside their candidate's range.

    >>> rows = np.tile([1.0, 1.0, 0.25], (2000, 1))
    >>> three = [Candidate(name, 0, 2) for name in "ABC"]
    >>> found = race(three, lambda units, places, _: rows[units][:, places], Terms(2000))
    >>> found.outcome, [found.candidates[place].name for place in (found.taken, *found.rivals)]
    ('equivalent', ['A', 'B'])
    """
    if not candidates or terms.budget < 1:
        raise ValueError(f"a race needs candidates and a positive budget; got {len(candidates)} and {terms.budget}")
    every = [place for place, one in enumerate(candidates) if not one.beside]
    none: list[FLOAT] = [np.empty(0) for _ in candidates]
    found = Decision(candidates, terms, none, list(none), taken=every[0], rivals=tuple(every[1:]))
    mixed = not all(one.dear for one in candidates)
    head, most = (HEAD, max(FIRST, terms.budget // terms.thin)) if mixed else (0, terms.budget)
    look = 0
    while True:
        look = min(terms.budget, max(FIRST, int(GROWTH * look)))
        active = every if terms.everyone else sorted({found.taken, *found.rivals})
        late = min(most, look if terms.everyone or look == terms.budget else max(0, look - head))
        before = [len(rows) for rows in found.values]
        bounded = [place for place in active if candidates[place].bounded]
        for places, until, bounds in (
            ([place for place in active if not candidates[place].dear], look, False),
            (bounded, min(look, HEAD), True),
            ([place for place in active if candidates[place].dear], late, False),
        ):
            _extend(found, measure, places, until, bounds)
        found = _looked(found, sorted({found.taken, *found.rivals}))
        ended = look == terms.budget or (late > 0 and before == [len(rows) for rows in found.values])
        if (found.outcome != "undecided" and not terms.everyone) or ended:
            return found


def _extend(found: Decision, measure: Measure, places: Sequence[int], until: int, bounds: bool) -> None:
    """Measure candidates, or their bounds, on further units."""
    rows = found.bounds if bounds else found.values
    for start in sorted({len(rows[place]) for place in places}):
        own = [place for place in places if len(rows[place]) == start]
        if start < until:
            for place, column in zip(own, measure(range(start, until), own, bounds).T, strict=True):
                _check(column, *found.candidates[place][1:3], found.candidates[place].name)
                rows[place] = np.concatenate([rows[place], column])


def _looked(found: Decision, active: Sequence[int]) -> Decision:
    """Decide at one look, between those that are still active."""
    measured = [place for place in active if len(found.values[place])]
    if not measured:
        return found
    first = max(measured, key=lambda place: (len(found.values[place]), found.values[place].mean(), -place))
    level = float(found.values[first].mean())

    def estimate(place: int) -> float:
        both = len(found.values[place])
        return level + float((found.values[place] - found.values[first][:both]).mean())

    leader = max(measured, key=lambda place: (estimate(place), -place))
    left = [place for place in active if place == leader or not found.beats(leader, place)]
    near = [place for place in left if place in measured]
    near = [place for place in near if (1 + found.terms.margin) * estimate(place) >= estimate(leader)]

    def enough(place: int) -> bool:
        return all(found.beats(place, one, found.terms.margin) for one in left if one != place)

    good = next((place for place in near if enough(place)), None)
    taken = leader if good is None else good
    rivals = tuple(place for place in left if place != taken)
    outcome: Outcome = "take" if not rivals else "undecided" if good is None else "equivalent"
    more = 0 if outcome != "undecided" else max(_more(found, leader, one) for one in rivals)
    return replace(found, outcome=outcome, taken=taken, rivals=rivals, more=more)


def _more(found: Decision, leader: int, other: int) -> int:
    """Return about how many more units settle a pair, one way or the other, in two significant digits."""
    mine, theirs = found.values[leader], found.values[other]
    if not len(theirs):
        theirs = found.bounds[other]
    both, bar, needed = min(len(mine), len(theirs)), found.bar, inf
    if not both:
        return FIRST
    for factor in (1.0, 1 + found.terms.margin):
        gains = factor * mine[:both] - theirs[:both]
        gap = max(float(gains.mean()), found.terms.margin / 2 * float(mine.mean()), 2.0**-20)
        worst = found.candidates[other].most_above(found.candidates[leader], factor)
        needed = min(needed, bar * (2 * float(gains.var()) / gap**2 + worst / gap))
    pair = found.candidates[leader], found.candidates[other]
    if any(one.dear for one in pair) and not all(one.dear for one in found.candidates):
        needed, both = found.terms.thin * needed, found.terms.budget
    return int(float(f"{max(1.0, needed - both):.2g}"))
