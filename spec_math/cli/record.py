"""Record two models' laws, and compare all methods on them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spec_math.cli.options import OutOption, SeedOption
from spec_math.cli.run import study


def record(  # noqa: PLR0913 - typer takes an argument an option
    folder: Annotated[Path, typer.Argument(help="Where the laws are kept; a run that ended early goes on there.")],
    target: Annotated[str | None, typer.Option(help="The target: a name or folder that transformers loads.")] = None,
    draft: Annotated[str | None, typer.Option(help="The draft, over the same vocabulary.")] = None,
    text: Annotated[Path | None, typer.Option(help="A text whose beginnings are decoded from.")] = None,
    nodes: Annotated[str, typer.Option(help="Budgets of verified nodes, separated by commas.")] = "4,8,16,32,64",
    temperature: Annotated[str, typer.Option(help="Temperatures of both models, separated by commas.")] = "1",
    costs: Annotated[str, typer.Option(help="draft=0.05,knee=256,verify=0.0005, in plain calls of the target.")] = "",
    samples: Annotated[int, typer.Option(help="Sampled blocks for each temperature.")] = 60,
    keep: Annotated[int, typer.Option(help="Tokens that are kept of each law; the rest is spread evenly.")] = 512,
    out: OutOption = None,
    seed: SeedOption = 0,
) -> None:
    """Record the laws of two models of your own, as they are asked for, and say what to draft and how to verify it.

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
