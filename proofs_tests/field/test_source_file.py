"""One file of a package runs without the package: what it imports is stood in for, and says so when it is needed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from spec_math.field.source_file import EngineError, load

SOURCE = """
from giantengine.core.config import Config, MODES
from giantengine.near import twice
import giantengine.logger

def verified(x: "Config"):
    return twice(x) + MODES

def configured():
    return Config()
"""


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    package = tmp_path / "giantengine"
    package.mkdir()
    (package / "sampler.py").write_text(SOURCE)
    (package / "near.py").write_text("from giantengine.far import nothing\ndef twice(x):\n    return 2 * x\n")
    return tmp_path


def loaded(engine: Path) -> Any:
    return load(engine, "giantengine.sampler", {"giantengine.core.config": {"MODES": 1}}, ("giantengine.near",))


def test_a_file_runs_with_what_is_given_and_what_lies_beside_it(engine: Path) -> None:
    assert loaded(engine).verified(3) == 7


def test_a_name_that_was_not_given_says_so_when_it_is_called(engine: Path) -> None:
    with pytest.raises(EngineError, match=r"giantengine\.core\.config\.Config was called"):
        loaded(engine).configured()


def test_nothing_stays_behind_and_what_was_imported_comes_back(engine: Path) -> None:
    installed = type(sys)("giantengine")
    sys.modules["giantengine"] = installed
    finders = list(sys.meta_path)
    try:
        loaded(engine)
        assert sys.modules["giantengine"] is installed
        assert [name for name in sys.modules if name.startswith("giantengine.")] == []
        assert sys.meta_path == finders
    finally:
        del sys.modules["giantengine"]


def test_a_file_that_is_not_there_is_told(engine: Path) -> None:
    with pytest.raises(EngineError, match="give the folder that holds the package 'giantengine'"):
        load(engine, "giantengine.missing", {})
