"""Compiled functions kept on disk, and compiled anew exactly when something that they were compiled from has changed.

numba keeps what it compiled beside the source, and looks at that one file to see whether it is still right. But numbers
and functions of other files are built in too. Here the key is all of it: the code of the kernel and of every function
that it calls, their options, and every number and array that they read.
"""

from __future__ import annotations

import dis
import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher
from numba.core.sigutils import normalize_signature
from numba.extending import intrinsic


def _nothing(_context: Any) -> None: ...


_INTRINSIC: Any = type(intrinsic(_nothing))
_NJIT: Any = numba.njit


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function when it is first called, and keep it on disk: `numba.njit` with a key that is right.

    Options are those of `numba.njit`. With numba's compiling switched off it is the function itself.

    >>> @kernel
    ... def double(x):
    ...     return 2 * x
    >>> double(3)
    6
    """
    if function is None:
        return partial(kernel, **options)
    # What C would call it by is asked for by nothing here.
    compiled: Any = _NJIT(no_cfunc_wrapper=True, **options)(function)
    # What is typed in at a prompt has no file to be kept beside.
    if isinstance(compiled, Dispatcher) and not function.__code__.co_filename.startswith("<"):
        vars(compiled)["_cache"] = _Kept(compiled)
    return compiled


def inner_kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that kernels alone call, without what Python would call it by, in less time.

    It is kept on disk within the kernels that call it. With numba's compiling switched off it is the function itself.

    Raises:
        TypeError: Python calls it.

    >>> @inner_kernel
    ... def half(x):
    ...     return x / 2
    >>> kernel(lambda x: half(x) + 1)(2.0)
    2.0
    """
    if function is None:
        return partial(inner_kernel, **options)
    compiled: Any = _NJIT(no_cfunc_wrapper=True, no_cpython_wrapper=True, **options)(function)
    if isinstance(compiled, Dispatcher):
        # What was compiled is for kernels alone: a call from Python would jump to where there is nothing.
        vars(compiled)["add_overload"] = partial(_listed, compiled)
        vars(compiled)["_compile_for_args"] = partial(_refused, function.__name__)
    return compiled


class Delayed:
    """A kernel that is compiled when it pays: a plain function that does the same, bit by bit, takes its first calls.

    `calls` is after how many of them compiling costs less than they did. Where machine code of the kernel is kept on
    disk, it takes the first call too. Kernels call `compiled` themselves.

    >>> double = Delayed(kernel(lambda x: x + x), lambda x: 2 * x, calls=1)
    >>> double(3), len(double.compiled.overloads), double(3), len(double.compiled.overloads)
    (6, 0, 6, 1)
    """

    def __init__(self, compiled: Any, plain: Callable[..., Any], calls: int) -> None:
        self.compiled, self.plain, self.calls = compiled, plain, calls
        self._run: Callable[..., Any] | None = None
        self._asked = False

    def __call__(self, *given: Any) -> Any:
        """Call the kernel, or the plain function in its place."""
        if self._run is not None:
            return self._run(*given)
        if not self._asked and _is_kept(self.compiled, given):
            self.calls = 0
        self._asked = True
        if not self.calls:
            self._run = self.compiled
            return self.compiled(*given)
        self.calls -= 1
        return self.plain(*given)


def _is_kept(compiled: Any, given: tuple[Any, ...]) -> bool:
    """Say whether machine code for arguments of these types is on disk."""
    cache = getattr(compiled, "_cache", None)
    return isinstance(cache, _Kept) and cache.holds(tuple(compiled.typeof_pyval(one) for one in given))


def _listed(compiled: Any, found: Any) -> None:
    compiled.overloads[tuple(found.signature.args)] = found


def _refused(name: str, *_given: Any, **_named: Any) -> Any:
    raise TypeError(f"{name} is compiled for kernels alone; make it a kernel to call it from Python")


def stamp(compiled: Any) -> str:
    """Return a hash of all that a kernel is compiled from: code, options, and what they read, of whatever file.

    Raises:
        TypeError: it reads something of which it is not known how it is compiled in.

    >>> stamp(kernel(lambda x: x + 1)) == stamp(kernel(lambda x: x + 1)) != stamp(kernel(lambda x: x + 2))
    True
    """
    text = "\n".join(_described(compiled, set()))
    return hashlib.sha256(text.encode()).hexdigest()


class _Kept(FunctionCache):
    """numba's cache of one function, whose entries hold for one `stamp` and not for one state of one file."""

    def __init__(self, compiled: Any) -> None:
        super().__init__(compiled.py_func)
        self.compiled, self.stamped = compiled, False

    def holds(self, sig: Any) -> bool:
        """Say whether there is machine code for a signature, without loading it."""
        self._stamp()
        with self._guard_against_spurious_io_errors():
            key = self._index_key(sig, self.compiled.targetctx.codegen())
            return key in self._cache_file._load_index()  # pyright: ignore[reportPrivateUsage]
        return False

    def _stamp(self) -> None:
        # Not before the first call: what a kernel reads may stand below it.
        if not self.stamped:
            self._cache_file._source_stamp = stamp(self.compiled)  # pyright: ignore[reportPrivateUsage]
            self.stamped = True

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        self._stamp()
        found: Any = super().load_overload(sig, target_context)
        # Two processes that keep two signatures at the same moment may give both the same file.
        return None if found is None or found.signature.args != normalize_signature(sig)[0] else found


def _described(value: Any, seen: set[int]) -> Iterator[str]:
    if id(value) in seen:
        return
    if isinstance(value, Dispatcher):
        seen.add(id(value))
        yield f"kernel {sorted((name, _plain(option)) for name, option in value.targetoptions.items())}"
        yield from _described(value.py_func, seen)
    elif isinstance(value, _INTRINSIC):
        yield from _described(value._defn, seen)  # pyright: ignore[reportPrivateUsage]
    elif isinstance(value, FunctionType):
        seen.add(id(value))
        # Machine code names the modules that it was compiled in: it cannot be loaded where one is gone.
        yield f"function of {value.__module__}"
        yield from _code(value.__code__)
        yield from _described(value.__defaults__, seen)
        for cell in value.__closure__ or ():
            yield from _described(cell.cell_contents, seen)
        for name in _names(value.__code__):
            if name in value.__globals__:
                yield name
                yield from _described(value.__globals__[name], seen)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif isinstance(value, tuple):
        yield f"tuple of {len(value)}"
        for part in value:
            yield from _described(part, seen)
    elif isinstance(value, bool | int | float | complex | str | bytes | np.generic | None):
        yield f"{type(value).__name__} {value!r}"
    elif isinstance(value, ModuleType):
        if value.__name__.startswith("spec_math"):
            raise TypeError(f"a kernel takes names out of {value.__name__}, not the module itself")
        yield f"module {value.__name__}"
    elif isinstance(value, type | BuiltinFunctionType | np.ufunc):
        yield f"{type(value).__name__} {value.__name__}"
    else:
        raise TypeError(f"a kernel reads {value!r}, and it is not known how this is compiled in")


def _code(code: CodeType) -> Iterator[str]:
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield f"{type(constant).__name__} {constant!r}"


def _names(code: CodeType) -> Iterator[str]:
    """Global names that are read; `co_names` holds attributes too, which may be called as some global is."""
    yield from sorted({str(step.argval) for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"})
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _plain(option: Any) -> Any:
    """A set has no order of its own."""
    return sorted(option) if isinstance(option, set | frozenset) else option
