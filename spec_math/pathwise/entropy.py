"""Sources of randomness outside the process, which are noted: the system's entropy and devices, C's generators.

Nothing of it can be followed: what is asked for is handed on, and noted on the tape as not seen.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from spec_math.pathwise.places import Place, all_held, everywhere, once_each, patched, standing, standing_in
from spec_math.pathwise.tape import DESK, Tape, stands
from spec_math.pathwise.time_readings import note_uses

_FUNCTIONS = {
    "os": ("urandom", "getrandom", "times", "getloadavg", "fork", "forkpty"),
    "_uuid": ("generate_time_safe", "UuidCreate"),
    "resource": ("getrusage",),
}
_C_FUNCTIONS = {
    *("rand", "rand_r", "srand", "random", "drand48", "erand48", "lrand48", "nrand48", "mrand48", "jrand48"),
    *("arc4random", "arc4random_uniform", "arc4random_buf", "getrandom", "getentropy", "time", "clock"),
    *("clock_gettime", "gettimeofday"),
}
_FILES = ("random", "hwrng", "/proc/uptime", "/proc/stat", "/proc/loadavg", "/proc/interrupts")
_PROCESSES = ("subprocess.Popen", "os.posix_spawn", "os.system", "os.exec", "socket.connect", "socket.sendto")
_EVENTS = {"open", "ctypes.dlsym", *_PROCESSES}
"""What is heard of all that the interpreter tells, which is something at every import and every use of memory."""

_POINTERS: Any = vars(ctypes)["_CFuncPtr"]


def _known(module: str, names: Sequence[str]) -> dict[int, tuple[str, Any]]:
    try:
        space = vars(importlib.import_module(module))
    except ImportError:
        return {}
    return {id(space[name]): (f"{module}.{name}", space[name]) for name in names if name in space}


_READ = {key: named for module, names in _FUNCTIONS.items() for key, named in _known(module, names).items()}


@stands("entropy")
@contextmanager
def entropy_noted(tape: Tape) -> Generator[None]:
    """Note on the tape what is read from outside the process while the block lasts."""
    _hear()
    where, values = tape.held("entropy", lambda: _stand_ins(tape))
    with (
        standing_in(where, values),
        patched([(kind, {"__call__": _called}) for kind in _POINTERS.__subclasses__()]),
        standing(lambda: _listening.append(tape), _listening.clear),
    ):
        yield


def _stand_ins(tape: Tape) -> tuple[list[Place], list[Any]]:
    anywhere = everywhere("entropy", lambda value: id(value) in _READ)
    where = once_each(*anywhere, *tape.looked().that_hold(_READ))
    return where, [noting(DESK, *_READ[id(value)]) for value in all_held(where)]


def noting(tape: Tape, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is noted on a tape when it is called."""

    def noted(*args: Any, **kwargs: Any) -> Any:
        if not tape.foreign():
            tape.note(name)
        return function(*args, **kwargs)

    return noted


_CALLING: Any = _POINTERS.__call__


def _called(self: Any, *args: Any) -> Any:
    """Calls by ctypes of what is known to draw, through libraries that were loaded before."""
    name = getattr(self, "__name__", "")
    if name in _C_FUNCTIONS and not DESK.foreign():
        DESK.note(f"{name} of a C library")
    return _CALLING(self, *args)


_listening: list[Tape] = []


@cache
def _hear() -> None:
    """Hear what the interpreter tells of files, processes and C functions; such a hook stays."""
    sys.addaudithook(_heard)


def _heard(event: str, arguments: Any) -> None:
    if event not in _EVENTS or not _listening or _listening[-1].foreign():
        return
    if event == "open" and _decides(arguments[0]):
        _listening[-1].note(f"the file {arguments[0]}")
    elif event in _PROCESSES:
        _listening[-1].note(f"another process or machine ({event})")
    elif event == "ctypes.dlsym" and arguments[-1] in _C_FUNCTIONS:
        _listening[-1].note(f"{arguments[-1]} of a C library")


def _decides(path: Any) -> bool:
    shown = os.fsdecode(path) if isinstance(path, str | bytes) else ""
    return shown.startswith(("/dev/", "/proc/")) and any(name in shown for name in _FILES)


class Address(int):
    """The answer of id(): it may be kept, hashed and compared for being equal; any other use is noted."""

    def used(self) -> int:
        """Return the number, and note that it may decide something."""
        DESK.note("id(), whose number was used")
        return int(self)


note_uses(
    Address,
    ("add", "sub", "mul", "mod", "floordiv", "truediv", "and_", "or_", "xor", "lshift", "rshift"),
    ("lt", "le", "gt", "ge", "neg", "abs"),
    (str, repr, format, divmod, float),
)


@stands("addresses")
@contextmanager
def addresses_noted(tape: Tape) -> Generator[None]:
    """Note on the tape what the code's own modules do with id() and hash(), while the block lasts."""

    def noted_id(value: Any) -> int:
        return id(value) if tape.foreign() else Address(id(value))

    def noted_hash(value: Any) -> int:
        found = None if tape.foreign() else _changing(value)
        if found is not None:
            tape.note(f"hash() of a {found.__name__}, another in each process")
        return hash(value)

    found = {id(space): space for space, _ in tape.places}.values()
    spaces = [space for space in found if isinstance(space, dict) and "__builtins__" in space]
    noted = {"id": noted_id, "hash": noted_hash}
    unnamed = [((space, name), name) for space in spaces for name in noted if name not in space]
    pairs = zip(tape.places, all_held(tape.places), strict=True)
    named = [(place, value.__name__) for place, value in pairs if value is id or value is hash]
    listed = [*unnamed, *named]
    with standing_in([place for place, _ in listed], [noted[name] for _, name in listed]):
        yield


def _changing(value: Any) -> type[Any] | None:
    """Return the type of what makes a hash another in each process: the value's own, or that of something in it."""
    kind: Any = type(value)
    if kind in (str, bytes) or kind.__hash__ is object.__hash__:
        return kind
    if kind.__hash__ in (tuple.__hash__, frozenset.__hash__):
        return next((found for found in map(_changing, value) if found is not None), None)
    return None
