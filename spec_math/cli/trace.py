"""Audit recorded speculation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spec_math.cli.run import study

# Written here too, so that --help loads no kernel; a test holds them to the study's.
TOLERANCE = 1e-5
BUGS = ("none", "block", "residual", "accept", "bonus", "temperature", "greedy")


def trace(  # noqa: PLR0913 - typer takes an argument an option
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Shards (.safetensors, .parquet) or folders of them.")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for page, CSV, JSON, pictures, and what is kept to go on from.")
    ] = Path("out/trace"),
    alpha: Annotated[
        float, typer.Option(help="False-positive rate: at most this share of right engines is refuted.")
    ] = (1e-6),
    tolerance: Annotated[float, typer.Option(help="Total variation that counts as rounding.")] = TOLERANCE,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786; else threads.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Threads, where there is no scheduler; one a core.")] = None,
    bug: Annotated[
        str | None,
        typer.Option(help=f"Without shards: record the default with a bug, {', '.join(BUGS)}."),
    ] = None,
) -> None:
    """Audit recorded speculation: evidence against losslessness, acceptance and where it is lost, loops, drafts.

    A trace holds, for each emitted token, the target's and the draft's logits, the draft and the token; how to record
    one is shown in docs/how_to/record_a_trace.md. Without shards it records two n-gram models and audits those.
    What was audited is kept in the output folder: interrupted, the same command goes on, with the same evidence.

    Exit codes: 0 nothing refuted, 1 a contract is broken, 2 bad input, or a shard that could not be read, 3 too few
    tokens to refute anything.

    [bold]Examples[/bold]

      spec-math trace recorded/ --out audit

      spec-math trace a.safetensors b.parquet --alpha 1e-9

      spec-math trace recorded/ --scheduler tcp://10.0.0.1:8786

      spec-math trace --bug residual
    """
    from spec_math.render.output import ENDINGS
    from spec_math.studies.traces import study as of_traces

    folder = out.parent if out.suffix in ENDINGS else out
    asked = of_traces.TraceRequest(tuple(paths or ()), folder / "shards", alpha, tolerance, scheduler, workers, bug)
    study(lambda progress: of_traces.study(asked, progress), out)
