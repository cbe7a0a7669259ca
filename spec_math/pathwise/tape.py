"""The tape of choices: the random numbers that explored code asks for and the answers given, one path at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from fractions import Fraction
from functools import wraps
from threading import get_ident
from typing import Any

from spec_math.chance import Coin
from spec_math.pathwise.atom import Atom, ExploreError
from spec_math.pathwise.generators import generators_alive
from spec_math.pathwise.places import Looked, Place


class LeakError(ExploreError):
    """The explored function is not a function of its draws: what it did on one run changed what it asks on the next."""

    def __init__(self, said: str) -> None:
        cure = "call the function once before exploring it if it only warms up, else make its state anew inside it"
        super().__init__(f"state leaks between runs: {said}; {cure}")


class Stretch:
    """Numbers that one call draws, of those that follow a seed of a generator: the `first` of them, and those after it.

    A generator that is seeded anew repeats its numbers. Whether it does so when they are asked for in calls of other
    sizes depends on its inside: it does for uniforms of NumPy's, and what else is asked for so is refused.
    """

    def __init__(self, stretches: dict[Hashable, tuple[int, int]], seed: int, first: int) -> None:
        self._stretches, self._seed, self._first = stretches, seed, first
        self.steady, self.used = False, 0

    def leads_to(self, state: Hashable, size: int) -> None:
        """Name the state that a call for so many numbers leaves the generator in."""
        self._stretches.setdefault(state, (self._seed, self._first + size))

    def key(self, index: tuple[Any, ...], kind: str) -> tuple[Hashable, str]:
        """Return the name of a number of the call, and its kind."""
        place, *rest = index
        self.used = max(self.used, place + 1)
        said = kind if self.steady or not place else f"{kind}, number {place} of a call"
        return (self._seed, self._first + place, *rest), said


class Tape:
    """One path of an explored function: its random numbers by the place they come from, and each fork so far.

    A source (a random module, a generator) names each number by a key: the state it is drawn from. Two numbers of one
    key are the same number, as a generator that is seeded anew repeats itself. `grid` is None for the ideal coin, or
    the bits b of uniforms k/2^b; `OWN_GRID` takes the bits of each source. `places` are where the code finds generators
    that it did not make. With `fresh` no two numbers are the same: a fault that this cures uses random numbers twice.
    """

    def __init__(self, grid: int | None = None, fresh: bool = False, alive: list[Any] | None = None) -> None:
        self.grid, self.fresh = grid, fresh
        self.exact, self.ignored, self.reused, self.quiet = True, Fraction(0), False, False
        self.asked = self.drawn = 0
        self.digits: set[int] = set()
        self.log: list[tuple[str, Hashable]] = []
        self.before: list[tuple[str, Hashable]] | None = None
        self.numbers: dict[Hashable, tuple[str, Any]] = {}
        self._alive = alive
        self._coin: Coin | None = None
        self._held: dict[str, Any] = {}
        self.places: list[Place] = []
        self.unseen: dict[str, None] = {}
        self.seeds: dict[Hashable, int] = {}
        self.seeded = Seeded(self)
        self.python: dict[int, Any] = {}
        self.bits: Any = None
        self.torch: Any = None
        self._stretches: dict[Hashable, tuple[int, int]] = {}
        self.threads: set[int] = set()
        self._open: ExitStack | None = None
        self._stands: set[str] = set()
        self.following: set[int] = set()
        self._thread = get_ident()
        self.ordinary: dict[Any, Any] | None = None

    def note(self, source: str) -> None:
        """Note a source that was drawn from unseen on this path: it has no law here."""
        if not self.quiet:
            self.unseen[source] = None

    @contextmanager
    def unnoted(self) -> Generator[None]:
        """Let entropy be read while the block lasts: for seeds that are followed, or by explore itself."""
        before, self.quiet = self.quiet, True
        try:
            yield
        finally:
            self.quiet = before

    def foreign(self) -> bool:
        """True if this is not the explored code, but a thread that it did not start, or who asks between two runs."""
        if self._coin is None and self._open is not None:
            return True
        return get_ident() != self._thread and get_ident() not in self.threads

    @contextmanager
    def exploring(self) -> Generator[None]:
        """Let what stands in for others in a run stand from run to run, while the block lasts."""
        with ExitStack() as self._open:
            try:
                yield
            finally:
                self._stands.clear()
                self._open = self._alive = None

    def standing(self, name: str, make: Callable[[], AbstractContextManager[None]]) -> AbstractContextManager[None]:
        """Return what to enter for a run, so that something stands in for others: nothing where it stands already."""
        DESK.tape = self
        if self._open is None:
            return make()
        if name not in self._stands:
            self._stands.add(name)
            self._open.enter_context(make())
        return nullcontext()

    def held(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what a source keeps from run to run, made when it is first asked for."""
        if name not in self._held:
            self._held[name] = make()
        return self._held[name]

    def looked(self) -> Looked:
        """Return what stood in the places before the first run."""
        return self.held("looked", lambda: Looked(self.places))

    def begin(self, coin: Coin) -> None:
        """Start a path: no number has been drawn, and the coin decides each fork."""
        DESK.tape = self
        self._coin, self.log, self.drawn = coin, [], 0
        if self.ordinary is None:
            self.numbers = {}
        self._stretches, self.ignored = {}, Fraction(0)
        self.tokens: list[list[Atom]] = []
        self.unseen, self.seeds, self.threads, self._thread = {}, {}, set(), get_ident()

    def finish(self) -> None:
        """End a path, and check that it did not stop short of a fork that an earlier path met."""
        if self.ordinary is not None:
            return
        before, self.before = self.before, self.log
        if before is not None and len(self.log) < len(before) and before[: len(self.log)] == self.log:
            place, asked = len(self.log), before[len(self.log)][0]
            raise LeakError(f"with the same {place} answer(s), this run ended where the run before it asked {asked}")

    def end(self) -> None:
        """Leave the run: what it made, such as a generator kept by the code, asks this tape no more."""
        self._coin = None

    def atoms(self) -> list[Atom]:
        """Return the uniform numbers of the path that was walked."""
        return [number for _, number in self.numbers.values() if isinstance(number, Atom)]

    @contextmanager
    def on_ordinary(self, numbers: dict[Any, Any]) -> Generator[None]:
        """Hand out ordinary numbers while the block lasts, each where the path that was walked had that draw."""
        kept = self.log, self.ignored, self.drawn, self.exact, self.before, self.digits
        self.ordinary, self.digits = numbers, set()
        try:
            yield
        finally:
            self.log, self.ignored, self.drawn, self.exact, self.before, self.digits = kept
            self.ordinary = None

    def alive(self) -> list[Any]:
        """Return the generators that were alive before the first run: they could be drawn from unseen."""
        if self._alive is None:
            self._alive = generators_alive()
        return self._alive

    def meet(self, number: Fraction) -> None:
        """Note a binary float that random numbers were compared with or drawn by: the law is a floating one."""
        self.exact = False
        self.digits.add(abs(number.numerator).bit_length())

    def flip(self, asked: str, p: Fraction, of: Any = None) -> bool:  # noqa: ARG002
        """Fork in two; certain answers are no forks. `of` is for who records: the number asked about, and how."""
        if p <= 0 or p >= 1:
            return p > 0
        return self._answered(asked, "flip", p)

    def below(self, key: Hashable, size: int, how: str = "") -> int:
        """Return a number below a size drawn from a place, each as likely; `how` names what else decides it.

        Raises:
            ExploreError: there are too many to fork into.
        """
        if size > MOST_VALUES:
            raise ExploreError(f"explore follows whole numbers of at most {MOST_VALUES:,} values; these are {size:,}")
        kind = f"a number below {size}{how}"
        return self.once(key, kind, [Fraction(1, size)] * size)

    def draw(self, asked: str, masses: Sequence[Fraction], of: Any = None) -> int:  # noqa: ARG002
        """Fork into the indices of positive mass; the masses sum to 1. `of` is for who records, as in `flip`."""
        certain = [index for index, mass in enumerate(masses) if mass == 1]
        if certain:
            return certain[0]
        return self._answered(f"{asked} with masses {', '.join(map(str, masses))}", "draw", list(masses))

    def atom(self, key: Hashable, bits: int, name: str, kind: str = "") -> Atom:
        """Return the uniform number drawn from a place, the same one whenever the place is, and the kind.

        Noise that a library makes of its bits in a way of its own is of another kind than the uniforms of those bits.
        """
        grid = bits if self.grid == OWN_GRID else self.grid
        kind = kind or f"a uniform of {bits} bits"
        return self._number(key, kind, lambda count: Atom(self, f"{name} {count}", grid))

    def stretch(self, state: Hashable) -> Stretch:
        """Name where numbers come from that are drawn in a state of a generator: after those of which seed, how far."""
        seed, first = self._stretches.setdefault(state, (len(self._stretches), 0))
        return Stretch(self._stretches, seed, first)

    def once(self, key: Hashable, kind: str, masses: Sequence[Fraction]) -> int:
        """Return a categorical draw from a place, the same one whenever the place and the law are."""
        return self._number(key, kind, lambda _: self.draw(kind, masses))

    def _number(self, key: Hashable, kind: str, make: Callable[[int], Any]) -> Any:
        self.asked += 1
        if get_ident() != self._thread:
            self.note("random numbers drawn in a thread that the function started")
        if isinstance(key, tuple) and isinstance(key[0], Stretch):  # pyright: ignore[reportUnnecessaryIsInstance]
            key, kind = key[0].key(key[1:], kind)
        key = (key, self.drawn) if self.fresh else key
        known = self.numbers.get(key)
        if known is None and self.ordinary is not None:
            raise ExploreError(OTHERWISE)
        if known is None:
            known = kind, make(self.drawn)
            self.numbers[key] = known
            self.drawn += 1
        elif known[0] != kind:
            raise ExploreError(
                f"one state of a generator was drawn from twice (it was seeded anew), first as {known[0]} and now as "
                f"{kind}; what the two share depends on the generator's inside, which explore does not follow"
            )
        else:
            self.reused = self.reused or self.ordinary is None
        return known[1]

    def _answered(self, asked: str, how: str, question: Any) -> Any:
        """Ask the coin of the path to flip or to draw, and log its answer."""
        if self.ordinary is not None:
            raise ExploreError(OTHERWISE)
        if self._coin is None:
            raise ExploreError(
                "a random number, or a generator, was used outside the run that made it; make it within the function"
            )
        self._check(asked)
        answer = getattr(self._coin, how)(question)
        self.log.append((asked, answer))
        return answer

    def _check(self, asked: str) -> None:
        before, place = self.before, len(self.log)
        if before is None or before[:place] != self.log:
            return
        if place >= len(before) or before[place][0] != asked:
            then = "had ended" if place >= len(before) else f"asked {before[place][0]}"
            raise LeakError(f"with the same {place} answer(s), this run asked {asked} where the run before it {then}")


