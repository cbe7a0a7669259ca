"""Lazy faces of packages: a name is imported from its module when it is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazily(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names lie in other modules; modules: full name of a module -> its names.

    The names of the package itself are modules in it.

    Raises: AttributeError for a name that is neither listed nor a module of the package.

    >>> face = lazily(__name__, {"math": ("gcd",)})
    >>> face("gcd")(4, 6)
    2
    """
    places = {name: module for module, names in modules.items() if module != package for name in names}

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


def face(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, the `__dir__` and the `__all__` of a package whose public names all lie in modules listed.

    >>> get, directory, names = face(__name__, {"math": ("lcm", "gcd")})
    >>> names, get("gcd")(4, 6), {"gcd", "face"} <= set(directory())
    (['gcd', 'lcm'], 2, True)
    """
    names = sorted(name for listed in modules.values() for name in listed)
    return lazily(package, modules), lambda: sorted({*vars(sys.modules[package]), *names}), names
