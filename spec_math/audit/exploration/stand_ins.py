"""What a function finds in its module, its closure or its object, and what stands there in its place during a run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

Place = tuple[Any, str]
"""A dictionary and a key, or a cell of a closure and its one attribute."""


def places(fn: Callable[..., Any]) -> list[Place]:
    """Return the places in which a function finds what it did not make: of its module, its closure, its object.

    >>> ("places" in [key for _, key in places(places)])
    True
    """
    spaces: list[dict[str, Any]] = []
    cells: list[Any] = []
    for one in _parts(fn):
        spaces += [vars(one)] if hasattr(one, "__dict__") and not inspect.isfunction(one) else []
        spaces += [one.__globals__] if hasattr(one, "__globals__") else []
        cells += getattr(one, "__closure__", None) or ()
    found: list[Place] = [(space, key) for space in spaces for key in space]
    return found + [(cell, "cell_contents") for cell in cells if cell is not None]


def _parts(fn: Any) -> list[Any]:
    """A function; what a partial, a decorator or a method holds; an object that can be called, and how."""
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
    """Return what stands in a place; None in an empty cell.

    >>> held(({"a": 1}, "a"))
    1
    """
    space, key = place
    return space.get(key) if isinstance(space, dict) else getattr(space, key, None)  # pyright: ignore[reportUnknownVariableType]


@contextmanager
def standing_in(where: Sequence[Place], values: Sequence[Any]) -> Generator[None]:
    """Let other values stand in places while the block lasts.

    >>> space = {"a": 1}
    >>> with standing_in([(space, "a")], [2]):
    ...     space
    {'a': 2}
    """
    before = [held(place) for place in where]
    try:
        for place, value in zip(where, values, strict=True):
            _put(place, value)
        yield
    finally:
        for place, value, other in zip(where, before, values, strict=True):
            if held(place) is other:  # a run may put something of its own there
                _put(place, value)


def _put(place: Place, value: Any) -> None:
    space, key = place
    if isinstance(space, dict):
        space[key] = value
    else:
        setattr(space, key, value)


def owner(value: Any) -> Any:
    """Return the object that a built-in method is bound to, or None.

    >>> owner([1].append)
    [1]
    """
    return value.__self__ if inspect.isbuiltin(value) or inspect.ismethod(value) else None
