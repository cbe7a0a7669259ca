"""Objects that a user names MODULE:NAME: a module that can be imported or a file of Python, and a name in it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any


@dataclass(frozen=True)
class Place:
    """A value, the name of its module, its own name there, and what is to be said of how it was loaded."""

    value: Any
    module: str
    attribute: str
    note: str = ""


def load(place: str, option: str = "a function") -> Place:
    """Load the value of MODULE:NAME; MODULE is a dotted name, or the path of a .py file. `option` is who asks.

    Raises:
        ValueError: there is no such module or name, or importing it fails.
    """
    name, colon, attribute = place.rpartition(":")
    if not colon or not name or not attribute:
        raise ValueError(
            f"{option} takes module:name, such as mypackage.verifiers:mine or verifiers.py:mine; got {place!r}"
        )
    module = _from_file(Path(name)) if name.endswith(".py") else _by_name(name)
    return Place(value_in(module, name, attribute), module.__name__, attribute)


def value_in(module: ModuleType, name: str, attribute: str) -> Any:
    """Return the value of a name with dots in a module, which is called `name` where it is not there.

    Raises:
        ValueError: it is not there; says which functions there are.
    """
    found: Any = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if found is None:
        listed = ", ".join(one for one, value in vars(module).items() if callable(value) and not one.startswith("_"))
        raise ValueError(f"{name} has no {attribute}; it has: {listed or 'no function'}")
    return found


def load_function(place: str, option: str = "a function") -> Place:
    """Load the function of MODULE:FUNCTION, as `load`.

    Raises:
        ValueError: as `load`. TypeError: what is there cannot be called.
    """
    found = load(place, option)
    if not callable(found.value):
        raise TypeError(f"{place} is not a function; it is a {type(found.value).__name__}")
    return found


def required(fn: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the arguments that a function needs by their places; none where it does not say."""
    try:
        taken = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return ()
    placed = (one for one in taken if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD))
    return tuple(one.name for one in placed if one.default is one.empty)


def _by_name(name: str) -> ModuleType:
    here = str(Path.cwd())
    added = here not in sys.path
    if added:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except Exception as error:  # whatever a module does when imported
        raise ValueError(f"{name} cannot be imported from here: {type(error).__name__}: {error}") from error
    finally:
        if added:
            sys.path.remove(here)


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    folder = str(path.resolve().parent)
    module = module_from(path, path.stem)
    sys.path.insert(0, folder)  # it may import its neighbours
    try:
        return executed(module)
    except Exception as error:  # whatever a module does when imported
        raise ValueError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)


class _Compiled(SourceFileLoader):
    """Compiles the file anew: Python tells kept bytecode from an older file by whole seconds and the size alone."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def module_from(path: Path, name: str) -> ModuleType:
    """Return a module for a file of Python, not run yet; `executed` runs it.

    Raises:
        ImportError: the file's name does not end in .py.
    """
    spec = importlib.util.spec_from_file_location(name, path, loader=_Compiled(name, str(path)))
    if spec is None or path.suffix != ".py":
        raise ImportError(f"{path} is no Python file: its name does not end in .py")
    return importlib.util.module_from_spec(spec)


def executed(module: ModuleType) -> ModuleType:
    """Run a module of `module_from` and return it; neither its bytecode nor that of what it imports is kept.

    Raises:
        ImportError: the module was made otherwise, such as a built-in one. Whatever the module itself raises.
    """
    if module.__spec__ is None or module.__spec__.loader is None:
        raise ImportError(f"{module.__name__} was not made from a file")
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        module.__spec__.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module
