"""Python's `random` on a tape: the class and its subclasses, the module's functions, every generator."""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Callable, Generator, Hashable, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise
from types import MethodType
from typing import Any

from spec_math.pathwise.atom import Atom, ExploreError
from spec_math.pathwise.clock import Clock, exponential
from spec_math.pathwise.generators import CORE, HIDDEN, TWIN, behind, words
from spec_math.pathwise.places import METHODS, Place, everywhere, held, once_each, owner, patched, standing_in
from spec_math.pathwise.tape import DESK, Tape, refused, stands
from spec_math.pathwise.time_readings import Reading
from spec_math.pathwise.uniform import Uniform, rational
from spec_math.pathwise.uniform import uniform as uniform_of

BITS = 53
"""random.random() is k/2^53."""

_FOLLOWED = ("random", "uniform", "randrange", "randint", "choice", "choices", "sample", "shuffle", "expovariate")
_KEPT = ("seed", "getstate", "setstate")
_PUBLIC = [name for name in random.__all__ if callable(getattr(random.Random, name, None)) and name.islower()]
"""The functions of the module that are methods of its hidden generator."""


@contextmanager
def python_source(tape: Tape) -> Generator[None]:
    """Follow Python's randomness onto a tape while the block lasts; generators are left as they were.

    The methods of `random.Random` itself are replaced, so that any generator is followed, wherever the code keeps it,
    and one of a subclass too. A subclass that makes numbers of its own is noted on the tape as not seen.
    """
    tape.python = {}
    with _stand_ins(tape):
        try:
            yield
        finally:
            for one in tape.python.values():
                one.put_back()


@stands("python")
@contextmanager
def _stand_ins(tape: Tape) -> Generator[None]:
    methods = _methods()
    overriding = [(kind, _watched(kind)) for kind in _subclasses(random.Random)]
    functions = {name: MethodType(methods[name], HIDDEN) for name in _PUBLIC}
    where = tape.held("python places", lambda: _bound_methods(tape))
    with patched([(random.Random, methods), *overriding, (random, functions)]):
        bound = [getattr(held(place).__self__, held(place).__name__) for place in where]
        with standing_in(where, bound):
            yield


def _bound_methods(tape: Tape) -> list[Place]:
    """Places of a generator's methods: those of the module's generator anywhere, others where code finds them."""
    anywhere = everywhere("python", lambda value: owner(value) is HIDDEN)
    listed = once_each(*anywhere, *tape.looked().of_types(METHODS))
    bound = [place for place in listed if issubclass(type(owner(held(place))), random.Random)]
    # A module that was imported during a run holds what stood in for the method then, and that asks the present run.
    return [one for one in bound if one[0] is not vars(random) and hasattr(random.Random, held(one).__name__)]


def _subclasses(kind: type[Any]) -> list[type[Any]]:
    return [found for one in kind.__subclasses__() for found in (one, *_subclasses(one))]


def _watched(kind: type[Any]) -> dict[str, Any]:
    """The drawing methods that a subclass has of its own: they may ask the methods they override, or are not seen."""
    own = {name: method for name, method in vars(kind).items() if name in _PUBLIC and name not in _KEPT}
    return {name: _noting(f"{kind.__name__}.{name}", method) for name, method in own.items() if callable(method)}


def _noting(name: str, method: Any) -> Any:
    def noting(*args: Any, **kwargs: Any) -> Any:
        before = DESK.asked
        drawn = method(*args, **kwargs)
        if DESK.asked == before and not DESK.foreign():
            DESK.note(f"{name}, which makes numbers of its own")
        return drawn

    return noting


def _touched(generator: Any) -> Touched:
    known = DESK.python.get(id(generator))
    if known is None:
        known = DESK.python[id(generator)] = Touched(generator, DESK.tape)
    return known


def _atom(generator: Any, *named: str) -> Atom:
    """Return the next number of a generator."""
    return DESK.atom(_touched(generator).place(), BITS, *named)


