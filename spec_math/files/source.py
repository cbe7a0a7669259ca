"""Python files as they lie there now: bytecode that was kept from before is not trusted."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType


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
    with _nothing_kept():
        module.__spec__.loader.exec_module(module)
    return module


@contextmanager
def _nothing_kept() -> Generator[None]:
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
