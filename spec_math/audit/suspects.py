"""Functions of somebody's folder that draw random numbers and compare: what may be a verifier, by reading the source.

Source: worked out here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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

    >>> import spec_math.audit.suspects as here
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
