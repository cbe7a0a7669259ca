"""Stand-ins for NumPy's generators: their numbers come from the tape, and their states advance as usual."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.desk import DESK
from spec_math.audit.exploration.numpy_draws import Draws
from spec_math.audit.exploration.numpy_forms import formed, shape_of
from spec_math.audit.exploration.replaced import likeness_of
from spec_math.audit.exploration.tape import Stretch, Tape

FOLLOWED = ("random", "uniform", "integers", "choice", "multinomial", "exponential", "standard_exponential", "gumbel")
FOLLOWED_OLD = (
    *("rand", "random", "random_sample", "ranf", "sample", "uniform", "randint", "random_integers", "choice"),
    *("multinomial", "exponential", "standard_exponential", "gumbel"),
)
NEW, OLD = np.random.Generator, np.random.RandomState
"""NumPy's own classes, whatever stands in their place."""
_KEPT = ("seed", "get_state", "set_state", "get_bit_generator", "set_bit_generator")


def _asked(generator: Any) -> Tape:
    """The tape that a generator was made for, which must be the one that is asked now."""
    if generator.tape is not DESK.tape:
        raise ExploreError("a generator was used outside the run that made it; make it within the function")
    return generator.tape


def _stretch(bits: Any, move: Callable[[], tuple[int, ...]]) -> tuple[Stretch, tuple[int, ...]]:
    """Name the place of the next numbers, and move on as far as a call for them moves."""
    found = DESK.bits.stretch(bits)
    shape = move()
    found.leads_to(("numpy", DESK.bits.left(bits)), int(np.prod(shape)))
    return found, shape


def _by_thread(made: Any, real: Any) -> None:
    """Let threads that the code did not start draw as they would."""
    for name, method in list(vars(made).items()):
        if not name.startswith("_") and hasattr(real, name) and callable(method):
            setattr(made, name, _dispatched(method, getattr(real, name)))


def _dispatched(followed: Any, plain: Any) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return (plain if DESK.foreign() else followed)(self, *args, **kwargs)

    method.__name__ = plain.__name__
    return method


def _oracle() -> type[np.random.Generator]:
    # NumPy's own stubs overload each method by the type of size, which one method here serves.
    class Oracle(np.random.Generator, metaclass=likeness_of(NEW)):
        """A Generator whose state moves on as it would, and whose numbers are asked of the tape."""

        of_a_run = True

        def __init__(self, bit_generator: Any) -> None:
            super().__init__(bit_generator)
            self.tape = DESK.tape

        def random(  # pyright: ignore[reportIncompatibleMethodOverride]
            self, size: Any = None, dtype: Any = np.float64, out: Any = None
        ) -> Any:
            _refuse_out(out)
            form = formed(self, "random", size, dtype)
            return self._draws().uniforms(shape_of(form), np.dtype(dtype).name)

        def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
            form = formed(self, "uniform", low, high, size)
            low, high = (np.array(one) if isinstance(one, list | tuple) else one for one in (low, high))
            return low + (high - low) * self._draws().uniforms(shape_of(form))

        def integers(  # pyright: ignore[reportIncompatibleMethodOverride]
            self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: Any = False
        ) -> Any:
            form = formed(self, "integers", low, high, size, dtype, endpoint)
            return self._draws().integers(low, high, form, endpoint)

        def choice(
            self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
        ) -> Any:
            if axis != 0:
                raise ExploreError("explore follows choice along the first axis")
            form = formed(self, "choice", a, size, replace, p, axis, shuffle)
            return self._draws().choices(a, form, replace, p, shuffle)

        def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
            return self._draws().multinomials(n, pvals, formed(self, "multinomial", n, pvals, size))

        def exponential(self, scale: Any = 1, size: Any = None) -> Any:
            return self._draws().exponentials(scale, formed(self, "exponential", scale, size))

        def standard_exponential(  # pyright: ignore[reportIncompatibleMethodOverride]
            self, size: Any = None, dtype: Any = np.float64, method: Any = "zig", out: Any = None
        ) -> Any:
            _refuse_out(out)
            form = formed(self, "standard_exponential", size, dtype, method)
            way = "exponential" if (np.dtype(dtype), method) == (np.float64, "zig") else f"exponential {dtype} {method}"
            return self._draws().clocks(shape_of(form), way)

        def gumbel(self, loc: Any = 0, scale: Any = 1, size: Any = None) -> Any:
            return self._draws().gumbels(loc, scale, formed(self, "gumbel", loc, scale, size))

        def _draws(self) -> Draws:
            return Draws(_asked(self), self._place, "Generator")

        def _place(self, size: Any) -> tuple[Stretch, tuple[int, ...]]:
            return _stretch(self.bit_generator, lambda: np.shape(super(Oracle, self).random(size)))

    for name in dir(NEW):
        if not name.startswith("_") and name not in (*FOLLOWED, "bit_generator", "spawn"):
            setattr(Oracle, name, _refused(f"Generator.{name}", FOLLOWED))
    _by_thread(Oracle, NEW)
    return Oracle


