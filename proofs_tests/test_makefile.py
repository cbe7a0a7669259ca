"""`make test` fails where linters, types or tests fail, and installs what it can where torch cannot be had."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parents[1] / "Makefile"
INPUTS = ("pyproject.toml", "constraints.txt")
TOOLS = ("python", "ruff", "pyright")
CHECKED = ["ruff check .", "ruff format --check .", "pyright", "python -m pytest"]


def made(folder: Path, target: str, failing: str = "nothing") -> tuple[int, list[str]]:
    """Make a target with tools that note how they are called and fail where their call has some words in it."""
    _ = (folder / "Makefile").write_text(MAKEFILE.read_text())
    for name in INPUTS:
        (folder / name).touch()
    tools = folder / ".venv" / "bin"
    tools.mkdir(parents=True)
    for tool in TOOLS:
        call = f'call="{tool} $*"; call="${{call% }}"; echo "$call" >> "{folder}/calls"\n'
        _ = (tools / tool).write_text(f'#!/bin/sh\n{call}case "$call" in *"{failing}"*) exit 3;; esac\n')
        (tools / tool).chmod(0o755)
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(["make", target], cwd=folder, env=quiet, capture_output=True, text=True, check=False)
    return done.returncode, (folder / "calls").read_text().splitlines()


@pytest.mark.parametrize("tier", ["test", "test-all"])
@pytest.mark.parametrize("failing", ["nothing", "ruff check", "ruff format", "pyright", "pytest"])
def test_any_failure_fails_the_whole(tmp_path: Path, failing: str, tier: str) -> None:
    code, calls = made(tmp_path, tier, failing)
    assert (code == 0) == (failing == "nothing")
    if failing in ("nothing", "pytest"):
        first = [call.removesuffix(" proofs_tests/essentials") if tier == "test" else call for call in calls]
        assert set(CHECKED) <= set(first)
        assert (calls == first) == (tier == "test-all")


@pytest.mark.parametrize(
    ("cannot_be_had", "passes", "last"),
    [
        ("nothing", True, "[test,torch,transformers]"),
        ("torch", True, ".[transformers]"),
        ("transformers", True, ".[transformers]"),
        ("test", False, ".[test]"),
    ],
)
def test_what_can_be_had_is_installed(tmp_path: Path, cannot_be_had: str, passes: bool, last: str) -> None:
    code, calls = made(tmp_path, ".venv/tests", cannot_be_had)
    assert (code == 0) == passes
    assert (tmp_path / ".venv" / "tests").exists() == passes
    assert calls[-1].endswith(last)


@pytest.mark.parametrize(
    ("user", "installs", "called"),
    [
        (0, True, ["--ready", "apt-get -qq update", "apt-get -qq install", "--ready", "check"]),
        (0, False, ["--ready", "apt-get -qq update", "apt-get -qq install", "--ready"]),
        (1000, True, ["--ready", "--ready"]),
    ],
)
def test_rocq_is_installed_where_it_can_be(tmp_path: Path, user: int, installs: bool, called: list[str]) -> None:
    """Python says that Rocq is ready once apt-get, which only root may run, has installed it."""
    note = f'echo "${{0##*/}} $*" >> "{tmp_path}/calls"\n'
    tools = {
        "python": f'{note}case "$*" in *--ready) test -e "{tmp_path}/coq";; esac\n',
        "apt-get": f'{note}case "$*" in *install*) test {int(installs)} = 1 && touch "{tmp_path}/coq";; esac\n',
        "id": f"echo {user}\n",
    }
    for name, script in tools.items():
        _ = (tmp_path / name).write_text(f"#!/bin/sh\n{script}")
        (tmp_path / name).chmod(0o755)
    path = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")} | path
    command = ["make", "-f", str(MAKEFILE), "PYTHON=python", "formal"]
    done = subprocess.run(command, cwd=tmp_path, env=quiet, capture_output=True, text=True, check=False)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert (done.returncode == 0) == (called[-1] == "check")
    assert len(calls) == len(called)
    assert all(name in call for name, call in zip(called, calls, strict=True))
