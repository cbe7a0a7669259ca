"""Write the report page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spec_math.cli.options import PositionsOption, SeedOption
from spec_math.cli.run import run
from spec_math.report import commands


def report(
    out: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("out/report.html"),
    positions: PositionsOption = 2000,
    seed: SeedOption = 0,
) -> None:
    """Write one self-contained HTML page on the embedded default: tables, pictures, and what each number means.

    [bold]Example[/bold]

      spec-math report --out page.html --positions 500
    """
    run(lambda console, progress: commands.report(out, positions, seed, console, progress))
