"""CI fails where the tests, the engines' tests or the formal proofs fail, and passes where no engine or Rocq is had."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "run"
EVERYTHING = [".venv/tests", ".venv-engines/engines", "test-all", "test-engines", "rocq", "formal"]
LEFT_OUT = {".venv-engines/engines": "make test-engines was left out", "rocq": "make formal was left out"}


def run(folder: Path, failing: str, script: str) -> tuple[int, str, list[str]]:
    """Run a script in a folder of its own, with a `make` that notes its target and fails for one of them."""
    make, ci = folder / "make", folder / "project" / ".ci" / "run"
    make.write_text(f'#!/bin/sh\necho "$1" >> "{folder}/made"\n[ "$1" != "{failing}" ] || exit 2\n')
    ci.parent.mkdir(parents=True)
    ci.write_text(script)
    for file in (make, ci):
        file.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run([ci], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, (folder / "made").read_text().split()


@pytest.mark.parametrize(
    ("failing", "code", "made"),
    [
        ("nothing", 0, EVERYTHING),
        ("test-all", 2, EVERYTHING),
        ("test-engines", 2, EVERYTHING),
        ("formal", 2, EVERYTHING),
        (".venv-engines/engines", 0, [name for name in EVERYTHING if name != "test-engines"]),
        ("rocq", 0, [name for name in EVERYTHING if name != "formal"]),
        (".venv/tests", 2, [".venv/tests"]),
    ],
)
def test_either_failure_fails_the_run(tmp_path: Path, failing: str, code: int, made: list[str]) -> None:
    found, said, targets = run(tmp_path, failing, SCRIPT.read_text())
    assert found == code
    assert sorted(targets) == sorted(made)
    assert [name for name, line in LEFT_OUT.items() if line in said] == [failing] * (failing in LEFT_OUT)


@pytest.mark.parametrize(
    ("failing", "kept", "lost"),
    [
        ("test-engines", 'wait "$engines" || failed=$?', 'wait "$engines" || true'),
        ("test-all", "make test-all || failed=$?", "make test-all || true"),
        ("formal", 'wait "$formal" || failed=$?', 'wait "$formal" || true'),
    ],
)
def test_a_run_that_loses_an_exit_code_would_pass(tmp_path: Path, failing: str, kept: str, lost: str) -> None:
    script = SCRIPT.read_text()
    assert kept in script
    assert run(tmp_path, failing, script.replace(kept, lost))[0] == 0


def test_a_process_of_tests_computes_in_the_threads_that_it_was_given() -> None:
    """One, unless whoever runs the tests says otherwise; commands that are run by tests inherit it."""
    _ = pytest.importorskip("torch")
    code = "import torch; print(torch.get_num_threads())"

    def threads(**more: str) -> int:
        ran = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ | more
        )
        return int(ran.stdout)

    assert threads() == int(os.environ["OMP_NUM_THREADS"])
    assert threads(OMP_NUM_THREADS="2") == 2
