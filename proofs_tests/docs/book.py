"""How the pages of the book are read and run: tables, code, links, commands; and what tests and symbols there are."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from typer.testing import CliRunner, Result

from spec_math.cli import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TESTS = ROOT / "proofs_tests"
GENERATED = DOCS / "reference"

BAR = re.compile(r"(?<!\\)\|")
CODE = re.compile(r"`([^`\n]+)`")
# A closed form has a name like a test's: a scheme's test_acceptance.
TEST = re.compile(r"(?!test_acceptance\Z)([\w./]*test_\w+\.py)?(::)?(test_\w+)?")
COMMAND = re.compile(r"^\$ spec-math (.*)$", re.MULTILINE)
SYMBOL = re.compile(r"(spec_math|torch_bridge|examples)(\.\w+)+")


def pages() -> list[Path]:
    """Every page that is written by hand."""
    found = [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    return sorted(page for page in found if GENERATED not in page.parents and DOCS / "_build" not in page.parents)


def rows(page: Path) -> list[list[str]]:
    """The rows of all tables of a page, without their heads."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found = [[cell.strip() for cell in BAR.split(line)[1:-1]] for line in lines if line.startswith("|")]
    heads = {place for place, row in enumerate(found) if all(set(cell) <= set("-: ") and cell for cell in row)}
    return [row for place, row in enumerate(found) if place not in heads and place + 1 not in heads]


def code(text: str) -> list[str]:
    """What stands between backticks."""
    return CODE.findall(text)


@cache
def names_of_tests() -> dict[str, frozenset[str]]:
    """{path below proofs_tests: names of the tests in it}."""
    return {str(path.relative_to(TESTS)): frozenset(_tests_in(path)) for path in sorted(TESTS.rglob("test_*.py"))}


def _tests_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name


def has_test(name: str) -> bool:
    """Say whether a test is there: `folder/test_file.py::test_name`, without the folder, a file or a name alone."""
    path, _, test = name.rpartition("::") if "::" in name or ".py" not in name else (name, "", "")
    path = path.removeprefix("proofs_tests/").replace("../", "")
    return any(
        f"/{file}".endswith(f"/{path}")
        if not test
        else test in held and f"/{file}".endswith(f"/{path}" if path else file)
        for file, held in names_of_tests().items()
    )


def has_symbol(name: str) -> bool:
    """Say whether a full name imports."""
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:size]))
        except ModuleNotFoundError as error:
            if error.name == "torch":
                return parts[1] in (ROOT / parts[0] / "__init__.py").read_text(encoding="utf-8")
            continue
        for part in parts[size:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def commands(page: Path) -> list[str]:
    """What a reader of a page types after `$ spec-math`."""
    return COMMAND.findall(page.read_text(encoding="utf-8"))


def typed(command: str, folder: Path) -> Result:
    """Run a command of a page in a folder, in this process, where the library is loaded."""
    with contextlib.chdir(folder):
        return CliRunner().invoke(app, command.split())
