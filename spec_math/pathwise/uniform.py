"""A uniform random number that may be compared and nothing else: each comparison forks the run at its threshold."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import inf, isfinite, isnan, prod
from numbers import Rational
from typing import Any, Literal

from spec_math.pathwise.atom import LARGEST_GUARD, Atom, ExploreError, elementwise
from spec_math.pathwise.clock import Clock
from spec_math.pathwise.races import race

LARGEST_SHIFT = 2**20
"""What is added to a uniform at most, in units of its scale: beyond it the sum's rounding moves laws by over 1e-10."""


@elementwise
class Uniform:
    """scale · U + shift for an atom U, perhaps bent after that: to be compared with numbers, and scaled and shifted.

    On the ideal coin the threshold of a comparison is solved for exactly. On a grid the code's own arithmetic is done
    for k/2^bits at the integers k that a bisection visits, rounding and all; `number` makes k/2^bits of k, and
    `steps` is the arithmetic, each step monotone. `bends` are what comes after a power: see `bend`.

    >>> from spec_math.pathwise.exploration import explore
    >>> import random
    >>> explore(lambda: 1 - random.random() < Fraction(1, 3)) == {True: Fraction(1, 3), False: Fraction(2, 3)}
    True
    """

    __slots__ = ("atom", "bends", "number", "scale", "shift", "steps")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, atom: Atom, number: Callable[[int], Any] | None = None) -> None:
        self.atom = atom
        self.number: Callable[[int], Any] = number or (lambda k: k / 2 ** (atom.bits or 0))
        self.scale, self.shift = Fraction(1), Fraction(0)
        self.steps: tuple[Callable[[Any], Any], ...] = ()
        self.bends: tuple[Bend, ...] = ()

    def __lt__(self, other: Any) -> bool:
        return self._compared(other, operator.lt)

    def __le__(self, other: Any) -> bool:
        return self._compared(other, operator.le)

    def __gt__(self, other: Any) -> bool:
        return not self._compared(other, operator.le) and not _is_nan(other)

    def __ge__(self, other: Any) -> bool:
        return not self._compared(other, operator.lt) and not _is_nan(other)

    def __eq__(self, other: object) -> bool:
        """Return False for a number, which an ideal uniform equals with probability 0."""
        if isinstance(other, Uniform | Clock) or self.atom.bits is not None or not hasattr(other, "__float__"):
            raise ExploreError(f"{self.atom.name} is compared by ==; only <, <=, > and >= have a threshold")
        return False

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, int | float | Rational) and other == 0:
            return other * 0
        if isinstance(other, Uniform) and self.atom.bits is not None:
            return other * self.exactly()
        c = self._constant(other)
        return self._after(lambda x: x * other, ("scale", c))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        c = self._constant(other)
        if c == 0:
            raise ExploreError(f"{self.atom.name} is divided by 0")
        return self._after(lambda x: x / other, ("scale", 1 / c))

    def __rtruediv__(self, other: Any) -> Any:
        return self**-1 * other

    def __pow__(self, exponent: Any) -> Any:
        """Return a power of a number that is not negative."""
        if not positive(self.scale, self.shift, self.bends):
            raise ExploreError(f"a power of {self.atom.name} is taken where it may be negative")
        if exponent == inf and (self.scale, self.shift, self.bends) == (1, 0, ()):
            return 0.0  # almost surely, as a token of mass 0 has it in u ** (1 / p)
        a = self._constant(exponent)
        if a == 0:
            raise ExploreError(f"{self.atom.name} is taken to the power 0")
        return self._after(lambda x: x**exponent if x or a > 0 else inf, ("power", a))

    def exactly(self) -> Any:
        """Return the number itself, on a grid that is coarse enough to go through all of it."""
        self.atom.face(False)
        return self._at(self.atom.value())

    def __add__(self, other: Any) -> Uniform:
        return self._after(lambda x: x + other, ("shift", self._constant(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Uniform:
        return self._after(lambda x: x - other, ("shift", -self._constant(other)))

    def __rsub__(self, other: Any) -> Uniform:
        return (-self)._after(lambda x: other + x, ("shift", self._constant(other)))

    def __neg__(self) -> Uniform:
        return self._after(operator.neg, ("scale", Fraction(-1)))

    def __trunc__(self) -> int:
        """Return the whole part, as `int(u * n)` asks for it; u must not be negative."""
        if self.scale < 0 or self.shift < 0 or self.bends:
            raise ExploreError(f"the whole part of {self.atom.name} is taken where it may be negative")
        whole = 0
        while not self < whole + 1:
            whole += 1
        return whole

    __int__ = __floor__ = __trunc__

    def log(self) -> Clock:
        """Return log U or log(1 − U), perhaps + ε inside: minus the time of an exponential clock of rate 1.

        U + ε is off from U by ε in total variation; a small ε is left out, and noted.
        """
        guard = self.shift if self.scale == 1 else self.shift - 1
        if self.bends or abs(self.scale) != 1 or not 0 <= guard <= LARGEST_GUARD:
            raise ExploreError(f"the logarithm of {self.atom.name} is taken after it was scaled; explore knows log u")
        self.atom.face(self.scale < 0)
        return -Clock(self.atom, guard)

    def log1p(self) -> Clock:
        """Return log(1 + this), as of −U."""
        return (1 + self).log()

    def as_noise(self) -> Clock:
        """Return a number that grows with this one, made of its clock: log u^a = −a·T, to be raced against others.

        Raises:
            ExploreError: this is not ±u^a or (1 − u)^a.
        """
        if not self.is_noise:
            raise ExploreError(f"argmin and argmax are followed over noise and over u^(1/w) only; this is {self!r}")
        turned = self.shift == 1
        self.atom.face(turned)
        return -Clock(self.atom) * prod((c for _, c in self.bends), start=-self.scale if turned else self.scale)

    @property
    def is_noise(self) -> bool:
        """True if this is ±u^a or (1 − u)^a, so that it can be raced against others of the sign."""
        plain = (self.scale, self.shift) in ((1, 0), (-1, 0), (-1, 1))
        return plain and all(kind == "power" or (kind, c) == ("scale", -1) for kind, c in self.bends)

    def kept_above(self, least: Any) -> Uniform:
        """Return max(this, least) for a least that is 0 or small, as this; the chance that it differs is noted."""
        bound, atom = self._constant(least), self.atom
        if self.bends or (self.scale, self.shift) != (1, 0) or bound > LARGEST_GUARD:
            raise ExploreError(f"{atom.name} is kept above {least}; explore follows small bounds alone")
        low, high = (edge / (1 if atom.bits is None else 1 << atom.bits) for edge in (atom.low, atom.high))
        atom.tape.ignored += max(Fraction(0), min(bound, high) - low) / (high - low)
        return self

    def __float__(self) -> float:
        raise ExploreError(f"the value of {self.atom.name} is asked for; explore follows comparisons only: {_CURE}")

    def __bool__(self) -> bool:
        raise ExploreError(f"{self.atom.name} is asked whether it is zero; compare it instead")

    def __repr__(self) -> str:
        if self.bends:
            return f"<{shown(f'{self.scale} · {self.atom.name} + {self.shift}', self.bends)}>"
        if (self.scale, self.shift) == (1, 0):
            return f"<{self.atom.name}>"
        return f"<{self.scale} · {self.atom.name} + {self.shift}>"

    def _after(self, step: Callable[[Any], Any], bent: Bend) -> Uniform:
        result = Uniform(self.atom, self.number)
        result.steps = (*self.steps, step)
        kind, c = bent
        if self.bends or kind == "power":
            result.scale, result.shift, result.bends = self.scale, self.shift, (*self.bends, bent)
        elif kind == "scale":
            result.scale, result.shift = c * self.scale, c * self.shift
        else:
            result.scale, result.shift = self.scale, self.shift + c
            if abs(result.shift) > LARGEST_SHIFT * abs(result.scale):
                raise ExploreError(
                    f"{self.atom.name} is added to {float(result.shift):.3g}, beside which floats hold few of its "
                    "digits; explore computes with ideal numbers: compare it before it is added"
                )
        return result

    def _constant(self, value: Any) -> Fraction:
        return rational(value, self.atom)

    def _compared(self, other: Any, relation: Callable[[Any, Any], Any]) -> bool:
        """Decide value < other or value <= other; these differ on a grid only."""
        if _is_nan(other):
            return False
        if isinstance(other, Uniform) and self._named() == other._named():  # as a sort compares an entry with itself
            return relation is operator.le
        if isinstance(other, Uniform) and self.atom.bits is None and self.is_noise and other.is_noise:
            late = self.as_noise().rings_late
            return race([self, other], smallest=late) == (0 if late else 1)
        if not isinstance(other, Uniform) and not isfinite(other):
            return other > 0
        threshold = self._constant(other)
        told = repr(getattr(other, "item")()) if hasattr(other, "item") else str(other)  # noqa: B009
        asked = f"{self!r} {'<' if relation is operator.lt else '<='} {told}"
        grows = rising(self.bends) == (self.scale > 0)
        if self.atom.bits is None:
            straight = unbent(threshold, self.bends, self.atom.tape)
            if isinstance(straight, bool):
                return straight
            if self.scale == 0 and not self.bends:  # a product with a zero that only the number at hand knows of
                return bool(relation(self.shift, straight))
            below = partial(self.atom.below, (straight - self.shift) / self.scale)
        else:
            # Rising: true up to a cut. Falling: false up to a cut.
            below = partial(self.atom.below_first_failure, lambda k: bool(relation(self._at(k), other)) == grows)
        self.atom.face(False)
        return below(asked) == grows

    def _named(self) -> tuple[Any, ...]:
        return self.atom, self.scale, self.shift, self.bends

    def _at(self, k: int) -> Any:
        value = self.number(k)
        for step in self.steps:
            value = step(value)
        return value


def uniform(atom: Atom, number: Callable[[Any], Any] | None = None) -> Any:
    """Return what code gets that draws a uniform: an object that stands for it, or an ordinary number of its type."""
    found = Uniform(atom, number)
    atom.number = found.number
    ordinary = atom.tape.ordinary
    return found if ordinary is None else found.number(1 - ordinary[atom] if atom.turned else ordinary[atom])


def rational(value: Any, atom: Atom) -> Fraction:
    """Return a constant as the Fraction it is; a binary float makes the law of the run a floating one.

    Raises:
        ExploreError: the constant is itself a random number, or no finite number.
    """
    if isinstance(value, Uniform | Clock):
        raise ExploreError(
            f"two random numbers meet in one expression, {atom.name} and {value!r}; explore follows one, and products "
            "only on a stated grid of few numbers, such as grid=4"
        )
    return atom.constant(value, atom.name)


def _is_nan(value: Any) -> bool:
    return not isinstance(value, Uniform | Clock | Rational) and isnan(value)


_CURE = "hand the comparison or the draw to the code as a function, or explore the code around it"


Bend = tuple[Literal["scale", "shift", "power"], Fraction]
"""x · c, x + c, or x to the power c of an x that is not negative."""


def positive(scale: Fraction, shift: Fraction, bends: Sequence[Bend]) -> bool:
    """Say whether scale · U + shift, so bent, is never negative."""
    if not bends:
        return min(shift, shift + scale) >= 0
    start = max((place for place, (kind, _) in enumerate(bends) if kind == "power"), default=-1)
    return all(c >= 0 for _, c in bends[start + 1 :])


def rising(bends: Sequence[Bend]) -> bool:
    """Say whether the steps keep the order."""
    return sum(kind != "shift" and c < 0 for kind, c in bends) % 2 == 0


def unbent(threshold: Fraction, bends: Sequence[Bend], tape: Any) -> Fraction | bool:
    """Return the number that the steps carry to a threshold; below all powers, whether the threshold is not reached."""
    for place in range(len(bends) - 1, -1, -1):
        kind, c = bends[place]
        if kind == "scale":
            threshold /= c
        elif kind == "shift":
            threshold -= c
        elif threshold <= 0:
            return not rising(bends[place + 1 :])
        else:
            threshold = _root(threshold, c, tape)
    return threshold


def shown(base: str, bends: Sequence[Bend]) -> str:
    """Return the steps in words."""
    for kind, c in bends:
        base = f"({base})^{c}" if kind == "power" else f"{base} · {c}" if kind == "scale" else f"{base} + {c}"
    return base


def _root(value: Fraction, power: Fraction, tape: Any) -> Fraction:
    if abs(power) == 1:
        return value ** int(power)
    found = Fraction(float(value) ** float(1 / power))
    tape.meet(found)
    return found
