"""Write the report page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spec_math.cli.options import KOption, LawOption, PositionsOption, SeedOption
from spec_math.cli.run import progress_of, run

if TYPE_CHECKING:
    from rich.console import Console

    from spec_math.studies.overview import ReportRequest

TITLE = "How much do speculative verifiers accept, and how much could any?"


def report(  # noqa: PLR0913 - typer takes an argument an option
    out: Annotated[
        Path, typer.Option(help="The page; or a folder, for CSV, JSON and pictures of each part as well.")
    ] = Path("out/report.html"),
    positions: PositionsOption = 2000,
    seed: SeedOption = 0,
    target: LawOption = None,
    draft: LawOption = None,
    logits: Annotated[bool, typer.Option(help="The files hold logits, not probabilities.")] = False,
    k: KOption = "1,2,4,8",
    target_model: Annotated[Path | None, typer.Option(help="JSON table of the target model, for blocks.")] = None,
    draft_model: Annotated[Path | None, typer.Option(help="JSON table of the draft model.")] = None,
    trace: Annotated[
        list[Path] | None, typer.Option(help="Shards of recorded speculation, or folders of them; may be repeated.")
    ] = None,
) -> None:
    """Write one self-contained HTML page: what was found in a sentence each, tables, pictures, what each number means.

    It is about your own files of distributions, tables of models and recorded traces; without any, about the default:
    one position, blocks, drafters with other vocabularies, and rules that are lossy by design.

    Exit codes: 0 done, 1 something is lossy, 2 bad input, 3 something is undecided.

    [bold]Examples[/bold]

      spec-math report --out page.html --positions 500

      spec-math report --target t.npy --draft d.npy --logits --trace recorded/ --out results
    """
    from spec_math.studies import overview
    from spec_math.studies.blocks.study import Blocks
    from spec_math.studies.positions.study import CompareRequest

    folder = out.parent if out.suffix == ".html" else out
    given = target is not None or draft is not None
    models = target_model is not None or draft_model is not None
    traces = None
    if trace:
        from spec_math.studies.traces.study import TraceRequest

        traces = TraceRequest(tuple(trace), folder / "shards")
    request = overview.ReportRequest(
        CompareRequest(target, () if draft is None else (draft,), logits, k, seed=seed) if given else None,
        Blocks(target_model, draft_model, ks=k, seed=seed) if models else None,
        traces,
        positions,
        seed,
    )
    run(lambda console, progress: _report(request, out, console, progress))


def _report(request: ReportRequest, out: Path, console: Console, progress: Any) -> int:
    from rich.text import Text

    from spec_math.files.whole import check_writable
    from spec_math.render.output import write_together
    from spec_math.render.playground import fragment
    from spec_math.studies import overview

    if out.suffix == ".html" and out.is_dir():
        raise IsADirectoryError(f"{out}: a folder; --out names the page, such as out/report.html, or another folder")
    if out.suffix not in ("", ".html"):
        raise ValueError(f"{out}: --out names a page, such as report.html, or a folder")
    check_writable(out.parent if out.suffix else out)
    found = overview.results(request, progress_of(progress), os.cpu_count() or 1)
    paths = write_together(found, TITLE, out, fragment())
    progress.stop()
    for said in (*(result.setting for result in found), *(result.finding for result in found)):
        if said:
            console.print(Text(said))
    console.print(f"The report is at {paths[0].resolve()}", markup=False, soft_wrap=True)
    codes = [result.exit_code for result in found]
    return 1 if 1 in codes else max(codes)
