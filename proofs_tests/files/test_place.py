"""MODULE:NAME finds what is in a module or a file of Python, and errors say what is missing."""

from __future__ import annotations

import importlib
import os
import py_compile
import sys
from pathlib import Path

import pytest

from spec_math.files.place import load, load_function
from spec_math.token_level import single


def test_a_name_in_a_module_and_in_a_file(tmp_path: Path) -> None:
    assert load("spec_math.token_level.single:verify").value is single.verify
    (tmp_path / "beside.py").write_text("ONE = 1\n")
    (tmp_path / "sampler_of_a_header.py").write_text("from beside import ONE\nclass Held:\n    two = ONE + 1\n")
    found = load(f"{tmp_path / 'sampler_of_a_header.py'}:Held.two")
    assert (found.value, found.module, found.attribute) == (2, "sampler_of_a_header", "Held.two")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("nothing", "--scheme takes module:name, such as mypackage.verifiers:mine"),
        (":f", "--scheme takes module:name"),
        ("math:", "--scheme takes module:name"),
        ("no_such_module:f", "no_such_module cannot be imported from here: ModuleNotFoundError"),
        ("gone.py:f", "there is no file gone.py"),
        ("math:nothing", "math has no nothing; it has: acos"),
    ],
)
def test_what_cannot_be_found_is_a_sentence(place: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        load(place, "--scheme")


def test_a_module_that_fails_and_a_value_that_is_no_function_are_told(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(ValueError, match=r"broken\.py cannot be imported: ZeroDivisionError"):
        load(f"{tmp_path / 'broken.py'}:f")
    with pytest.raises(TypeError, match="math:pi is not a function; it is a float"):
        load_function("math:pi")


def test_a_file_is_read_as_it_is_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written anew within a second and of the same length, it looks to Python like the one whose bytecode was kept.

    The control: Python's own import runs the older one."""
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "judged_twice.py"
    for sign in "+-":
        assert file.write_text(f"def f():\n    return 2 {sign} 1\n")
        os.utime(file, (1_000_000_000, 1_000_000_000))
        if sign == "+":
            assert py_compile.compile(str(file))
    assert load_function(f"{file}:f").value() == 1
    assert importlib.import_module("judged_twice").f() == 3
    del sys.modules["judged_twice"]


def test_no_bytecode_is_left_of_a_file_and_of_its_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: Python's own import leaves it of both."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.syspath_prepend(tmp_path)
    file, beside = tmp_path / "not_kept.py", tmp_path / "not_kept_beside.py"
    assert file.write_text("import not_kept_beside\n\nONE = 1\n")
    assert beside.write_text("TWO = 2\n")
    assert load(f"{file}:ONE").value == 1
    assert not list(tmp_path.rglob("*.pyc"))
    assert not sys.dont_write_bytecode
    del sys.modules["not_kept_beside"]
    assert importlib.import_module("not_kept").ONE == 1
    assert len(list(tmp_path.rglob("*.pyc"))) == 2
    del sys.modules["not_kept"], sys.modules["not_kept_beside"]
