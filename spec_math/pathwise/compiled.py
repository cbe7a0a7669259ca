"""Compiled callables that cannot be followed: numba's parallel functions, and torch where Python alone is followed."""

from __future__ import annotations

import random
import sys
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from spec_math.pathwise.clock import Clock
from spec_math.pathwise.places import Place, everywhere, held, likeness_of, patched, paused, standing_in
from spec_math.pathwise.tape import Tape
from spec_math.pathwise.uniform import Uniform

_SYMBOLS = ("get_np_random_state", "get_py_random_state", "get_internal_random_state")
"""What numba's compiled code calls to draw: the states of the thread that it runs in."""


@contextmanager
def compiled_noted(tape: Tape) -> Generator[None]:
    """Note on the tape what compiled code draws in threads of its own, while the block lasts.

    A compiled function of one thread is not looked into: whether it draws is seen in numba's states, which stand still
    where its uniforms are arguments.
    """
    with tape.standing("numba", lambda: patched(_numba(tape))), _torch(tape):
        yield


def _numba(tape: Tape) -> list[tuple[type[Any], dict[str, Any]]]:
    dispatcher: Any = sys.modules.get("numba.core.dispatcher")
    if dispatcher is None:
        return []
    one = dispatcher.Dispatcher
    return [(one, tape.held("numba", lambda: {"__call__": _entering(tape, one), "_compile_for_args": _compiling(one)}))]


def _compiling(dispatcher: Any) -> Any:
    """A function is compiled of what its names really are, with random numbers of the compiler's own."""
    plain = dispatcher._compile_for_args

    def compile_for_args(self: Any, *args: Any, **kwargs: Any) -> Any:
        with paused():
            state = random.getstate()
            try:
                return plain(self, *args, **kwargs)
            finally:
                random.setstate(state)

    return compile_for_args


def _entering(tape: Tape, dispatcher: Any) -> Any:
    plain, draws = dispatcher.__call__, cache(_draws)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if any(_is_random(one) for one in (*args, *kwargs.values())) and not tape.foreign():
            return self.py_func(*args, **kwargs)  # on ordinary numbers the compiled form must do the same
        result = plain(self, *args, **kwargs)
        if self.targetoptions.get("parallel") and not tape.foreign() and draws(self):
            tape.note(f"numba's own states of several threads, which the parallel {self.__name__} draws from")
        return result

    return call


def _is_random(value: Any) -> bool:
    """True if it is a random number, or an array or a sequence that holds one."""
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(map(_is_random, value.flat))
    return isinstance(value, Uniform | Clock) or (isinstance(value, list | tuple) and any(map(_is_random, value)))


def _draws(dispatcher: Any) -> bool:
    """True if the code that was compiled calls for a state to draw from."""
    try:
        listed = [overload.library.get_llvm_str() for overload in dispatcher.overloads.values()]
    except Exception:
        return True
    return any(symbol in code for code in listed for symbol in _SYMBOLS)


DRAWING = {
    *("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "poisson", "rand_like"),
    *("randn_like", "randint_like", "uniform_", "normal_", "random_", "exponential_", "bernoulli_", "cauchy_"),
    *("log_normal_", "geometric_", "dropout", "gumbel_softmax", "rrelu"),
}
"""Functions and methods of torch that draw, from generator= where they take it."""


@contextmanager
def _torch(tape: Tape) -> Generator[None]:
    """Torch loaded and not followed: its functions that take a generator of the code's own are noted."""
    overrides: Any = sys.modules.get("torch.overrides")
    if overrides is None or tape.following:
        yield
        return

    def mode() -> Any:
        class Watching(overrides.TorchFunctionMode):
            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                name = getattr(func, "__name__", "")
                if name in DRAWING or (kwargs and kwargs.get("generator") is not None):
                    tape.note(f"torch's {name}; follow it with torch_bridge.explore")
                return func(*args, **(kwargs or {}))

        return Watching()

    with tape.held("torch watched", mode), seeds_noted(tape, sys.modules["torch"]._C.Generator):
        yield


@contextmanager
def seeds_noted(tape: Tape, real: Any) -> Generator[None]:
    """Note on the tape the seeds that torch's generators make of entropy, while the block lasts; `real` is their class.

    In place of those that the code finds, twins in the same state are drawn from.
    """
    where, values, twins = tape.held("torch generators", lambda: _generators(tape, real))
    with tape.unnoted():
        for twin, one in twins:
            twin.set_state(one.get_state())
    with tape.standing("torch generators", lambda: standing_in(where, values)):
        yield


def _generators(tape: Tape, real: Any) -> tuple[list[Place], list[Any], list[tuple[Any, Any]]]:
    def seed(self: Any) -> int:
        tape.note("torch.Generator.seed()")
        return real.seed(self)

    def manual_seed(self: Any, number: Any) -> Any:
        tape.seeded(number)
        return real.manual_seed(self, number)

    def at_present(self: Any) -> Hashable:
        return "torch", bytes(real.get_state(self).numpy())

    def get_state(self: Any) -> Any:
        tape.seeded.read(at_present(self))
        return real.get_state(self)

    def set_state(self: Any, state: Any) -> Any:
        before, found = at_present(self), real.set_state(self, state)
        tape.seeded.restored(before, lambda: at_present(self))
        return found

    methods = {one.__name__: one for one in (seed, manual_seed, get_state, set_state)}
    watched = likeness_of(real, type(real))("Generator", (real,), methods)

    classes = everywhere("torch", lambda value: value is real)
    found = [place for place in tape.places if type(held(place)) is real]
    twins = {id(held(place)): (watched(held(place).device), held(place)) for place in found}
    values = [watched] * len(classes) + [twins[id(held(place))][0] for place in found]
    return [*classes, *found], values, [*twins.values()]
