"""The command advise: from recorded logits and measured latencies to a method and its speed-up."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from spec_math.cli.frontier import live_pair
from spec_math.cli.options import FilterOption, OutOption, SeedOption, option
from spec_math.cli.run import study

_recording, _costs, _limits, _text, _models = (
    partial(option, rich_help_panel=panel)
    for panel in ("Recording", "Latencies", "Limits", "Sampling", "Models without a recording")
)

DOCUMENTS = (
    "Lengths of the documents, separated by commas; or a file of lengths or of a document number for each token."
)
LATENCIES = (
    "Latencies, such as 'target=1:20ms,8:21ms±0.5ms; draft=1:1ms,4:1.1ms; verify=0.02ms; drafting=0.1ms', or a CSV "
    "file with the columns call,size,latency,spread. Sizes: tokens in a target call (K L + 1), texts in a draft step "
    "(K), verified nodes. A number alone holds for all sizes, and verify for each node."
)
WRITER = (
    "The writer of the text: target (with --temperature and --filter), draft, filters of the target such as "
    "temperature=1, or a file of the writer's rows. The values are then weighted."
)
TEXT = (
    "A text file. --target and --draft are then models, folders or names of those that transformers has downloaded, "
    "and the target goes on from prefixes of this text."
)


def advise(  # noqa: PLR0913 - typer takes an argument an option
    target: Annotated[
        str | None, _recording("The target's logits or probabilities \\[tokens, V], a file or PATH:NAME.")
    ] = None,
    draft: Annotated[str | None, _recording("The draft's, in the form of --target.")] = None,
    tokens: Annotated[str | None, _recording("The text: token p was drawn from row p of the target.")] = None,
    documents: Annotated[str, _recording(DOCUMENTS)] = "",
    logits: Annotated[bool, _recording("The files contain logits, not probabilities.", "--logits")] = False,
    costs: Annotated[str, _costs(LATENCIES)] = "",
    method: Annotated[list[str] | None, _limits("Words of a method that your engine has; may be repeated.")] = None,
    k: Annotated[str, _limits("Numbers of chains, separated by commas.")] = "1,2,4,8",
    lookahead: Annotated[int, _limits("The most drafted tokens a chain.")] = 8,
    nodes: Annotated[int, _limits("The most verified nodes a call.")] = 64,
    temperature: Annotated[float | None, _text("Temperature of both models, by default 1.")] = None,
    filters: FilterOption = None,
    text_of: Annotated[str, _text(WRITER)] = "target",
    text: Annotated[Path | None, _models(TEXT)] = None,
    samples: Annotated[int, _models("Number of texts that the target writes.")] = 20,
    out: OutOption = None,
    seed: SeedOption = 0,
) -> None:
    """Advise which method to take, with its speed-up, from recorded logits and measured latencies.

    Record both models' logits along text that your target wrote, and measure your latencies. With --text, two models
    that transformers can load take the place of a recording. So do two JSON tables; the values are then exact. Without
    files the command uses two embedded n-gram models.

    [bold]Examples[/bold]

      spec-math advise --target t.npy --draft d.npy --tokens x.npy --logits --costs "target=20ms; draft=1ms"

      spec-math advise --target big --draft small --text prompts.txt --costs latencies.csv

      spec-math advise --target t.json --draft d.json --costs latencies.csv --out advice
    """
    from spec_math.studies.advice import study as of_advice

    limits = tuple(method or ()), k, lookahead, nodes, temperature, tuple(filters or ())
    asked = of_advice.AdviceRequest(target, draft, tokens, documents, logits, costs, *limits, text_of, samples, seed)

    def work(progress: Any) -> Any:
        if text and not (target and draft):
            raise ValueError("--text goes with --target and --draft, two models that transformers can load")
        live = live_pair(target, draft, text, samples, 1) if text and target and draft else None
        return of_advice.study(asked, progress, live)

    study(work, out)
