"""Draws of NumPy's generators, old and new, translated into questions to a tape."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from spec_math.pathwise.atom import ExploreError
from spec_math.pathwise.clock import Clock, exponential
from spec_math.pathwise.races import race
from spec_math.pathwise.tape import Stretch, Tape
from spec_math.pathwise.uniform import Uniform, rational, uniform

BITS = {"float64": 53, "float32": 24}
"""Generator.random(dtype) is k/2^bits; the old generator's numbers are k/2^53."""


class Noise(np.ndarray[Any, Any]):
    """An object array of random numbers; argmin and argmax race its clocks, as pairwise comparisons could not."""

    def argmin(self, axis: Any = None, out: Any = None, **_: Any) -> Any:  # type: ignore[override]
        """Return the clock that rings first, along an axis."""
        return self._raced(True, axis, out)

    def argmax(self, axis: Any = None, out: Any = None, **_: Any) -> Any:  # type: ignore[override]
        """Return the clock that rings first, along an axis, where numbers fall with time."""
        return self._raced(False, axis, out)

    def _raced(self, smallest: bool, axis: Any, out: Any) -> Any:
        plain = self.view(np.ndarray)
        if self.dtype != object or not any(isinstance(entry, Uniform | Clock) for entry in plain.flat):
            return (np.argmin if smallest else np.argmax)(plain, axis=axis, out=out)
        if out is not None:
            raise ExploreError("argmin and argmax of random numbers have no out=")
        if axis is None:
            return race(list(plain.flat), smallest)
        rows = np.moveaxis(plain, axis, -1)
        winners = [race(list(rows[place]), smallest) for place in np.ndindex(rows.shape[:-1])]
        return np.array(winners).reshape(rows.shape[:-1])[()]


class Draws:
    """The draws of a generator; `place` names where its next numbers come from, and moves on as NumPy would.

    `of` is the name of its class: from the same bits the old class makes other noise, and whole numbers, than the new.
    """

    def __init__(self, tape: Tape, place: Callable[[Any], tuple[Stretch, tuple[int, ...]]], of: str) -> None:
        self._tape, self._place, self._of = tape, place, of

    def uniforms(self, size: Any, name: str = "float64") -> Any:
        """Draw uniforms of a type."""
        kind = np.dtype(name).type
        place, shape = self._place(size)
        place.steady = True

        def one(index: int) -> Any:
            atom = self._tape.atom((place, index), BITS[name], "numpy uniform")
            return uniform(atom, lambda k: kind(k / 2 ** (atom.bits or 0)))

        return shaped(one, shape)

    def clocks(self, size: Any, way: str = "exponential") -> Any:
        """Draw exponentials of rate 1, which NumPy makes of its bits in a way that has this name."""
        place, shape = self._place(size)
        kind = f"{self._of}.{way}"
        return shaped(lambda index: exponential(self._tape.atom((place, index), 53, "numpy exponential", kind)), shape)

    def exponentials(self, scale: Any, form: Any) -> Any:
        """Draw exponentials of a mean, in the form in which NumPy returns them."""
        noise = self.clocks(shape_of(form))
        return noise if isinstance(scale, int | float) and scale == 1 else noise * scale

    def integers(self, low: Any, high: Any, form: Any, endpoint: Any = False) -> Any:
        """Draw whole numbers, each as likely, in the form in which NumPy returns them."""
        bounds = (0, low) if high is None else (low, high)
        place, shape = self._place(shape_of(form))
        lows, highs = (np.broadcast_to(one, shape).ravel().tolist() for one in bounds)
        how = f", of {self._of}'s {np.asarray(form).dtype}"

        def one(index: int) -> int:
            values = range(int(lows[index]), int(highs[index]) + bool(endpoint))
            return values[self._tape.below((place, index), len(values), how)]

        return as_formed([one(index) for index in range(volume(shape))], form)

    def choices(self, a: Any, form: Any, replace: bool, p: Any, keeps_order: bool) -> Any:
        """Choose entries, with replacement, or without as one draw after another from what is left."""
        if isinstance(a, int | float | np.number):
            return as_formed(self._chosen(int(a), shape_of(form), replace, p, keeps_order), form)
        among = np.asarray(a)
        inner = np.shape(form)[: np.ndim(form) - (among.ndim - 1)]
        alone = not inner and (among.ndim > 1 or shape_of(form) is None)
        chosen = self._chosen(len(among), None if alone else inner, replace, p, keeps_order)
        return among[chosen[0]] if alone else among[np.array(chosen, dtype=np.int64).reshape(inner)]

    def _chosen(self, number: int, size: Any, replace: bool, p: Any, keeps_order: bool) -> list[int]:
        if not replace and volume(size) > 1:
            if p is None and not keeps_order:
                raise ExploreError("explore does not know the order of choice(replace=False, shuffle=False)")
            return self._without_replacement(number, size, p)
        place, shape = self._place(size)
        if p is None:
            masses, kind = _even(number), f"{self._of}.choice out of {number}"
            return [self._tape.once((place, index), kind, masses) for index in range(volume(shape))]

        def one(index: int) -> int:
            atom = self._tape.atom((place, index), BITS["float64"], "numpy uniform")
            sums = list(accumulate(rational(mass, atom) for mass in p))
            return atom.cell(sums, f"choice by {atom.name}")

        return [one(index) for index in range(volume(shape))]

    def multinomials(self, n: Any, pvals: Any, form: Any) -> Any:
        """Draw counts of n tokens from each row of laws, in the shape in which NumPy returns them."""
        place, shape = self._place(form.shape[:-1])
        rows = np.broadcast_to(np.asarray(pvals, dtype=object), form.shape).reshape(-1, form.shape[-1])
        many = np.broadcast_to(n, shape).reshape(-1).tolist()
        drawn = np.zeros(rows.shape, dtype=np.int64)
        for row, counts in enumerate(drawn):
            masses = self._rest_last(list(rows[row]))
            kind = f"{self._of}.multinomial of {many[row]} by {masses}"
            for turn in range(int(many[row])):
                counts[self._tape.once((place, row, turn), kind, masses)] += 1
        return drawn.reshape(form.shape)

    def _without_replacement(self, number: int, size: Any, p: Any) -> list[int]:
        place, shape = self._place(size)
        left = _even(number) if p is None else self._rationals(list(p))
        kind = f"{self._of}.choice of {volume(shape)} without replacement{'' if p is None else ' by masses'}, of which"
        chosen: list[int] = []
        for turn in range(volume(shape)):
            rest = sum(left, Fraction(0))
            if rest == 0:
                raise ValueError(f"choice without replacement of {volume(shape)} entries, of which {turn} have mass")
            masses = [mass / rest for mass in left]
            chosen.append(self._tape.once((place, turn), f"{kind} one by {masses}", masses))
            left[chosen[-1]] = Fraction(0)
        return chosen

    def _rest_last(self, weights: list[Any]) -> list[Fraction]:
        """Return the law that NumPy's multinomial draws from: the last token gets what the others leave."""
        listed = self._rationals(weights)
        total = sum(listed[:-1], Fraction(0))
        if total > 1 + Fraction(1e-12):
            raise ValueError(f"sum(pvals[:-1]) > 1.0: these sum to {float(total)}")
        return [mass / max(total, Fraction(1)) for mass in listed[:-1]] + [max(Fraction(0), 1 - total)]

    def _rationals(self, weights: list[Any]) -> list[Fraction]:
        plain: list[Any] = [mass.item() if hasattr(mass, "item") else mass for mass in weights]
        found = [Fraction(mass) for mass in plain]
        for mass, number in zip(plain, found, strict=True):
            if isinstance(mass, float):
                self._tape.meet(number)
        return found


