"""Coins and random programs: a program read as a distribution, a sample, a replay or a list of paths.

A program is a function of a coin, and `coin.flip(p)` and `coin.draw(law)` are its only randomness.

Source: a uniform is used as in Devroye 1986, inversion.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from spec_math.masses import ChanceError as ChanceError
from spec_math.masses import Cumulative as Cumulative
from spec_math.masses import FlipAndDraw, as_list, by_outcome, in_short, over_sum, probability, weighed
from spec_math.masses import possible as possible
from spec_math.number_types import as_text

LONGEST = 1_000
"""The most coins one enumerated path may ask for; a program that loops on its coin has no end to its paths."""

Outcome = TypeVar("Outcome", bound=Hashable)
Result = TypeVar("Result")


class Coin(Protocol):
    """The only randomness of a program."""

    def flip(self, p: Any) -> bool:
        """Return True with probability p."""
        ...

    def draw(self, masses: Any) -> int:
        """Return token i with probability masses[i] / Σ masses; the masses [V] already sum to 1, but for rounding."""
        ...


class UnrepeatableError(ChanceError):
    """A program asked something else on the same path: it is not a function of its coin alone."""


class EndlessError(ChanceError):
    """One path of a program asks for more coins than are walked."""


def law(program: Callable[[Coin], Outcome]) -> dict[Outcome, Any]:
    """Compute the law of a program's outcome by walking every path: {outcome: probability}.

    Exact when the program's probabilities are Fractions. Outcomes of probability 0 are left out.

    Raises:
        ChanceError: a flip outside [0, 1], masses that are negative or do not sum to 1.

    >>> law(lambda coin: (coin.flip(Fraction(1, 3)), coin.draw([Fraction(1, 2), Fraction(1, 2)])))[True, 0]
    Fraction(1, 6)
    """
    return by_outcome((outcome, coin.mass) for outcome, coin in _walked(program, Enumerating()))


def paths(program: Callable[[Coin], Any], coin: Enumerating | None = None) -> Iterator[Path]:
    """Walk a program's paths depth first, each with its probability; those of probability 0 are not walked.

    A `coin` that is given may walk them in another order. An exception of the program has a note that names the path.

    >>> [path.choices for path in paths(lambda coin: coin.flip(Fraction(1, 2)))]
    [('flip(1/2) = True',), ('flip(1/2) = False',)]
    """
    for outcome, walked in _walked(program, coin or Enumerating()):
        yield Path(outcome, walked.mass, walked.taken)


def _walked(program: Callable[[Coin], Any], coin: Enumerating) -> Iterator[tuple[Any, Enumerating]]:
    """Walk a program's paths: what each returned, and the coin as it then stands. Choices are not put into words."""
    while True:
        coin.rewind()
        try:
            outcome = program(coin)
        except Exception as error:
            error.add_note(f"on the path: {', '.join(coin.choices()) or 'no choice yet'}")
            raise
        yield outcome, coin
        if not coin.advance():
            return


def sample(program: Callable[[Coin], Result], rng: Any) -> Result:
    """Run a program once with the uniforms of rng (random.Random or a NumPy Generator: anything with .random()).

    Raises:
        TypeError: rng has no method random(). ChanceError: as `law`.

    >>> import random
    >>> sample(lambda coin: coin.draw([Fraction(0), Fraction(1)]), random.Random(0))
    1
    """
    if not callable(getattr(rng, "random", None)):
        raise TypeError(
            f"rng must have a method random() that returns a uniform in [0, 1), as random.Random(seed) and "
            f"numpy.random.default_rng(seed) do; got {rng!r}"
        )
    return program(Replaying(iter(rng.random, None)))


def replay(program: Callable[[Coin], Result], uniforms: Iterable[Any]) -> Result:
    """Run a program on given uniforms in [0, 1): one is consumed by each flip and each draw, in order.

    `flip(p)` is `u < p`; `draw(v)` is the first i with v_0 + … + v_i > u · Σv. Uniforms: a list of
    numbers; those left over are ignored.

    Raises:
        ValueError: a uniform outside [0, 1), or too few of them.

    >>> replay(lambda coin: (coin.flip(Fraction(1, 2)), coin.draw([Fraction(1, 2), Fraction(1, 2)])), [0.25, 0.5])
    (True, 1)
    """
    return program(Replaying(iter(uniforms)))


class Replaying(FlipAndDraw):
    """A coin that decides by given uniforms, one after another."""

    def __init__(self, uniforms: Iterator[Any]) -> None:
        self._uniforms = uniforms
        self._consumed = 0

    def _next(self) -> Any:
        try:
            uniform = next(self._uniforms)
        except StopIteration:
            raise ValueError(f"the program asks for more uniforms than the {self._consumed} that were given") from None
        self._consumed += 1
        if not 0 <= uniform < 1:
            raise ValueError(f"uniforms must lie in [0, 1); number {self._consumed} is {uniform!r}")
        return uniform

    def flip(self, p: Any) -> bool:
        """Return whether the next uniform is below p."""
        return bool(self._next() < probability(p)[0])

    def draw(self, masses: Any) -> int:
        """Return the token that the next uniform draws."""
        cumulative = masses if isinstance(masses, Cumulative) else Cumulative(masses)
        return cumulative.at(self._next())


