"""The certificate of the book is what the command writes; its check by hand is right; the job of the how-to runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from proofs_tests.docs.book import DOCS, ROOT, rows, typed

BY_HAND = DOCS / "certificate.md"
IN_CI = DOCS / "how_to" / "certify_in_ci.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str = "") -> list[str]:
    """The blocks of a language, or those without one."""
    return [body for name, body in BLOCK.findall(page.read_text(encoding="utf-8")) if name == language]


def commands(page: Path) -> list[str]:
    """The commands of a page, as a reader pastes them."""
    lines = [line for body in blocks(page) for line in body.splitlines()]
    return [line for line in lines if line.startswith(("spec-math ", "python ", "cp "))]


def pasted(command: str, folder: Path) -> tuple[int, str]:
    """Run a command in a folder where this library and its commands are installed: the exit code and the output."""
    if command.startswith("spec-math "):
        here = typed(command.removeprefix("spec-math "), folder)
        return here.exit_code, here.output
    installed = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=installed, capture_output=True, text=True, check=False
    )
    return ran.returncode, ran.stdout + ran.stderr


def with_function(page: Path, folder: Path) -> Path:
    """Save the function of a page, as its reader does."""
    (function,) = blocks(page, "python")
    _ = (folder / "mine.py").write_text(function, encoding="utf-8")
    return folder


def test_the_certificate_of_the_page_is_what_the_command_writes(tmp_path: Path) -> None:
    """If the format changes: paste what is printed here into docs/certificate.md, and read the check by hand again."""
    folder = with_function(BY_HAND, tmp_path)
    for command in commands(BY_HAND):
        if command.startswith("spec-math"):
            code, output = pasted(command, folder)
            assert code == 0, output
    (shown,) = blocks(BY_HAND, "json")
    assert (folder / "certificate.json").read_text(encoding="utf-8") == shown
    assert (folder / "model.pm").read_text(encoding="utf-8") in blocks(BY_HAND)
    asked = (folder / "model.props").read_text(encoding="utf-8")
    assert re.findall(r"RESULT: (\S+)", asked) == ["1/4", "3/4"]


def claim() -> dict[str, Any]:
    """The claim of the certificate that the page prints."""
    (shown,) = blocks(BY_HAND, "json")
    (found,) = json.loads(shown)["claims"]
    return found


def followed(nodes: list[Any], at: int, way: tuple[int, ...] = (), mass: tuple[str, ...] = ()) -> list[list[str]]:
    """The rows of the table of paths: the nodes, the product of the probabilities, and the emitted token."""
    kind, asked, *below = nodes[at]
    way = (*way, at)
    if kind == "emit":
        product = Fraction(1)
        for one in mass:
            product *= Fraction(one)
        return [[", ".join(map(str, way)), f"{' · '.join(mass)} = {product}", str(asked[0])]]
    chances = asked if kind == "draw" else [asked, str(1 - Fraction(asked))] if kind == "flip" else [None]
    children = below[0] if kind == "draw" else below
    return [
        row
        for chance, child in zip(chances, children, strict=True)
        if child is not None
        for row in followed(nodes, child, way, mass if chance is None else (*mass, chance))
    ]


def test_the_paths_of_the_page_are_all_paths_of_the_certificate() -> None:
    own = claim()
    ((_, root),) = own["trees"]
    assert sorted(row[1:] for row in rows(BY_HAND)) == sorted(followed(own["nodes"], root))


NUMBER = r"\d+(?:/\d+)?"
EQUATION = re.compile(rf"((?:min|max)\([^)]*\)|{NUMBER}(?: [·+-] {NUMBER})+) = ({NUMBER})")


def wrong(text: str) -> list[str]:
    """The equations of a text that do not hold, by exact arithmetic."""
    found: list[str] = []
    for left, right in EQUATION.findall(text):
        exact = re.sub(r"(\d+)/(\d+)|(\d+)", r"Fraction('\g<0>')", left).replace("·", "*")
        if eval(exact, {"Fraction": Fraction, "min": min, "max": max, "__builtins__": {}}) != Fraction(right):
            found.append(f"{left} = {right}")
    return found


def test_the_equations_of_the_check_by_hand_hold() -> None:
    text = BY_HAND.read_text(encoding="utf-8")
    assert len(EQUATION.findall(text)) >= 9
    assert wrong(text) == []


def test_an_equation_that_does_not_hold_is_found() -> None:
    """The control."""
    text = BY_HAND.read_text(encoding="utf-8")
    assert wrong(text.replace("1/4 + 1/2 = 3/4", "1/4 + 1/2 = 2/3")) == ["1/4 + 1/2 = 2/3"]
    assert wrong(text.replace("min(1, 1/4 / 1/2) = 1/2", "min(1, 1/4 / 1/2) = 1")) != []


def job() -> list[str]:
    """The commands of the job, which a reader pastes into the repository."""
    (text,) = blocks(IN_CI, "yaml")
    return [line.strip('"') for line in re.findall(r"- run: (.*)", text)]


def ran(folder: Path) -> int:
    """Run the job in a folder without this library: the exit code of the first step that fails, or 0."""
    alone = f"{sys.executable} -I -S "
    for step in job():
        found = subprocess.run(
            ["bash", "-e", "-c", step.replace("python ", alone)], cwd=folder, env={"PATH": "/usr/bin:/bin"}, check=False
        )
        if found.returncode:
            return found.returncode
    return 0


@pytest.fixture(scope="module")
def followed_to_its_end(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in which a reader followed the how-to to its end."""
    folder = with_function(IN_CI, tmp_path_factory.mktemp("repository"))
    for command in commands(IN_CI):
        code, output = pasted(command, folder)
        assert code == 0, (command, output)
    assert {file.name for file in folder.iterdir() if file.is_file()} == {
        "mine.py",
        "certificate.json",
        "check_paths.py",
    }
    return folder


@pytest.fixture
def repository(followed_to_its_end: Path, tmp_path: Path) -> Path:
    """A copy of that repository."""
    for file in followed_to_its_end.glob("*.*"):
        _ = shutil.copy(file, tmp_path)
    return tmp_path


def test_the_job_of_the_how_to_passes_without_this_library(repository: Path) -> None:
    assert ran(repository) == 0
    assert "lossless" in (repository / "checked.txt").read_text(encoding="utf-8")


def test_the_job_fails_where_the_function_changes(repository: Path) -> None:
    """The controls: another question, another token, an error, and a new certificate of a lossy function."""
    function = (repository / "mine.py").read_text(encoding="utf-8")
    for old, new in (("t - d, 0", "t, 0"), ("return x", "return 1 - x"), ("return x", "return y"), ("min(1", "min(2")):
        assert old in function
        _ = (repository / "mine.py").write_text(function.replace(old, new), encoding="utf-8")
        assert ran(repository) != 0, new
    _ = (repository / "mine.py").write_text(function.replace("t - d, 0", "t, 0"), encoding="utf-8")
    (certify,) = [command for command in commands(IN_CI) if command.startswith("spec-math audit")]
    assert pasted(certify, repository)[0] == 1
    assert "lossy" in (repository / "certificate.json").read_text(encoding="utf-8")
    assert ran(repository) != 0


def test_the_job_fails_without_its_certificate(repository: Path) -> None:
    (repository / "certificate.json").unlink()
    assert ran(repository) == 2
