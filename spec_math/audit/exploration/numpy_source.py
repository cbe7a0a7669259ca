"""NumPy's generators as questions to a tape: those made during a run, and the old global one behind np.random."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np

from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.numpy_draws import Draws
from spec_math.audit.exploration.replaced import replaced
from spec_math.audit.exploration.stand_ins import Place, held, owner, standing_in
from spec_math.audit.exploration.tape import Tape

_FOLLOWED = ("random", "uniform", "integers", "choice", "multinomial", "exponential", "standard_exponential", "gumbel")
_OLD = (
    *("rand", "random", "random_sample", "ranf", "sample", "uniform", "randint", "random_integers", "choice"),
    *("multinomial", "exponential", "standard_exponential", "gumbel"),
)
_NEW = np.random.Generator
"""NumPy's own class, whatever stands in its place."""
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
    real, generator_class, old_class = np.random.default_rng, np.random.Generator, np.random.RandomState
    drawn, drawn_old = tape.held("numpy", lambda: (_oracle(tape), _old_oracle(tape)))
    hidden: Any = np.random.mtrand._rand  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]

    def default_rng(seed: Any = None) -> Any:
        if isinstance(seed, drawn):
            return seed
        if isinstance(seed, generator_class):
            raise ExploreError(
                "a NumPy Generator made before the run cannot be followed; make it inside, by default_rng()"
            )
        return drawn(real(seed).bit_generator)

    untouched = _state_of(hidden)
    made_before = tape.made_before(generator_class) + [one for one in tape.made_before(old_class) if one is not hidden]
    states = [_state_of(generator) for generator in made_before]
    module = drawn_old()
    module.set_state(hidden.get_state())
    functions = {name: getattr(module, name) for name in _MODULE}
    classes = {"default_rng": default_rng, "Generator": drawn, "RandomState": drawn_old}
    real_ones = {id(real): default_rng, id(generator_class): drawn, id(old_class): drawn_old}
    where, values = _stand_ins(tape, real_ones, {id(hidden): module})
    with replaced(np.random, functions | classes), standing_in(where, values):
        yield
    if states != [_state_of(generator) for generator in made_before]:
        raise ExploreError("a NumPy Generator made before the run was drawn from; make it inside, by default_rng()")
    if _state_of(hidden) != untouched:
        raise ExploreError(
            "NumPy's old global generator was drawn from behind explore's back: a function was imported from it before "
            "the run (from numpy.random import …); write np.random.rand() in the code, or use default_rng()"
        )


def _stand_ins(tape: Tape, classes: dict[int, Any], followed: dict[int, Any]) -> tuple[list[Place], list[Any]]:
    """What stands in places that hold a generator, a function of one, a class or default_rng."""
    kinds = _NEW, np.random.RandomState
    drawn, drawn_old = tape.held("numpy", lambda: None)

    def stand_in(value: Any) -> Any:
        if id(value) in classes:
            return classes[id(value)]
        generator = value if type(value) in kinds else owner(value)
        if id(generator) not in followed:
            if isinstance(generator, np.random.RandomState):
                followed[id(generator)] = drawn_old()
                followed[id(generator)].set_state(generator.get_state())
            else:
                followed[id(generator)] = drawn(deepcopy(generator.bit_generator))
        known = followed[id(generator)]
        return known if generator is value else getattr(known, value.__name__)

    def wanted(value: Any) -> bool:
        return id(value) in classes or type(value) in kinds or type(owner(value)) in kinds

    where = tape.held("numpy places", lambda: [place for place in tape.places if wanted(held(place))])
    return where, [stand_in(held(place)) for place in where]


def _state_of(generator: Any) -> Any:
    if isinstance(generator, _NEW):
        return repr(generator.bit_generator.state)
    state: Any = generator.get_state()
    return state[0], state[1].tobytes(), *state[2:]


_MODULE = [name for name in dir(np.random.RandomState) if not name.startswith("_") and hasattr(np.random, name)]
"""The functions of np.random that are methods of its hidden generator."""


def _oracle(tape: Tape) -> type[np.random.Generator]:
    # NumPy's own stubs overload each method by the type of size, which one method here serves.
    class Oracle(np.random.Generator):
        """A Generator whose state moves on as it would, and whose numbers are asked of the tape."""

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
            place = "numpy", _state_of(self)
            return place, np.shape(super().random(size))

    for name in dir(np.random.Generator):
        if not name.startswith("_") and name not in (*_FOLLOWED, "bit_generator", "spawn"):
            setattr(Oracle, name, _refused(f"Generator.{name}", _FOLLOWED))
    return Oracle


def _old_oracle(tape: Tape) -> type[Any]:
    state_class: Any = np.random.RandomState

    class OldOracle(state_class):
        """A RandomState whose state moves on as it would, and whose numbers are asked of the tape."""

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
            place = "numpy's old generator", _state_of(self)
            return place, np.shape(super().random_sample(size))

    for name in dir(state_class):
        if not name.startswith("_") and name not in (*_OLD, *_KEPT):
            setattr(OldOracle, name, _refused(f"np.random.{name}", _OLD))
    return OldOracle


def _refuse_out(out: Any) -> None:
    if out is not None:
        raise ExploreError("explore does not follow random numbers into out=; use what the call returns")


def _refused(name: str, followed: tuple[str, ...]) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise ExploreError(f"explore does not follow {name}; it follows {', '.join(followed)}")

    return refuse
