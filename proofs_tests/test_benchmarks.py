"""The command line of the benchmarks: what it measures is nowhere timed in the tests."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.__main__ import MODULES, NEEDED, chosen

ROOT = Path(__file__).parent.parent


def started(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )


def test_a_name_that_is_no_module_leaves_with_2_and_the_list_of_modules() -> None:
    ended = started("daily", "nonsense")
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr
    assert "no module is called 'nonsense'" in ended.stderr
    assert [name for name in MODULES if name not in ended.stderr] == []


def test_help_leaves_with_0_and_says_what_is_measured_how_and_which_exit_codes_there_are() -> None:
    ended = started("--help")
    assert (ended.returncode, ended.stderr) == (0, "")
    for said in (*MODULES, "python -m benchmarks start_up daily", "exit codes: 0", "the bound", "needs torch"):
        assert said in ended.stdout, said


def test_all_modules_are_measured_unless_some_are_named() -> None:
    assert chosen([]) == MODULES
    assert chosen(["traces", "daily"]) == ("traces", "daily")


@pytest.mark.parametrize("name", MODULES)
def test_every_module_of_the_list_is_there(name: str) -> None:
    assert find_spec(f"benchmarks.{name}") is not None
    assert set(NEEDED) <= set(MODULES)
