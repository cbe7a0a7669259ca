"""The engines that can be audited here, and for each of the others the reason why not."""

from __future__ import annotations
import __future__

import sys
from importlib import import_module
from importlib.util import find_spec
from inspect import getsource
from textwrap import dedent
from types import ModuleType
from typing import Any

CURES = {
    "transformers": "pip install 'spec_math[transformers]'",
    "triton": "pip install triton, where the index has it",
}


def missing(engine: str) -> str | None:
    """Return None where an engine can be imported, else the reason for a reader.

    >>> missing("torch")
    >>> missing("an_engine")
    'an_engine is not installed: pip install an_engine'
    """
    if find_spec(engine) is not None:
        return None
    return f"{engine} is not installed: {CURES.get(engine, f'pip install {engine}')}"


def engine_part(module: str, name: str) -> ModuleType:
    """Import a module of an engine and make sure that it has what an adapter calls.

    Raises:
        ModuleNotFoundError: the engine is not installed; says how to install it.
        AttributeError: this version of the engine has no such name; says which version it is.

    >>> engine_part("torch.nn.functional", "softmax").__name__
    'torch.nn.functional'
    """
    engine = module.partition(".")[0]
    reason = missing(engine)
    if reason is not None:
        raise ModuleNotFoundError(reason, name=engine)
    part = import_module(module)
    if not hasattr(part, name):
        version = getattr(import_module(engine), "__version__", "of this version")
        raise AttributeError(
            f"{engine} {version} has no {module}.{name}, which this adapter calls; adapters are written for the "
            f"versions in constraints.txt"
        )
    return part


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
