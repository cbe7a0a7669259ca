"""Clocks that are read during a run: a reading may be kept as a timing, but a decision that rests on it is noted."""

from __future__ import annotations

import datetime
import operator
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from spec_math.pathwise.places import Place, all_held, everywhere, likeness_of, once_each, replaced, standing_in
from spec_math.pathwise.tape import DESK, Tape, kept

_CLOCKS = ("time", "perf_counter", "monotonic", "process_time", "thread_time", "clock_gettime")
_NAMES = [name for clock in _CLOCKS for name in (clock, f"{clock}_ns") if hasattr(time, name)]
_SHOWN = ("localtime", "gmtime", "ctime", "asctime", "strftime")
_PLAIN: dict[int, tuple[str, Any]] = {id(vars(time)[name]): (name, vars(time)[name]) for name in (*_NAMES, *_SHOWN)}
_INNOCENT = (sys.stdlib_module_names - {"timeit", "__main__"}) | {
    "tqdm",
    "rich",
    "hypothesis",
    "_pytest",
    "pytest",
    "numba",
    "torch",
    "coverage",
}
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


@contextmanager
def clocks_noted(tape: Tape) -> Generator[None]:
    """Hand out clocks' readings that are noted on the tape when they may decide something, while the block lasts."""
    with tape.standing("clocks", lambda: _standing(tape)):
        yield


@contextmanager
def _standing(tape: Tape) -> Generator[None]:
    watched, dates = kept("clocks", lambda: (_functions(DESK), _classes(DESK)))
    where = tape.held("clock places", lambda: _found(tape))
    both = watched | dates
    values = [both[id(value)] for value in all_held(where)]
    modules = {"datetime": dates[id(datetime.datetime)], "date": dates[id(datetime.date)]}
    functions = {name: watched[number] for number, (name, _) in _PLAIN.items()}
    with replaced(time, functions), replaced(datetime, modules), standing_in(where, values):
        yield


def _found(tape: Tape) -> list[Place]:
    wanted = {*_PLAIN, id(datetime.datetime), id(datetime.date)}
    anywhere = everywhere("clocks", lambda value: id(value) in wanted, lambda place: _is_innocent(place[0]))
    listed = tape.looked().that_hold(wanted)
    return [place for place in once_each(*anywhere, *listed) if place[0] not in (vars(time), vars(datetime))]


def _is_innocent(space: dict[str, Any]) -> bool:
    return str(space.get("__name__", "")).partition(".")[0] in _INNOCENT


def _functions(tape: Tape) -> dict[int, Any]:
    def reading(name: str, function: Any) -> Any:
        def read(*args: Any) -> Any:
            value = function(*args)
            if tape.foreign() or _is_innocent(_FRAME(1).f_globals):
                return value
            if name in _SHOWN:
                tape.note(f"time.{name}")
                return value
            return Reading(value, f"time.{name}", tape.note)

        return read

    return {number: reading(name, function) for number, (name, function) in _PLAIN.items()}


def _classes(tape: Tape) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for real, names in ((datetime.datetime, ("now", "utcnow", "today")), (datetime.date, ("today",))):
        methods = {name: _telling(tape, real, name) for name in names}
        kind = likeness_of(real)
        found[id(real)] = kind(real.__name__, (real,), {"__module__": "datetime", **methods})
    return found


def _telling(tape: Tape, real: Any, name: str) -> Any:
    def read(cls: Any, *args: Any, **kwargs: Any) -> Any:
        del cls
        if not tape.foreign() and not _is_innocent(_FRAME(1).f_globals):
            tape.note(f"datetime.{real.__name__}.{name}")
        return getattr(real, name)(*args, **kwargs)

    return classmethod(read)
