"""NumPy's randomness on a tape: generators made during a run, and the global one behind np.random."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np

from spec_math.audit.exploration.atom import ExploreError
from spec_math.audit.exploration.bit_generators import REAL, WATCHED, Bits
from spec_math.audit.exploration.desk import DESK, kept
from spec_math.audit.exploration.numpy_oracles import NEW, OLD, OLD_ORACLE, ORACLE
from spec_math.audit.exploration.replaced import replaced
from spec_math.audit.exploration.stand_ins import METHODS, Place, all_held, everywhere, held, owner, standing_in
from spec_math.audit.exploration.tape import Tape

_BITS, _MAKE = np.random.BitGenerator, np.random.default_rng
"""NumPy's own, whatever stands in their place."""
_HIDDEN: Any = np.random.mtrand._rand  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
"""The generator behind the functions of np.random."""
_HIDDEN_KIND = type(_HIDDEN._bit_generator)


class _Apart(np.random.MT19937):
    """Bits for the draws of threads that are not the explored code's: they may move."""

    of_a_run = True


_OF_OTHERS = OLD(_Apart())
"""What the functions of np.random draw from in such threads."""


@contextmanager
def numpy_source(tape: Tape) -> Generator[None]:
    """Follow the NumPy generators made while the block lasts onto a tape, and np.random's own functions.

    Raises:
        ExploreError: a generator that was made before was drawn from.

    >>> with numpy_source(Tape()):
    ...     np.random.default_rng().random()
    <numpy uniform 0>
    """
    bits = tape.bits = tape.held("numpy bits", lambda: Bits(tape))
    bits.begin()
    with tape.standing("numpy", lambda: _stand_ins(tape)):
        yield
    bits.check()


@contextmanager
def _stand_ins(tape: Tape) -> Generator[None]:
    where, values = tape.held("numpy", lambda: _found(tape))
    with replaced(np.random, kept("np.random", _names)), standing_in(where, values):
        yield


def _names() -> dict[str, Any]:
    """What stands for the names of np.random."""
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
        generator = _OF_OTHERS if DESK.foreign() else _followed(DESK.tape, _HIDDEN)
        return getattr(generator, name)(*args, **kwargs)

    function.__name__ = name
    return function


_CLASSES = {id(_MAKE): _default_rng, id(NEW): ORACLE, id(OLD): OLD_ORACLE, **WATCHED}


def _followed(tape: Tape, generator: Any) -> Any:
    """What stands for a generator that was made before the run."""
    made: dict[int, Any] = tape.held("numpy generators", dict)
    if generator is _HIDDEN and id(generator) not in made:
        with tape.unnoted():
            made[id(generator)] = kept("a twin of np.random", lambda: OLD_ORACLE(WATCHED[id(_HIDDEN_KIND)](0)))
        made[id(generator)].tape = tape
        tape.bits.stands_for(made[id(generator)]._bit_generator, generator._bit_generator)
    elif id(generator) not in made:
        old = type(generator) is OLD
        twin = tape.bits.copied(generator._bit_generator if old else generator.bit_generator)
        made[id(generator)] = (OLD_ORACLE if old else ORACLE)(twin)
    return made[id(generator)]


def _found(tape: Tape) -> tuple[list[Place], list[Any]]:
    """Where code holds a generator, a function of one, or a class of them, and what stands there."""

    def anywhere(value: Any) -> bool:
        return value is _HIDDEN or owner(value) is _HIDDEN or id(value) in _CLASSES

    def stand_in(value: Any) -> Any:
        if id(value) in _CLASSES:
            return _CLASSES[id(value)]
        if type(value) in (NEW, OLD):
            return _followed(tape, value)
        if owner(value) is _HIDDEN:
            return kept("np.random", _names)[value.__name__]
        return getattr(_followed(tape, owner(value)), value.__name__)

    looked = tape.looked()
    bound = [place for place in looked.of_types(METHODS) if type(owner(held(place))) in (NEW, OLD)]
    mine = [*looked.that_hold(_CLASSES), *looked.of_types((NEW, OLD)), *bound]
    other = everywhere("numpy", anywhere, _is_numpy_s)
    where = list({(id(space), key): (space, key) for space, key in (*other, *mine)}.values())
    return where, [stand_in(value) for value in all_held(where)]


def _is_numpy_s(place: Place) -> bool:
    space, key = place
    named = str(space.get("__name__", "")) if isinstance(space, dict) else ""
    return named.startswith("numpy") and (named, key) != ("numpy.random.mtrand", "_rand")


_MODULE = [name for name in dir(np.random.RandomState) if not name.startswith("_") and hasattr(np.random, name)]
"""The functions of np.random that are methods of its hidden generator."""
