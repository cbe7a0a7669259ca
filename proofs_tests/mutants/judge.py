"""Runs mutmut on the mutants named on standard input, in a copy of the project.

mutmut hands the names of tests to pytest as arguments, where a name with quotes or colons in its brackets is not read;
here the names are handed over in a file that `patience` reads, and the arguments are the tests' files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from mutmut import __main__ as mutmut
from mutmut.runners.harness import PytestRunner

PLACE = Path.cwd()
QUIET = ["-x", "-q", "-p", "no:randomly", "-p", "no:random-order"]


class Runner(PytestRunner):
    """pytest on the files of the tests that reach a mutant."""

    def _pytest_args_regular_run(self, tests: Iterable[str]) -> list[str]:
        names = list(tests)
        file = PLACE / "wanted" / f"{os.getpid()}.txt"
        file.parent.mkdir(exist_ok=True)
        os.environ["WANTED_TESTS"] = str(file) if file.write_text("\n".join(names), encoding="utf-8") else ""
        files = sorted({name.partition("::")[0] for name in names})
        return [*QUIET, *(files or self._pytest_add_cli_args_test_selection)]


def main() -> None:
    """Judge the mutants, two at a time."""
    PytestRunner._pytest_args_regular_run = Runner._pytest_args_regular_run
    mutmut.run.callback(tuple(sys.stdin.read().split()), max_children=2)


if __name__ == "__main__":
    main()
