"""`spec-math audit --suspects FOLDER`: functions that may be verifiers, each with the command that would judge it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spec_math.result import Column, Result, Row, Table
from spec_math.studies.arguments import Progress
from spec_math.wording import counted


def study(folder: Path, told: Progress) -> Result:
    """List the functions under a folder that draw and compare; nothing is run.

    Raises:
        ValueError: there is no such folder or file.

    >>> study(Path("nowhere"), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    ValueError: there is no folder nowhere
    """
    if not folder.exists():
        raise ValueError(f"there is no folder {folder}")
    done = told("reading", 1)
    found = suspects(folder)
    done(1)
    rows = tuple(Row((f"{one.file}:{one.line}", ", ".join(one.draws), one.command)) for one in found)
    columns = Column("where"), Column("draws by"), Column("command")
    functions = counted(len(found), "function")
    draw = "draws random numbers and compares" if len(found) == 1 else "draw random numbers and compare"
    said = f"{functions} under {folder} {draw}; none was run."
    return Result(
        "suspects", f"What may be a verifier under {folder}", said, (Table("suspects", "Functions", columns, rows),)
    )


DRAWS = {
    *("rand", "rand_like", "random", "uniform", "uniform_", "multinomial", "exponential", "exponential_", "bernoulli"),
    *("categorical", "choice", "choices", "gumbel", "curand_uniform"),
}


@dataclass(frozen=True)
class Suspect:
    """A function that draws by some calls and compares, where it stands, and the command that would judge it."""

    file: Path
    name: str
    line: int
    draws: tuple[str, ...]

    @property
    def command(self) -> str:
        """The command line that judges it."""
        return f"spec-math audit {self.file}:{self.name}"


def suspects(folder: Path) -> list[Suspect]:
    """Return the functions and methods under a folder that draw and compare; files that are not Python are passed over.

    >>> import spec_math.studies.audits.suspects as here
    >>> suspects(Path(here.__file__))
    []
    """
    files = [folder] if folder.is_file() else sorted(folder.rglob("*.py"))
    return [one for file in files for one in _in_file(file)]


def _in_file(file: Path) -> Iterator[Suspect]:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError, ValueError):
        return
    for owner, function in _functions(tree):
        draws = tuple(dict.fromkeys(name for name in _called(function) if name in DRAWS))
        if draws and any(isinstance(node, ast.Compare) for node in ast.walk(function)):
            yield Suspect(file, f"{owner}{function.name}", function.lineno, draws)


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield "", node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.", inner) for inner in node.body if isinstance(inner, ast.FunctionDef))


def _called(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            called = node.func
            yield (
                called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
            )
