"""`explore`: the exact law of unmodified code, by running it along every path of its randomness."""

from __future__ import annotations

import itertools
import logging
import math
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any

from spec_math.arrays import count
from spec_math.chance import Choice, Coin, Enumerating, paths
from spec_math.masses import summed
from spec_math.pathwise.atom import ExploreError
from spec_math.pathwise.followed import SOURCES, Followed, Source
from spec_math.pathwise.tape import Tape
from spec_math.verdict import Bracket


class Explored(dict[Any, Any]):
    """The exact law of a function's outcome, {outcome: probability}, all of its paths walked.

    `exact` tells whether the masses are Fractions: they are where all thresholds and weights were ints or Fractions.
    Else they are float64, rounded once each from the exact law of the floating thresholds. `ignored` bounds the total
    variation by which small numbers that keep a logarithm finite, as in log(u + 1e-10), would change the law.

    Made by `explore`.
    """

    def __init__(self, masses: Mapping[Any, Any], paths: int, exact: bool, ignored: Any = 0) -> None:
        super().__init__(masses)
        self.paths = paths
        self.exact = exact
        self.ignored = ignored


@dataclass(frozen=True)
class Partial:
    """The part of a law that is known when the budget of paths ran out: no law, and not to be taken for one.

    `lower` holds the mass of each outcome on the paths that were walked, and `unexplored` the mass of all others.

    Made by `explore`.
    """

    lower: dict[Any, Any]
    unexplored: Any
    paths: int
    exact: bool

    def bracket(self, outcome: Hashable) -> Bracket:
        """Return the bracket of an outcome's probability."""
        low = self.lower.get(outcome, 0 * self.unexplored)
        return Bracket(low, low + self.unexplored)


def explore(
    fn: Callable[[], Any],
    budget: int = 100_000,
    grid: int | None = None,
    sources: Sequence[Source] = SOURCES,
    repeats: int = 0,
) -> Explored | Partial:
    """Compute the exact law of what a function returns, by running it down every path of its randomness.

    Every five seconds it tells the logger spec_math.pathwise, at the level INFO, how far it is and about how
    many paths there are.

    The law: {outcome: probability} over Python's `random`, NumPy's generators, new and old, made inside the function
    or found in its module, its closure or its object. A uniform is an object that knows only comparisons with numbers
    (after scaling and shifting by numbers): each comparison forks, and conditions those that follow. Exponential and
    Gumbel noise is raced by argmin and argmax, any number of times. A generator seeded anew repeats itself, whatever
    the seed; the seed itself is taken for random. Outcomes must be hashable.
    Paths are walked on ordinary numbers too, which must do what the objects did.

    Args:
        fn: a function of its draws alone; state that leaks between runs is an error.
        budget: the most paths to walk; where there are more, the result is a `Partial`.
        grid: None for ideal uniforms; b for uniforms k/2^b; `OWN_GRID` for each source's own.
        sources: the libraries whose randomness is followed.
        repeats: how many more times each path is walked; the first path, the last and every sixteenth are in any case,
            and the first 64 and every sixteenth on ordinary numbers too.

    Raises:
        ExploreError: the code does with a random number what has no exact law here, or draws from a generator that
            explore does not hold; LeakError where two runs with the same draws differ; UnseenRandomnessError where it
            draws from what is not followed: entropy, a compiled function's own state, a thread, a clock.

    >>> import random
    >>> explore(lambda: random.random() < Fraction(1, 3) or random.random() < Fraction(1, 2))
    {True: Fraction(2, 3), False: Fraction(1, 3)}
    """
    budget = count(budget, "budget")
    tape = Tape(grid)
    run = Followed(fn, sources, tape)
    run.repeats = count(repeats + 1, "repeats + 1") - 1
    masses: dict[Any, Fraction] = {}
    ignored = Fraction(0)
    walked = 0
    estimate = Estimate()
    with run.exploring():
        for walked, path in enumerate(_told(paths(run), tape), 1):
            masses[path.outcome] = masses.get(path.outcome, Fraction(0)) + path.mass
            with tape.unnoted():
                estimate.at(walked, lambda: float(summed(masses.values())))
            ignored += path.mass * tape.ignored
            if walked == budget:
                break
        run.check_repeats()
    unexplored = 1 - sum(masses.values(), Fraction(0))
    shown = masses if tape.exact else {outcome: float(mass) for outcome, mass in masses.items()}
    if unexplored:
        return Partial(dict(shown), unexplored if tape.exact else float(unexplored), walked, tape.exact)
    return Explored(shown, walked, tape.exact, float(ignored))


