"""Write the report page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spec_math.cli.options import PositionsOption, SeedOption
from spec_math.cli.run import run, told_by

if TYPE_CHECKING:
    from rich.console import Console


def report(
    out: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("out/report.html"),
    positions: PositionsOption = 2000,
    seed: SeedOption = 0,
) -> None:
    """Write one self-contained HTML page on the embedded default: tables, pictures, and what each number means.

    [bold]Example[/bold]

      spec-math report --out page.html --positions 500
    """
    run(lambda console, progress: _report(out, positions, seed, console, progress))


def _report(out: Path, positions: int, seed: int, console: Console, progress: Any) -> int:
    from spec_math.files.whole import check_writable, write_whole
    from spec_math.studies import overview

    if out.is_dir():
        raise IsADirectoryError(f"{out}: a folder; --out names the page, such as out/report.html")
    check_writable(out.parent)
    page = overview.page(positions, seed, told_by(progress))
    progress.stop()
    console.print(f"The report is at {write_whole(out, page).resolve()}", markup=False, soft_wrap=True)
    return 0
