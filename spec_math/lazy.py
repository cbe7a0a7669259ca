"""Lazy faces of packages: a name is imported from its module when it is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any


def lazily(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names lie in other modules; modules: full name of a module -> its names.

    Raises: AttributeError for a name that is neither listed nor a module of the package.

    >>> face = lazily(__name__, {"math": ("gcd",)})
    >>> face("gcd")(4, 6)
    2
    """
    places = {name: module for module, names in modules.items() for name in names}

    def get(name: str) -> Any:
        if name in places:
            found = getattr(import_module(places[name]), name)
            setattr(sys.modules[package], name, found)
            return found
        if not name.startswith("_"):
            try:
                return import_module(f"{package}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{package}.{name}":
                    raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get


def face(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package: its names, and `__all__`, are what it imports under TYPE_CHECKING.

    Each is imported as itself, `from module import name as name`, by which type checkers take it for public.

    >>> get, names = face("spec_math.zoo")
    >>> get("__all__")
    ['Diagnosis', 'Specimen', 'ZOO', 'diagnose', 'distances']
    >>> get("distances").__module__, "diagnose" in names()
    ('spec_math.zoo.specimen', True)
    """

    @cache
    def listed() -> dict[str, str]:
        import ast
        import inspect

        tree = ast.parse(inspect.getsource(sys.modules[package]))
        guarded = (node for block in tree.body if isinstance(block, ast.If) for node in block.body)
        imports = [node for node in guarded if isinstance(node, ast.ImportFrom)]
        return {one.name: node.module or "" for node in imports for one in node.names}

    def get(name: str) -> Any:
        if name == "__all__":
            return sorted(listed())
        own = {} if name.startswith("_") else listed()
        return lazily(package, {own[name]: [name]} if name in own else {})(name)

    return get, lambda: sorted({*vars(sys.modules[package]), *listed(), "__all__"})