class Enumerating(FlipAndDraw):
    """A coin that walks every path: it replays a tape of choices and branches at its end, like an odometer.

    `types` are the types that the laws of the call are stored in, all of them if `closed`. Paths whose mass is below
    `least` ask for no further coin. `gaps` says how far the masses of the j-th coins were from summing to 1 at most.

    >>> coin = Enumerating()
    >>> coin.draw([Fraction(1, 2), Fraction(1, 2)]), coin.mass, coin.advance(), coin.advance()
    (0, Fraction(1, 2), True, False)
    """

    def __init__(self, types: Collection[str] = (), closed: bool = False, least: Any = 0) -> None:
        self._tape: list[Choice] = []
        self._place = 0
        self._types, self._closed = types, closed
        self._stored: set[str] = set()
        # The mass of the path before each of its places, as far as it is known: a path begins as the last one did.
        self._masses: list[Any] = [Fraction(1)]
        self.mass: Any = Fraction(1)
        self.gaps: list[float] = []
        # `cut` says that the current path was cut at its least mass, or has no end.
        self.least, self.cut = least, False

    @property
    def stored(self) -> frozenset[str]:
        """The floating types that the program has handed over so far."""
        return frozenset(self._stored)

    @property
    def asked(self) -> int:
        """The number of coins that this path has asked for so far."""
        return self._place

    def rewind(self) -> None:
        """Begin the path that the tape holds."""
        self._place = 0
        self.mass = self._masses[0]
        self.cut = False

    @property
    def taken(self) -> tuple[Choice, ...]:
        """The choices of the path so far, as they stand on the tape."""
        return tuple(self._tape[: self._place])

    def choices(self) -> tuple[str, ...]:
        """Return the path so far, in words."""
        return in_words(self.taken)

    def advance(self) -> bool:
        """Turn to the next path; say whether there is one."""
        del self._tape[self._place :]
        while self._tape:
            kind, question, options, at = self._tape.pop()
            if at + 1 < len(options):
                del self._masses[len(self._tape) + 1 :]
                self._tape.append((kind, question, options, at + 1))
                return True
        return False

    def flip(self, p: Any) -> bool:
        """Return True on the first of two paths, False on the second; a side of probability 0 is not walked."""
        if not self._repeats("flip", p):
            p, stored = probability(p)
            if stored:
                self._stored.add(stored)
            self._ask("flip", p, [(value, mass) for value, mass in ((True, p), (False, 1 - p)) if possible(mass)])
        return bool(self._choose())

    def draw(self, masses: Any) -> int:
        """Return each token in turn, one a path, with its mass divided by the sum."""
        kept = isinstance(masses, Cumulative)
        question = masses.masses if kept else as_list(masses)
        if not self._repeats("draw", question):
            listed, total, stored = (
                (masses.masses, masses.total, masses.stored) if kept else weighed(masses, self._types, self._closed)
            )
            if stored:
                self._stored.add(stored)
                self.gaps += [0.0] * (self._place + 1 - len(self.gaps))
                self.gaps[self._place] = max(self.gaps[self._place], abs(total - 1))
                listed = over_sum(listed, total)
            self._ask("draw", question, [(token, mass) for token, mass in enumerate(listed) if possible(mass)])
        return int(self._choose())

    def _repeats(self, kind: str, question: Any) -> bool:
        """Say whether the tape holds this very question here: then it was checked when it was first asked."""
        if self._place == len(self._tape):
            return False
        known, asked, _, _ = self._tape[self._place]
        return known == kind and bool(asked == question)

    def _ask(self, kind: str, question: Any, options: list[tuple[Any, Any]]) -> None:
        if self._place < len(self._tape):
            first, then = _asked(*self._tape[self._place][:2]), _asked(kind, question)
            raise UnrepeatableError(
                f"the program is not a function of its coin: on the same path it asked {first} and then {then}"
            )
        if self._place >= LONGEST or (self.least and self.mass < self.least):
            self.cut = True
            raise EndlessError(f"one path asks for more than {LONGEST:,} coins; bound the program's loop")
        self._tape.append((kind, question, options, 0))

    def _choose(self) -> Any:
        _, _, options, at = self._tape[self._place]
        self._place += 1
        value, mass = options[at]
        if self._place == len(self._masses):
            self._masses.append(self.mass * mass)
        self.mass = self._masses[self._place]
        return value


Choice = tuple[str, Any, list[tuple[Any, Any]], int]
"""Flip or draw, what was asked, the answers with their masses, and which of them was given."""


@dataclass(frozen=True)
class Path:
    """One way through a program: what it returned, with what probability, and each choice made on the way.

    >>> from fractions import Fraction
    >>> half = Fraction(1, 2)
    >>> Path("heads", half, (("flip", half, [(True, half), (False, half)], 0),)).choices
    ('flip(1/2) = True',)
    """

    outcome: Any
    mass: Any
    taken: tuple[Choice, ...]

    @property
    def choices(self) -> tuple[str, ...]:
        """The choices in words; they are put into words when they are asked for, as most walks never ask."""
        return in_words(self.taken)


def in_words(taken: tuple[Choice, ...]) -> tuple[str, ...]:
    """Put the choices of a path into words.

    >>> in_words((("draw", [0.5, 0.5], [(0, 0.5), (1, 0.5)], 1),))
    ('draw(0.5, 0.5) = 1',)
    """
    return tuple(f"{_asked(kind, question)} = {options[at][0]}" for kind, question, options, at in taken)


def _asked(kind: str, question: Any) -> str:
    return f"{kind}({in_short(question) if kind == 'draw' else as_text(question)})"