def _told(walked: Iterator[Any], tape: Tape) -> Iterator[Any]:
    """Go through paths; a bare TypeError on one says that exploring may be its cause."""
    try:
        yield from walked
    except TypeError as error:
        if tape.drawn:
            error.add_note(
                "while this was explored an object stood for each random number: exploring is the cause where code "
                "that runs by itself meets it; compare random numbers with numbers, keep them out of number arrays, "
                "or hand them in as arguments and take law_by_bisection"
            )
        raise


def as_generator(sampler: Callable[[tuple[int, ...]], Any], **options: Any) -> Callable[[Coin, tuple[int, ...]], Any]:
    """Make somebody's sampler, a function of a prefix, into a generator against a coin: one draw from its exact law.

    So every judge of generators judges it, as `check_lossless_block` does.

    Raises:
        ExploreError: as `explore`; or the budget of paths ran out.

    >>> import random
    >>> from spec_math import law
    >>> law(lambda coin: as_generator(lambda prefix: (int(random.random() < Fraction(1, 3)),))(coin, ()))
    {(1,): Fraction(1, 3), (0,): Fraction(2, 3)}
    """
    known: dict[tuple[int, ...], Explored] = {}

    def generate(coin: Coin, prefix: tuple[int, ...]) -> Any:
        if prefix not in known:
            found = explore(lambda: sampler(prefix), **options)
            if isinstance(found, Partial):
                raise ExploreError(
                    f"{found.paths} paths left {found.unexplored} of the mass after {prefix} unexplored; raise budget"
                )
            known[prefix] = found
        law = known[prefix]
        return list(law)[coin.draw(list(law.values()))]

    return generate


class HeaviestFirst(Enumerating):
    """A coin that walks so many paths depth first, and then always next the heaviest beginning that is left.

    What was walked of a program with too many paths then holds as much probability as it can.

    >>> from spec_math.chance import paths
    >>> twice = lambda coin: (coin.flip(Fraction(1, 9)), coin.flip(Fraction(1, 9)))
    >>> [str(path.mass) for path in paths(twice, HeaviestFirst(1))]
    ['1/81', '64/81', '8/81', '8/81']
    """

    def __init__(self, depth_first: int = 1_000) -> None:
        super().__init__()
        self._depth_first, self._begun = depth_first, 0
        self._left: list[tuple[Any, int, list[Choice]]] = []
        self._number = itertools.count()

    def advance(self) -> bool:
        """Turn to the next path; say whether there is one."""
        self._depth_first -= 1
        if self._depth_first > 0:
            return super().advance()
        for place in range(self._begun, self.asked):
            kind, asked, options, at = self._tape[place]
            for other, (_, mass) in enumerate(options):
                # An odometer has been at the options before; of new questions the heaviest was answered.
                if other > at or (other < at and self._depth_first < 0):
                    beginning = [*self._tape[:place], (kind, asked, options, other)]
                    heappush(self._left, (-self._masses[place] * mass, next(self._number), beginning))
        if not self._left:
            return False
        *_, self._tape = heappop(self._left)
        self._begun = len(self._tape)
        del self._masses[1:]
        return True

    def _ask(self, kind: str, question: Any, options: list[tuple[Any, Any]]) -> None:
        super()._ask(kind, question, options)
        if self._depth_first <= 0:
            heaviest = max(range(len(options)), key=lambda at: options[at][1])
            self._tape[-1] = kind, question, options, heaviest


LOGGER = logging.getLogger("spec_math.pathwise")
"""Who listens to it at the level INFO is told every five seconds; the command `audit` does."""

EVERY = 5.0
"""Seconds before the first word, and between two."""


class Estimate:
    """Tells a logger, every five seconds, how far an exploration is.

    >>> told, seconds = [], iter([0.0, 4.0, 6.0, 8.0])
    >>> estimate = Estimate(told.append, lambda: next(seconds))
    >>> for paths in (10, 20, 30):
    ...     _ = estimate.at(paths, lambda: 0.01 * paths)
    >>> told
    ['20 paths in 6 s hold 0.2 of the mass: about 100 paths and 30 s in all']
    """

    def __init__(self, tell: Callable[[str], None] = LOGGER.info, now: Callable[[], float] = time.monotonic) -> None:
        self._tell, self._now = tell, now
        self._begun = self._told = now()

    def at(self, paths: int, mass: Callable[[], float]) -> float | None:
        """Take in how many paths were walked and how to sum the mass that they hold.

        Return the seconds that all of it would take, each time that they are told.
        """
        now = self._now()
        if now - self._told < EVERY:
            return None
        self._told = now
        held, seconds = mass(), now - self._begun
        # What is left is taken to be like what was walked.
        left = f": about {paths / held:,.0f} paths and {seconds / held:,.0f} s in all" if held > 0 else ""
        self._tell(f"{paths:,} paths in {seconds:,.0f} s hold {held:.3g} of the mass{left}")
        return seconds / held if held > 0 else math.inf
