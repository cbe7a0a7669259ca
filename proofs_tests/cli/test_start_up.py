"""What starts quickly: --help and `import spec_math` load what they use, and every command is found by its name."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

import spec_math
from spec_math.cli import COMMANDS, app

ROOT = Path(__file__).parent.parent.parent
HEAVY = (
    "numpy",
    "scipy",
    "scipy.optimize",
    "scipy.special",
    "numba",
    "sympy",
    "matplotlib",
    "torch",
    "jinja2",
    "safetensors",
)
MANY = {"advise", "audit", "engine"}
"""Commands that still take more than ten options; those of the audit stand in groups."""

SHARED = ("--help ", "--all ")
"""Options of every command."""


def loaded_by(code: str) -> set[str]:
    """What is loaded of the heavy libraries once some code has run, in a fresh interpreter."""
    said = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint([n for n in {HEAVY} if n in sys.modules], file=sys.stderr)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(eval(said.stderr.splitlines()[-1]))


def test_import_and_help_load_nothing_heavy() -> None:
    assert loaded_by("import spec_math") == set()
    helped = "import sys\nsys.argv = ['spec-math', '--help']\nfrom spec_math.cli import main\n"
    assert loaded_by(f"{helped}try: main()\nexcept SystemExit: pass") == set()
    # The control: what is used is loaded, and then seen.
    assert "numpy" in loaded_by("import spec_math\nspec_math.exact")


def test_commands_load_no_solver_before_they_solve_anything() -> None:
    """To load it takes a third of the time in which `prove` is loaded, which each of its workers loads too."""
    names = ("audits.study", "blocks.study", "positions.study", "proofs")
    studies = ", ".join(f"spec_math.studies.{name}" for name in names)
    assert "scipy.optimize" not in loaded_by(f"import {studies}")
    # The control: what solves something has loaded it.
    solved = "spec_math.sequential.sample_size import sample_size\nsample_size(0.1, 0.01, 0.5, 4)"
    assert "scipy.optimize" in loaded_by(f"from {solved}")


def test_the_report_loads_neither_special_functions_nor_what_judges_samplers_before_it_needs_them() -> None:
    """Both together take a third of the time in which all that the report is made of is loaded."""
    made = "import sys, spec_math.studies.overview as overview\n"
    audits = "assert any(name in sys.modules for name in ('spec_math.audit', 'spec_math.traces.run')) is {}\n"
    assert "scipy.special" not in loaded_by(made + audits.format(False))
    # The control: logits and traces load them.
    taken = "from scipy.special import logsumexp\nfrom spec_math.studies.traces.study import TraceRequest\n"
    assert "scipy.special" in loaded_by(made + taken + audits.format(True))


def test_names_of_the_roof_are_those_of_their_modules() -> None:
    for name in spec_math.__all__:
        assert getattr(spec_math, name).__class__ is not None
        assert name in dir(spec_math)
    assert spec_math.token_level.single.verify is import_module("spec_math.token_level.single").verify
    assert not hasattr(spec_math, "no_such_name")
    assert not hasattr(spec_math, "__wrapped__")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_a_function_of_its_module_and_says_what_it_takes(name: str) -> None:
    function = getattr(import_module(f"spec_math.cli.{COMMANDS[name]}"), name)
    listed = " ".join(CliRunner().invoke(app, ["--help"]).output.split())
    first = function.__doc__.strip().splitlines()[0].split(":")[0]
    assert " ".join(first.split()[:4]) in listed
    said = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "140"})
    assert said.exit_code == 0
    options = [
        line for line in said.output.splitlines() if line.startswith("│ ") and line[2:].lstrip(" *").startswith("--")
    ]
    own = [line for line in options if not any(shared in line for shared in SHARED)]
    assert (len(own) > 10) is (name in MANY), own
    assert any("--out" in line for line in own), "every command writes what it found"


def panels(command: str) -> dict[str, int]:
    """The panels of a command's help, and how many options each has."""
    said = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "140"}).output
    found: dict[str, int] = {}
    for line in said.splitlines():
        if line.startswith("╭─ "):
            found[line.strip("╭─╮ ")] = 0
        elif line.startswith("│ ") and line[2:].lstrip(" *").startswith("--") and "--all " not in line:
            found[list(found)[-1]] += 1
    return found


