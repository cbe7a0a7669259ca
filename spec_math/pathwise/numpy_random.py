"""NumPy's randomness on a tape: generators made during a run, and the global one behind np.random."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from spec_math.pathwise.atom import ExploreError
from spec_math.pathwise.generators import HIDDEN_NUMPY, frozen
from spec_math.pathwise.numpy_draws import Draws, OldAside, formed, shape_of
from spec_math.pathwise.places import (
    METHODS,
    Place,
    all_held,
    everywhere,
    held,
    likeness_of,
    once_each,
    owner,
    patched,
    standing_in,
)
from spec_math.pathwise.tape import DESK, Stretch, Tape, refused, stands

REAL: tuple[Any, ...] = (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)


class Bits:
    """The bit generators of a run, by identity, with the states that followed draws have left them in."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._left: dict[int, tuple[Any, Any]] = {}
        self._twins: list[tuple[Any, Any]] = []

    def begin(self) -> None:
        """Start a run: twins are where they began, and no others have been made."""
        for twin, origin in self._twins:
            self._set(twin, origin)
        self._left = {}

    def left(self, bits: Any) -> Any:
        """Keep, and return, the state of a bit generator that was seeded, or drawn from by the tape."""
        state = frozen(bits)
        self._left[id(bits)] = bits, state
        return state

    def stretch(self, bits: Any) -> Stretch:
        """Name the state that the next numbers come from."""
        state = frozen(bits)
        known = self._left.get(id(bits))
        if known is not None and known[1] != state:
            self._behind(bits)
        return self._tape.stretch(("numpy", state))

    def check(self) -> None:
        """Note the bit generators that were drawn from although the tape was not asked."""
        for bits, state in self._left.values():
            if frozen(bits) != state:
                self._behind(bits)

    def copied(self, bits: Any) -> Any:
        """Return a bit generator in the same state, to be drawn from in its place."""
        kind = WATCHED.get(id(type(bits)))
        if kind is None:
            return bits
        with self._tape.unnoted():
            twin = kind(0)
        self.stands_for(twin, bits)
        return twin

    def stands_for(self, twin: Any, bits: Any) -> None:
        """Let a twin start each run in a bit generator's state, while that generator itself does not move."""
        self._set(twin, bits)
        self._twins.append((twin, bits))

    def _set(self, twin: Any, bits: Any) -> None:
        if frozen(twin) != frozen(bits):
            with self._tape.unnoted():
                twin.state = bits.state

    def _behind(self, bits: Any) -> None:
        self._tape.note(f"the bits of NumPy's {type(bits).__name__}, drawn from behind explore's back")


def _watched(real: Any) -> Any:
    plain = real.state

    class Watched(real):
        """A bit generator of a run."""

        of_a_run = True

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            with DESK.unnoted():  # its entropy is followed: what is drawn by it are questions to the tape
                super().__init__(*args, **kwargs)
            given = dict(zip(("seed", "counter", "key"), args, strict=False)) | kwargs
            for seed in (given.get("seed"), given.get("key")):
                if seed is not None:
                    DESK.seeded(seed)
            DESK.bits.left(self)

        @property
        def state(self) -> Any:
            DESK.seeded.read(("numpy", frozen(self)))
            return plain.__get__(self)

        @state.setter
        def state(self, value: Any) -> None:
            before = frozen(self)
            plain.__set__(self, value)
            DESK.bits.left(self)
            DESK.seeded.restored(("numpy", before), lambda: ("numpy", frozen(self)))

    Watched.__name__ = Watched.__qualname__ = real.__name__
    return Watched


WATCHED: dict[int, Any] = {id(real): _watched(real) for real in REAL}
"""What stands for each of NumPy's classes of bit generators, by its identity."""


FOLLOWED = ("random", "uniform", "integers", "choice", "multinomial", "exponential", "standard_exponential", "gumbel")
FOLLOWED_OLD = (
    *("rand", "random", "random_sample", "ranf", "sample", "uniform", "randint", "random_integers", "choice"),
    *("multinomial", "exponential", "standard_exponential", "gumbel"),
)
NEW, OLD = np.random.Generator, np.random.RandomState
"""NumPy's own classes, whatever stands in their place."""
_KEPT = ("seed", "get_state", "set_state", "get_bit_generator", "set_bit_generator")


def _draws(generator: Any) -> Draws:
    """The draws of a generator, which must have been made for the tape that is asked now."""
    if generator.tape is not DESK.tape:
        raise ExploreError("a generator was used outside the run that made it; make it within the function")
    real, move = (OLD, OLD.random_sample) if issubclass(type(generator), OLD) else (NEW, NEW.random)
    bits = generator._bit_generator

    def place(size: Any) -> tuple[Stretch, tuple[int, ...]]:
        """Name the place of the next numbers, and move on as far as a call for them moves."""
        found = DESK.bits.stretch(bits)
        shape = np.shape(move(generator, size))
        found.leads_to(("numpy", DESK.bits.left(bits)), int(np.prod(shape)))
        return found, shape

    return Draws(generator.tape, place, real.__name__)


