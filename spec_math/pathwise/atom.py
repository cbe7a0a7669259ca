"""One random number of an explored run: the interval that it is known to lie in, and the fork at each comparison."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import wraps
from math import isfinite
from numbers import Rational
from typing import Any, ClassVar, TypeVar

import numpy as np


class ExploreError(RuntimeError):
    """Explored code did something with a random number, or asked for one, that explore cannot follow exactly."""

    made: ClassVar[list[ExploreError]] = []
    """Those of the run that is explored: one that the code catches itself is raised again when the run is over."""

    of_randomness: ClassVar[bool] = True
    """True for errors about random numbers, False for those about what the code takes or returns."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        ExploreError.made.append(self)


class UnseenRandomnessError(ExploreError):
    """Explored code drew from a source that explore does not follow, so that neither law nor verdict can be given.

    `sources` names what was drawn from; a judge answers Undecided with `Reason.RANDOMNESS_NOT_SEEN`.

    >>> UnseenRandomnessError("os.urandom was read", ("os.urandom",)).sources
    ('os.urandom',)
    """

    def __init__(self, said: str, sources: tuple[str, ...] = ()) -> None:
        super().__init__(said)
        self.sources = sources


LARGEST_GUARD = Fraction(1, 1000)
"""The largest number that may be added to keep a logarithm finite, and left out."""


MOST = 256
"""The most numbers of a grid that are gone through one by one."""


class Atom:
    """A uniform number U, known to lie in [low, high): in [0, 1), or on the grid {0, …, 2^bits − 1} of integers.

    Each answer narrows the interval, so that a number compared twice is conditioned on the first answer. An atom may
    instead be the noise of an exponential clock; it is one or the other. `races` are the races it has taken part in,
    `unsettled` is one that was asked about and has no winner yet, which it draws when it is called; `number` makes a
    number of the code's own type of it. `tape` is the Tape of the run.
    """

    def __init__(self, tape: Any, name: str, bits: int | None) -> None:
        self.tape = tape
        self.name = name
        self.bits = bits
        self.low = Fraction(0)
        self.high = Fraction(1 if bits is None else 1 << bits)
        self.races: list[Any] = []
        self.unsettled: Any = None
        self.number: Callable[[Any], Any] | None = None
        self._uses: dict[str, Any] = {}

    def _only(self, kind: str, use: Any, both: str) -> None:
        if self._uses.setdefault(kind, use) != use:
            raise ExploreError(f"{self.name} is {both}; explore follows one")

    def become(self, kind: str) -> None:
        """Use the atom as a "uniform" or a "clock", and refuse the other use."""
        self._only("kind", kind, "used both as a uniform and as the noise of a race")

    @property
    def turned(self) -> bool:
        """True if the number was used as 1 − U, the number that log(1 − u) is made of."""
        return self._uses.get("turned", False)

    def face(self, turned: bool) -> None:
        """Use the number as U, or as 1 − U, and refuse the other use."""
        self._only("turned", turned, "used both by itself and in log(1 − u)")

    def settle(self, guard: Fraction) -> None:
        """Take part in a race with a guard added to the number: the same in every race, as it is one number."""
        if "guard" not in self._uses:
            self.tape.ignored += guard
        self._only("guard", guard, "raced both with and without a small number added")

    def constant(self, value: Any, shown: str) -> Fraction:
        """Return a number that meets this one, shown in some way, as a Fraction; a binary float is noted on the tape.

        Raises:
            ExploreError: it is no finite number.
        """
        if isinstance(value, Rational):
            return Fraction(int(value.numerator), int(value.denominator))
        plain: Any = value.item() if hasattr(value, "item") else value
        if not isinstance(plain, int | float) or not isfinite(plain):
            raise ExploreError(f"{shown} meets {value!r}, which is not a finite number")
        number = Fraction(plain)
        if isinstance(plain, float):
            self.tape.meet(number)
        return number

    def below(self, cut: Fraction, asked: str) -> bool:
        """Say whether the number is below a cut, and remember the answer."""
        self.become("uniform")
        if cut <= self.low or cut >= self.high:
            return cut >= self.high
        answer = self.tape.flip(asked, (cut - self.low) / (self.high - self.low), (self, [cut]))
        self.low, self.high = (self.low, cut) if answer else (cut, self.high)
        return answer

    def below_first_failure(self, holds: Callable[[int], bool], asked: str) -> bool:
        """Say whether the number k of a grid satisfies a condition that holds for all k below some cut, found here."""
        numbers = range(int(self.low), int(self.high))
        cut = numbers.start + bisect_left(numbers, True, key=lambda k: not holds(k))
        return self.below(Fraction(cut), asked)

    def value(self) -> int:
        """Return the number k of a coarse grid, forking into all of them.

        Raises:
            ExploreError: there is no grid, or it has too many numbers to go through.
        """
        self.become("uniform")
        low, high = int(self.low), int(self.high)
        if self.bits is None or high - low > MOST:
            raise ExploreError(
                f"two random numbers meet in one expression, {self.name} and another; explore goes through the numbers "
                f"of a grid that is stated and has {MOST} of them at most, such as grid=4 (--grid 4)"
            )
        k = low + self.tape.draw(f"the value of {self.name}", [Fraction(1, high - low)] * (high - low))
        self.low, self.high = Fraction(k), Fraction(k + 1)
        return k

    def cell(self, sums: Sequence[Fraction], asked: str) -> int:
        """Return the first i with sums[i] > U·sums[-1], forking into all of them at once.

        On a grid, cell i holds the integers k < 2^bits · sums[i]/sums[-1] that no earlier cell has.
        """
        self.become("uniform")
        scale = Fraction(1 if self.bits is None else 1 << self.bits) / sums[-1]
        edges = [share * scale if self.bits is None else Fraction(-(-(share * scale) // 1)) for share in sums]
        width = self.high - self.low
        lower = [max(self.low, edge) for edge in [Fraction(0), *edges[:-1]]]
        upper = [min(self.high, edge) for edge in edges]
        masses = [max(Fraction(0), up - low) / width for low, up in zip(lower, upper, strict=True)]
        index = self.tape.draw(asked, masses, (self, upper))
        self.low, self.high = lower[index], upper[index]
        return index


Number = TypeVar("Number")

_METHODS = ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__add__", "__sub__", "__mul__", "__truediv__", "__pow__")


def elementwise(number: type[Number]) -> type[Number]:
    """Let a class of random numbers leave what it meets to NumPy where that is an array of them.

    On a grid, where the arithmetic of the code's own types is followed, such a meeting is refused: NumPy would do it
    in another type.
    """
    for name in _METHODS:
        if name in vars(number):
            setattr(number, name, _beside_arrays(getattr(number, name)))
    return number


def _beside_arrays(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    @wraps(method)
    def met(self: Any, other: Any) -> Any:
        if not isinstance(other, np.ndarray) or not other.ndim:
            return method(self, other)
        if self.atom.bits is not None:
            raise ExploreError(
                f"{self!r} stands to the left of an array; on a grid explore follows it beside one number: take one "
                "entry of the array, or ideal uniforms"
            )
        return NotImplemented

    return met
