"""NumPy's Generators as questions to a tape: `default_rng` and `Generator` make ones that ask it, during a run."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from fractions import Fraction
from itertools import accumulate
from typing import Any, cast
from unittest import mock

import numpy as np

from spec_math.audit.atom import ExploreError
from spec_math.audit.clock import Clock, race
from spec_math.audit.tape import Tape
from spec_math.audit.uniform import Uniform, rational

BITS = {"float64": 53, "float32": 24}
"""Generator.random(dtype) is k/2^bits."""

_FOLLOWED = ("random", "uniform", "integers", "choice", "multinomial", "exponential", "standard_exponential", "gumbel")


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
        if self.dtype != object or not any(isinstance(entry, Clock) for entry in plain.flat):
            return (np.argmin if smallest else np.argmax)(plain, axis=axis, out=out)
        if out is not None:
            raise ExploreError("argmin and argmax of random numbers have no out=")
        if axis is None:
            return race(list(plain.flat), smallest)
        rows = np.moveaxis(plain, axis, -1)
        winners = [race(list(rows[place]), smallest) for place in np.ndindex(rows.shape[:-1])]
        return np.array(winners).reshape(rows.shape[:-1])[()]


@contextmanager
def numpy_source(tape: Tape) -> Generator[None]:
    """Follow the NumPy Generators made while the block lasts onto a tape.

    Raises:
        ExploreError: NumPy's old global generator was drawn from.

    >>> with numpy_source(Tape()):
    ...     np.random.default_rng().random()
    <numpy uniform 0>
    """
    real, generator_class = np.random.default_rng, np.random.Generator
    drawn = _oracle(tape)

    def default_rng(seed: Any = None) -> Any:
        if isinstance(seed, drawn):
            return seed
        if isinstance(seed, generator_class):
            raise ExploreError(
                "a NumPy Generator made before the run cannot be followed; make it inside, by default_rng()"
            )
        return drawn(real(seed).bit_generator)

    old = _old_state()
    made_before = tape.made_before(generator_class)
    states = [repr(generator.bit_generator.state) for generator in made_before]
    with mock.patch.object(np.random, "default_rng", default_rng), mock.patch.object(np.random, "Generator", drawn):
        yield
    if states != [repr(generator.bit_generator.state) for generator in made_before]:
        raise ExploreError("a NumPy Generator made before the run was drawn from; make it inside, by default_rng()")
    if _old_state() != old:
        raise ExploreError(
            "NumPy's old global generator (np.random.rand and the like) was drawn from; explore follows Generators: "
            "draw from np.random.default_rng()"
        )


def _old_state() -> tuple[Any, ...]:
    state = cast("tuple[Any, ...]", np.random.get_state())  # noqa: NPY002
    return state[0], state[1].tobytes(), *state[2:]


def _oracle(tape: Tape) -> type[np.random.Generator]:
    # NumPy's own stubs overload each method by the type of size, which one method here serves.
    class Oracle(np.random.Generator):
        """A Generator whose state moves on as it would, and whose numbers are asked of the tape."""

        def random(  # pyright: ignore[reportIncompatibleMethodOverride]
            self, size: Any = None, dtype: Any = np.float64, out: Any = None
        ) -> Any:
            _refuse_out(out)
            name = np.dtype(dtype).name
            kind = np.dtype(dtype).type
            place, shape = self._place(size)

            def one(index: int) -> Uniform:
                atom = tape.atom((place, index), BITS[name], "numpy uniform")
                return Uniform(atom, lambda k: kind(k / 2 ** (atom.bits or 0)))

            return _shaped(one, shape)

        def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
            return low + (high - low) * self.random(size)

        def integers(
            self, low: Any, high: Any = None, size: Any = None, *_: Any, endpoint: Any = False, **__: Any
        ) -> Any:
            values = range(low) if high is None else range(low, high)
            values = range(values.start, values.stop + bool(endpoint))
            masses = [Fraction(1, len(values))] * len(values)
            return self._drawn(masses, f"a number below {len(values)}", size, list(values))

        def choice(
            self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
        ) -> Any:
            del shuffle
            if axis != 0 or (not replace and _volume(size) > 1):
                raise ExploreError("explore follows choice with replacement, along the first axis")
            values = list(range(a)) if isinstance(a, int | np.integer) else list(a)
            if p is None:
                return self._drawn([Fraction(1, len(values))] * len(values), "a choice", size, values)
            place, shape = self._place(size)

            def one(index: int) -> Any:
                atom = tape.atom((place, index), BITS["float64"], "numpy uniform")
                sums = list(accumulate(rational(mass, atom) for mass in p))
                _check_sum(sums[-1])
                return values[atom.cell(sums, f"choice by {atom.name}")]

            return _shaped(one, shape)

        def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
            rows = np.asarray(pvals, dtype=object)
            if n != 1 or rows.ndim != 1 or size is not None:
                raise ExploreError("explore follows multinomial(1, pvals) of one law, a draw of one token")
            masses = self._masses(list(rows))
            token = self._drawn(masses, f"a multinomial of {masses}", None, list(range(len(masses))))
            return np.eye(len(masses), dtype=np.int64)[token]

        def exponential(self, scale: Any = 1, size: Any = None) -> Any:
            noise = self._clocks(size)
            return noise if isinstance(scale, int | float) and scale == 1 else noise * scale

        def standard_exponential(self, size: Any = None, *_: Any, out: Any = None, **__: Any) -> Any:
            _refuse_out(out)
            return self._clocks(size)

        def gumbel(self, loc: Any = 0, scale: Any = 1, size: Any = None) -> Any:
            return loc + scale * -np.log(self._clocks(size))

        def _clocks(self, size: Any) -> Any:
            place, shape = self._place(size)
            return _shaped(lambda index: Clock(tape.atom((place, index), 53, "numpy exponential")), shape)

        def _drawn(self, masses: list[Fraction], kind: str, size: Any, values: list[Any]) -> Any:
            place, shape = self._place(size)

            def one(index: int) -> Any:
                return values[tape.once((place, index), kind, lambda: tape.draw(kind, masses))]

            return _shaped(one, shape)

        def _masses(self, weights: list[Any]) -> list[Fraction]:
            tape.exact &= not any(isinstance(mass, float) for mass in weights)
            listed = [Fraction(mass) for mass in weights]
            _check_sum(sum(listed, Fraction(0)))
            return [mass / sum(listed, Fraction(0)) for mass in listed]

        def _place(self, size: Any) -> tuple[Any, tuple[int, ...]]:
            """Name the place that the next numbers come from, and move on."""
            place = "numpy", repr(self.bit_generator.state)
            return place, np.shape(super().random(size))

    for name in dir(np.random.Generator):
        if not name.startswith("_") and name not in (*_FOLLOWED, "bit_generator", "spawn"):
            setattr(Oracle, name, _refused(name))
    return Oracle


def _shaped(one: Callable[[int], Any], shape: tuple[int, ...]) -> Any:
    if shape == ():
        return one(0)
    cells = [one(index) for index in range(int(np.prod(shape)))]
    if cells and not isinstance(cells[0], Uniform | Clock):
        return np.array(cells).reshape(shape)
    result = np.empty(len(cells), dtype=object)
    result[:] = cells
    return result.reshape(shape).view(Noise)


def _volume(size: Any) -> int:
    return 1 if size is None else int(np.prod(size))


def _check_sum(total: Fraction) -> None:
    """NumPy itself allows a law to be off by the square root of its roundoff, and divides by its sum."""
    if abs(total - 1) > Fraction(1, 2**26):
        raise ValueError(f"probabilities do not sum to 1: these sum to {float(total)}")


def _refuse_out(out: Any) -> None:
    if out is not None:
        raise ExploreError("explore does not follow random numbers into out=; use what the call returns")


def _refused(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise ExploreError(f"explore does not follow Generator.{name}; it follows {', '.join(_FOLLOWED)}")

    return refuse
