"""NumPy's generators as questions to a tape: those made during a run, and the old global one behind np.random."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import numpy as np

from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.bit_generators import REAL, Bits
from spec_math.audit.exploration.numpy_draws import Draws
from spec_math.audit.exploration.replaced import replaced
from spec_math.audit.exploration.stand_ins import Place, everywhere, held, owner, standing_in
from spec_math.audit.exploration.tape import Tape

_FOLLOWED = ("random", "uniform", "integers", "choice", "multinomial", "exponential", "standard_exponential", "gumbel")
_OLD = (
    *("rand", "random", "random_sample", "ranf", "sample", "uniform", "randint", "random_integers", "choice"),
    *("multinomial", "exponential", "standard_exponential", "gumbel"),
)
_NEW, _OLD_CLASS, _BITS = np.random.Generator, np.random.RandomState, np.random.BitGenerator
_MAKE = np.random.default_rng
"""NumPy's own classes, whatever stands in their place."""
_HIDDEN: Any = np.random.mtrand._rand  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
"""The generator behind the functions of np.random."""
_KEPT = ("seed", "get_state", "set_state", "get_bit_generator", "set_bit_generator")


@contextmanager
def numpy_source(tape: Tape) -> Generator[None]:
    """Follow the NumPy generators made while the block lasts onto a tape, and np.random's own functions.

    Raises:
        ExploreError: a generator that was made before was drawn from.

    >>> with numpy_source(Tape()):
    ...     np.random.default_rng().random()
    <numpy uniform 0>
    """
    bits, names, where, values = tape.held("numpy", lambda: _made(tape))
    bits.begin()
    with tape.standing("numpy", lambda: _stand_ins(names, where, values)):
        yield
    bits.check()


@contextmanager
def _stand_ins(names: dict[str, Any], where: list[Place], values: list[Any]) -> Generator[None]:
    with replaced(np.random, names), standing_in(where, values):
        yield


def _made(tape: Tape) -> tuple[Bits, dict[str, Any], list[Place], list[Any]]:
    """What stands in for NumPy's names, and in the places where the code finds a generator, during each run."""
    bits = Bits(tape)
    drawn, drawn_old = _oracle(tape, bits), _old_oracle(tape, bits)

    def default_rng(seed: Any = None) -> Any:
        if tape.foreign():
            return _MAKE(seed)
        if issubclass(type(seed), drawn):
            return seed
        if issubclass(type(seed), _NEW):
            raise ExploreError(
                "a NumPy Generator made before the run cannot be followed; make it inside, by default_rng()"
            )
        if issubclass(type(seed), _BITS):
            return drawn(seed)
        if issubclass(type(seed), _OLD_CLASS):
            return drawn(seed._bit_generator)
        return drawn(bits.kinds[id(REAL[0])](seed))

    made: dict[int, Any] = {id(_MAKE): default_rng, id(_NEW): drawn, id(_OLD_CLASS): drawn_old, **bits.kinds}
    classes = set(made)

    def followed(generator: Any) -> Any:
        if id(generator) not in made:
            old = type(generator) is _OLD_CLASS
            twin = bits.copied(generator._bit_generator if old else generator.bit_generator)
            made[id(generator)] = drawn_old(twin) if old else drawn(twin)
        return made[id(generator)]

    def stand_in(value: Any) -> Any:
        if id(value) in classes or type(value) in (_NEW, _OLD_CLASS):
            return followed(value)
        return getattr(followed(owner(value)), value.__name__)

    where = _places(tape, classes)
    module = followed(_HIDDEN)
    names = {"default_rng": default_rng, "Generator": drawn, "RandomState": drawn_old}
    names |= {name: getattr(module, name) for name in _MODULE}
    names |= {real.__name__: bits.kinds[id(real)] for real in REAL}
    return bits, names, where, [stand_in(held(place)) for place in where]


def _places(tape: Tape, classes: set[int]) -> list[Place]:
    """Where code holds a generator, a function of one, or a class of them."""
    kinds = _NEW, _OLD_CLASS

    def wanted(value: Any) -> bool:
        return id(value) in classes or type(value) in kinds or type(owner(value)) in kinds

    def anywhere(value: Any) -> bool:
        return value is _HIDDEN or owner(value) is _HIDDEN or id(value) in classes

    mine = [place for place in tape.places if wanted(held(place))]
    other = [place for place in everywhere("numpy", anywhere) if not _is_numpy_s(place)]
    return list({(id(space), key): (space, key) for space, key in (*other, *mine)}.values())


def _is_numpy_s(place: Place) -> bool:
    space, key = place
    named = str(space.get("__name__", "")) if isinstance(space, dict) else ""
    return named.startswith("numpy") and (named, key) != ("numpy.random.mtrand", "_rand")


_MODULE = [name for name in dir(np.random.RandomState) if not name.startswith("_") and hasattr(np.random, name)]
"""The functions of np.random that are methods of its hidden generator."""


def _kind(real: Any) -> Any:
    class Same(type):
        """Takes the class's own instances for its own."""

        def __instancecheck__(cls, instance: Any) -> bool:
            return issubclass(type(instance), real)

    return Same


