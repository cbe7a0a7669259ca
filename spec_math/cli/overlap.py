"""Show what two vocabularies share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spec_math.cli.run import run
from spec_math.report.vocabularies import overlap as overlap_command
from spec_math.report.vocabularies.overlap import OverlapRequest


def overlap(
    first: Annotated[Path, typer.Argument(help="A vocabulary file.")],
    second: Annotated[Path, typer.Argument(help="Another one.")],
    text: Annotated[Path | None, typer.Option(help="Compare also the tokens read in this text alone.")] = None,
    out: Annotated[Path | None, typer.Option(help="SVG file for the bars.")] = None,
) -> None:
    """Show what two vocabularies share, by bytes and by raw keys, and what either cannot spell of the other.

    [bold]Example[/bold]

      spec-math overlap llama/tokenizer.json qwen2/tokenizer.json --out overlap.svg
    """
    request = OverlapRequest(first, second, text, out)
    run(lambda console, progress: overlap_command.overlap(request, console, progress))
