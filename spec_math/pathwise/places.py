"""Objects that a function finds in its module, closure, defaults or object, and stand-ins put there in a run."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import BuiltinMethodType, FunctionType, MethodType, ModuleType
from typing import Any

ABSENT = object()
Place = tuple[Any, str]
"""A dictionary and a key, or a cell of a closure, a default or an entry of a list, and its one attribute."""

LARGEST = 1_000
"""Dictionaries and lists with more entries are not looked through for what a function may call."""


class Entry:
    """An entry of a list, or of the defaults of a function's arguments, as a place with a value.

    >>> listed = [1, 2]
    >>> Entry(listed, 1).value = 3
    >>> listed
    [1, 3]
    """

    __slots__ = ("_number", "_owner")

    def __init__(self, owner: Any, number: int) -> None:
        self._owner, self._number = owner, number

    @property
    def value(self) -> Any:
        """The object that stands there."""
        row = self._row()
        return row[self._number] if self._number < len(row) else None

    @value.setter
    def value(self, value: Any) -> None:
        row = list(self._row())
        if self._number < len(row):
            row[self._number] = value
            if isinstance(self._owner, list):
                self._owner[self._number] = value
            else:
                self._owner.__defaults__ = tuple(row)

    def _row(self) -> Any:
        return self._owner if isinstance(self._owner, list) else self._owner.__defaults__ or ()


def places(fn: Callable[..., Any]) -> list[Place]:
    """Return the places in which a function finds what it did not make: of its module, its closure, its object.

    The defaults of its arguments, and the dictionaries and lists that it finds so, are such places too.
    """
    spaces: dict[int, dict[str, Any]] = {}
    cells: dict[int, Any] = {}
    inside: list[Place] = []
    ahead, seen = [fn], {id(fn)}
    while ahead:
        one = ahead.pop()
        for part in [one] if type(one) in (dict, list) else _parts(one):
            for space in _spaces(part):
                spaces[id(space)] = space
            around = [cell for cell in getattr(part, "__closure__", None) or () if cell is not None]
            cells |= {id(cell): cell for cell in around}
            own = _entries(part)
            inside += own
            code, space = getattr(part, "__code__", None), getattr(part, "__globals__", {})
            named = [space[name] for name in code.co_names if name in space] if code is not None else []
            found = [held((cell, "cell_contents")) for cell in around] + named + all_held(own)
            found += _attributes(part)
            ahead += [value for value in found if id(value) not in seen and _leads_on(value)]
            seen.update(map(id, found))
    listed: list[Place] = [(space, key) for space in spaces.values() for key in space]
    return listed + [(cell, "cell_contents") for cell in cells.values()] + inside


def _entries(one: Any) -> list[Place]:
    """The places of a dictionary or a list, or of what a function takes where an argument is not given."""
    function = type(one) is FunctionType
    named: Any = one.__kwdefaults__ if function else one if type(one) is dict else None
    row: Any = one.__defaults__ if function else one if type(one) is list else None
    found: list[Place] = [(named, key) for key in named or ()]
    return found + [(Entry(one, number), "value") for number in range(len(row or ()))]


def _attributes(one: Any) -> list[Any]:
    """Parts of an object that can be called, or whose methods can: its dictionaries and lists may hold sources."""
    closed = type(one) is FunctionType or inspect.isroutine(one) or isinstance(one, type | ModuleType)
    return [] if closed or not hasattr(one, "__dict__") else list(vars(one).values())


def _leads_on(value: Any) -> bool:
    """True if a function may be entered, or a dictionary or a list may hold what it calls."""
    return len(value) <= LARGEST if type(value) in (dict, list) else _may_be_entered(value)


def _spaces(one: Any) -> list[dict[str, Any]]:
    if type(one) is FunctionType:
        return [one.__globals__]
    own = [vars(one)] if hasattr(one, "__dict__") and not inspect.isfunction(one) else []
    return own + ([one.__globals__] if hasattr(one, "__globals__") else [])


def _may_be_entered(value: Any) -> bool:
    """True if it is a function, or a part of one, that no library made."""
    if type(value) not in (FunctionType, MethodType, partial):
        return False
    inner = getattr(value, "func", value)
    space = getattr(inspect.unwrap(inner) if hasattr(inner, "__wrapped__") else inner, "__globals__", {})
    return str(space.get("__name__", "")).partition(".")[0] not in LIBRARIES


LIBRARIES = (sys.stdlib_module_names - {"__main__"}) | {"numpy", "scipy", "numba", "torch", "transformers", "pytest"}
"""Libraries whose functions are not looked into for generators that they hold."""

_OWN = __name__.rpartition(".")[0]
"""Explore's own modules go on with what is real."""