def _by_thread(tape: Tape, made: Any, real: Any) -> None:
    """Let threads that the code did not start draw as they would."""
    for name, method in list(vars(made).items()):
        if not name.startswith("_") and hasattr(real, name) and callable(method):
            setattr(made, name, _dispatched(tape, method, getattr(real, name)))


def _dispatched(tape: Tape, followed: Any, plain: Any) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return (plain if tape.foreign() else followed)(self, *args, **kwargs)

    method.__name__ = plain.__name__
    return method


def _oracle(tape: Tape, bits: Bits) -> type[np.random.Generator]:
    # NumPy's own stubs overload each method by the type of size, which one method here serves.
    class Oracle(np.random.Generator, metaclass=_kind(_NEW)):
        """A Generator whose state moves on as it would, and whose numbers are asked of the tape."""

        of_a_run = True

        def random(  # pyright: ignore[reportIncompatibleMethodOverride]
            self, size: Any = None, dtype: Any = np.float64, out: Any = None
        ) -> Any:
            _refuse_out(out)
            return self._draws().uniforms(size, np.dtype(dtype).name)

        def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
            return low + (high - low) * self.random(size)

        def integers(
            self, low: Any, high: Any = None, size: Any = None, *_: Any, endpoint: Any = False, **__: Any
        ) -> Any:
            return self._draws().integers(low, high, size, endpoint)

        def choice(
            self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
        ) -> Any:
            if axis != 0:
                raise ExploreError("explore follows choice along the first axis")
            return self._draws().choices(a, size, replace, p, shuffle)

        def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
            return self._draws().multinomials(n, pvals, size)

        def exponential(self, scale: Any = 1, size: Any = None) -> Any:
            return self._draws().exponentials(scale, size)

        def standard_exponential(self, size: Any = None, *_: Any, out: Any = None, **__: Any) -> Any:
            _refuse_out(out)
            return self._draws().clocks(size)

        def gumbel(self, loc: Any = 0, scale: Any = 1, size: Any = None) -> Any:
            return self._draws().gumbels(loc, scale, size)

        def _draws(self) -> Draws:
            return Draws(tape, self._place)

        def _place(self, size: Any) -> tuple[Any, tuple[int, ...]]:
            place = "numpy", bits.place(self.bit_generator)
            shape = np.shape(super().random(size))
            bits.left(self.bit_generator)
            return place, shape

    for name in dir(np.random.Generator):
        if not name.startswith("_") and name not in (*_FOLLOWED, "bit_generator", "spawn"):
            setattr(Oracle, name, _refused(f"Generator.{name}", _FOLLOWED))
    _by_thread(tape, Oracle, _NEW)
    return Oracle


def _old_oracle(tape: Tape, bits: Bits) -> type[Any]:
    state_class: Any = _OLD_CLASS

    class OldOracle(state_class, metaclass=_kind(_OLD_CLASS)):
        """A RandomState whose state moves on as it would, and whose numbers are asked of the tape."""

        of_a_run = True

        def __init__(self, seed: Any = None) -> None:
            with tape.unnoted():  # its entropy is followed
                super().__init__(seed)
            bits.left(self._bit_generator)

        def rand(self, *shape: int) -> Any:
            return self.random_sample(shape or None)

        def random_sample(self, size: Any = None) -> Any:
            return self._draws().uniforms(size)

        random = ranf = sample = random_sample

        def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
            return low + (high - low) * self.random_sample(size)

        def randint(self, low: Any, high: Any = None, size: Any = None, *_: Any, **__: Any) -> Any:
            return self._draws().integers(low, high, size)

        def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
            return self.randint(*((1, low + 1) if high is None else (low, high + 1)), size)

        def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
            return self._draws().choices(a, size, replace, p, True)

        def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
            return self._draws().multinomials(n, pvals, size)

        def exponential(self, scale: Any = 1, size: Any = None) -> Any:
            return self._draws().exponentials(scale, size)

        def standard_exponential(self, size: Any = None) -> Any:
            return self._draws().clocks(size)

        def gumbel(self, loc: Any = 0, scale: Any = 1, size: Any = None) -> Any:
            return self._draws().gumbels(loc, scale, size)

        def _draws(self) -> Draws:
            return Draws(tape, self._place)

        def _place(self, size: Any) -> tuple[Any, tuple[int, ...]]:
            place = "numpy's old generator", bits.place(self._bit_generator)
            shape = np.shape(super().random_sample(size))
            bits.left(self._bit_generator)
            return place, shape

        def seed(self, *args: Any, **kwargs: Any) -> None:
            super().seed(*args, **kwargs)
            bits.left(self._bit_generator)

        def set_state(self, state: Any) -> None:
            super().set_state(state)
            bits.left(self._bit_generator)

    for name in dir(state_class):
        if not name.startswith("_") and name not in (*_OLD, *_KEPT):
            setattr(OldOracle, name, _refused(f"np.random.{name}", _OLD))
    _by_thread(tape, OldOracle, _OLD_CLASS)
    return OldOracle


def _refuse_out(out: Any) -> None:
    if out is not None:
        raise ExploreError("explore does not follow random numbers into out=; use what the call returns")


def _refused(name: str, followed: tuple[str, ...]) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise ExploreError(f"explore does not follow {name}; it follows {', '.join(followed)}")

    return refuse
