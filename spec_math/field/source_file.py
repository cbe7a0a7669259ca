"""One source file of an engine, run without the engine: what it imports from its own package is put in its place."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType, ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

from spec_math.files.place import executed, module_from
from spec_math.pathwise.loading import replaced
from spec_math.pathwise.stubs import Finder


class EngineError(RuntimeError):
    """An engine cannot be audited here, and why: its files are not there, or they do something not foreseen."""


def interpreted_triton() -> ModuleType:
    """Return triton with its interpreter switched on, which runs kernels on a CPU, program by program.

    Triton reads TRITON_INTERPRET when it is imported first; where nobody has imported it yet, it is set to 1 here.

    Raises:
        EngineError: triton is not installed, or was imported without its interpreter.

    >>> interpreted_triton().knobs.runtime.interpret  # doctest: +SKIP
    True
    """
    if "triton" not in sys.modules:
        os.environ.setdefault("TRITON_INTERPRET", "1")
    try:
        import triton
    except ImportError as error:
        raise EngineError(
            f"the kernels of this engine are written in Triton, which is not installed ({error}); install triton 3.6.0"
        ) from error
    if not triton.knobs.runtime.interpret:
        raise EngineError(
            "triton was imported without its interpreter, so that no kernel runs on a CPU; set TRITON_INTERPRET=1 "
            "before anything imports triton"
        )
    return triton


Edits = Mapping[str, Sequence[tuple[str, str]]]
"""By module, the places (old, new) of its source to change."""


def load(
    root: Path,
    name: str,
    given: Mapping[str, Mapping[str, Any]],
    beside: tuple[str, ...] = (),
    edits: Edits = MappingProxyType({}),
) -> ModuleType:
    """Run the file of one module of a package that lies under root, and return the module.

    `given` holds, by module, the names of the same package that the file needs while it is loaded or run; the modules
    `beside` are loaded from root in the same way; any other module of the package is stood in for, and a name of it
    raises when it is called. Nothing of this stays in sys.modules: an installed engine is neither used nor harmed.
    `edits` change places of a source first.

    Raises:
        EngineError: there is no such file under root.
        ValueError: what is to be changed does not stand in the source exactly once.
    """
    package = name.partition(".")[0]
    with _stood_in_for(package):
        for module, names in given.items():
            sys.modules[module] = _StandIn(module, names)
        for module in (*beside, name):
            sys.modules[module] = _executed(root, module, edits.get(module, ()))
        return sys.modules[name]


class _StandIn(ModuleType):
    """A module of which only some names are there; any other is an object that says so when it is called."""

    def __init__(self, name: str, names: Mapping[str, Any]) -> None:
        super().__init__(name)
        self.__dict__.update(__path__=[], **names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Absent(f"{self.__name__}.{name}")


class _Absent:
    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *_args: Any, **_kwargs: Any) -> Any:
        raise EngineError(
            f"{self.name} was called, which verification was not known to need; this version of the engine differs "
            "from the one that the adapter was written for"
        )


@contextmanager
def _stood_in_for(package: str) -> Generator[None]:
    def own() -> list[str]:
        return [name for name in sys.modules if name == package or name.startswith(package + ".")]

    finder, kept = Finder([package], lambda name: _StandIn(name, {})), {name: sys.modules.pop(name) for name in own()}
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    try:
        yield
    finally:
        sys.meta_path.remove(finder)  # type: ignore[arg-type]
        for name in own():
            del sys.modules[name]
        sys.modules.update(kept)


def _executed(root: Path, name: str, edits: Sequence[tuple[str, str]]) -> ModuleType:
    path = (root / Path(*name.split("."))).with_suffix(".py")
    if not path.is_file():
        raise EngineError(f"there is no {path}; give the folder that holds the package {name.partition('.')[0]!r}")
    module = module_from(path, name)
    sys.modules[name] = module
    if not edits:
        return executed(module)
    source = replaced(path.read_text(encoding="utf-8"), edits, name)
    # Triton asks for the source of its kernels once more when they run: it is kept where inspect looks for it.
    place = f"<{name}, changed {len(linecache.cache)}>"
    linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
    exec(compile(source, place, "exec"), vars(module))
    return module


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

    def once(function: Any) -> Any:
        names = function.__globals__
        if id(names) not in looked_through:
            looked_through[id(names)] = names
            # Which of the two modules a function sees is all that the interpreter asks of it.
            seen = tuple(any(value is language for value in names.values()) for language in languages)
            if seen not in scopes:
                scopes[seen] = put_in_place(function)
        return SimpleNamespace(restore=lambda: None)  # nothing yet after a launch

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
