"""Every public name says what it is: an example that runs, shapes and units of arrays, and what it raises.

Public is what the packages list in `__all__`: names, and the functions and classes of the modules listed. Names that a
package itself lists have an example. Examples run with all other doctests; here they must be there. A docstring that
says "as `emit`" says what `emit` says.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import types
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from textwrap import dedent
from typing import Any

PACKAGES = [
    "spec_math",
    "spec_math.token_level",
    "spec_math.block_level",
    "spec_math.drafting",
    "spec_math.string_level",
    "spec_math.lossy",
    "spec_math.language",
    "spec_math.audit",
    "spec_math.symbolic",
    *(["torch_bridge"] if find_spec("torch") else []),
]

MODULES = [
    "spec_math.testing",
    "spec_math.verdict",
    "spec_math.verdict_values",
    "spec_math.coupling",
    "spec_math.distribution",
]
"""Modules that are imported by their own names."""

ARRAYS = {"target", "draft", "drafts", "targets", "masses", "weights", "target_logits", "draft_logits", "uniforms"}
"""Parameters that are arrays, or lists of numbers, wherever they stand."""

SPOKEN = re.compile(r"\b(TokenizedModel|speaker|model|Model)\b")
CHECKS = {"laws", "law", "checked", "count", "stored_law"}
"""Functions of input validation: whoever calls them raises what they raise."""

SHAPE = re.compile(r"\[[^\]\n]*(?:\.\.\.|V|D|T|L|K|k)[^\]\n]*\]|vector|list of|a number")
UNIT = re.compile(r"probabilit|chance|mass|per call|per target call|times|tokens|speed|nats|bits|multiplications")
MEASURED = re.compile(r"acceptance|expected|bias|speed|overlap|total_variation|optimum|estimate")
MADE_BY = re.compile(r"[Mm]ade by `[\w.]+`")
SAME = re.compile(r"(?:[Aa]s|what|that|of) `[\w.]+`")


LISTED = {name for package in PACKAGES for name in import_module(package).__all__}


def public() -> Iterator[Any]:
    """Every public function and class once."""
    seen: set[str] = set()
    modules = [import_module(name) for name in MODULES]
    for package in PACKAGES:
        listed = import_module(package)
        modules += [getattr(listed, name) for name in listed.__all__]
    for thing in (thing for module in modules for thing in _within(module)):
        full = f"{thing.__module__}.{thing.__qualname__}"
        if full not in seen:
            seen.add(full)
            yield thing


def _within(thing: Any) -> Iterator[Any]:
    if isinstance(thing, types.ModuleType):
        for name, value in vars(thing).items():
            value = getattr(value, "py_func", value)
            if not name.startswith("_") and getattr(value, "__module__", None) == thing.__name__:
                yield from _within(value)
    elif inspect.isfunction(thing) or inspect.isclass(thing):
        yield thing


def wanting(thing: Any) -> list[str]:
    """What a docstring does not say."""
    said = inspect.getdoc(thing) or ""
    head = sys.modules[thing.__module__].__doc__ or ""
    found: list[str] = []
    shown = thing.__name__ not in LISTED or ">>>" in said
    if inspect.isclass(thing):
        # What is raised or only described is never made by hand, and the example of a function shows what it makes.
        unmade = issubclass(thing, Exception) or getattr(thing, "_is_protocol", False) or MADE_BY.search(said)
        return found if unmade or shown or ">>>" in _with_methods(thing) else [*found, "example"]
    if not shown:
        found.append("example")
    return found + _of_function(thing, said, head)


def _of_function(function: Any, said: str, head: str) -> list[str]:
    found: list[str] = []
    same = bool(SAME.search(said))
    tree = ast.parse(dedent(inspect.getsource(function)))
    called = {getattr(node.func, "id", "") for node in ast.walk(tree) if isinstance(node, ast.Call)}
    raises = any(isinstance(node, ast.Raise) for node in ast.walk(tree))
    if (raises or (called & CHECKS and not same)) and "Raises:" not in said:
        found.append("raises")
    taken = set(inspect.signature(function).parameters)
    if taken & ARRAYS and not (same or SHAPE.search(said) or SPOKEN.search(said)):
        found.append("shapes")
    if MEASURED.search(function.__name__) and not (same or UNIT.search(said + head)):
        found.append("units")
    return found


def _with_methods(thing: Any) -> str:
    methods = (inspect.getdoc(value) or "" for name, value in vars(thing).items() if not name.startswith("_"))
    return "\n".join([thing.__doc__ or "", *methods])


def test_every_public_name_is_documented() -> None:
    named = {f"{thing.__module__}.{thing.__qualname__}": wanting(thing) for thing in public()}
    assert {name: found for name, found in named.items() if found} == {}
    assert len(named) > 400


def test_what_is_not_said_is_found() -> None:
    """The control."""

    def acceptance(target: Any) -> Any:
        """Return a figure."""
        if target is None:
            raise ValueError
        return target

    class Lossless:
        """A thing of a public name."""

    def law(program: Any) -> Any:
        """Return a thing of a public name."""
        return program

    head, module = sys.modules[__name__].__doc__, sys.modules[__name__]
    try:
        module.__doc__ = "Nothing."
        assert wanting(acceptance) == ["raises", "shapes", "units"]
        assert wanting(Lossless) == wanting(law) == ["example"]
    finally:
        module.__doc__ = head
    assert len(list(public())) > 200