def test_many_options_stand_in_groups_of_at_most_ten() -> None:
    assert len(panels("compare")) == 1
    for name in MANY:
        found = {title: options for title, options in panels(name).items() if options}
        assert len(found) >= 4
        assert max(found.values()) <= 10


def test_one_console_says_everything() -> None:
    """So that NO_COLOR, pipes and COLUMNS are respected by every command, as by the one that is tried below."""
    made = {
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "spec_math").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Console", "print")
    }
    # A worker of the field's answers on its standard output, which its parent reads.
    assert made == {"spec_math/cli/run.py", "spec_math/field/worker.py"}


def test_names_between_colons_are_shown_as_they_are(tmp_path: Path) -> None:
    # rich reads :x: and :one: as pictures; they stand in MODULE:NAME: what is wrong with it.
    (tmp_path / "mine.py").write_text("x = 3\n")
    result = CliRunner().invoke(app, ["compare", "--scheme", f"{tmp_path}/mine.py:x"])
    assert (result.exit_code, "mine.py:x: a Scheme or a function" in result.output) == (2, True)
    out = tmp_path / ":fire:"
    result = CliRunner().invoke(app, ["explain", "--target", "1/2,1/2", "--draft", "1/2,1/2", "--out", str(out)])
    assert (result.exit_code, f" files: {out}/" in result.output) == (0, True)


@pytest.mark.parametrize("command", ["compare", "blocks", "explain", "generate"])
def test_a_negative_seed_is_refused_by_its_name(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--seed", "-1"], env={"COLUMNS": "120"})
    assert (result.exit_code, "Invalid value for '--seed': must be at least 0; got -1" in result.output) == (2, True), (
        result.output
    )


def explained(*arguments: str) -> str:
    return CliRunner().invoke(app, ["explain", *arguments], env={"COLUMNS": "200"}).output


def test_explain_wants_both_laws_or_none() -> None:
    """The other one was that of the default, of another length or, worse, of the same."""
    assert "error: --target and --draft come together; only one was given" in explained("--target", "1/2,1/4,1/8,1/8")
    assert "The acceptance of" in explained()


def test_a_draw_among_drafts_is_no_token() -> None:
    found = explained("--scheme", "optimal", "--target", "1/2,1/2", "--draft", "1/2,1/2", "--k", "5")
    assert "draw from (1/5, 1/5, 1/5, 1/5, 1/5) with u = 0.6066: number 3, counted from 0" in found
    assert "token 3" not in found
    assert "draw from (1/2, 1/2) with u = 0.6370: token 1" in found


def test_a_command_that_is_not_there_is_a_sentence() -> None:
    result = CliRunner().invoke(app, ["compares"])
    assert result.exit_code == 2
    assert "No such command 'compares'" in result.output


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    code = "from spec_math.cli import main; main()"
    clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=clean | environment, check=False
    )


def test_columns_and_no_color_are_respected_in_a_pipe() -> None:
    narrow = run("explain", "--seed", "1", COLUMNS="60")
    assert narrow.returncode == 0, narrow.stderr
    assert max(map(len, narrow.stdout.splitlines())) <= 60
    wide = run("explain", "--seed", "1", COLUMNS="200")
    assert max(map(len, wide.stdout.splitlines())) > 60
    assert "\x1b[" not in narrow.stdout + wide.stdout
    coloured = run("explain", "--seed", "1", FORCE_COLOR="1")
    assert "\x1b[" in coloured.stdout
    assert "\x1b[3" not in run("explain", "--seed", "1", FORCE_COLOR="1", NO_COLOR="1").stdout


def test_a_reader_who_leaves_is_no_error() -> None:
    """As `| head` does: the pipe is closed before anything is written to it. The control: read to the end it is 0."""
    code = "from spec_math.cli import main; main()"
    command = [sys.executable, "-c", code, "explain", "--target", "2/5,3/5", "--draft", "3/4,1/4"]
    read, written = os.pipe()
    with os.fdopen(written, "wb") as pipe:
        with os.fdopen(read, "rb"):
            """Nobody reads."""
        left = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, text=True, check=False)
    assert (left.returncode, left.stderr) == (141, "")
    assert run(*command[3:]).returncode == 0


def test_a_file_that_is_not_there_is_named_without_the_systems_number() -> None:
    for command in (["overlap", "gone.json", "gone.json"], ["check", "gone.json"]):
        said = CliRunner().invoke(app, command)
        assert said.exit_code == 2
        assert "error: gone.json: there is no such file" in said.output.replace("\n", " ")