def shaped(one: Callable[[int], Any], shape: tuple[int, ...]) -> Any:
    """Return the entries one(0), one(1), … in a shape; the only one of no shape by itself."""
    if shape == ():
        return one(0)
    cells = [one(index) for index in range(volume(shape))]
    if cells and not isinstance(cells[0], Uniform | Clock):
        return np.array(cells).reshape(shape)
    result = np.empty(len(cells), dtype=object)
    result[:] = cells
    return result.reshape(shape).view(Noise)


def volume(size: Any) -> int:
    """Return how many numbers a size asks for."""
    return 1 if size is None else int(np.prod(size))


def _even(size: int) -> list[Fraction]:
    return [Fraction(1, size)] * size


class _Aside(np.random.PCG64):
    """A bit generator that is nobody's source of random numbers."""

    of_a_run = True


class OldAside(np.random.MT19937):
    """As `_Aside`, for the old generators."""

    of_a_run = True


_NEW, _OLD = np.random.Generator(_Aside(0)), np.random.RandomState(OldAside(0))


def formed(generator: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """Return what a method of a generator returns for these arguments, drawn from one like it that is set aside.

    Raises:
        ValueError, TypeError: as NumPy does.
        ExploreError: an argument is a random number, which NumPy would take the value of.
    """
    aside = _OLD if issubclass(type(generator), type(_OLD)) else _NEW
    return getattr(aside, name)(*map(_as_floats, args), **{key: _as_floats(value) for key, value in kwargs.items()})


def _as_floats(value: Any) -> Any:
    """Fractions are numbers where NumPy asks for them."""
    if isinstance(value, Fraction):
        return float(value)
    return value.astype(float) if isinstance(value, np.ndarray) and value.dtype == object else value


def shape_of(form: Any) -> tuple[int, ...] | None:
    """Return the shape of what NumPy returns, None for a number by itself."""
    return form.shape if isinstance(form, np.ndarray) else None


def as_formed(values: list[Any], form: Any) -> Any:
    """Return values in the shape and the type that NumPy returns."""
    if isinstance(form, np.ndarray):
        return np.array(values, dtype=form.dtype).reshape(form.shape)
    return type(form)(values[0])
