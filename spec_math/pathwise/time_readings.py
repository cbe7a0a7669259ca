"""Clocks that are read during a run: a reading may be kept as a timing, but a decision that rests on it is noted."""

from __future__ import annotations

import datetime
import inspect
import operator
import os
import sys
import time
import types
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any

from spec_math.pathwise.places import Place, all_held, everywhere, likeness_of, once_each, patched, standing_in
from spec_math.pathwise.tape import DESK, Tape, stands

_CLOCKS = ("time", "perf_counter", "monotonic", "process_time", "thread_time", "clock_gettime")
_NAMES = [name for clock in _CLOCKS for name in (clock, f"{clock}_ns") if hasattr(time, name)]
_SHOWN = ("localtime", "gmtime", "ctime", "asctime", "strftime")
_PLAIN: list[Any] = [getattr(time, name) for name in (*_NAMES, *_SHOWN)]
_DATES: dict[type[Any], tuple[str, ...]] = {datetime.datetime: ("now", "utcnow", "today"), datetime.date: ("today",)}
_OF_MODULES = (time, _PLAIN), (datetime, _DATES)
_OTHERS = {"tqdm", "rich", "hypothesis", "_pytest", "pytest", "numba", "torch", "coverage"}
_INNOCENT = (sys.stdlib_module_names - {"timeit", "__main__"}) | _OTHERS
"""Whose own readings serve logs, locks and progress bars; those of other modules are handed out as `Reading`."""

_FRAME: Any = vars(sys)["_getframe"]


class Reading:
    """A clock's reading: sums, differences and multiples of readings are readings; any other use is noted.

    >>> noted = []
    >>> twice = Reading(1.5, "time.time", noted.append) * 2
    >>> len(noted), twice > 2, noted
    (0, True, ['time.time'])
    """

    __slots__ = ("_name", "_note", "_value")

    def __init__(self, value: Any, name: str, note: Callable[[str], None]) -> None:
        self._value, self._name, self._note = value, name, note

    def used(self) -> Any:
        """Return the value, and note that it may decide something."""
        self._note(self._name)
        return self._value

    def __getattr__(self, name: str) -> Any:
        return getattr(self.used(), name)

    def __reduce__(self) -> Any:
        return type(self.used()), (self._value,)


def _kept(operation: Callable[[Any, Any], Any], turned: bool) -> Any:
    def method(self: Reading, other: Any) -> Any:
        plain: Any = getattr(other, "_value") if isinstance(other, Reading) else other  # noqa: B009
        if not isinstance(plain, int | float):
            return NotImplemented
        value: Any = getattr(self, "_value")  # noqa: B009
        result = operation(plain, value) if turned else operation(value, plain)
        return Reading(result, getattr(self, "_name"), getattr(self, "_note"))  # noqa: B009

    return method


def _using(operation: Callable[..., Any], turned: bool = False) -> Any:
    def method(self: Any, *others: Any) -> Any:
        given = [self.used(), *(one.used() if isinstance(one, Reading) else one for one in others)]
        return operation(*(reversed(given) if turned else given))

    return method


def note_uses(kind: Any, both: Sequence[str], alone: Sequence[str], by: Sequence[Callable[..., Any]]) -> None:
    """Let a class's operators use its value: those of two sides, others by their name, and built-in functions."""
    for name in both:
        for side in ("", "r"):
            setattr(kind, f"__{side}{name.rstrip('_')}__", _using(getattr(operator, name), bool(side)))
    for name in alone:
        setattr(kind, f"__{name}__", _using(getattr(operator, name)))
    for function in by:
        setattr(kind, f"__{function.__name__}__", _using(function))


for _name in ("add", "sub", "mul", "truediv"):
    setattr(Reading, f"__{_name}__", _kept(getattr(operator, _name), False))
    setattr(Reading, f"__r{_name}__", _kept(getattr(operator, _name), True))
note_uses(
    Reading,
    ("mod", "floordiv", "pow", "and_", "or_", "xor", "lshift", "rshift"),
    ("lt", "le", "gt", "ge", "eq", "ne", "neg", "abs", "index"),
    (int, float, bool, hash, str, repr, format, round, divmod),
)


def ticking(fn: Any) -> Any:
    """Return a function in whose folder each reading of a clock is a tick later, for code that only measures time.

    What it does with time is not judged then. A decision that rests on it still shows where it does not repeat itself.

    >>> def measured():
    ...     return -time.perf_counter() + time.perf_counter()
    >>> ticking(measured)()
    0.0078125
    """
    ticks = count()

    def tick(*_: Any) -> float:
        return next(ticks) / 128

    own = types.SimpleNamespace(**{**vars(time), **dict.fromkeys(_NAMES, tick)})
    clocks, folder = [time, *(getattr(time, name) for name in _NAMES)], _folder(inspect.unwrap(fn).__globals__)
    for space in [inspect.unwrap(fn).__globals__, *map(vars, list(sys.modules.values()))]:
        if space is inspect.unwrap(fn).__globals__ or (folder and _folder(space) == folder):
            held = {name: value for name, value in space.items() if any(value is one for one in clocks)}
            space |= {name: own if value is time else tick for name, value in held.items()}
    return fn


def _folder(space: dict[str, Any]) -> str:
    return os.path.dirname(str(space.get("__file__")))  # noqa: PTH120 - of every module


@stands("clocks")
@contextmanager
def clocks_noted(tape: Tape) -> Generator[None]:
    """Hand out clocks' readings that are noted on the tape when they may decide something, while the block lasts."""
    stand_ins = _stand_ins()
    where = tape.held("clock places", lambda: _found(tape))
    named = [(module, {one.__name__: stand_ins[id(one)] for one in own}) for module, own in _OF_MODULES]
    with patched(named), standing_in(where, [stand_ins[id(value)] for value in all_held(where)]):
        yield


@cache
def _stand_ins() -> dict[int, Any]:
    return {id(one): _reading(one) for one in _PLAIN} | {id(kind): _telling(kind) for kind in _DATES}


def _found(tape: Tape) -> list[Place]:
    wanted = {id(one) for one in (*_PLAIN, *_DATES)}
    anywhere = everywhere("clocks", lambda value: id(value) in wanted, lambda place: _is_innocent(place[0]))
    listed = tape.looked().that_hold(wanted)
    return [place for place in once_each(*anywhere, *listed) if place[0] not in (vars(time), vars(datetime))]


def _is_innocent(space: dict[str, Any]) -> bool:
    return str(space.get("__name__", "")).partition(".")[0] in _INNOCENT


def _reading(function: Any) -> Any:
    name = f"time.{function.__name__}"

    def read(*args: Any) -> Any:
        value = function(*args)
        if DESK.foreign() or _is_innocent(_FRAME(1).f_globals):
            return value
        if function.__name__ not in _SHOWN:
            return Reading(value, name, DESK.note)
        DESK.note(name)
        return value

    return read


def _telling(real: Any) -> Any:
    """A class of dates that tells when it is asked for the present."""

    def telling(name: str) -> Any:
        def read(_cls: Any, *args: Any, **kwargs: Any) -> Any:
            if not DESK.foreign() and not _is_innocent(_FRAME(1).f_globals):
                DESK.note(f"datetime.{real.__name__}.{name}")
            return getattr(real, name)(*args, **kwargs)

        return classmethod(read)

    methods = {name: telling(name) for name in _DATES[real]}
    return likeness_of(real)(real.__name__, (real,), {"__module__": "datetime", **methods})
