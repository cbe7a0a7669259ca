"""Compare all methods under a budget of verified nodes."""

from __future__ import annotations

from typing import Annotated

import typer

from spec_math.cli.options import DraftModelOption, OutOption, SeedOption, TargetModelOption
from spec_math.cli.run import study


def frontier(  # noqa: PLR0913 - typer takes an argument an option
    target: TargetModelOption = None,
    draft: DraftModelOption = None,
    nodes: Annotated[str, typer.Option(help="Budgets of verified nodes, separated by commas.")] = "4,8,16,32,64",
    temperature: Annotated[str, typer.Option(help="Temperatures of the target, separated by commas.")] = "1,0.7,0.4",
    draft_temperature: Annotated[float | None, typer.Option(help="That of the draft; the target's if none.")] = None,
    batch: Annotated[int, typer.Option(help="Texts that are decoded at once.")] = 1,
    costs: Annotated[
        str, typer.Option(help="draft=0.05,knee=256,verify=0.0005: in plain calls of the target, the knee in tokens.")
    ] = "",
    samples: Annotated[int, typer.Option(help="Sampled blocks for each temperature.")] = 60,
    out: OutOption = None,
    seed: SeedOption = 0,
) -> None:
    """Say what to draft and how to verify it: every method in its best shape under a budget of nodes, and the bounds.

    Without files it compares both embedded pairs of models: prose, and Python's own source code. Two tables of one's
    own models take their place.

    [bold]Examples[/bold]

      spec-math frontier --samples 24 --nodes 8,32 --temperature 1,0.5

      spec-math frontier --target t.json --draft d.json --costs draft=0.1 --batch 8 --out frontier
    """
    from spec_math.studies.frontier import study as of_frontier

    asked = of_frontier.FrontierRequest(
        target, draft, nodes, temperature, draft_temperature, batch, costs, samples, seed
    )
    study(lambda progress: of_frontier.study(asked, progress), out)