Source = Callable[[Tape], AbstractContextManager[None]]
"""What makes random numbers into questions to a tape while a run lasts: Python's, NumPy's, another library's."""


def stands(name: str) -> Callable[[Source], Source]:
    """Let what a source puts in the place of other things stand from run to run, under a name."""

    def standing(source: Source) -> Source:
        @wraps(source)
        def stood(tape: Tape) -> AbstractContextManager[None]:
            return tape.standing(name, lambda: source(tape))

        return stood

    return standing


OWN_GRID = -1
"""The grid that each source of uniforms really has: k/2^53 in Python and NumPy's float64, k/2^24 in float32."""

MOST_VALUES = 100_000
"""The most values that a whole number is drawn from, as many as there are paths unless told."""

OTHERWISE = (
    "on ordinary numbers the function does something else than on the objects that stand for them while it is "
    "explored: it asks for their type or their text, catches the error of a use that is not followed, or loses them"
)


class Desk:
    """Hands each question on to the tape that began a run last."""

    tape: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tape, name)


DESK: Any = Desk()


def refused(name: str, followed: Sequence[str]) -> Callable[..., Any]:
    """Return what stands for a function that draws and is not followed."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise ExploreError(f"explore does not follow {name}; it follows {', '.join(followed)}")

    return refuse


SEED = "seeds a generator itself, with {} in call after call"
STATE = "sets a generator to one state that it kept, in call after call"
PUT_BACK = "draws from a generator and sets it back to where it was, so that call after call draws the same numbers"


class GivenKey(tuple[int, ...]):
    """A key of jax that the caller of a function gives, or one made of it: it is no seed of the function's own.

    >>> GivenKey((0,)).longer(1), isinstance(GivenKey((0,)).longer(1), GivenKey)
    ((0, 1), True)
    """

    def longer(self, place: int) -> GivenKey:
        """Return the key at a place of those that this one is split into."""
        return GivenKey((*self, place))


class Seeded:
    """The seeds and states that the paths of a tape have given to generators, each with the path that gave it first.

    A state is as good as a seed, unless the same path has read it; then it matters whether the generator is there still
    when the path ends. `again` says what more paths than one have done, or is "".

    >>> from types import SimpleNamespace
    >>> tape = SimpleNamespace(quiet=False, ordinary=None, foreign=lambda: False, numbers={})
    >>> seeded = Seeded(tape)
    >>> seeded(7)
    >>> tape.numbers, before = {}, seeded.again
    >>> seeded(7)
    >>> before, seeded.again
    ('', 'seeds a generator itself, with 7 in call after call')
    """

    def __init__(self, tape: Any) -> None:
        self._tape = tape
        self._first: dict[Hashable, Any] = {}
        self._path: Any = None
        self._read: set[Hashable] = set()
        self._back: list[tuple[Callable[[], Hashable], Hashable]] = []
        self._settled = False
        self.again = ""

    def __call__(self, seed: Any) -> None:
        """Note that a generator is seeded on this path."""
        if self._listens() and not isinstance(seed, GivenKey):
            self._settled = True
            self._given(repr(seed), SEED.format(repr(seed)))

    def read(self, state: Hashable) -> None:
        """Note that this path reads the state of a generator."""
        if self._listens():
            self._read.add(state)

    def restored(self, before: Hashable, now: Callable[[], Hashable]) -> None:
        """Note that a generator in the state `before` was set to the one that it has `now`, on this path."""
        if not self._listens():
            return
        state = now()
        if state not in self._read:
            self._settled = True
            self._given(("a state", state), STATE)
        elif before != state:
            self._back.append((now, state))

    def finish(self) -> None:
        """End a path: a generator that was set back and not drawn from since is where it was."""
        # What a path seeds decides itself whether the next one draws the same.
        if self._listens() and not self._settled and any(now() == state for now, state in self._back):
            self._given(PUT_BACK, PUT_BACK)

    def _listens(self) -> bool:
        """True if a path of the function is on its way; begin anew where it is another than before."""
        tape = self._tape
        if tape.quiet or tape.ordinary is not None or tape.foreign():
            return False
        # The numbers of a path are its own.
        if self._path is not tape.numbers:
            self._path, self._read, self._back, self._settled = tape.numbers, set(), [], False
        return True

    def _given(self, what: Hashable, said: str) -> None:
        if self._first.setdefault(what, self._path) is not self._path:
            self.again = said
