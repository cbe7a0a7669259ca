"""The commands frontier and record: all methods under a budget of verified nodes, also on recorded models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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

    Without files it compares both embedded pairs of models: prose, and Python's own source code. Or pass your own
    models as tables.

    [bold]Examples[/bold]

      spec-math frontier --samples 24 --nodes 8,32 --temperature 1,0.5

      spec-math frontier --target t.json --draft d.json --costs draft=0.1 --batch 8 --out frontier
    """
    from spec_math.studies.frontier import study as of_frontier

    asked = of_frontier.FrontierRequest(
        target, draft, nodes, temperature, draft_temperature, batch, costs, samples, seed
    )
    study(lambda progress: of_frontier.study(asked, progress), out)


def record(  # noqa: PLR0913 - typer takes an argument an option
    folder: Annotated[
        Path, typer.Argument(help="Where the distributions are kept; a run that ended early goes on there.")
    ],
    target: Annotated[str | None, typer.Option(help="The target: a name or folder that transformers loads.")] = None,
    draft: Annotated[str | None, typer.Option(help="The draft, over the same vocabulary.")] = None,
    text: Annotated[Path | None, typer.Option(help="A text whose beginnings are decoded from.")] = None,
    nodes: Annotated[str, typer.Option(help="Budgets of verified nodes, separated by commas.")] = "4,8,16,32,64",
    temperature: Annotated[str, typer.Option(help="Temperatures of both models, separated by commas.")] = "1",
    costs: Annotated[str, typer.Option(help="draft=0.05,knee=256,verify=0.0005, in plain calls of the target.")] = "",
    samples: Annotated[int, typer.Option(help="Sampled blocks for each temperature.")] = 60,
    keep: Annotated[
        int, typer.Option(help="Tokens that are kept of each distribution; the rest is spread evenly.")
    ] = 512,
    out: OutOption = None,
    seed: SeedOption = 0,
) -> None:
    """Record the distributions of two models of your own, and say what to draft and how to verify it.

    With the models and a text it records and compares; with the folder alone it compares what was recorded.

    [bold]Examples[/bold]

      spec-math record laws --target big --draft small --text prompts.txt

      spec-math record laws --costs draft=0.1 --out frontier
    """
    from spec_math.studies.frontier import study as recording
    from spec_math.studies.frontier.study import FrontierRequest

    asked = FrontierRequest(budgets=nodes, temperatures=temperature, costs=costs, samples=samples, seed=seed)

    def work(progress: Any) -> Any:
        given = [one is not None for one in (target, draft, text)]
        if any(given) and not all(given):
            raise ValueError("--target, --draft and --text come together; none of them compares what was recorded")
        live = None if target is None or draft is None or text is None else _live(target, draft, text, samples, keep)
        return recording.recorded(folder, live, asked, progress)

    study(work, out)


def _live(target: str, draft: str, text: Path, samples: int, keep: int) -> Any:
    from spec_math.studies.frontier.study import Header, LivePair
    from torch_bridge import causal_model

    models = [causal_model.load(name) for name in (target, draft)]
    if models[0].size != models[1].size:
        raise ValueError(
            f"target and draft must be over one vocabulary; {target} has {models[0].size} tokens, {draft} "
            f"{models[1].size}: spec-math vocabularies is about such pairs"
        )
    prefixes = causal_model.windows(target, text, samples)
    return LivePair(Header(target, draft, models[0].size, keep, prefixes), models[0], models[1])
