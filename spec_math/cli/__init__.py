"""The command line: spec-math COMMAND. Errors are sentences, exit codes are for scripts.

A command's module is loaded when it is run: the list of commands reads their first sentences from their files alone.
"""

from __future__ import annotations

import ast
import re
import sys
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from spec_math.cli.interrupt import INTERRUPTED, guard, interruptible
from spec_math.cli.options import for_all

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


HEADS = "[bold]Example[/bold]", "[bold]Examples[/bold]"
"""What stands above the examples of a docstring."""


class _Command(TyperCommand):
    """A command whose help wraps to the terminal's width and ends with its examples, which can be copied whole."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from spec_math.cli.run import console_on

        parts = cleandoc(self.help or "").split("\n\n")
        examples = [part.strip() for part in parts if part.startswith("  ")]
        prose = [" ".join(part.split()) for part in parts if part.strip() not in examples and part not in HEADS]
        self.help = "\n\n".join(prose)
        super().format_help(ctx, formatter)
        console = console_on(sys.stdout)
        console.print("Examples:" if len(examples) > 1 else "Example:", style="bold")
        for example in examples:
            console.print(_broken(example, console.width), markup=False, soft_wrap=True)


def _broken(example: str, width: int) -> str:
    """Return an example in lines of a width where its options allow it; the shell reads them as one."""
    lines: list[str] = []
    for part in re.split(r" (?=--)", example):
        if lines and len(lines[-1]) + len(part) + 3 <= width:
            lines[-1] += f" {part}"
        else:
            lines.append(f"{'    ' if lines else '  '}{part}")
    return " \\\n".join(lines)


class _Named(_Command):
    """A command by its name and what its docstring says; what it takes is known once its module is loaded."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, help=_said(name), rich_markup_mode="rich")

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        name = self.name or ""
        loaded = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
        loaded.command(name, cls=_Command)(getattr(import_module(f"spec_math.cli.{COMMANDS[name]}"), name))
        command = typer.main.get_command(loaded)
        if name != "report":  # its tables stand on pages
            shared = typer.Typer(add_completion=False)
            shared.command()(for_all)
            command.params += typer.main.get_command(shared).params
        return command.make_context(info_name, args, parent, **extra)


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
