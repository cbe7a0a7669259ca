"""Temporary replacements of module names, methods and other places in code, while a run lasts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

_ABSENT = object()
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
    >>> with replaced(random, {"random": lambda: 2}), paused():
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


@contextmanager
def replaced(module: Any, values: Mapping[str, Any]) -> Generator[None]:
    """Let names of a module stand for other values while the block lasts.

    >>> import random
    >>> with replaced(random, {"random": lambda: 2}):
    ...     random.random()
    2
    """
    held = {name: getattr(module, name) for name in values}
    with standing(lambda: _set(module, values), lambda: _set(module, held)):
        yield


def _set(module: Any, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(module, name, value)


def likeness_of(real: type[Any]) -> Any:
    """Return a metaclass whose classes take the instances of a real class for their own, as isinstance asks.

    >>> isinstance(3, likeness_of(int)("Counted", (int,), {}))
    True
    """

    class Same(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return issubclass(type(instance), real)

    return Same


@contextmanager
def patched(classes: Sequence[tuple[type[Any], Mapping[str, Any]]]) -> Generator[None]:
    """Let classes have other methods while the block lasts; those that they inherited, they inherit again after it.

    >>> class Box:
    ...     pass
    >>> with patched([(Box, {"size": 2})]):
    ...     Box.size
    2
    >>> hasattr(Box, "size")
    False
    """
    kept = [(one, name, vars(one).get(name, _ABSENT)) for one, values in classes for name in values]

    def put() -> None:
        for one, values in classes:
            _set(one, values)

    def take() -> None:
        for one, name, value in kept:
            if value is _ABSENT:
                delattr(one, name)
            else:
                setattr(one, name, value)

    with standing(put, take):
        yield
