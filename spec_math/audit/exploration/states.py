"""States of random generators as values that can be compared, each read in a tenth of a microsecond.

They are copied from where they lie in memory: an audit beside other threads reads all of a process's before and after
each run. Where they do not lie as they do in CPython and in NumPy's classes, their own methods are asked.
"""

from __future__ import annotations

import ctypes
import random
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

_CORE: Any = random.Random.__mro__[1]
"""The class in C below random.Random."""
_HEADER = object.__basicsize__
_BEHIND = _CORE.__basicsize__ - _HEADER
_MT19937 = np.random.MT19937
_NUMPY_HEADER = np.random.BitGenerator.__basicsize__
"""What all of NumPy's bit generators begin with; a state follows."""

MT19937_BYTES = 4 * 624 + 4
"""The words of a Mersenne Twister and its place, as C lays them out; NumPy's own property takes fifty times as long."""


def memory(address: int, size: int) -> bytes:
    """Return a copy of what lies at an address; no function of C is called for it, and none is heard of.

    >>> memory(id("text"), 8) == ctypes.string_at(id("text"), 8)
    True
    """
    return _bytes(size).from_address(address).raw


@cache
def _bytes(size: int) -> Any:
    """A class of so many bytes in memory, whose objects may hold what these belong to."""
    return type("Held", (ctypes.c_char * size,), {})


def reader(generator: Any) -> Callable[[], Any]:
    """Return what reads the state of a generator of Python's or of a NumPy bit generator, again and again.

    >>> one, other = random.Random(3), np.random.PCG64(3)
    >>> for drawn, read in ((one.random, reader(one)), (other.random_raw, reader(other))):
    ...     before = read()
    ...     before == read(), drawn() >= 0, before == read()
    (True, True, False)
    (True, True, False)
    """
    if issubclass(type(generator), random.Random):
        return _view(generator, _HEADER, _BEHIND).tobytes if _READABLE else lambda: words(generator)
    size = next((_SIZES[kind] for kind in type(generator).__mro__ if kind in _SIZES), 0)
    return _view(generator, _NUMPY_HEADER, size).tobytes if size else lambda: frozen(generator)


def _view(owner: Any, offset: int, size: int) -> memoryview:
    """Return a view of an object's own memory, which keeps the object alive."""
    found = _bytes(size).from_address(id(owner) + offset)
    found.owner = owner
    return memoryview(found)


def words(generator: random.Random) -> Any:
    """Return the state of a generator of Python's as a value that can be compared.

    >>> one = random.Random(3)
    >>> before = words(one)
    >>> before == words(one), one.random() < 1, before == words(one)
    (True, True, False)
    """
    return memory(id(generator) + _HEADER, _BEHIND) if _READABLE else _CORE.getstate(generator)


def _readable() -> bool:
    """Whether a generator's words lie behind its header, as in CPython: they do if drawing and setting back show it."""
    if sys.implementation.name != "cpython" or _BEHIND < MT19937_BYTES:
        return False
    one = random.Random(0)
    state, read = _CORE.getstate(one), []
    for moved in (False, True, False):
        _CORE.setstate(one, state)
        if moved:
            _CORE.random(one)
        read.append(memory(id(one) + _HEADER, _BEHIND))
    return read[0] == read[2] != read[1]


_READABLE = _readable()


def _readable_size(kind: Any) -> int:
    """The bytes of a bit generator's state behind the header, or 0 where drawing and setting back do not show them.

    The half of a number that is left for the next draw of 32 bits is part of the state.
    """
    size = kind.__basicsize__ - _NUMPY_HEADER
    if sys.implementation.name != "cpython" or size <= 0:
        return 0
    one = kind(0)
    begun = one.state
    left = begun | {"has_uint32": 1, "uinteger": 7} if "uinteger" in begun else begun
    read: list[bytes] = []
    for state, moved in ((begun, False), (begun, True), (left, False), (left, True), (begun, False), (left, False)):
        one.state = state
        if moved:
            _ = one.random_raw()
        read.append(memory(id(one) + _NUMPY_HEADER, size))
    told = len(set(read)) == (4 if left is not begun else 2)
    return size if told and read[0] == read[4] and read[2] == read[5] and read[0] != read[1] else 0


def frozen(bits: Any) -> Any:
    """Return the state of a NumPy bit generator as a value that can be compared.

    >>> frozen(np.random.PCG64(3)) == frozen(np.random.PCG64(3))
    True
    """
    if issubclass(type(bits), _MT19937):
        return memory(bits.ctypes.state_address, MT19937_BYTES)
    # One that is watched notes who reads its state.
    kind = type(bits)
    return _frozen(getattr(kind, "plain_state", kind.state).__get__(bits))


def _frozen(state: Any) -> Any:
    if isinstance(state, dict):
        return tuple(_frozen(value) for value in state.values())  # pyright: ignore[reportUnknownVariableType]
    return state.tobytes() if isinstance(state, np.ndarray) else state


_SIZES: dict[Any, int] = {
    kind: _readable_size(kind)
    for kind in (_MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)
}
