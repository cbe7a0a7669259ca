"""Unmodified code as a program against a coin: each random number that it draws becomes a question to the coin."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from math import isfinite
from threading import active_count
from typing import Any

from spec_math.chance import ChanceError, Coin
from spec_math.pathwise.atom import Atom, ExploreError, UnseenRandomnessError
from spec_math.pathwise.clock import ring
from spec_math.pathwise.compiled import compiled_noted
from spec_math.pathwise.entropy import addresses_noted, entropy_noted
from spec_math.pathwise.generators import Still
from spec_math.pathwise.numpy_random import numpy_source
from spec_math.pathwise.places import places
from spec_math.pathwise.python_random import python_source
from spec_math.pathwise.tape import OTHERWISE, LeakError, Source, Tape
from spec_math.pathwise.threads import threads_noted
from spec_math.pathwise.time_readings import clocks_noted

WATCHED: tuple[Source, ...] = (entropy_noted, clocks_noted, addresses_noted, threads_noted, compiled_noted)
"""What is noted where it is drawn from, and followed nowhere."""

SOURCES: tuple[Source, ...] = (python_source, numpy_source)

Path = tuple[tuple[Any, ...], list[tuple[str, Hashable]], Any]
"""A path that was walked: the function's arguments, what was asked and answered, and the outcome."""

EVERY = 16
"""One path in so many is walked once more at once."""

FIRST = 64
"""So many paths are walked on ordinary numbers too, and then one in EVERY."""

THOROUGH = 8
"""So many paths are walked on three choices of them."""


