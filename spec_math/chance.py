"""One program of chance, four readings: enumerate every path, sample one, replay given uniforms, or a symbol.

A program is a function of a coin, and `coin.flip(p)` and `coin.draw(law)` are its only randomness.

Source: the house's own; a uniform is used as in Devroye 1986, inversion.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, Protocol, TypeVar

import numpy as np

from spec_math.arrays import SUM_BOUND
from spec_math.worlds import Symbol, as_text

FLOAT_GAP = max(SUM_BOUND.values())
"""How far a float law handed to a coin may be from summing to 1: its entrance knew the type it was stored in, and held
it to that type's bound; the coin meets numbers already widened, and can only refuse what no type explains."""

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
        """Return token i with probability masses[i]; the masses [V] already sum to 1."""
        ...


class Cumulative:
    """A law with its running sums, so that a law drawn from often is summed once.

    Raises:
        ChanceError: masses that are negative or do not sum to 1.

    >>> Cumulative([Fraction(1, 4), Fraction(3, 4)]).sums
    [Fraction(1, 4), Fraction(1, 1)]
    """

    def __init__(self, masses: Any) -> None:
        self.masses: list[Any] = _checked(masses)
        self.sums: list[Any] = list(accumulate(self.masses))

    def at(self, uniform: Any) -> int:
        """Return the first i with v_0 + … + v_i > uniform · Σv; never a token of mass 0.

        >>> Cumulative([Fraction(1, 4), 0, Fraction(3, 4)]).at(Fraction(1, 4))
        2
        """
        total = self.sums[-1]
        # A Fraction just below 1 times a float sum rounds up to the sum itself: then the last token that has mass.
        index = min(bisect_right(self.sums, uniform * total), len(self.sums) - 1)
        while self.masses[index] == 0:
            index -= 1
        return index


class ChanceError(ValueError):
    """A program asked for something that is no chance: a probability outside [0, 1], masses that are no law."""


@dataclass(frozen=True)
class Path:
    """One way through a program: what it returned, with what probability, and each choice made on the way."""

    outcome: Any
    mass: Any
    choices: tuple[str, ...]


def law(program: Callable[[Coin], Outcome]) -> dict[Outcome, Any]:
    """Compute the law of a program's outcome by walking every path: {outcome: probability}.

    Exact when the program's probabilities are Fractions. Outcomes of probability 0 are left out.

    Raises:
        ChanceError: a flip outside [0, 1], masses that are negative or do not sum to 1.

    >>> law(lambda coin: (coin.flip(Fraction(1, 3)), coin.draw([Fraction(1, 2), Fraction(1, 2)])))[True, 0]
    Fraction(1, 6)
    """
    result: dict[Outcome, Any] = {}
    for path in paths(program):
        result[path.outcome] = result[path.outcome] + path.mass if path.outcome in result else path.mass
    return result


def paths(program: Callable[[Coin], Any]) -> Iterator[Path]:
    """Walk a program's paths depth first, each with its probability; those of probability 0 are not walked.

    An exception of the program carries a note that names the path.

    >>> [path.choices for path in paths(lambda coin: coin.flip(Fraction(1, 2)))]
    [('flip(1/2) = True',), ('flip(1/2) = False',)]
    """
    coin = _Enumerating()
    while True:
        coin.rewind()
        try:
            outcome = program(coin)
        except Exception as error:
            error.add_note(f"on the path: {', '.join(coin.choices()) or 'no choice yet'}")
            raise
        yield Path(outcome, coin.mass, coin.choices())
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
    return program(_Consuming(iter(rng.random, None)))


def replay(program: Callable[[Coin], Result], uniforms: Iterable[Any]) -> Result:
    """Run a program on given uniforms in [0, 1): one is consumed by each flip and each draw, in order.

    `flip(p)` is `u < p`; `draw(v)` is the first i with v_0 + … + v_i > u · Σv. Uniforms: a list of
    numbers; those left over are ignored.

    Raises:
        ValueError: a uniform outside [0, 1), or too few of them.

    >>> replay(lambda coin: (coin.flip(Fraction(1, 2)), coin.draw([Fraction(1, 2), Fraction(1, 2)])), [0.25, 0.5])
    (True, 1)
    """
    return program(_Consuming(iter(uniforms)))


