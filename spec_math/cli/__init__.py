"""The command line: spec-math COMMAND. Errors are sentences, exit codes are for scripts.

A command's module is loaded when it is run: the list of commands reads their first sentences from their files alone.
"""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from spec_math.cli.interrupt import INTERRUPTED, guard, interruptible

COMMANDS = {
    "advise": "advise",
    "compare": "compare",
    "blocks": "blocks",
    "frontier": "frontier",
    "record": "frontier",
    "lossy": "compare",
    "vocabularies": "vocabularies",
    "explain": "compare",
    "generate": "blocks",
    "report": "report",
    "psi": "vocabularies",
    "overlap": "vocabularies",
    "audit": "audit",
    "trace": "audit",
    "engine": "engine",
    "prove": "proofs",
    "certify": "proofs",
    "check": "proofs",
    "vectors": "report",
}
"""Each command, in the order of --help, is a function of its name in the module of this package named here."""


class _Named(TyperCommand):
    """A command by its name and what its docstring says; what it takes is known once its module is loaded."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, help=_said(name), rich_markup_mode="rich")

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        name = self.name or ""
        loaded = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
        loaded.command(name)(getattr(import_module(f"spec_math.cli.{COMMANDS[name]}"), name))
        return typer.main.get_command(loaded).make_context(info_name, args, parent, **extra)


class _Commands(TyperGroup):
    """All commands by their names."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: _Named(name) for name in COMMANDS}


def _said(name: str) -> str:
    """Return the docstring of a command's function, from its file."""
    tree = ast.parse((Path(__file__).parent / f"{COMMANDS[name]}.py").read_text(encoding="utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    return next((ast.get_docstring(function) or "" for function in functions), "")


app = typer.Typer(
    name="spec-math",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback()
def commands() -> None:
    """Is this speculative decoder lossless, and how much faster could any be? Computed exactly.

    Exit codes: 0 lossless or done, 1 lossy, 2 bad input, 3 undecided.

    [bold]Example[/bold]

      spec-math compare --help
    """


def main() -> None:
    """Run the command line, with errors as sentences on standard error and exit code 2.

    Raises:
        SystemExit: always, with the exit code.
    """
    guard()
    try:
        with interruptible():
            app()
    except KeyboardInterrupt:  # while a command was loaded: what it does is interrupted in `run`
        _ = sys.stderr.write("interrupted; nothing was written\n")
        raise SystemExit(INTERRUPTED) from None