class Followed:
    """A function whose random numbers ask the coin that it is called with, and which must repeat itself.

    Arguments after the coin go to the function; runs with other arguments are not compared. Generators that the
    function finds in its module, its closure or its object are followed too, each run from the state that they have;
    `code` is whose these are, where the function given calls another.

    >>> import random
    >>> from spec_math.chance import law
    >>> law(Followed(lambda: random.random() < 0.25))
    {True: Fraction(1, 4), False: Fraction(3, 4)}
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        sources: Sequence[Source] = SOURCES,
        tape: Tape | None = None,
        code: Callable[..., Any] | None = None,
    ) -> None:
        self._fn, self._sources = fn, sources
        self.tape = Tape() if tape is None else tape
        self.tape.places = places(fn if code is None else code)
        self._first: Path | None = None
        self._last: Path | None = None
        self.repeats = 0
        self.on_ordinary = self.watching = True
        self._paths = 0
        self._still: Still | None = None
        self._runs = 0

    def __call__(self, coin: Coin, *arguments: Any) -> Any:
        """Run the function down the path that the coin decides, and often once more, on ordinary numbers first."""
        try:
            outcome = self._run(coin, arguments)
        except (ExploreError, ChanceError):
            raise
        except (Exception, SystemExit) as error:
            self._fail_again(arguments, error)
            raise
        self._paths += 1
        path = arguments, self.tape.log, outcome
        if self._paths <= FIRST or self._paths % EVERY == 0:
            self._on_ordinary(arguments, outcome, width_for(self.tape.exact, self.tape.digits))
        for _ in range(self.repeats or self._paths % EVERY == 0):
            self._repeat(path)
        self._first, self._last = self._first or path, path
        return outcome

    def _run(self, coin: Coin, arguments: tuple[Any, ...]) -> Any:
        self.tape.begin(coin)
        if arguments:
            self.tape.log.append((f"a call with {arguments}", ""))
        self._runs += 1
        ExploreError.made.clear()
        alive = self.tape.alive()
        try:
            with ExitStack() as stack:
                for source in (*self._sources, *WATCHED):
                    stack.enter_context(source(self.tape))
                outcome = self._watched(arguments, alive)
                self.tape.seeded.finish()  # while generators are as the function left them
            self.tape.finish()
        except (Exception, SystemExit) as error:
            _check_seen(self.tape, error)
            if ExploreError.made:
                raise ExploreError.made[0] from error
            raise
        finally:
            self.tape.end()
        _check_seen(self.tape, None)
        if ExploreError.made:
            raise ExploreError.made[0]
        _check_hashable(outcome)
        return outcome

    @contextmanager
    def exploring(self) -> Generator[None]:
        """Let what stands in for others stand from run to run, and look at the end whether generators stood still.

        Raises:
            UnseenRandomnessError: one has moved.
        """
        try:
            with self.tape.exploring():
                yield
            if self._still is not None and active_count() == 1:
                for name in self._still.moved():
                    self.tape.note(name)
        finally:
            self._still = None  # what it holds is the process's, and would be taken for alive until this is collected
        _check_seen(self.tape, None)

    def _watched(self, arguments: tuple[Any, ...], alive: list[Any]) -> Any:
        """Call the function, and look whether generators stand still: after runs 1, 2, 4, … and one that fails.

        Other threads of the process may draw between two runs; where there are any, each run is looked at by itself.
        """
        if not self.watching:
            return self._fn(*arguments)
        shared = active_count() > 1
        if self._still is None:
            with self.tape.unnoted():  # numba seeds its states when they are first read
                self._still = Still(alive)
        elif shared:
            self._still.again()
        due = shared or self._runs & (self._runs - 1) == 0
        try:
            return self._fn(*arguments)
        except BaseException:
            due = True
            raise
        finally:
            if due:
                found = {number: one.words for number, one in self.tape.python.items()}
                for name in self._still.moved(found | dict.fromkeys(self.tape.following)):
                    self.tape.note(name)

    def check_repeats(self) -> None:
        """Walk the first path and the last once more: state may leak into the outcome alone.

        Raises:
            LeakError: the outcome is another one.
        """
        for path in (self._first, self._last if self._paths > 1 else None):
            if path is not None:
                self._repeat(path)

    def _fail_again(self, arguments: tuple[Any, ...], error: BaseException) -> None:
        """Walk a path that failed once more: what fails by chance is not seen, and no fault of the path."""
        log = list(self.tape.log)
        self.tape.before = log
        try:
            outcome = self._run(_Repeating(log[bool(arguments) :]), arguments)
        except (Exception, SystemExit) as again:
            if isinstance(again, ExploreError):
                return
            if type(again) is type(error):
                self._on_ordinary(arguments, type(error), NARROW)
                return
            outcome = f"{type(again).__name__}: {again}"
        raise LeakError(
            f"with the same {len(log)} answer(s), the function raised {type(error).__name__}: {error} and then "
            f"returned or raised {outcome!r}"
        ) from error

    def _on_ordinary(self, arguments: tuple[Any, ...], outcome: Any, width: Fraction) -> None:
        """Walk the path on ordinary numbers, which must return the same, or fail in the same way."""
        if self.tape.fresh or not self.on_ordinary:
            return
        thorough = self._paths <= THOROUGH or isinstance(outcome, type)
        for seed in range(self._paths, self._paths + (3 if thorough else 1)):
            numbers = numbers_for(self.tape.atoms(), seed, width)
            if numbers is not None:
                self._compare(arguments, outcome, numbers)

    def _compare(self, arguments: tuple[Any, ...], outcome: Any, numbers: dict[Any, Any]) -> None:
        with self.tape.on_ordinary(numbers):
            try:
                found = self._run(_Repeating([]), arguments)
            except ExploreError as refused:
                found = refused
            except (Exception, SystemExit) as error:
                found = type(error)
        if found is ZeroDivisionError:  # E/0 is infinite among floats, and an error among Fractions
            return
        if found != outcome:
            for _ in range(0 if isinstance(outcome, type) else 2):  # what leaks may return every other time
                self._repeat((arguments, list(self.tape.log), outcome))
            if isinstance(found, ExploreError):
                raise found
            raise ExploreError(f"{OTHERWISE}; it returned or raised {found!r}, and not {outcome!r}")

    def _repeat(self, path: Path) -> None:
        arguments, log, outcome = path
        self.tape.before = log
        again = self._run(_Repeating(log[bool(arguments) :]), arguments)
        if again != outcome:
            raise LeakError(
                f"with the same {len(log)} answer(s), the first run returned {outcome!r} and the last one {again!r}"
            )


def _check_seen(tape: Tape, error: BaseException | None) -> None:
    """Refuse a run that drew from what is not followed, or that broke on what stands for a random number."""
    if isinstance(error, TypeError) and any(kind in str(error) for kind in ("Uniform", "Clock", "Noise")):
        raise ExploreError(
            f"the code does with a random number what explore cannot follow ({type(error).__name__}: {error}); "
            "exploring is the cause: an object stands for each random number, and this use of it is not followed; "
            "compare it with a number, or hand random numbers in as arguments and take law_by_bisection"
        ) from error
    unseen = tuple(tape.unseen)
    if unseen:
        clocks = [name.removeprefix("time.") for name in unseen if name.startswith("time.")]
        stopped = f"'import time=>class time: {' = '.join(clocks)} = staticmethod(float)'"
        cure = f"; if it only measures time, --replace {stopped}, or in an adapter judged = ticking(judged)"
        cure *= bool(clocks)
        raise UnseenRandomnessError(
            f"the function draws from what explore does not follow: {'; '.join(unseen)}{cure}", unseen
        ) from error


def _check_hashable(outcome: Any) -> None:
    try:
        hash(outcome)
    except TypeError:
        said = f"the function returned a {type(outcome).__name__}, which cannot be counted"
        raise ExploreError(f"{said}; return a number, or a tuple of them") from None


class _Repeating:
    """Answers as the first run was answered."""

    def __init__(self, log: list[tuple[str, Hashable]]) -> None:
        self._answers = iter([answer for _, answer in log])

    def flip(self, p: Any) -> Any:  # noqa: ARG002
        return next(self._answers)

    draw: Any = flip


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
            floats = [(atom.number, number) for atom, number in found.items() if atom.bits is None and atom.number]
            return found if all(abs(float(own(number)) - number) < _CLOSE for own, number in floats) else None
    return None


def width_for(exact: bool, digits: Collection[int]) -> Fraction:
    """Return how wide an interval must be, by the digits of the floats that random numbers were compared with."""
    return FINE if exact or max(digits, default=0) > _HALF else COARSE


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


def _stream(seed: int) -> Iterator[float]:
    """Numbers in [0, 1) of a generator that is nobody else's."""
    state = seed * 2 + 1
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        yield (state >> 11) / (1 << 53)
