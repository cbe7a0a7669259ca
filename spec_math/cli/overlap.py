"""Show what two vocabularies share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spec_math.cli.options import OutOption
from spec_math.cli.run import study


def overlap(
    first: Annotated[Path, typer.Argument(help="A vocabulary file.")],
    second: Annotated[Path, typer.Argument(help="Another one.")],
    text: Annotated[Path | None, typer.Option(help="Compare also the tokens read in this text alone.")] = None,
    out: OutOption = None,
) -> None:
    """Show what two vocabularies share, by bytes and by raw keys, and what either cannot spell of the other.

    [bold]Example[/bold]

      spec-math overlap llama/tokenizer.json qwen2/tokenizer.json --out overlap.svg
    """
    from spec_math.studies.vocabularies import overlap as of_two

    asked = of_two.OverlapRequest(first, second, text)
    study(lambda progress: of_two.study(asked, progress), out)
