"""The command line: spec-math COMMAND. Errors are sentences, exit codes are for scripts; one file a command."""

from __future__ import annotations

import typer

from spec_math.cli.audit import audit
from spec_math.cli.blocks import blocks
from spec_math.cli.compare import compare
from spec_math.cli.explain import explain
from spec_math.cli.generate import generate
from spec_math.cli.overlap import overlap
from spec_math.cli.prove import prove
from spec_math.cli.psi import psi
from spec_math.cli.report import report
from spec_math.cli.trace import trace
from spec_math.cli.vectors import vectors
from spec_math.cli.vocabularies import vocabularies

app = typer.Typer(
    name="spec-math",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Is this speculative decoder lossless, and how much faster could any be? Computed exactly.\n\n"
    "Exit codes: 0 all well, 1 a scheme was judged lossy, 2 bad input.",
)

for command in (compare, blocks, vocabularies, explain, generate, report, psi, overlap, audit, trace, prove, vectors):
    app.command()(command)


def main() -> None:
    """Run the command line, with errors as sentences on standard error and exit code 2.

    >>> main.__module__
    'spec_math.cli'
    """
    app()
