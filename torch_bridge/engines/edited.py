"""A copy of an engine's own function with one place changed: the control that an audit has to reject, or a cure."""

from __future__ import annotations
import __future__

import sys
from inspect import getsource
from textwrap import dedent
from typing import Any


def edited(original: Any, old: str, new: str) -> Any:
    """Return a copy of a function or class, made from its source with `old` replaced by `new`; the original stays.

    The copy sees the globals of the original's module.

    Raises:
        ValueError: `old` is not in the source exactly once.

    >>> from statistics import mean
    >>> edited(mean, "return _convert(total / n, T)", "return 0")([1, 2])
    0
    """
    source = dedent(getsource(original))
    found = source.count(old)
    if found != 1:
        raise ValueError(
            f"{original.__name__} has {old!r} {found} times; an edit is of one place (another version of the engine?)"
        )
    scope = dict(vars(sys.modules[original.__module__]))
    flags = __future__.annotations.compiler_flag if scope.get("annotations") is __future__.annotations else 0
    exec(compile(source.replace(old, new), f"<edited {original.__name__}>", "exec", flags, True), scope)
    return scope[original.__name__]