_looked: dict[str, tuple[int, str]] = {}
_scanned: dict[str, tuple[set[int], list[Place]]] = {}


def everywhere(
    kind: str, wanted: Callable[[Any], bool], passed_over: Callable[[Place], bool] = lambda _: False
) -> list[Place]:
    """Return the names in all modules that hold what is wanted; each module is looked through once for a kind.

    Names of modules whose own use of it is no matter are passed over.
    """
    seen, found = _scanned.setdefault(kind, (set(), []))
    newest = len(sys.modules), next(reversed(sys.modules))
    if _looked.get(kind) == newest:
        return [place for place, value in zip(found, all_held(found), strict=True) if wanted(value)]
    _looked[kind] = newest
    for name, module in list(sys.modules.items()):
        space = getattr(module, "__dict__", None)
        if type(space) is dict and id(space) not in seen and not name.startswith(_OWN):
            seen.add(id(space))
            mine = [(space, key) for key, value in list(space.items()) if wanted(value)]
            found += [place for place in mine if not passed_over(place)]
    return [place for place, value in zip(found, all_held(found), strict=True) if wanted(value)]


def _parts(fn: Any) -> list[Any]:
    """A function; what a partial, a decorator or a method holds; an object that can be called, and how."""
    kind: Any = type(fn)
    if kind is FunctionType and not (hasattr(fn, "func") or hasattr(fn, "__wrapped__")):
        return [fn]
    found: list[Any] = []
    while fn is not None and not any(fn is one for one in found):
        found.append(fn)
        if inspect.ismethod(fn):
            found.append(fn.__self__)
            fn = fn.__func__
        elif hasattr(fn, "func") or hasattr(fn, "__wrapped__"):
            fn = getattr(fn, "func", None) or fn.__wrapped__
        elif not inspect.isroutine(fn):
            fn = getattr(type(fn).__call__, "__func__", type(fn).__call__) if callable(fn) else None
        else:
            fn = None
    return found


def held(place: Place) -> Any:
    """Return what stands in a place; None in an empty cell."""
    space, key = place
    return space.get(key) if isinstance(space, dict) else getattr(space, key, None)  # pyright: ignore[reportUnknownVariableType]


def all_held(where: Sequence[Place]) -> list[Any]:
    """Return what stands in each of some places, as `held` does, in a third of the time."""
    return [space.get(key) if type(space) is dict else held((space, key)) for space, key in where]


@contextmanager
def standing_in(where: Sequence[Place], values: Sequence[Any]) -> Generator[None]:
    """Let other values stand in places while the block lasts.

    >>> space = {"a": 1}
    >>> with standing_in([(space, "a")], [2]):
    ...     space
    {'a': 2}
    """
    held_now = zip(where, all_held(where), strict=True)
    before = [ABSENT if isinstance(space, dict) and key not in space else value for (space, key), value in held_now]

    def put() -> None:
        for place, value in zip(where, values, strict=True):
            _put(place, value)

    def take() -> None:
        for place, value, found, other in zip(where, before, all_held(where), values, strict=True):
            if found is other:  # a run may put something of its own there
                _put(place, value)

    with standing(put, take):
        yield


def _put(place: Place, value: Any) -> None:
    space, key = place
    if value is ABSENT:
        del space[key]
    elif isinstance(space, dict):
        space[key] = value
    else:
        setattr(space, key, value)