class _Consuming:
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
        return bool(self._next() < _probability(p))

    def draw(self, masses: Any) -> int:
        cumulative = masses if isinstance(masses, Cumulative) else Cumulative(masses)
        return cumulative.at(self._next())


class _Enumerating:
    """Replays a tape of choices and branches at its end; the tape is advanced like an odometer."""

    def __init__(self) -> None:
        self._tape: list[tuple[str, list[tuple[Any, Any]], int]] = []
        self._place = 0
        self.mass: Any = Fraction(1)

    def rewind(self) -> None:
        self._place = 0
        self.mass = Fraction(1)

    def choices(self) -> tuple[str, ...]:
        return tuple(f"{asked} = {options[at][0]}" for asked, options, at in self._tape[: self._place])

    def advance(self) -> bool:
        del self._tape[self._place :]
        while self._tape:
            asked, options, at = self._tape.pop()
            if at + 1 < len(options):
                self._tape.append((asked, options, at + 1))
                return True
        return False

    def _choose(self, asked: str, options: list[tuple[Any, Any]]) -> Any:
        if self._place < len(self._tape):
            known, stored, at = self._tape[self._place]
            if known != asked or stored != options:
                raise ChanceError(
                    f"the program is no function of its coin: on the same path it asked {known} and then {asked}"
                )
        else:
            if self._place >= LONGEST:
                raise ChanceError(f"one path asks for more than {LONGEST:,} coins; bound the program's loop")
            at = 0
            self._tape.append((asked, options, at))
        self._place += 1
        value, mass = options[at]
        self.mass = self.mass * mass
        return value

    def flip(self, p: Any) -> bool:
        p = _probability(p)
        options = [(value, mass) for value, mass in ((True, p), (False, 1 - p)) if possible(mass)]
        return bool(self._choose(f"flip({as_text(p)})", options))

    def draw(self, masses: Any) -> int:
        listed = masses.masses if isinstance(masses, Cumulative) else _checked(masses)
        options = [(token, mass) for token, mass in enumerate(listed) if possible(mass)]
        return int(self._choose(f"draw({_short(listed)})", options))


def possible(mass: Any) -> bool:
    """Say whether a choice of this probability is followed: one of 0 is not.

    >>> possible(Fraction(0)), possible(0.5)
    (False, True)
    """
    return mass.possible() if isinstance(mass, Symbol) else bool(mass != 0)


def _as_list(masses: Any) -> list[Any]:
    if isinstance(masses, np.ndarray) or hasattr(masses, "tolist"):
        return list(masses.tolist())
    return list(masses)


def _short(masses: Sequence[Any]) -> str:
    shown = ", ".join(as_text(mass) for mass in masses[:8])
    return f"{shown}, … {len(masses)} in all" if len(masses) > 8 else shown


def _probability(p: Any) -> Any:
    if hasattr(p, "item"):  # a scalar of NumPy or torch becomes Python's own
        p = p.item()
    if not 0 <= p <= 1:
        raise ChanceError(f"flip: a probability must lie in [0, 1]; got {as_text(p)}")
    return p


def _checked(masses: Any) -> list[Any]:
    """Check that masses are a law: exactly where they are exact, within `FLOAT_GAP` where they are floats."""
    listed = _as_list(masses)
    if not listed:
        raise ChanceError("draw: a law needs at least one token; got none")
    for token, mass in enumerate(listed):
        if not mass >= 0:
            raise ChanceError(f"draw: masses must be >= 0; token {token} has {as_text(mass)}")
    total = sum(listed)
    gap = abs(total - 1)
    if gap > (FLOAT_GAP if isinstance(total, float | np.floating) else 0):
        raise ChanceError(
            f"draw: masses must sum to 1; these {len(listed)} sum to {as_text(total)} (off by {as_text(gap)})"
        )
    return listed
