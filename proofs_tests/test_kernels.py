"""Compiled functions are kept on disk, and are compiled anew when anything that is built into them has changed."""

from __future__ import annotations

import importlib
import os
import pkgutil
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import spec_math
from spec_math.kernels import Delayed, inner_kernel, kernel, stamp

FACTOR = 2
TABLE = np.array([1.0, 2.0])
ROOT = Path(spec_math.__file__).parent.parent

MODULE = """
{header}
from constant_of_another_file import FACTOR

@{decorator}
def scaled(x):
    return FACTOR * x

found = scaled(10), "kept" if scaled.stats.cache_hits else "compiled"
"""


def found_with(factor: int, header: str, decorator: str, folder: Path, text: str = MODULE) -> tuple[int, str]:
    """Import both files as a new process would, with nothing in memory."""
    (folder / "main.py").write_text(text.format(header=header, decorator=decorator), encoding="utf-8")
    os.utime(folder / "main.py", (0, 0))
    constant = ModuleType("constant_of_another_file")
    vars(constant)["FACTOR"] = factor
    sys.modules[constant.__name__] = constant
    return runpy.run_path(str(folder / "main.py"))["found"]


def test_a_constant_of_another_file_is_seen_when_it_changes(tmp_path: Path) -> None:
    found = [found_with(x, "from spec_math.kernels import kernel", "kernel", tmp_path) for x in (2, 2, 3)]
    assert found == [(20, "compiled"), (20, "kept"), (30, "compiled")]


def test_a_constant_is_seen_through_a_kernel_that_kernels_alone_call(tmp_path: Path) -> None:
    """It is not kept by itself: only within the kernel that calls it, whose key holds what it reads."""
    header = (
        "from spec_math.kernels import inner_kernel, kernel\n"
        "from constant_of_another_file import FACTOR\n"
        "@inner_kernel\ndef inside(x):\n    return FACTOR * x\n"
    )
    text = MODULE.replace("return FACTOR * x", "return inside(x)")
    found = [found_with(x, header, "kernel", tmp_path, text) for x in (2, 2, 3)]
    assert found == [(20, "compiled"), (20, "kept"), (30, "compiled")]


def test_python_does_not_call_what_is_compiled_for_kernels_alone() -> None:
    inside = inner_kernel(inner.py_func)

    @kernel
    def outside(x: Any) -> Any:
        return inside(x) + 1

    for _ in range(2):  # before a kernel has called it, and after
        with pytest.raises(TypeError, match="inner is compiled for kernels alone; make it a kernel"):
            inside(2)
        assert outside(2) == 5
    assert len(inside.overloads) == 1


def test_a_delayed_kernel_is_compiled_after_its_first_calls() -> None:
    taken: list[float] = []
    delayed = Delayed(numba.njit(lambda x: x + x), lambda x: taken.append(x) or 2 * x, calls=2)
    assert [delayed(x) for x in (1.0, 2.0, 3.0, 4.0)] == [2.0, 4.0, 6.0, 8.0]
    assert taken == [1.0, 2.0]
    assert len(delayed.compiled.overloads) == 1


def test_machine_code_that_is_kept_takes_the_first_call(tmp_path: Path) -> None:
    """Written by one process, found by the next, and not where a number that is built in has changed."""
    header = "from spec_math.kernels import Delayed, kernel"
    text = MODULE[: MODULE.index("found =")] + (
        "delayed = Delayed(scaled, lambda x: 'plain', calls=1)\n"
        "first = delayed(10)\n"
        "found = first, 'kept' if first != 'plain' else 'compiled'\n"
        "delayed(10)\n"
    )
    found = [found_with(x, header, "kernel", tmp_path, text) for x in (2, 2, 3, 3)]
    assert found == [("plain", "compiled"), (20, "kept"), ("plain", "compiled"), (30, "kept")]


def test_numbas_own_key_does_not_see_it(tmp_path: Path) -> None:
    found = [found_with(x, "import numba", "numba.njit(cache=True)", tmp_path) for x in (2, 3)]
    assert found == [(20, "compiled"), (20, "kept")]


@kernel
def inner(x: Any) -> Any:
    return x * FACTOR


def helper(x: Any) -> Any:
    return x + TABLE[0]


@kernel
def outer(x: Any) -> Any:
    return inner(x) + helper(x)


def change_of_a_number(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sys.modules[__name__], "FACTOR", 3)


def change_of_its_type(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sys.modules[__name__], "FACTOR", 2.0)


def change_of_an_array(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sys.modules[__name__], "TABLE", np.array([1.0, 3.0]))


def change_of_a_function(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sys.modules[__name__], "helper", lambda x: x - TABLE[0])


def change_of_a_kernel(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sys.modules[__name__], "inner", kernel(lambda x: x))


def change_of_an_option(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sys.modules[__name__], "inner", kernel(inner.py_func, error_model="numpy"))


def change_of_a_module(patch: pytest.MonkeyPatch) -> None:
    """Machine code of a module that was renamed since cannot be loaded: ModuleNotFoundError was raised."""
    patch.setattr(inner.py_func, "__module__", "renamed")


@pytest.mark.parametrize(
    "change",
    [
        change_of_a_module,
        change_of_a_number,
        change_of_its_type,
        change_of_an_array,
        change_of_a_function,
        change_of_a_kernel,
        change_of_an_option,
    ],
)
def test_the_stamp_sees_what_is_called_and_read(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = stamp(outer)
    change(monkeypatch)
    assert stamp(outer) != before


def test_the_stamp_is_that_of_another_process_too() -> None:
    command = f"import {__name__} as m; print(m.stamp(m.outer))"
    found = subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == stamp(outer)


def test_what_is_not_known_to_be_followed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for unknown in (object(), {"a": 1}, sys.modules["spec_math.kernels"]):
        monkeypatch.setattr(sys.modules[__name__], "FACTOR", unknown)
        with pytest.raises(TypeError, match="a kernel"):
            stamp(outer)


def kernels() -> Iterator[Any]:
    for module in pkgutil.walk_packages(spec_math.__path__, "spec_math."):
        names = vars(importlib.import_module(module.name))
        yield from (value for value in names.values() if isinstance(value, Dispatcher))


def test_every_kernel_of_the_library_has_a_stamp() -> None:
    found = {stamp(each) for each in kernels()}
    assert len(found) > 60


def test_nothing_is_kept_under_numbas_own_key() -> None:
    # A kernel that takes kernels is not kept at all: it is compiled for each of them.
    kept = [each for each in kernels() if type(each._cache) is numba.core.caching.FunctionCache]
    assert not kept
