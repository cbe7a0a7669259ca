"""Triton's interpreter without the work that it does again at every call: its language is put in place once."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from torch_bridge.engines.source_file import interpreted_triton


@contextmanager
def language_once() -> Generator[None]:
    """Put Triton's language in place for its interpreter once, and restore all of it at the end.

    By itself the interpreter looks through the whole language at each launch and at each call of one function of a
    kernel by another, to put in place what is there already; and it tables NumPy's types anew at each operation. What
    a kernel computes is the same. Another version of Triton, without the functions that do this, is left as it is.

    Raises:
        EngineError: triton is not installed, or was imported without its interpreter.

    >>> with language_once():  # doctest: +SKIP
    ...     kernel[(1,)](x)
    """
    interpreted_triton()
    from triton.runtime import interpreter

    known, scopes, looked_through = {}, {}, {}
    put_in_place, type_of = getattr(interpreter, "_patch_lang", None), getattr(interpreter, "_get_np_dtype", None)
    if put_in_place is None or type_of is None:
        yield
        return
    languages = (interpreter.tl, interpreter.tl.core)

    def once(function: Any) -> _Kept:
        names = function.__globals__
        if id(names) not in looked_through:
            looked_through[id(names)] = names
            # Which of the two modules a function sees is all that the interpreter asks of it.
            seen = tuple(any(value is language for value in names.values()) for language in languages)
            if seen not in scopes:
                scopes[seen] = put_in_place(function)
        return _Kept()

    def known_type(kind: Any) -> Any:
        name = kind.scalar.name
        if name not in known:
            known[name] = type_of(kind)
        return known[name]

    with (
        mock.patch.object(interpreter, "_patch_lang", once),
        mock.patch.object(interpreter, "_get_np_dtype", known_type),
    ):
        try:
            yield
        finally:
            for scope in reversed(scopes.values()):
                scope.restore()


class _Kept:
    """What the interpreter is given to restore after each launch: nothing yet."""

    def restore(self) -> None:
        return