def _finished(made: Any, real: Any, followed: tuple[str, ...], own: tuple[str, ...], named: str) -> Any:
    """Refuse what is not followed, and let threads that the code did not start draw as they would."""
    for name in dir(real):
        if not name.startswith("_") and name not in (*followed, *own):
            setattr(made, name, refused(f"{named}.{name}", followed))
    for name, method in list(vars(made).items()):
        if not name.startswith("_") and hasattr(real, name) and callable(method):
            setattr(made, name, _dispatched(method, getattr(real, name)))
    return made


def _dispatched(followed: Any, plain: Any) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return (plain if DESK.foreign() else followed)(self, *args, **kwargs)

    method.__name__ = plain.__name__
    return method


def _uniform(self: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    form = formed(self, "uniform", low, high, size)
    low, high = (np.array(one) if isinstance(one, list | tuple) else one for one in (low, high))
    return low + (high - low) * _draws(self).uniforms(shape_of(form))


def _multinomial(self: Any, n: Any, pvals: Any, size: Any = None) -> Any:
    return _draws(self).multinomials(n, pvals, formed(self, "multinomial", n, pvals, size))


def _exponential(self: Any, scale: Any = 1, size: Any = None) -> Any:
    return _draws(self).exponentials(scale, formed(self, "exponential", scale, size))


def _gumbel(self: Any, loc: Any = 0, scale: Any = 1, size: Any = None) -> Any:
    return loc + scale * -np.log(_draws(self).clocks(shape_of(formed(self, "gumbel", loc, scale, size)), "gumbel"))


def _oracle() -> Any:
    state_class: Any = NEW  # its own stubs overload each method by the type of size, which one method here serves

    class Oracle(state_class, metaclass=likeness_of(NEW)):
        """A Generator whose state moves on as it would, and whose numbers are asked of the tape."""

        of_a_run = True

        def __init__(self, bit_generator: Any) -> None:
            super().__init__(bit_generator)
            self.tape = DESK.tape

        def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
            _refuse_out(out)
            return _draws(self).uniforms(shape_of(formed(self, "random", size, dtype)), np.dtype(dtype).name)

        def integers(
            self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: Any = False
        ) -> Any:
            form = formed(self, "integers", low, high, size, dtype, endpoint)
            return _draws(self).integers(low, high, form, endpoint)

        def choice(
            self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
        ) -> Any:
            if axis != 0:
                raise ExploreError("explore follows choice along the first axis")
            form = formed(self, "choice", a, size, replace, p, axis, shuffle)
            return _draws(self).choices(a, form, replace, p, shuffle)

        def standard_exponential(
            self, size: Any = None, dtype: Any = np.float64, method: Any = "zig", out: Any = None
        ) -> Any:
            _refuse_out(out)
            form = formed(self, "standard_exponential", size, dtype, method)
            way = "exponential" if (np.dtype(dtype), method) == (np.float64, "zig") else f"exponential {dtype} {method}"
            return _draws(self).clocks(shape_of(form), way)

        uniform, multinomial, exponential, gumbel = _uniform, _multinomial, _exponential, _gumbel

    return _finished(Oracle, NEW, FOLLOWED, ("bit_generator", "spawn"), "Generator")


def _old_oracle() -> Any:
    state_class: Any = OLD

    class OldOracle(state_class, metaclass=likeness_of(OLD)):
        """A RandomState whose state moves on as it would, and whose numbers are asked of the tape."""

        of_a_run = True

        def __init__(self, seed: Any = None) -> None:
            with DESK.unnoted():  # its entropy is followed
                super().__init__(seed)
            if seed is not None and not isinstance(seed, np.random.BitGenerator):
                DESK.seeded(seed)
            self.tape = DESK.tape
            DESK.bits.left(self._bit_generator)

        def rand(self, *shape: int) -> Any:
            return self.random_sample(shape or None)

        def random_sample(self, size: Any = None) -> Any:
            return _draws(self).uniforms(size)

        random = ranf = sample = random_sample

        def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
            return _draws(self).integers(low, high, formed(self, "randint", low, high, size, dtype))

        def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
            form = formed(self, "random_integers", low, high, size)
            return _draws(self).integers(1 if high is None else low, low if high is None else high, form, True)

        def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
            return _draws(self).choices(a, formed(self, "choice", a, size, replace, p), replace, p, True)

        def standard_exponential(self, size: Any = None) -> Any:
            return _draws(self).clocks(shape_of(formed(self, "standard_exponential", size)))

        uniform, multinomial, exponential, gumbel = _uniform, _multinomial, _exponential, _gumbel

        def seed(self, *args: Any, **kwargs: Any) -> None:
            super().seed(*args, **kwargs)
            if any(one is not None for one in (*args, *kwargs.values())):
                DESK.seeded(next(iter((*args, *kwargs.values()))))
            DESK.bits.left(self._bit_generator)

        def set_state(self, state: Any) -> None:
            super().set_state(state)
            DESK.bits.left(self._bit_generator)

    return _finished(OldOracle, OLD, FOLLOWED_OLD, _KEPT, "np.random")


def _refuse_out(out: Any) -> None:
    if out is not None:
        raise ExploreError("explore does not follow random numbers into out=; use what the call returns")


ORACLE, OLD_ORACLE = _oracle(), _old_oracle()
"""What stands for NumPy's two classes of generators."""


_BITS, _MAKE = np.random.BitGenerator, np.random.default_rng
"""NumPy's own, whatever stands in their place."""
_OF_OTHERS = OLD(OldAside())
"""What the functions of np.random draw from in threads that are not the explored code's: it may move."""


@contextmanager
def numpy_source(tape: Tape) -> Generator[None]:
    """Follow the NumPy generators made while the block lasts onto a tape, and np.random's own functions.

    Raises:
        ExploreError: a generator that was made before was drawn from.
    """
    bits = tape.bits = tape.held("numpy bits", lambda: Bits(tape))
    bits.begin()
    with _stand_ins(tape):
        yield
    bits.check()


@stands("numpy")
@contextmanager
def _stand_ins(tape: Tape) -> Generator[None]:
    where, values = tape.held("numpy", lambda: _found(tape))
    with patched([(np.random, _names())]), standing_in(where, values):
        yield


@cache
def _names() -> dict[str, Any]:
    """Stand-ins for the names of np.random."""
    classes = {real.__name__: WATCHED[id(real)] for real in REAL}
    functions = {name: _module_function(name) for name in _MODULE}
    return {"default_rng": _default_rng, "Generator": ORACLE, "RandomState": OLD_ORACLE} | functions | classes


def _default_rng(seed: Any = None) -> Any:
    if DESK.foreign():
        return _MAKE(seed)
    kind = type(seed)
    if issubclass(kind, ORACLE):
        return seed
    if issubclass(kind, NEW):
        raise ExploreError("a NumPy Generator made before the run cannot be followed; make it inside, by default_rng()")
    if issubclass(kind, _BITS):
        return ORACLE(seed)
    return ORACLE(seed._bit_generator if issubclass(kind, OLD) else WATCHED[id(REAL[0])](seed))


def _module_function(name: str) -> Any:
    """A function of np.random, by a twin of the generator behind the module."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return getattr(_OF_OTHERS if DESK.foreign() else _followed(DESK.tape, HIDDEN_NUMPY), name)(*args, **kwargs)

    function.__name__ = name
    return function


_CLASSES = {id(_MAKE): _default_rng, id(NEW): ORACLE, id(OLD): OLD_ORACLE, **WATCHED}


@cache
def _twin() -> Any:
    """The stand-in for the generator behind np.random."""
    return OLD_ORACLE(WATCHED[id(type(HIDDEN_NUMPY._bit_generator))](0))


def _followed(tape: Tape, generator: Any) -> Any:
    """The stand-in for a generator that was made before the run."""
    made: dict[int, Any] = tape.held("numpy generators", dict)
    if generator is HIDDEN_NUMPY and id(generator) not in made:
        with tape.unnoted():
            made[id(generator)] = _twin()
        made[id(generator)].tape = tape
        tape.bits.stands_for(made[id(generator)]._bit_generator, generator._bit_generator)
    elif id(generator) not in made:
        twin = tape.bits.copied(generator._bit_generator)
        made[id(generator)] = (OLD_ORACLE if type(generator) is OLD else ORACLE)(twin)
    return made[id(generator)]


def _found(tape: Tape) -> tuple[list[Place], list[Any]]:
    """Places where code holds a generator, a function of one, or a class of them, and what stands there."""

    def anywhere(value: Any) -> bool:
        return value is HIDDEN_NUMPY or owner(value) is HIDDEN_NUMPY or id(value) in _CLASSES

    def stand_in(value: Any) -> Any:
        if id(value) in _CLASSES:
            return _CLASSES[id(value)]
        if type(value) in (NEW, OLD):
            return _followed(tape, value)
        if owner(value) is HIDDEN_NUMPY:
            return _names()[value.__name__]
        return getattr(_followed(tape, owner(value)), value.__name__)

    def numpys_own(place: Place) -> bool:
        named = str(place[0].get("__name__", "")) if isinstance(place[0], dict) else ""
        return named.startswith("numpy") and (named, place[1]) != ("numpy.random.mtrand", "_rand")

    looked = tape.looked()
    bound = [place for place in looked.of_types(METHODS) if type(owner(held(place))) in (NEW, OLD)]
    other = everywhere("numpy", anywhere, numpys_own)
    where = once_each(*other, *looked.that_hold(_CLASSES), *looked.of_types((NEW, OLD)), *bound)
    return where, [stand_in(value) for value in all_held(where)]


_MODULE = [name for name in dir(np.random.RandomState) if not name.startswith("_") and hasattr(np.random, name)]
"""The functions of np.random that are methods of its hidden generator."""
