"""Exponential clocks: random numbers raced by argmin(E/w), argmax(w/E) or Gumbel-argmax, which pick i ∝ w_i."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, inf, log
from typing import Any

from spec_math.pathwise.atom import LARGEST_GUARD, Atom, ExploreError, elementwise

LONGEST = 700
"""The largest number whose exponential a float holds."""


@elementwise
class Clock:
    """A number made of an exponential clock: with T = E/rate its ring, T, 1/T, −T, or s·log T for a factor s.

    It may be scaled by positive numbers, turned over, taken the logarithm of, and then shifted; compared with numbers;
    and raced against others by argmin and argmax. Clocks are ideal, on every grid. `guard` bounds the total variation
    by which numbers added to keep a logarithm finite, as in log(u + 1e-10), change it; they are left out, and noted.
    """

    __slots__ = ("atom", "factor", "guard", "is_log", "power", "rate", "sign")

    def __init__(self, atom: Atom, guard: Fraction = Fraction(0)) -> None:
        self.atom, self.guard = atom, guard
        self.rate: Any = Fraction(1)
        self.power, self.sign = 1, 1
        self.is_log, self.factor = False, Fraction(1)

    @property
    def rings_late(self) -> bool:
        """True if the number grows with the time of the ring."""
        return (self.factor if self.is_log else self.power * self.sign) > 0

    def __mul__(self, other: Any) -> Any:
        c = self._number(other)
        if c == 0 and self.never is None and (self.is_log or self.power > 0):
            return 0 * other  # a ring comes after a finite time, almost surely
        if self.is_log:
            return self._log(self.rate, self.factor * c)
        if c < 0:
            return -(self * -other)
        # T·c rings at rate/c; c/T is the reciprocal of a ring at rate·c. With c = 0 it never wins.
        return self._changed(rate=self.rate * c if self.power < 0 or not c else self.rate / c)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Clock:
        c = self._number(other)
        if c == 0:
            if self.is_log or self.power < 0:
                raise ExploreError(f"the clock of {self.atom.name} is divided by 0")
            return self._changed(rate=Fraction(0))  # T/0 is infinite: it never rings
        return self * (1 / c)

    def __rtruediv__(self, other: Any) -> Any:
        if self.is_log:
            raise ExploreError(
                f"the logarithm of the clock of {self.atom.name} is divided by; explore does not know it"
            )
        return self._changed(power=-self.power) * other

    def __neg__(self) -> Clock:
        return self._log(self.rate, -self.factor) if self.is_log else self._changed(sign=-self.sign)

    def __add__(self, other: Any) -> Clock:
        if not self.is_log:
            return self._guarded(other)
        if other == float("-inf") and self.factor < 0:
            return self._log(Fraction(0), self.factor)
        shift = self._number(other)
        # s·log T + c = s·log(T·e^{c/s}): a ring at rate·e^{−c/s}.
        if shift == 0:
            return self
        self.atom.tape.exact = False
        return self._log(self.rate * Fraction(exp(-shift / self.factor)), self.factor)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Clock:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Clock:
        return -self + other

    def __lt__(self, other: Any) -> bool:
        return self._below(other)

    def __gt__(self, other: Any) -> bool:
        return not self._below(other) and other == other

    __le__, __ge__ = __lt__, __gt__
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        """Return False for a number, which the time of a ring equals with probability 0."""
        if self is other or not hasattr(other, "__float__") or isinstance(other, Clock):
            return self is other
        return self.never is not None and self.never == other

    @property
    def never(self) -> float | None:
        """The value where the clock never rings: its time is infinite. None where it rings."""
        if self.rate != 0:
            return None
        if self.is_log:
            return inf if self.factor > 0 else -inf
        return self.sign * (inf if self.power > 0 else 0.0)

    def _below(self, other: Any) -> bool:
        """Compare with a number: T < t where the uniform that the clock is made of, e^{−T}, is above e^{−t·rate}."""
        if isinstance(other, Clock) or not hasattr(other, "__float__"):
            raise ExploreError(
                f"two random numbers meet in one comparison, {self!r} and {other!r}; explore follows one"
            )
        plain = float(other)
        if plain != plain:
            return False
        if self.never is not None:
            return self.never < plain
        # The question as "T' < time" (early) or "T' > time", with T' = T/rate.
        early, time = True, plain
        if self.is_log:
            early, scaled = self.factor > 0, plain / float(self.factor)
            time = exp(scaled) if scaled < LONGEST else inf
        else:
            early, time = self.sign > 0, plain * self.sign
            if self.power < 0:
                if time <= 0:
                    return not early
                early, time = not early, 1 / time
        if time <= 0 or time == inf:
            return early == (time == inf)
        self.atom.settle(self.guard)
        cut = Fraction(exp(-time * float(self.rate)))
        self.atom.tape.meet(cut)
        cut = cut if self.atom.bits is None else Fraction(ceil(cut * (1 << self.atom.bits)))
        return self.atom.below(cut, f"{self!r} {'<' if early else '>'} {plain}") != early

    def log(self) -> Clock:
        """Return the logarithm of T or of 1/T."""
        if self.is_log or self.sign < 0:
            raise ExploreError(f"a logarithm of the clock of {self.atom.name} is taken that explore does not know")
        return self._log(self.rate, Fraction(self.power))

    def __repr__(self) -> str:
        return f"<clock of {self.atom.name}>"

    def __float__(self) -> float:
        raise ExploreError(f"the value of {self!r} is asked for; explore follows races by argmin and argmax only")

    def _log(self, rate: Any, factor: Fraction) -> Clock:
        return self._changed(rate=rate, is_log=True, factor=factor)

    def _changed(self, **fields: Any) -> Clock:
        result: Clock = object.__new__(Clock)
        for name in self.__slots__:
            setattr(result, name, fields.get(name, getattr(self, name)))
        return result

    def kept_above(self, least: Any) -> Clock:
        """Return max(T, least) for a least that is 0 or small, as T."""
        return self if least <= 0 else self._guarded(least)

    def _guarded(self, other: Any) -> Clock:
        """Leave out a small number added to a ring: T + ε is off from T by 1 − exp(−rate·ε) ≤ rate·ε."""
        shift = self._number(other)
        if shift == 0:
            return self
        if (self.power, self.sign) != (1, 1) or not 0 < shift * self.rate <= LARGEST_GUARD:
            raise ExploreError(f"the clock of {self.atom.name} is shifted; only its logarithm may be")
        return self._changed(guard=self.guard + shift * self.rate)

    def _number(self, value: Any) -> Fraction:
        return self.atom.constant(value, repr(self))


def exponential(atom: Atom) -> Any:
    """Return what code gets that draws an exponential of rate 1: an object that stands for it, or a number."""
    ordinary = atom.tape.ordinary
    return Clock(atom) if ordinary is None else ring(atom, ordinary[atom])


def ring(atom: Atom, number: Any) -> float:
    """Return the time of the ring of an atom's clock: e to the minus of it is the atom's number."""
    return -log(number if atom.bits is None else (number or 0.5) / (1 << atom.bits))
