"""The generators that a process has: those that a function could draw from unseen."""

from __future__ import annotations

import ctypes
import gc
import random
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from itertools import chain
from typing import Any

import numpy as np


def generators_alive() -> list[Any]:
    """Return the generators of Python and NumPy that are alive, looking at every object: some tens of milliseconds.

    Only the first look is at all of them. From then on the young are looked at, here and before the collector ages
    them, and what was found among the old is found again; a generator that nobody else holds by now is let go. A
    collection of all objects ends that, and so does a process that takes as many new objects as it had without another
    look. Objects that `gc.freeze` hid are thawed.

    >>> held = random.Random(0)
    >>> any(one is held for one in generators_alive()), any(one is held for one in generators_alive())
    (True, True)
    """
    if _follow not in gc.callbacks:
        gc.callbacks.append(_follow)
    if gc.get_freeze_count():  # what was frozen is in no list of objects
        gc.unfreeze()
    for _ in range(2):  # the collector may come between, and is followed
        record = _kept.get("record")
        if record is not None and (found := record.with_the_young()):
            return _noted(found, record.aged, record.most)
    record = None
    _kept.clear()  # what a record alone holds is let go of
    aged, objects = _aged(), gc.get_objects()
    return _noted(_generators(objects), aged, len(objects))


def _noted(found: list[Any], aged: tuple[int, ...], most: int) -> list[Any]:
    generators = [one for one in found if type(one) is not _Mark]
    if sys.version_info < (3, 14):  # from then on objects are aged in another way
        _kept["record"] = _Record(generators, aged, most)
    return generators


class _Mark:
    """An object that is young for as long as no object was aged unseen."""


class _Record:
    """The generators among the old objects, and some of the young, after so many collections that aged objects.

    Those of Python are held weakly. NumPy's have no weak references: they are held until the next look, or the next
    collection of all objects.
    """

    def __init__(self, found: Iterable[Any], aged: tuple[int, ...], most: int) -> None:
        self._held: dict[int, Any] = {}
        self._add(found)
        self.aged, self.most, self._looked_at = aged, most, 0
        self.mark, self.followed = _Mark(), False

    def _add(self, found: Iterable[Any]) -> None:
        for one in found:
            try:
                self._held[id(one)] = weakref.ref(one)
            except TypeError:
                self._held[id(one)] = one

    def with_the_young(self) -> list[Any]:
        """Return what is held elsewhere and what is young, with marks; nothing if the collector came between."""
        self._let_go()
        aged, held = self.aged, self._held.copy().values()
        alive = (one() if type(one) is weakref.ref else one for one in held)
        found = _generators(_young(), (one for one in alive if one is not None))
        return found if self.aged == aged == _aged() and any(one is self.mark for one in found) else []

    def _let_go(self) -> None:
        strong = [one for one in self._held.values() if type(one) is not weakref.ref]
        for number, references in zip(map(id, strong), _references(strong), strict=True):
            if references <= _ALONE + 1:
                del self._held[number]

    def follow(self) -> bool:
        """Look at the young before they are aged; say whether all that were aged before are known."""
        young = _young()
        self._looked_at += len(young)
        found = _generators(young) if self._looked_at <= self.most and self.aged == _aged() else []
        self._add(one for one in found if type(one) is not _Mark)
        self.followed = any(one is self.mark for one in found)
        return self.followed

    def aged_once_more(self) -> None:
        """Note that what was looked at has been aged."""
        self.aged, self.mark, self.followed = _aged(), _Mark(), False


_kept: dict[str, _Record] = {}
"""The record of the last look, where one is kept."""


def _follow(phase: str, info: dict[str, int]) -> None:
    """Look at what the collector is about to age. All objects that it collects are let go of: they may be garbage."""
    record = _kept.get("record")
    if record is None or info["generation"] == 0:
        return
    if phase == "start":
        if info["generation"] > 1 or not record.follow():
            _kept.clear()
    elif record.followed:
        record.aged_once_more()


def _aged() -> tuple[int, ...]:
    return tuple(one["collections"] for one in gc.get_stats()[1:])


def _young() -> list[Any]:
    # A list that is made before the young are listed would list itself, and hold all of them until it is collected.
    return gc.get_objects(0) + gc.get_objects(1)


def _references(listed: list[Any]) -> list[int]:
    return [sys.getrefcount(one) for one in listed]


_ALONE = _references([random.Random(0)])[0]
"""How many references are counted to what a list alone holds."""


