"""The commands frontier and record: all methods under a budget of verified nodes, also on recorded models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spec_math.cli.options import CostsOption, DraftModelOption, OutOption, SeedOption, TargetModelOption, option
from spec_math.cli.run import study


def frontier(  # noqa: PLR0913 - typer takes an argument an option
    target: TargetModelOption = None,
    draft: DraftModelOption = None,
    nodes: Annotated[str, option("Budgets of verified nodes, separated by commas.")] = "4,8,16,32,64",
    temperature: Annotated[str, option("Temperatures of the target, separated by commas.")] = "1,0.7,0.4",
    draft_temperature: Annotated[float | None, option("Temperature of the draft; by default the target's.")] = None,
    batch: Annotated[int, option("Number of texts decoded at once.")] = 1,
    costs: CostsOption = "",
    samples: Annotated[
        int, option("Largest number of samples for each temperature; sampling ends when the answer is known.")
    ] = 2_000,
    out: OutOption = None,
    seed: SeedOption = 0,
) -> None:
    """Recommend drafts and a verifier for a budget of verified nodes, and show every method's best tree and bounds.

    Without files the command uses two embedded pairs of models, one of documentation and one of Python source code.
    You can also pass your own two models as tables.

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
    folder: Annotated[Path, typer.Argument(help="Folder for the distributions; an interrupted run continues from it.")],
    target: Annotated[
        str | None, option("The target model: a folder, or the name of one that transformers has downloaded.")
    ] = None,
    draft: Annotated[str | None, option("The draft model, with the same vocabulary.")] = None,
    text: Annotated[Path | None, option("A text file; decoding starts after prefixes of this text.")] = None,
    nodes: Annotated[str, option("Budgets of verified nodes, separated by commas.")] = "4,8,16,32,64",
    temperature: Annotated[str, option("Temperatures of both models, separated by commas.")] = "1",
    costs: CostsOption = "",
    samples: Annotated[int, option("Number of sampled blocks for each temperature.")] = 60,
    keep: Annotated[
        int, option("Number of tokens kept of each distribution; the remaining probability is spread evenly.")
    ] = 512,
    out: OutOption = None,
    seed: SeedOption = 0,
) -> None:
    """Record the distributions of your own two models, and recommend drafts and a verifier.

    With --target, --draft and --text, the command records distributions and compares the methods on them. With the
    folder alone, the command compares the methods on the distributions that were recorded there before.

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
        live = live_pair(target, draft, text, samples, keep) if target and draft and text else None
        return recording.recorded(folder, live, asked, progress)

    study(work, out)


def live_pair(target: str, draft: str, text: Path, samples: int, keep: int) -> Any:
    """Return two models of transformers with prefixes of a text, over one vocabulary."""
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