def owner(value: Any) -> Any:
    """Return the object that a built-in method is bound to, or None."""
    # By type: to ask some objects for their class, as isinstance does, has effects.
    return value.__self__ if type(value) in METHODS else None


METHODS = (BuiltinMethodType, MethodType)
"""The types of what is bound to an object; a function in C is bound to its module."""


_standing: list[tuple[Callable[[], None], Callable[[], None]]] = []
"""How to put each thing that now stands for another, and how to take it away again; the first is the outermost."""


@contextmanager
def standing(put: Callable[[], None], take: Callable[[], None]) -> Generator[None]:
    """Let something stand for another while the block lasts.

    >>> told = []
    >>> with standing(lambda: told.append("put"), lambda: told.append("taken")), paused():
    ...     told.append("real")
    >>> told
    ['put', 'taken', 'real', 'put', 'taken']
    """
    pair = put, take
    _standing.append(pair)
    try:
        put()
        yield
    finally:
        take()
        _standing.remove(pair)


@contextmanager
def paused() -> Generator[None]:
    """Let everything be itself again while the block lasts, as a compiler needs it that reads the names of a function.

    >>> import random
    >>> with patched([(random, {"random": lambda: 2})]), paused():
    ...     random.random() < 1
    True
    """
    held = list(_standing)
    for _, take in reversed(held):
        take()
    try:
        yield
    finally:
        for put, _ in held:
            put()


def likeness_of(real: type[Any], kind: type[Any] = type) -> Any:
    """Return a metaclass whose classes take the instances of a real class for their own, as isinstance asks."""

    def instances(_: Any, instance: Any) -> bool:
        return issubclass(type(instance), real)

    return type("Same", (kind,), {"__instancecheck__": instances})


@contextmanager
def patched(owners: Sequence[tuple[Any, Mapping[str, Any]]]) -> Generator[None]:
    """Let classes and modules have other attributes while the block lasts; a class inherits again what it inherited.

    >>> class Box:
    ...     pass
    >>> with patched([(Box, {"size": 2})]):
    ...     Box.size
    2
    >>> hasattr(Box, "size")
    False
    """
    own = [(one, {name: vars(one).get(name, ABSENT) for name in values}) for one, values in owners]

    def give(given: Sequence[tuple[Any, Mapping[str, Any]]]) -> None:
        for one, name, value in ((one, *pair) for one, values in given for pair in values.items()):
            if value is ABSENT:
                delattr(one, name)
            else:
                setattr(one, name, value)

    with standing(lambda: give(owners), lambda: give(own)):
        yield


def once_each(*where: Place) -> list[Place]:
    """Return places without those that are named again."""
    return list({(id(space), key): (space, key) for space, key in where}.values())


class Looked:
    """Places, and what stood in each when they were looked at, by identity and by type: no object is kept alive.

    >>> one, other = ({"a": print}, "a"), ({"b": 3.5}, "b")
    >>> looked = Looked([one, other])
    >>> looked.that_hold({id(print)}) == [one], looked.of_types({float}) == [other], looked.that_hold({0})
    (True, True, [])
    """

    def __init__(self, where: Sequence[Place]) -> None:
        values = all_held(where)
        # Types too by their identity: a metaclass may keep its classes from being hashed.
        self._where, self._numbers, self._types = where, list(map(id, values)), list(map(id, map(type, values)))
        self._all = {*self._numbers, *self._types}

    def that_hold(self, numbers: Collection[int]) -> list[Place]:
        """Return the places in which one of these objects stands, told by id()."""
        return self._among(self._numbers, self._all.intersection(numbers))

    def of_types(self, types: Collection[type[Any]]) -> list[Place]:
        """Return the places in which an object of one of these types stands."""
        return self._among(self._types, self._all.intersection(map(id, types)))

    def _among(self, row: Sequence[int], wanted: set[int]) -> list[Place]:
        return [place for place, one in zip(self._where, row, strict=True) if one in wanted] if wanted else []