def _old_oracle() -> type[Any]:
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
            return self._draws().uniforms(size)

        random = ranf = sample = random_sample

        def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
            form = formed(self, "uniform", low, high, size)
            low, high = (np.array(one) if isinstance(one, list | tuple) else one for one in (low, high))
            return low + (high - low) * self._draws().uniforms(shape_of(form))

        def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
            return self._draws().integers(low, high, formed(self, "randint", low, high, size, dtype))

        def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
            form = formed(self, "random_integers", low, high, size)
            return self._draws().integers(1 if high is None else low, low if high is None else high, form, True)

        def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
            return self._draws().choices(a, formed(self, "choice", a, size, replace, p), replace, p, True)

        def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
            return self._draws().multinomials(n, pvals, formed(self, "multinomial", n, pvals, size))

        def exponential(self, scale: Any = 1, size: Any = None) -> Any:
            return self._draws().exponentials(scale, formed(self, "exponential", scale, size))

        def standard_exponential(self, size: Any = None) -> Any:
            return self._draws().clocks(shape_of(formed(self, "standard_exponential", size)))

        def gumbel(self, loc: Any = 0, scale: Any = 1, size: Any = None) -> Any:
            return self._draws().gumbels(loc, scale, formed(self, "gumbel", loc, scale, size))

        def _draws(self) -> Draws:
            return Draws(_asked(self), self._place, "RandomState")

        def _place(self, size: Any) -> tuple[Stretch, tuple[int, ...]]:
            return _stretch(self._bit_generator, lambda: np.shape(super(OldOracle, self).random_sample(size)))

        def seed(self, *args: Any, **kwargs: Any) -> None:
            super().seed(*args, **kwargs)
            if any(one is not None for one in (*args, *kwargs.values())):
                DESK.seeded(next(iter((*args, *kwargs.values()))))
            DESK.bits.left(self._bit_generator)

        def set_state(self, state: Any) -> None:
            super().set_state(state)
            DESK.bits.left(self._bit_generator)

    for name in dir(state_class):
        if not name.startswith("_") and name not in (*FOLLOWED_OLD, *_KEPT):
            setattr(OldOracle, name, _refused(f"np.random.{name}", FOLLOWED_OLD))
    _by_thread(OldOracle, OLD)
    return OldOracle


def _refuse_out(out: Any) -> None:
    if out is not None:
        raise ExploreError("explore does not follow random numbers into out=; use what the call returns")


def _refused(name: str, followed: tuple[str, ...]) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise ExploreError(f"explore does not follow {name}; it follows {', '.join(followed)}")

    return refuse


ORACLE, OLD_ORACLE = _oracle(), _old_oracle()
"""What stands for NumPy's two classes of generators."""
