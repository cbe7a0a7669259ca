"""Every path of a program, walked for a judge: what is emitted with what mass, what broke, and what was left.

A fault is told only after the same path has been walked again and has broken again.

Source: worked out here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any

from spec_math.chance import ChanceError, Coin, EndlessError, Enumerating, UnrepeatableError
from spec_math.float_allowance import Level
from spec_math.number_types import Symbol
from spec_math.verdict_values import Lossy, Reason, Undecided, Verdict

BUDGET = 1_000_000
"""The paths that a judge walks at most, where the caller does not say otherwise."""

ENDLESS = 10
"""The paths that are cut where they ask for too many coins; what is left is not walked after so many."""

REPEATED = 10_000
"""The paths that are walked again before a law that was walked is told to be wrong."""

OFTEN = 32
"""The times that a path that broke, or few paths, are walked again."""

FEW = 2_000
"""The paths that are walked again in all, where once is less than that."""

Program = Callable[[Coin], Any]


@dataclass
class Walked:
    """What the paths of a program emit, {outcome: mass}; or `fault`, the verdict on what broke.

    `raised` is the fault of an exception that is not about masses: the fault itself where other paths returned, and
    what it would be if they had where all raised.

    `unexplored` is the mass of the paths that the budget left, or that have no end; `lengths` the chances of paths with
    so many coins, `gaps` how far the masses of the j-th coins were from summing to 1, `stored` the floating types of
    what the coins were handed, `endless` why paths that ask for coins without end were cut.

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
    first: list[tuple[Any, Any]] = field(default_factory=list[tuple[Any, Any]])

    @property
    def deepest(self) -> int:
        """The most coins on one path."""
        return max(self.lengths, default=0)

    @property
    def walked(self) -> tuple[int, Any]:
        """The number of paths, and the mass of those that were not walked."""
        return self.paths, self.unexplored

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
    in no others, if `closed`.

    >>> found = walk(lambda coin: coin.flip(Fraction(1, 3)), lambda outcome: None, str)
    >>> found.masses, found.paths
    ({True: Fraction(1, 3), False: Fraction(2, 3)}, 2)
    """
    coin, found = Enumerating(types, closed), Walked()
    raised: Verdict | None = None
    endless = 0
    while True:
        coin.rewind()
        found.paths += 1
        try:
            outcome = program(coin)
        except UnrepeatableError as error:
            found.fault = Undecided(Reason.NOT_JUDGED, f"{error}", coin.choices())
        except EndlessError as error:
            endless = endless + 1
            found.unexplored = found.unexplored + coin.mass
            if endless == ENDLESS:
                found.unexplored, found.endless = _left(found), f"{error}; a larger budget does not help"
                found.fault = None if found.masses else Undecided(Reason.BUDGET, f"{error}", coin.choices()[:8])
                break
        except (Exception, SystemExit) as error:  # whatever a program raises is evidence against it
            if raised is None or isinstance(error, ChanceError):
                raised = _raised_again(program, coin, error, Lossy(said(error), path=coin.choices()))
            if isinstance(error, ChanceError) or found.masses:
                found.fault = raised
            if not isinstance(error, ChanceError) and isinstance(raised, Lossy):
                found.raised = raised
        else:
            fault = broken(outcome)
            if fault is not None:
                found.fault = _broken_again(program, coin, broken, replace(fault, path=coin.choices()))
            elif raised is not None:
                found.fault = raised
            else:
                _add(found, outcome, coin)
        if found.fault is not None or not coin.advance():
            break
        if found.paths >= budget:
            found.unexplored = _left(found)
            break
    if found.fault is None and raised is not None:
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

    >>> def program(coin):
    ...     return coin.flip(Fraction(1, 3))
    >>> repeats(program, walk(program, lambda outcome: None, str))
    True
    """
    times = max(1, min(often, FEW // max(1, len(found.first))))
    # Runs in between, so that a program that counts its calls does not come out even.
    between = 1 - len(found.first) % 2
    coins = [Enumerating(types, closed) for _ in range(times)]
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
        except EndlessError:
            outcome = None
        except (Exception, SystemExit):  # it returned before
            return False
        else:
            if (outcome, coin.mass) != waiting.pop():
                return False
        if not coin.advance():
            break
    return not waiting


NOT_REPEATED = "walked again, the same path came to something else"
NOT_OF_ITS_COIN = (
    "the program is not a function of its coin; let the coin make all of its decisions, and make its state anew "
    "inside it"
)


def _raised_again(program: Program, coin: Enumerating, error: BaseException, fault: Lossy) -> Verdict:
    for _ in range(OFTEN):
        coin.rewind()
        try:
            _ = program(coin)
        except (Exception, SystemExit) as again:  # the same has to come
            if type(again) is type(error) and coin.choices() == fault.path:
                continue
        break
    else:
        return fault
    return Undecided(Reason.NOT_JUDGED, f"{NOT_REPEATED} than {fault.reason}: {NOT_OF_ITS_COIN}", fault.path)


def _broken_again(program: Program, coin: Enumerating, broken: Callable[[Any], Lossy | None], fault: Lossy) -> Verdict:
    for _ in range(OFTEN):
        coin.rewind()
        try:
            if broken(program(coin)) is not None and coin.choices() == fault.path:
                continue
        except (Exception, SystemExit):  # it returned before
            pass
        break
    else:
        return fault
    return Undecided(Reason.NOT_JUDGED, f"{NOT_REPEATED} than {fault.reason}: {NOT_OF_ITS_COIN}", fault.path)


def _add(found: Walked, outcome: Any, coin: Enumerating) -> None:
    mass = coin.mass
    found.masses[outcome] = found.masses[outcome] + mass if outcome in found.masses else mass
    if len(found.first) < REPEATED:
        found.first.append((outcome, mass))
    share = 1.0 if isinstance(mass, Symbol) else float(mass)  # a symbol has no size; nor has it roundings
    found.lengths[coin.asked] = found.lengths.get(coin.asked, 0.0) + share


def _left(found: Walked) -> Any:
    return max(Fraction(0), 1 - sum(found.masses.values(), Fraction(0)))
