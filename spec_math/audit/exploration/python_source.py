"""Python's `random` as questions to a tape: the module's functions, and the Random objects made during a run."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator
from contextlib import contextmanager
from fractions import Fraction
from itertools import accumulate
from typing import Any

from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.clock import Clock
from spec_math.audit.exploration.replaced import replaced
from spec_math.audit.exploration.stand_ins import Place, held, owner, standing_in
from spec_math.audit.exploration.tape import Tape
from spec_math.audit.exploration.uniform import Uniform, rational

BITS = 53
"""random.random() is k/2^53."""

_FOLLOWED = ("random", "uniform", "randrange", "randint", "choice", "choices", "sample", "shuffle", "expovariate")
_KEPT = ("seed", "getstate", "setstate")


@contextmanager
def python_source(tape: Tape) -> Generator[None]:
    """Follow Python's randomness onto a tape while the block lasts.

    Raises:
        ExploreError: a generator that the tape does not hold was drawn from.

    >>> with python_source(Tape()):
    ...     random.random()
    <python uniform 0>
    """
    # A SystemRandom has no state to tell, and the module's own generator is looked at below.
    made_before = [
        one
        for one in tape.made_before(random.Random)
        if not isinstance(one, random.SystemRandom) and one is not getattr(random, "_inst", None)
    ]
    states = [generator.getstate() for generator in made_before]
    drawn = tape.held("python", lambda: _oracle(tape))
    module = drawn(0)
    untouched = random.getstate()
    module.setstate(untouched)
    functions = {name: getattr(module, name) for name in _public_functions()} | {"Random": drawn}
    where, values = _stand_ins(tape, drawn, module)
    with replaced(random, functions), standing_in(where, values):
        yield
    if states != [generator.getstate() for generator in made_before]:
        raise ExploreError("a random.Random made before the run was drawn from; make it inside the function")
    if random.getstate() != untouched:
        random.setstate(untouched)
        raise ExploreError(
            "Python's random was drawn from behind explore's back: a function was imported from it before the run "
            "(from random import …); write random.random() in the code, or pass the function in"
        )


def _stand_ins(tape: Tape, drawn: type[random.Random], module: random.Random) -> tuple[list[Place], list[Any]]:
    """What stands in places that hold a generator, a function of one, or the class."""
    hidden, real = getattr(random, "_inst", None), random.Random
    followed: dict[int, random.Random] = {id(hidden): module}

    def stand_in(value: Any) -> Any:
        if value is real:
            return drawn
        generator = value if issubclass(type(value), real) else owner(value)
        if id(generator) not in followed:
            followed[id(generator)] = drawn(0)
            followed[id(generator)].setstate(generator.getstate())
        known = followed[id(generator)]
        return known if generator is value else getattr(known, value.__name__)

    def wanted(value: Any) -> bool:
        made = value if issubclass(type(value), real) else owner(value)
        return value is real or (type(made) is real)

    where = tape.held("python places", lambda: [place for place in tape.places if wanted(held(place))])
    return where, [stand_in(held(place)) for place in where]


def _public_functions() -> list[str]:
    """The functions of the module that are methods of its hidden generator."""
    return [name for name in random.__all__ if callable(getattr(random.Random, name, None)) and name.islower()]


def _oracle(tape: Tape) -> type[random.Random]:
    class Oracle(random.Random):
        """A generator whose state moves on as it would, and whose numbers are asked of the tape."""

        def random(self) -> Any:
            return Uniform(tape.atom(self._place(), BITS, "python uniform"))

        def uniform(self, a: Any, b: Any) -> Any:
            return a + (b - a) * self.random()

        def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
            values = range(start) if stop is None else range(start, stop, step)
            if not values:
                raise ValueError(f"empty range for randrange({start}, {stop}, {step})")
            size = len(values)
            masses = [Fraction(1, size)] * size
            kind = f"a number below {size}"
            return values[tape.once(self._place(), kind, lambda: tape.draw(kind, masses))]

        def randint(self, a: int, b: int) -> int:
            return self.randrange(a, b + 1)

        def choice(self, seq: Any) -> Any:
            return seq[self.randrange(len(seq))]

        def choices(self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1) -> Any:
            if weights is not None and cum_weights is not None:
                raise TypeError("cannot specify both weights and cumulative weights")
            each = [1] * len(population) if weights is None else weights
            chosen: list[Any] = []
            for _ in range(k):
                atom = tape.atom(self._place(), BITS, "python uniform")
                sums = [rational(mass, atom) for mass in cum_weights] if cum_weights is not None else None
                sums = sums or list(accumulate(rational(mass, atom) for mass in each))
                chosen.append(population[atom.cell(sums, f"choices by {atom.name}")])
            return chosen

        def sample(self, population: Any, k: int, *, counts: Any = None) -> list[Any]:
            if counts is not None:
                raise ExploreError("explore follows random.sample without counts=")
            if not 0 <= k <= len(population):
                raise ValueError(f"a sample of {k} is larger than its population of {len(population)}, or negative")
            left = list(population)
            return [left.pop(self.randrange(len(left))) for _ in range(k)]

        def shuffle(self, x: Any) -> None:
            x[:] = self.sample(x, len(x))

        def expovariate(self, lambd: Any = 1) -> Any:
            return Clock(tape.atom(self._place(), BITS, "python uniform")) / lambd

        def _place(self) -> Any:
            """Name the place that the next number comes from, and move on."""
            place = "python", self.getstate()
            super().random()
            return place

    for name in _public_functions():
        if name not in (*_FOLLOWED, *_KEPT):
            setattr(Oracle, name, _refused(name))
    return Oracle


def _refused(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise ExploreError(f"explore does not follow random.{name}; it follows {', '.join(_FOLLOWED)}")

    return refuse
