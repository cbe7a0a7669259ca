"""Stand-ins for a package that is not installed: harmless while files are loaded, refused once it is really used."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from spec_math.pathwise.atom import ExploreError


class AbsentError(ExploreError):
    """Code used what a stand-in stands for: the sampler was not judged, as what it did then is not known."""


class Absent:
    """A name of a package that is not installed.

    While `loading` says so it may be called as a decorator, subscripted, inherited from and tested; afterwards nothing
    may be done with it but to pass it on, and nothing is an instance of it.

    >>> jit = Absent("triton.jit", lambda: True)
    >>> jit(abs) is abs, jit(num_warps=4)(abs) is abs, bool(jit)
    (True, True, False)
    """

    def __init__(self, name: str, loading: Callable[[], bool]) -> None:
        self._name, self._loading = name, loading
        self.__name__ = self.__qualname__ = name.rpartition(".")[2]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Absent(f"{self._name}.{name}", self._loading)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what is decorated, or another stand-in."""
        self._while_loading("called")
        if len(args) == 1 and not kwargs and callable(args[0]) and not isinstance(args[0], Absent):
            return args[0]  # a decorator
        return Absent(f"{self._name}(…)", self._loading)

    def __mro_entries__(self, _bases: tuple[Any, ...]) -> tuple[type, ...]:
        return self._while_loading("inherited from", ())

    def __getitem__(self, _key: Any) -> Any:
        return self._while_loading("subscripted", self)

    def __or__(self, _other: Any) -> Any:
        return self._while_loading("combined", self)

    __ror__ = __or__

    def __bool__(self) -> bool:
        return self._while_loading("tested", False)

    def __lt__(self, _other: Any) -> bool:
        return self._while_loading("compared", False)

    __gt__ = __le__ = __ge__ = __lt__

    def __instancecheck__(self, _instance: Any) -> bool:
        return False

    def __enter__(self) -> Any:
        raise self._error("entered")

    def __exit__(self, *_: object) -> None:
        return None

    def __iter__(self) -> Any:
        raise self._error("iterated over")

    def __repr__(self) -> str:
        return f"<stand-in for {self._name}>"

    def _while_loading(self, what: str, answer: Any = None) -> Any:
        if not self._loading():
            raise self._error(what)
        return answer

    def _error(self, what: str) -> AbsentError:
        return AbsentError(
            f"{self._name} was {what}, and a stand-in stands for it; install {self._name.partition('.')[0]}, or judge "
            "a function that does not use it"
        )


class AbsentModule(Absent, ModuleType):
    """A module of a package that is not installed, with the names that somebody gives it.

    What is imported from an installed package that has it no more may have been no module: it is used as `Absent`.
    """

    def __init__(self, name: str, names: Mapping[str, Any], loading: Callable[[], bool]) -> None:
        ModuleType.__init__(self, name)
        self._name, self._loading = name, loading
        self.__path__ = []
        self.__version__ = "0"
        self.__dict__.update(names)


class Finder:
    """Finds every module of some packages as a stand-in, which `make` makes of its name."""

    def __init__(self, packages: Sequence[str], make: Callable[[str], ModuleType]) -> None:
        self._packages, self._make = tuple(packages), make

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> ModuleSpec | None:
        """Return the spec of a module of the packages, and None for any other."""
        if not any(name == one or name.startswith(f"{one}.") for one in self._packages):
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the stand-in."""
        return self._make(spec.name)

    def exec_module(self, _module: ModuleType) -> None:
        """Run nothing: a stand-in has no code."""


def _not_there(error: Exception) -> tuple[ModuleType | None, str]:
    """The module that has not the name that an error is about, and the name."""
    if isinstance(error, AttributeError):
        return error.obj if isinstance(error.obj, ModuleType) else None, str(error.name)
    found = re.match(r"cannot import name '(\w+)' from '", str(error))
    return (sys.modules.get(getattr(error, "name", None) or ""), found[1]) if found else (None, "")


@contextmanager
def standing_in(
    packages: Sequence[str], given: Mapping[str, Mapping[str, Any]] | None = None
) -> Generator[Callable[[Exception], bool]]:
    """Let stand-ins be found for packages while the block lasts; `given` holds names of some of their modules.

    Yields a function that is called with the error of an import: where a package that is installed has not the name
    that was asked for, it lets a stand-in stand there, and returns True.

    What is loaded in the block keeps its stand-ins, which refuse to be used once the block is over; modules that were
    there before are left alone, and no stand-in stays in sys.modules.

    >>> with standing_in(["a_package_of_nobody"]):
    ...     from a_package_of_nobody.kernels import jit
    >>> jit(abs)
    Traceback (most recent call last):
    spec_math.pathwise.stubs.AbsentError: a_package_of_nobody.kernels.jit was called, and a stand-in stands for \
it; install a_package_of_nobody, or judge a function that does not use it
    """
    open_: list[bool] = [True]
    packages = tuple(dict.fromkeys([*packages, *(name.partition(".")[0] for name in given or {})]))
    finder, before = Finder(packages, lambda name: AbsentModule(name, {}, lambda: bool(open_))), set(sys.modules)
    sys.meta_path.append(finder)  # type: ignore[arg-type] - after all finders that find what is there
    set_aside = {name: sys.modules[name] for name in given or {} if name in sys.modules}
    for name, names in (given or {}).items():
        sys.modules[name] = AbsentModule(name, names, lambda: bool(open_))
    lent: list[tuple[ModuleType, str]] = []

    def lend(error: Exception) -> bool:
        module, name = _not_there(error)
        if module is None or module.__name__.partition(".")[0] not in packages or (module, name) in lent:
            return False
        lent.append((module, name))
        setattr(module, name, Absent(f"{module.__name__}.{name}", lambda: bool(open_)))
        return True

    try:
        yield lend
    finally:
        open_.clear()
        for module, name in lent:
            delattr(module, name)
        sys.meta_path.remove(finder)  # type: ignore[arg-type]
        for name, one in [(name, one) for name, one in sys.modules.items() if type(one) is AbsentModule]:
            if name not in before or name in (given or {}):
                del sys.modules[name]
                package, _, child = name.rpartition(".")
                if vars(sys.modules.get(package, one)).get(child) is one:
                    delattr(sys.modules[package], child)
        sys.modules.update(set_aside)