def _generators(objects: list[Any], known: Iterable[Any] = ()) -> list[Any]:
    """Return the generators that are known or among some objects, each once, and marks."""
    # By type: to ask some objects for their class, as isinstance does, has effects.
    wanted = cache(_is_wanted)
    try:
        chosen = [one for one in objects if wanted(type(one))]
    except TypeError:  # a class among them that its metaclass keeps from being hashed
        chosen = [one for one in objects if _is_wanted(type(one))]
    return list({id(one): one for one in chain(known, chosen)}.values())


def _is_wanted(kind: type[Any]) -> bool:
    """True if generators of a type may be drawn from unseen; those that explore made itself ask their own tape."""
    generator = issubclass(kind, (random.Random, np.random.BitGenerator)) and not hasattr(kind, "of_a_run")
    return generator or kind is _Mark


CORE: Any = random.Random.__mro__[1]
"""The class in C below random.Random, whose own methods read and move a state."""
HIDDEN: Any = getattr(random, "_inst", None)
"""The generator behind the module's functions."""
TWIN = random.Random()
"""Draws for the module's generator where a thread asks that the explored code did not start."""
_MT19937 = np.random.MT19937  # whatever stands in its place
MT19937_BYTES = 4 * 624 + 4
"""The words of a Mersenne Twister and its place, as C lays them out; NumPy's own property takes fifty times as long."""


def memory(address: int, size: int) -> bytes:
    """Return a copy of what lies at an address; no function of C is called for it, and none is heard of."""
    return (ctypes.c_char * size).from_address(address).raw


def reader(generator: Any) -> Callable[[], Any]:
    """Return what reads the state of a generator of Python's or of a NumPy bit generator, again and again."""
    return partial(words if issubclass(type(generator), random.Random) else frozen, generator)


def words(generator: random.Random) -> Any:
    """Return the state of a generator of Python's as a value that can be compared."""
    return CORE.getstate(generator)


def frozen(bits: Any) -> Any:
    """Return the state of a NumPy bit generator as a value that can be compared."""
    if issubclass(type(bits), _MT19937):
        return memory(bits.ctypes.state_address, MT19937_BYTES)
    # One that is watched notes who reads its state.
    kind: Any = next((one for one in type(bits).__mro__ if one.__module__.startswith("numpy.")), type(bits))
    return _frozen(kind.state.__get__(bits))


def _frozen(state: Any) -> Any:
    if isinstance(state, dict):
        return tuple(_frozen(value) for value in state.values())  # pyright: ignore[reportUnknownVariableType]
    return state.tobytes() if isinstance(state, np.ndarray) else state


def behind(generator: Any) -> str:
    """Name a Python generator whose state changed although the tape was not asked."""
    if generator is HIDDEN:
        return (
            "Python's random, drawn from behind explore's back: a function was imported from it before the run (from "
            "random import …); write random.random() in the code, or pass the function in"
        )
    return f"a {type(generator).__name__} of Python's random, drawn from behind explore's back"


HIDDEN_NUMPY: Any = np.random.mtrand._rand  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
"""The generator behind the functions of np.random."""
_HIDDEN_BITS: Any = HIDDEN_NUMPY._bit_generator


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
        self._readers = _readers([HIDDEN, HIDDEN_NUMPY, *alive])
        self.again()

    def again(self) -> None:
        """Take the states that the generators have now for those that they are to keep."""
        self._kept = [read() for _, _, read in self._readers]

    def moved(self, followed: Mapping[int, Any] | None = None) -> list[str]:
        """Name the generators whose state is another one.

        Those that are followed, by identity, may stand elsewhere now: theirs is the state that they were found in.
        """
        known, pairs = followed or {}, zip(self._readers, self._kept, strict=True)
        return [
            name()
            for (one, name, read), kept in pairs
            if (known[id(one)] not in (None, kept) if id(one) in known else read() != kept)
        ]


Reader = tuple[Any, Callable[[], str], Callable[[], Any]]


def _readers(generators: list[Any]) -> list[Reader]:
    found: list[Reader] = []
    for one in {id(one): one for one in generators}.values():
        if isinstance(one, random.Random) and not isinstance(one, random.SystemRandom) and one is not TWIN:
            found.append((one, lambda one=one: behind(one), reader(one)))
        elif isinstance(one, np.random.BitGenerator):
            found.append((one, lambda one=one: _numpy_name(one), reader(one)))
        elif one is HIDDEN_NUMPY:
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
    said = "numba's own state of {}, which compiled functions draw from; hand them uniforms"
    states = ((helper.rnd_get_np_state_ptr, "np.random"), (helper.rnd_get_py_state_ptr, "random"))
    return [(at, partial(said.format, name), lambda at=at: memory(at(), _NUMBA_BYTES)) for at, name in states]


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
    said = "torch's default generator on {}; follow it with torch_bridge.explore"
    return [(one, partial(said.format, one.device), lambda one=one: one.get_state().numpy().tobytes()) for one in found]
