"""Runs mutmut on the mutants named on standard input, in a copy of the project.

Three things are otherwise than mutmut has them. Tests are named to pytest in a file that `patience` reads: as an
argument, a name with quotes or colons in its brackets is not read. A function that runs while modules are imported is
reached by every test. And its mutants are judged in a process of their own, as the modules are imported already in the
one that all others start from.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mutmut import __main__ as mutmut
from mutmut.runners.harness import PytestRunner
from mutmut.state import state
from mutmut.workers import isolation

QUIET = ["-x", "-q", "-p", "no:randomly", "-p", "no:random-order"]
PLACE = Path.cwd()
IMPORTED = PLACE / "imported.json"


class Imported:
    """A plugin: functions that have run when all tests are collected belong to every test."""

    def pytest_collection_finish(self) -> None:
        """Keep what has run so far apart from what the first test will run."""
        self.functions = sorted(state()._stats)
        state()._stats.clear()
        _ = IMPORTED.write_text(json.dumps(self.functions), encoding="utf-8")

    def pytest_sessionfinish(self) -> None:
        """Let every test reach them."""
        for function in self.functions:
            state().tests_by_mangled_function_name[function].update(state().duration_by_test)


class Runner(PytestRunner):
    """pytest on the files of the tests that reach a mutant."""

    def execute_pytest(self, params: list[str], **kwargs: Any) -> int:
        if kwargs.get("plugins"):
            kwargs["plugins"] = [*kwargs["plugins"], Imported()]
        return super().execute_pytest(params, **kwargs)

    def run_tests(self, *, mutant_name: str | None, tests: Iterable[str]) -> int:
        tests = list(tests)
        if mutant_name is None and tests:  # what fails without a mutant was named by the run that timed the tests
            return 0
        function = (mutant_name or "").partition("__mutmut_")[0]
        if function not in (json.loads(IMPORTED.read_text(encoding="utf-8")) if IMPORTED.is_file() else ()):
            return super().run_tests(mutant_name=mutant_name, tests=tests)
        command = [sys.executable, "-m", "pytest", "--rootdir=.", "--tb=native", *self._pytest_args_regular_run(tests)]
        return subprocess.run([*command, *self._pytest_add_cli_args], cwd="mutants", check=False).returncode

    def _pytest_args_regular_run(self, tests: Iterable[str]) -> list[str]:
        names = list(tests)
        file = PLACE / "wanted" / f"{os.getpid()}.txt"
        file.parent.mkdir(exist_ok=True)
        os.environ["WANTED_TESTS"] = str(file) if file.write_text("\n".join(names), encoding="utf-8") else ""
        files = sorted({name.partition("::")[0] for name in names})
        return [*QUIET, *(files or self._pytest_add_cli_args_test_selection)]


def main() -> None:
    """Judge the mutants, two at a time."""
    isolation.PytestRunner = Runner
    mutmut.run.callback(tuple(sys.stdin.read().split()), max_children=2)


if __name__ == "__main__":
    main()