class _Methods:
    """The methods of random.Random, asking the tape; the state moves on as it would."""

    def random(self: Any) -> Any:
        return uniform_of(_atom(self, "python uniform"))

    def uniform(self: Any, a: Any, b: Any) -> Any:
        return a + (b - a) * self.random()

    def randrange(self: Any, start: Any, stop: Any = None, step: Any = 1) -> int:
        check("randrange", *((start,) if stop is None and step == 1 else (start, stop, step)))
        values = range(int(start)) if stop is None else range(int(start), int(stop), int(step))
        return values[DESK.below(_touched(self).place(), len(values))]

    def randint(self: Any, a: int, b: int) -> int:
        return self.randrange(a, b + 1)

    def choice(self: Any, seq: Any) -> Any:
        if not len(seq):
            check("choice", seq)
        return seq[self.randrange(len(seq))]

    def choices(self: Any, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1) -> Any:
        each = None if weights is None else list(weights)
        check_weights(population, each, cum_weights)
        masses = cum_weights if cum_weights is not None else [1] * len(population) if each is None else each
        atoms = (_atom(self, "python uniform") for _ in range(k))
        return [population[looked_up(atom, masses, cum_weights is not None)] for atom in atoms]

    def sample(self: Any, population: Any, k: int, *, counts: Any = None) -> list[Any]:
        check("sample", population, k, counts=counts)
        if counts is not None:
            raise ExploreError("explore follows random.sample without counts=")
        left = list(population)
        how = f", of random.sample of {k} out of {len(left)}"  # Python swaps entries, or draws again, by these sizes
        return [left.pop(DESK.below(_touched(self).place(), len(left), how)) for _ in range(k)]

    def shuffle(self: Any, x: Any) -> None:
        for i in reversed(range(1, len(x))):  # as Python does it: entries that are views of others are lost
            j = self.randrange(i + 1)
            x[i], x[j] = x[j], x[i]

    def expovariate(self: Any, *args: Any, **kwargs: Any) -> Any:
        check("expovariate", *args, **kwargs)
        (lambd,) = (*args, *kwargs.values()) or (1,)
        return exponential(_atom(self, "python exponential", "random.expovariate")) / lambd

    def seed(self: Any, *args: Any, **kwargs: Any) -> None:
        # A clock's reading is noted where it is used, and Python takes no object in its place.
        read = [one.used() if type(one) is Reading else one for one in args]
        named = {name: one.used() if type(one) is Reading else one for name, one in kwargs.items()}
        first = next(iter((*read, *named.values())), None)
        if first is not None:
            DESK.seeded(first)
        _touched(self).seed(lambda: _PLAIN["seed"](self, *read, **named))

    def getstate(self: Any) -> Any:
        return _touched(self).state()

    def setstate(self: Any, state: Any) -> None:
        before = _touched(self).at_present()
        if isinstance(state, State):
            _touched(self).seed(lambda: CORE.setstate(self, state.seeded), state.drawn)
        else:
            _touched(self).seed(lambda: _PLAIN["setstate"](self, state))
        DESK.seeded.restored(before, _touched(self).at_present)


_PLAIN: dict[str, Any] = {name: getattr(random.Random, name) for name in (*_PUBLIC, "__init_subclass__")}
"""Python's own methods, whatever stands in their place."""


@cache
def _methods() -> dict[str, Any]:
    return {name: _method(name) for name in _PUBLIC} | {"__init_subclass__": classmethod(_watching)}


def _watching(cls: Any, **named: Any) -> None:
    """A class that the code makes during a run is watched as those that were there before."""
    _PLAIN["__init_subclass__"].__func__(cls, **named)
    for name, method in _watched(cls).items():
        setattr(cls, name, method)


_BY_BITS = ("randrange", "randint", "choice", "sample", "shuffle")
_DERIVED = {**dict.fromkeys(_BY_BITS, ("getrandbits", "random")), "choices": ("random",), "expovariate": ("random",)}
"""Methods that draw by random() or getrandbits(), which a subclass may have made its own."""


def _method(name: str) -> Any:
    """A thread that the code did not start draws as it would, and from the module's generator by a twin of it."""
    followed = vars(_Methods).get(name) or refused(f"random.{name}", _FOLLOWED)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        for own in () if type(self) is random.Random else _DERIVED.get(name, ()):
            if getattr(type(self), own) is not _methods()[own]:
                DESK.note(f"{type(self).__name__}.{name}, by a {own}() of its own")
        if DESK.foreign():
            return _PLAIN[name](TWIN if self is HIDDEN else self, *args, **kwargs)
        return followed(self, *args, **kwargs)

    return method


