"""A check that generators did not move: their states before and after an exploration, for all of the process.

A function that is followed moves none of them: its numbers are questions to a tape. What moves one was not seen.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from spec_math.audit.exploration.python_source import TWIN
from spec_math.audit.exploration.states import MT19937_BYTES, memory, reader
from spec_math.audit.exploration.touched import behind

_HIDDEN: Any = np.random.mtrand._rand  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
_HIDDEN_BITS: Any = _HIDDEN._bit_generator


class Still:
    """The states of a process's generators at one time: `moved` names those that have changed since.

    `alive` are Python's and NumPy's generators; torch's, numba's and those of the accelerators are found where these
    libraries are loaded.

    >>> still = Still([])
    >>> still.moved()
    []
    >>> drawn = random.random()
    >>> [name.partition(",")[0] for name in still.moved()]
    ["Python's random"]
    """

    def __init__(self, alive: list[Any]) -> None:
        generators = [getattr(random, "_inst", None), _HIDDEN, *alive]
        readers = _readers(generators)
        self._places = {id(one): place for place, (one, _, _) in enumerate(readers)}
        self._names, self._reads = [name for _, name, _ in readers], [read for _, _, read in readers]
        self._held = [one for one, _, _ in readers]
        self._kept = self._states()

    def _states(self) -> list[Any]:
        return [read() for read in self._reads]

    def again(self) -> None:
        """Take the states that the generators have now for those that they are to keep."""
        self._kept = self._states()

    def moved(self, followed: Mapping[int, Any] | None = None) -> list[str]:
        """Name the generators whose state is another one.

        Those that are followed, by identity, may stand elsewhere now: theirs is the state that they were found in.
        """
        states = self._states()
        places = range(len(states)) if states != self._kept else []
        changed = {place for place in places if states[place] != self._kept[place]}
        for number, found in (followed or {}).items():
            place = self._places.get(number)
            if place is not None:
                changed.discard(place)
                changed |= {place} if found not in (None, self._kept[place]) else set()
        return [self._names[place]() for place in sorted(changed)]


Reader = tuple[Any, Callable[[], str], Callable[[], Any]]


def _readers(generators: list[Any]) -> list[Reader]:
    found: list[Reader] = []
    for one in {id(one): one for one in generators}.values():
        if isinstance(one, random.Random) and not isinstance(one, random.SystemRandom) and one is not TWIN:
            found.append((one, lambda one=one: behind(one), reader(one)))
        elif isinstance(one, np.random.BitGenerator):
            found.append((one, lambda one=one: _numpy_name(one), reader(one)))
        elif one is _HIDDEN:
            found.append((one, lambda: _numpy_name(_HIDDEN_BITS), reader(_HIDDEN_BITS)))
    return [*found, *_numba(), *_torch()]


def _numpy_name(bits: Any) -> str:
    if bits is _HIDDEN_BITS:
        return (
            "NumPy's old global generator, drawn from behind explore's back: a function was imported from it before "
            "the run (from numpy.random import …); write np.random.rand() in the code, or use default_rng()"
        )
    return f"a NumPy {type(bits).__name__} made before the run; make it inside, by default_rng()"


def _numba() -> list[Reader]:
    """numba's own two states of this thread, which compiled functions draw from."""
    helper: Any = sys.modules.get("numba._helperlib")
    if helper is None:
        return []

    def reading(place: Any) -> Callable[[], Any]:
        return lambda: memory(place(), _NUMBA_BYTES)

    return [
        (
            place,
            lambda name=name: f"numba's own state of {name}, which compiled functions draw from; hand them uniforms",
            reading(place),
        )
        for place, name in ((helper.rnd_get_np_state_ptr, "np.random"), (helper.rnd_get_py_state_ptr, "random"))
    ]


_NUMBA_BYTES = MT19937_BYTES + 4 + 8
"""An index, the words, and the second of two normal numbers, with whether it is there."""


def _torch() -> list[Reader]:
    """torch's default generators, of the CPU and of the accelerators in use."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "default_generator"):
        return []
    found = [torch.default_generator]
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        found += list(torch.cuda.default_generators)
    return [
        (
            one,
            lambda one=one: f"torch's default generator on {one.device}; follow it with torch_bridge.explore",
            lambda one=one: one.get_state().numpy().tobytes(),
        )
        for one in found
    ]
