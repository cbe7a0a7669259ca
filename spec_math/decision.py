"""Decisions between candidates that are compared in pairs on the same texts, valid whenever sampling stops.

A unit, such as a text, gives one bounded value of each candidate. Units need not be alike: S is the running average of
the conditional means E[x_i | units before i]. A wealth Σ_j w_j Π_i (1 + λ_j y_i), with constant stakes λ_j, weights w_j
that sum to 1 and λ_j y_i > −1, has mean at most 1 where the conditional means of y sum to at most 0. For with μ_i those
means, Π (1 + λ y_i)/(1 + λ μ_i) is a nonnegative martingale, and Π (1 + λ μ_i) ≤ exp(λ Σ μ_i) ≤ 1. So by Ville it ever
reaches 1/α with chance α at most.

Source: Waudby-Smith and Ramdas 2024 (betting), Section 4; Ville 1939. Even-Dar, Mannor and Mansour 2006 (successive
elimination).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from typing import Any, Literal, NamedTuple

import numpy as np

from spec_math.mean import Mean
from spec_math.wording import listed

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

SHARES = tuple(0.95 * 0.6**power for power in range(9))
"""Shares of the wealth that the bets may lose; all start with the same money."""

FIRST, GROWTH = 16, 1.3
"""Units before the first look, and the factor from one look to the next; any looks are valid."""

HALVINGS = 18
"""Halvings of a range on the way to an end of an interval; the end is rounded outwards."""

ROUNDING = 2.0**-20
"""More than a log wealth is off by."""


class Candidate(NamedTuple):
    """One of the things compared: its name, and the range that its values lie in."""

    name: str
    least: float
    most: float


@dataclass(frozen=True)
class Terms:
    """The terms of a race: the most units, the confidence, and the relative margin within which two are equivalent.

    With `everyone`, candidates that are out are measured all the same.
    """

    budget: int
    confidence: float = 0.99
    margin: float = 0.02
    everyone: bool = False


Units = Callable[[int, Sequence[int]], FLOAT]
"""(n, active) -> values [at most n, active] of the next units, for the places of the active candidates; none: the end.
"""

Outcome = Literal["take", "equivalent", "undecided"]


@dataclass(frozen=True, eq=False)
class Decision:
    """The end of a race.

    `taken`: the place of the candidate to take, or of the leader where nothing is decided. `rivals`: the places of those
    not shown slower. `values`: for each candidate its values [n] over the first n units. `more`: about how many more
    units would decide. The decision and every interval of `mean`, `difference` and `share` hold together with the
    stated confidence: half of what may fail is the decision's, and the rest is shared out equally.
    """

    outcome: Outcome
    taken: int
    rivals: tuple[int, ...]
    candidates: Sequence[Candidate]
    values: Sequence[FLOAT]
    terms: Terms
    more: int = 0

    @property
    def units(self) -> int:
        """The units that the race took."""
        return len(self.values[self.taken])

    @property
    def chance(self) -> float:
        """The chance that each one-sided statement of the race or of an interval fails."""
        return (1 - self.terms.confidence) / (8 * max(1, len(self.candidates)))

    def mean(self, place: int) -> Mean:
        """Return the mean of a candidate's values, with an interval.

        >>> decision = race([Candidate("a", 0, 1)], lambda n, active: np.full((n, 1), 0.5), Terms(64))
        >>> decision.mean(0).value, decision.mean(0).samples
        (0.5, 16)
        """
        return interval(self.values[place], *self.candidates[place][1:], chance=self.chance)

    def difference(self, place: int, other: int) -> Mean:
        """Return the mean difference of two candidates on the units of both, with an interval."""
        (_, low, high), (_, least, most) = self.candidates[place], self.candidates[other]
        mine, theirs = self.values[place], self.values[other]
        both = min(len(mine), len(theirs))
        return interval(mine[:both] - theirs[:both], low - most, high - least, chance=self.chance)

    def sentence(self, thing: str = "samples") -> str:
        """Say what to take, or what would decide.

        >>> rows = np.tile([1.0, 0.25], (200, 1))
        >>> pair = [Candidate("A", 0, 1), Candidate("B", 0, 1)]
        >>> race(pair, lambda n, active: rows[:n, active], Terms(200)).sentence()
        'Take A: no other candidate is as fast.'
        """
        name = self.candidates[self.taken].name
        others = [self.candidates[place].name for place in self.rivals]
        shown = listed(others[:2] + [f"{len(others) - 2} others"] if len(others) > 3 else others)
        margin = f"{100 * self.terms.margin:g} %"
        if self.outcome == "take":
            return f"Take {name}: no other candidate is as fast."
        if self.outcome == "equivalent":
            if self._within():
                return f"Take {name}: {name} and {shown} are equivalent within {margin}, and {name} is simpler."
            return f"Take {name}: {shown} may be as fast, but no candidate is more than {margin} faster."
        return (
            f"Not decided with this budget of {self.units:,} {thing}: {name} leads, and {shown} may be more than "
            f"{margin} faster. About {self.more:,} more {thing} would decide."
        )

    def _within(self) -> bool:
        """Say whether the taken one is the simplest of its rivals, and shown to be at most the margin faster."""
        return all(self.taken < place for place in self.rivals) and all(
            _settled(self._pair(place, self.taken), self.terms.margin, self._bar) for place in self.rivals
        )

    @property
    def _bar(self) -> float:
        return -log(self.chance)

    def _pair(self, place: int, other: int) -> _Pair:
        return _Pair(self.values[place], self.values[other], self.candidates[place], self.candidates[other])


class _Pair(NamedTuple):
    """The values of two candidates on the same units, and the candidates."""

    mine: FLOAT
    theirs: FLOAT
    me: Candidate
    other: Candidate


def _settled(pair: _Pair, margin: float, bar: float) -> bool:
    """Say whether the other is shown to be less than (1 + margin) times as fast; with a margin of 0, to be slower."""
    worst = pair.other.most - (1 + margin) * pair.me.least
    return log_wealth((1 + margin) * pair.mine - pair.theirs, worst) >= bar


def log_wealth(gains: FLOAT, worst: float) -> float:
    """Return the log wealth of bets that gains [n] ≥ −worst have a positive running mean; inf where none can lose.

    >>> log_wealth(np.ones(10), 1.0) > 4 > log_wealth(np.zeros(10), 1.0)
    True
    """
    if worst <= 0:
        return float("inf") if gains.any() else 0.0
    odds = np.maximum(gains, -worst) / worst
    grown = np.array([np.log1p(share * odds).sum() for share in SHARES])
    return float(np.logaddexp.reduce(grown)) - log(len(SHARES)) - ROUNDING


def interval(values: FLOAT, least: float, most: float, of: FLOAT | None = None, *, chance: float = 0.005) -> Mean:
    """Return the mean of values [n] in [least, most] with an interval that holds at every n; or their share `of` others.

    Each end is missed with that chance at most, ever. For shares 0 ≤ least, and the others lie in [least, most] too and
    are positive; the share is the ratio of the running averages. A bet that the mean is above r gains s (x − r u)/(r
    most − least), which falls in r, and one that it is below gains s (r u − x)/(most − r least), which rises in r, for
    least ≤ x, u ≤ most; so each end is found by halving.

    Raises:
        ValueError: a value outside the range.

    >>> found = interval(np.array([0.0, 1.0] * 50), 0.0, 1.0)
    >>> found.value, [round(end, 2) for end in found.interval]
    (0.5, [0.32, 0.68])
    >>> interval(np.full(99, 1.0), 0.0, 2.0, of=np.full(99, 2.0)).value
    0.5
    """
    slack = 2.0**-40 * max(abs(least), abs(most))
    if len(values) and not (values.min() >= least - slack and values.max() <= most + slack):
        raise ValueError(f"values must lie in [{least:g}, {most:g}]; got {values.min():g} to {values.max():g}")
    shared = of is not None
    base = np.ones(len(values)) if of is None else of
    low_unit, high_unit = (least, most) if shared else (1.0, 1.0)
    mean = float(values.mean() / base.mean()) if len(values) else float("nan")
    floor, top = (least / most, most / max(least, slack)) if shared else (least, most)
    bar = -log(chance)

    def end(rejected: Callable[[float], bool], out: float) -> float:
        inside = min(max(mean, floor), top)
        for _ in range(HALVINGS):
            middle = (out + inside) / 2
            out, inside = (middle, inside) if rejected(middle) else (out, middle)
        return out

    if not len(values) or floor == top:
        return Mean(mean, 0.0, len(values), floor, top, 1 - 2 * chance)
    low = end(lambda r: log_wealth(values - r * base, r * high_unit - least) >= bar, floor)
    high = end(lambda r: log_wealth(r * base - values, most - r * low_unit) >= bar, top)
    spread = (values - mean * base).std(ddof=1) / base.mean() if len(values) > 1 else float("nan")
    return Mean(mean, float(spread) / len(values) ** 0.5, len(values), low, high, 1 - 2 * chance)


def race(candidates: Sequence[Candidate], units: Units, terms: Terms) -> Decision:
    """Compare candidates, the simplest first, until one is known to be at most the margin slower than every other.

    At each look the candidates that are shown to be slower than the leader go out, and are measured no more. The race
    ends when one is left, or some candidate is shown to be at most the margin slower than all that are left: then the
    simplest such one is taken. It is wrong only where the best candidate is beaten by mistake in one of its own pairs:
    with N candidates in one of at most 2 (N − 1) one-sided statements. Each fails with chance (1 − confidence)/(8 N).

    Raises:
        ValueError: no candidates, a budget below 1, or values outside their candidate's range.

    >>> rows = np.tile([1.0, 1.001, 0.25], (2000, 1))
    >>> found = race([Candidate(name, 0, 2) for name in "ABC"], lambda n, active: rows[:n, active], Terms(2000))
    >>> found.outcome, [found.candidates[place].name for place in (found.taken, *found.rivals)]
    ('equivalent', ['A', 'B'])
    """
    if not candidates or terms.budget < 1:
        raise ValueError(f"a race needs candidates and a positive budget; got {len(candidates)} and {terms.budget}")
    every = list(range(len(candidates)))
    held: list[list[FLOAT]] = [[] for _ in every]
    active, look = every, 0
    while True:
        measured = every if terms.everyone else active
        look = min(terms.budget, max(FIRST, int(GROWTH * look)) if look else FIRST)
        taken = sum(map(len, held[active[0]]))
        batch = units(look - taken, measured) if look > taken else np.empty((0, len(measured)))
        for place, column in zip(measured, batch.T, strict=True):
            held[place].append(_checked(column, candidates[place]))
        values = [np.concatenate(parts) if parts else np.empty(0) for parts in held]
        found = _looked(candidates, values, active, terms)
        active = sorted({found.taken, *found.rivals})
        if found.outcome != "undecided" or len(batch) == 0 or found.units >= terms.budget:
            return found


def _checked(values: FLOAT, candidate: Candidate) -> FLOAT:
    name, least, most = candidate
    slack = 2.0**-40 * max(abs(least), abs(most))
    if len(values) and not (values.min() >= least - slack and values.max() <= most + slack):
        raise ValueError(f"{name}: values must lie in [{least:g}, {most:g}]; got {values.min():g} to {values.max():g}")
    return values


def _looked(candidates: Sequence[Candidate], values: Sequence[FLOAT], active: Sequence[int], terms: Terms) -> Decision:
    """Decide at one look, between those that are still active."""
    now = Decision("undecided", active[0], tuple(active[1:]), candidates, values, terms)
    if not now.units:
        return now
    bar, means = now._bar, {place: float(values[place].mean()) for place in active}
    leader = max(active, key=lambda place: (means[place], -place))
    left = [place for place in active if place == leader or not _settled(now._pair(leader, place), 0.0, bar)]

    def enough(place: int) -> bool:
        return all(_settled(now._pair(place, one), terms.margin, bar) for one in left if one != place)

    near = [place for place in left if (1 + terms.margin) * means[place] >= means[leader]]
    good = next((place for place in near if enough(place)), None)
    taken = leader if good is None else good
    rivals = tuple(place for place in left if place != taken)
    outcome: Outcome = "take" if not rivals else "undecided" if good is None else "equivalent"
    more = 0
    if outcome == "undecided":
        more = max(_more(now._pair(leader, one), terms.margin, bar) for one in rivals)
    return Decision(outcome, taken, rivals, candidates, values, terms, more)


def _more(pair: _Pair, margin: float, bar: float) -> int:
    """Return about how many more units settle a pair, one way or the other, in two significant digits."""
    units, needed = len(pair.mine), float("inf")
    for share in (0.0, margin):
        gains = (1 + share) * pair.mine - pair.theirs
        gap = float(gains.mean())
        if gap > 0:
            worst = pair.other.most - (1 + share) * pair.me.least
            needed = min(needed, bar * (2 * float(gains.var()) / gap**2 + worst / gap))
    if needed == float("inf"):
        gap = margin * max(float(pair.mine.mean()), 1e-9)
        needed = 2 * bar * float((pair.mine - pair.theirs).var()) / gap**2
    return int(float(f"{max(1.0, needed - units):.2g}"))