class State:
    """A generator's state, to be set again; its numbers are no random numbers of a run."""

    def __init__(self, seeded: Any, drawn: int, note: Callable[[str], None]) -> None:
        self.seeded, self.drawn, self._note = seeded, drawn, note

    def __getitem__(self, place: Any) -> Any:
        self._note("random.getstate(), whose numbers were read")
        return (random.Random.VERSION, self.seeded, None)[place]

    def __deepcopy__(self, _: Any) -> State:
        return self

    def __reduce__(self) -> Any:
        raise ExploreError("explore does not follow a state of random that is written down; copy the generator")


class Touched:
    """A generator that a run asked for numbers: their place is its state at the last seeding, and how many since.

    The generator itself does not move, so that numbers drawn behind the tape's back are seen in its state.
    """

    def __init__(self, generator: Any, tape: Tape) -> None:
        self.generator, self._tape = generator, tape
        self.words = words(generator)
        self._before: Any = None
        self.at(0)

    def at(self, drawn: int) -> None:
        """Take the generator's own state for the last seeding, and so many numbers drawn since."""
        self._seeded, self._drawn = words(self.generator), drawn
        self._number = self._tape.seeds.setdefault(self._seeded, len(self._tape.seeds))

    def seed(self, seeding: Callable[[], None], drawn: int = 0) -> None:
        """Seed the generator, and keep the state that it had before the run."""
        if self._before is None:
            self._before = CORE.getstate(self.generator)
        seeding()
        self.at(drawn)

    def at_present(self) -> Hashable:
        """Name the state: the last seeding, and how many numbers were drawn since."""
        return "python", self._seeded, self._drawn

    def state(self) -> State:
        """Return the state, to be set again."""
        self._tape.seeded.read(self.at_present())
        return State(CORE.getstate(self.generator), self._drawn, self._tape.note)

    def place(self) -> Any:
        """Name the place of the next number, and move on."""
        self._drawn += 1
        return "python", self._number, self._drawn

    def put_back(self) -> None:
        """Leave the generator as it was before the run."""
        if words(self.generator) != self._seeded:
            self._tape.note(behind(self.generator))
        if self._before is not None:
            CORE.setstate(self.generator, self._before)


_LEAST = Fraction(1, 1 << 1000)
"""Weights that sum to less are rounded beyond what a verdict forgives."""

_ASIDE: Any = type("Aside", (CORE,), {name: vars(random.Random)[name] for name in (*_DERIVED, "_randbelow")})()
"""Python's own methods, as they are before a run, on a generator that is nobody's."""


def check(name: str, *args: Any, **kwargs: Any) -> None:
    """Refuse the arguments of a draw that Python refuses.

    Raises:
        Exception: what Python raises.
    """
    getattr(_ASIDE, name)(*args, **kwargs)


def check_weights(population: Any, weights: Sequence[Any] | None, totals: Any) -> None:
    """Refuse what random.choices refuses, where no weight is itself a random number; `totals` are what it was given."""
    sums = totals if isinstance(totals, Sequence) else ()  # Python refuses an iterator, and none of it is taken here
    if not any(isinstance(one, Uniform | Clock) for one in (*(weights or ()), *sums)):
        _ASIDE.choices(population, weights, cum_weights=totals)


def looked_up(atom: Atom, weights: Sequence[Any], summed: bool) -> int:
    """Return the place among weights, or among their sums, that a uniform falls into, as random.choices finds it.

    Raises:
        ExploreError: the weights are next to nothing.
    """
    sums = [rational(mass, atom) for mass in weights]
    sums = sums if summed else list(accumulate(sums))
    if sums[-1] < _LEAST:
        raise ExploreError(f"explore does not follow choices by weights that sum to {float(sums[-1])}")
    if sums[0] >= 0 and all(low <= high for low, high in pairwise(sums)):
        return atom.cell(sums, f"choices by {atom.name}")
    # Sums that do not rise are searched all the same.
    return bisect(sums, uniform_of(atom) * sums[-1], 0, len(sums) - 1)
