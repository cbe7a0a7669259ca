"""Walk over every path of a program, for a judge: the emitted masses, the path that broke, the mass left unwalked.

A fault is told only after the same path has been walked again and has broken again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate
from math import inf, log
from typing import Any

from spec_math.chance import LONGEST, ChanceError, Coin, Enumerating, UnrepeatableError
from spec_math.float_allowance import Level
from spec_math.number_types import Symbol
from spec_math.verdict_values import Lossy, Reason, Undecided, Verdict

BUDGET = 1_000_000
"""The paths that a judge walks at most, where the caller does not say otherwise."""

HEAVY, LIGHTER = Fraction(1, 64), 8
"""A program with an endless path is walked along its heavy paths: the mass of a path at first, and by what it falls."""

UNWALKED = 1e-6
"""The mass of paths that a verdict on an endless program may leave unwalked; where it is soon done, 1e-9 are left."""

NEARLY_ALL, LIGHTEST, SOON = 1e-9, 1e-15, 20_000

ENDLESS = f"one path asks for more than {LONGEST:,} coins"
"""Said of a program with such a path, which is a loop on its coin."""

REPEATED = 10_000
"""The paths that are walked again before a law that was walked is told to be wrong."""

OFTEN = 32
"""The times that a path that broke, or few paths, are walked again."""

FEW = 2_000
"""The paths that are walked again in all, where once is less than that."""

Program = Callable[[Coin], Any]


@dataclass
class Walked:
    """The distribution that the paths of a program emit, {outcome: mass}; or `fault`, the verdict on what broke.

    `raised` is the fault of an exception that is not about masses: the fault itself where other paths returned, and
    what it would be if they had where all raised.

    `unexplored` is the mass of the paths that the budget left, or that have no end; `lengths` the chances of paths with
    so many coins, `gaps` how far the masses of the j-th coins were from summing to 1, `stored` the floating types of
    what the coins were handed, `endless` why paths that ask for coins without end were cut. Paths of less mass than
    `least` asked for no further coin.

    Made by `walk`.
    """

    masses: dict[Any, Any] = field(default_factory=dict[Any, Any])
    paths: int = 0
    unexplored: Any = Fraction(0)
    fault: Verdict | None = None
    raised: Lossy | None = None
    lengths: dict[int, float] = field(default_factory=dict[int, float])
    gaps: list[float] = field(default_factory=list[float])
    stored: frozenset[str] = frozenset()
    endless: str = ""
    least: Any = 0
    first: list[tuple[Any, Any]] = field(default_factory=list[tuple[Any, Any]])

    @property
    def deepest(self) -> int:
        """The most coins on one path."""
        return max(self.lengths, default=0)

    @property
    def walked(self) -> tuple[int, Any, str]:
        """The number of paths, the mass of those that were not walked, and why paths without end were cut."""
        return self.paths, self.unexplored, self.endless

    def levels(self, unit: float, gap: float, carried: bool = False) -> list[Level]:
        """Return the levels of coins for `float_allowance.rounding`: `gap` is that of the laws behind each coin.

        What the masses of a coin's own law are off by is added, and with `carried` that of all coins before it.
        """
        known = [*self.gaps, *[0.0] * (self.deepest - len(self.gaps))]
        own = accumulate(gap + mine for mine in known) if carried else (gap + mine for mine in known)
        return [
            Level(unit, off, sum(mass for length, mass in self.lengths.items() if length > place))
            for place, off in enumerate(own)
        ]


def walk(
    program: Program,
    broken: Callable[[Any], Lossy | None],
    said: Callable[[BaseException], str],
    budget: int = BUDGET,
    types: Collection[str] = (),
    closed: bool = False,
) -> Walked:
    """Walk every path of a program, up to a budget of paths; stop at what settles it.

    `broken(outcome)` is the verdict on an outcome that cannot be one. That, masses that are not a probability
    distribution, and an exception where any other path returns, are Lossy, with the path, if the path breaks once more;
    where all paths raise, nothing was judged. `said(error)` puts an exception into words. Laws are stored in `types`:
    in no others, if `closed`. A program with a path that has no end is walked along its heavy paths, and then along
    lighter ones, until what is left is small.

    >>> found = walk(lambda coin: coin.flip(Fraction(1, 3)), lambda outcome: None, str)
    >>> found.masses, found.paths
    ({True: Fraction(1, 3), False: Fraction(2, 3)}, 2)
    """
    found = _walked_once(program, broken, said, budget, Enumerating(types, closed))
    if not found.endless or found.fault is not None:
        return found
    least, left, before, needed = HEAVY, budget, found, inf
    while left > 0 and least > LIGHTEST:
        coin = Enumerating(types, closed, least)
        before, found = found, _walked_once(program, broken, said, left, coin)
        left -= found.paths
        needed = _foreseen(before, found, least)
        next_walk = found.paths * found.paths / before.paths
        if found.fault is not None or found.unexplored <= NEARLY_ALL or (needed > left and next_walk > SOON):
            break
        least = least / LIGHTER
    if found.unexplored > before.unexplored:  # the budget ended within the last walk
        found = before
    enough = f"only some {needed:.1g} paths" if needed < inf else "no number of paths"
    found.endless = f"{ENDLESS}, and {enough} would decide"
    if found.fault is None and not found.masses:
        found.fault = Undecided(Reason.BUDGET, found.endless)
    return found


def _foreseen(before: Walked, found: Walked, least: Fraction) -> float:
    """Return the paths after which so little is left that a verdict is possible, by what the last two walks left."""
    if least >= HEAVY / LIGHTER or found.unexplored <= UNWALKED:
        return 0.0 if found.paths < SOON else inf
    gained, grown = float(before.unexplored / found.unexplored), found.paths / before.paths
    if gained <= 1:
        return inf
    steps = max(1.0, log(found.unexplored / UNWALKED) / log(gained))
    return found.paths * grown**steps


def _walked_once(
    program: Program,
    broken: Callable[[Any], Lossy | None],
    said: Callable[[BaseException], str],
    budget: int,
    coin: Enumerating,
) -> Walked:
    """Walk the paths of a program depth first; where the coin has no least mass, up to the first that has no end."""
    found = Walked()
    raised: Verdict | None = None
    while True:
        coin.rewind()
        found.paths += 1
        try:
            outcome = program(coin)
        except UnrepeatableError as error:
            found.fault = Undecided(Reason.NOT_JUDGED, f"{error}", coin.choices())
        except (Exception, SystemExit) as error:  # whatever a program raises is evidence against it
            if not coin.cut:
                if raised is None or isinstance(error, ChanceError):
                    kind, fault = type(error), Lossy(said(error), path=coin.choices())
                    raised = _again(program, coin, lambda _, again, kind=kind: type(again) is kind, fault)
                if isinstance(error, ChanceError) or found.masses:
                    found.fault = raised
                if not isinstance(error, ChanceError) and isinstance(raised, Lossy):
                    found.raised = raised
        else:
            fault = None if coin.cut else broken(outcome)
            if fault is not None:
                fault = replace(fault, path=coin.choices())
                found.fault = _again(
                    program, coin, lambda came, error: error is None and broken(came) is not None, fault
                )
            elif raised is not None:
                found.fault = raised
            elif not coin.cut:
                _add(found, outcome, coin)
        if coin.cut and found.fault is None:
            found.endless = ENDLESS
        if found.fault is not None or (found.endless and not coin.least) or not coin.advance():
            break
        if found.paths >= budget:
            found.unexplored = _left(found)
            break
    if found.endless:
        found.unexplored, found.least = _left(found), coin.least
    if found.fault is None and raised is not None and not found.endless:
        found.fault = raised
        if isinstance(raised, Lossy):
            said_of_all = f"{raised.reason} (and each of the {found.paths:,} paths raises)"
            found.fault = Undecided(Reason.NOT_JUDGED, said_of_all, raised.path)
    found.gaps, found.stored = coin.gaps, coin.stored
    return found


def repeats(
    program: Program, found: Walked, types: Collection[str] = (), closed: bool = False, often: int = OFTEN
) -> bool:
    """Say whether a program that was walked emits the same again, with the same masses, on its first paths.

    It is walked again once, and up to `often` times where that is few paths: random numbers that are not seen decide
    alike on a few paths with a fair chance.
    """
    times = max(1, min(often, FEW // max(1, len(found.first))))
    # Runs in between, so that a program that counts its calls does not come out even.
    between = 1 - len(found.first) % 2
    coins = [Enumerating(types, closed, found.least) for _ in range(times)]
    return all(_once_more(program, found.first, coin, between + turn % 3) for turn, coin in enumerate(coins))


def _once_more(program: Program, first: list[tuple[Any, Any]], coin: Enumerating, between: int) -> bool:
    for _ in range(between if first else 0):
        coin.rewind()
        with suppress(Exception, SystemExit):
            _ = program(coin)
    waiting = list(reversed(first))
    while waiting:
        coin.rewind()
        try:
            outcome = program(coin)
        except (Exception, SystemExit):
            if not coin.cut:  # it returned before
                return False
        else:
            if not coin.cut and (outcome, coin.mass) != waiting.pop():
                return False
        if not coin.advance():
            break
    return not waiting


NOT_REPEATED = "walked again, the same path came to something else"
NOT_OF_ITS_COIN = (
    "the program is not a function of its coin; let the coin make all of its decisions, and make its state anew "
    "inside it"
)

UNREPEATED = f"{NOT_REPEATED}: {NOT_OF_ITS_COIN}"


def _again(
    program: Program, coin: Enumerating, same: Callable[[Any, BaseException | None], bool], fault: Lossy
) -> Verdict:
    """Return the fault if the path breaks as often as it is walked again; `same` gets what it returns or raises."""
    for _ in range(OFTEN):
        coin.rewind()
        outcome = raised = None
        try:
            outcome = program(coin)
        except (Exception, SystemExit) as error:
            raised = error
        if not same(outcome, raised) or coin.choices() != fault.path:
            return Undecided(Reason.NOT_JUDGED, f"{NOT_REPEATED} than {fault.reason}: {NOT_OF_ITS_COIN}", fault.path)
    return fault


def _add(found: Walked, outcome: Any, coin: Enumerating) -> None:
    mass = coin.mass
    found.masses[outcome] = found.masses[outcome] + mass if outcome in found.masses else mass
    if len(found.first) < REPEATED:
        found.first.append((outcome, mass))
    share = 1.0 if isinstance(mass, Symbol) else float(mass)  # a symbol has no size; nor has it roundings
    found.lengths[coin.asked] = found.lengths.get(coin.asked, 0.0) + share


def _left(found: Walked) -> Any:
    return max(Fraction(0), 1 - sum(found.masses.values(), Fraction(0)))


_READERS: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
    ("random", "Python's random", lambda module: module.getstate()),
    ("numpy.random", "NumPy's numpy.random", lambda module: _of_numpy(module.get_state(legacy=False))),
    ("torch", "torch's default generator", lambda module: bytes(module.random.get_rng_state().numpy())),
)
"""Where a default generator lives, what it is called, and how its state is read; none in a module not loaded."""


def standing_still(judge: Callable[[], Verdict]) -> Verdict:
    """Return what a judge says, or Undecided where a default generator moves each time that it is asked.

    It is asked twice at most: another thread may draw once while it judges.

    >>> import random
    >>> from spec_math.verdict import Lossless
    >>> standing_still(lambda: Lossless(1))
    Lossless(paths=1, bound=0.0, drafts=())
    >>> standing_still(lambda: Lossless(int(2 * random.random()))).reason
    <Reason.RANDOMNESS_NOT_SEEN: 'randomness not seen'>
    """
    moved: list[str] = []
    for _ in range(2):
        before = _states()
        verdict = judge()
        moved = [name for name, state in _states().items() if name in before and state != before[name]]
        if not moved:
            return verdict
    return Undecided(
        Reason.RANDOMNESS_NOT_SEEN,
        f"{' and '.join(moved)} moved while it was judged: the program draws random numbers beside its coin, or "
        "another thread does; let the coin make all of its decisions",
    )


def _states() -> dict[str, Any]:
    """Return the states of the default generators of the modules that are loaded, by name, as values that compare."""
    loaded = ((name, read, sys.modules.get(module)) for module, name, read in _READERS)
    return {name: read(module) for name, read, module in loaded if module is not None}


def _of_numpy(state: dict[str, Any]) -> Any:
    """Return a state of NumPy's as a value that compares: its own holds an array."""
    inner = {name: value.tobytes() if name == "key" else value for name, value in state["state"].items()}
    return inner, state["has_gauss"], state["gauss"]
