"""A function out of somebody's file, loaded by path: engines that are no package, or too large to import."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spec_math.files.place import executed, module_from


def from_file(path: str | Path, name: str) -> Any:
    """Return what a Python file calls `name`, running that file alone; what it imports must be installed.

    Raises:
        FileNotFoundError: there is no such file.
        ImportError: the file imports something that is not installed; says what.
        AttributeError: the file defines no such name; says what it does define.
    """
    place = Path(path).expanduser()
    if not place.is_file():
        raise FileNotFoundError(f"there is no file {place}; give the path of the engine's own source file")
    try:
        module = executed(module_from(place, place.stem))
    except ImportError as error:
        raise ImportError(f"{place} needs what is not installed: {error}", name=error.name) from error
    if not hasattr(module, name):
        there = sorted(key for key, value in vars(module).items() if callable(value) and not key.startswith("_"))
        raise AttributeError(f"{place} defines no {name}; it has {', '.join(there) or 'no functions'}")
    return getattr(module, name)
