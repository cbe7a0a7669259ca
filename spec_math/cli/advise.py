"""The command advise: from recorded logits and measured latencies to a method and its speed-up."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from spec_math.cli.options import FilterOption, OutOption, SeedOption
from spec_math.cli.run import study

RECORDING, COSTS, LIMITS, TEXT, MODELS = "Recording", "Latencies", "Limits", "Sampling", "Models without a recording"


def _in(panel: str, said: str, *names: str) -> Any:
    return typer.Option(*names, help=said, rich_help_panel=panel)


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


def advise(  # noqa: PLR0913 - typer takes an argument an option
    target: Annotated[
        str | None, _in(RECORDING, "The target's logits or probabilities \\[tokens, V], a file or PATH:NAME.")
    ] = None,
    draft: Annotated[str | None, _in(RECORDING, "The draft's, in the form of --target.")] = None,
    tokens: Annotated[str | None, _in(RECORDING, "The text: token p was drawn from row p of the target.")] = None,
    documents: Annotated[str, _in(RECORDING, DOCUMENTS)] = "",
    logits: Annotated[bool, _in(RECORDING, "The files contain logits, not probabilities.", "--logits")] = False,
    costs: Annotated[str, _in(COSTS, LATENCIES)] = "",
    method: Annotated[list[str] | None, _in(LIMITS, "Words of a method that your engine has; may be repeated.")] = None,
    k: Annotated[str, _in(LIMITS, "Numbers of chains, separated by commas.", "--k")] = "1,2,4,8",
    lookahead: Annotated[int, _in(LIMITS, "The most drafted tokens a chain.")] = 8,
    nodes: Annotated[int, _in(LIMITS, "The most verified nodes a call.")] = 64,
    temperature: Annotated[float | None, _in(TEXT, "Temperature of both models, by default 1.")] = None,
    filters: FilterOption = None,
    text_of: Annotated[str, _in(TEXT, WRITER)] = "target",
    samples: Annotated[int, _in(MODELS, "Number of texts of 500 tokens that the target writes.")] = 20,
    out: OutOption = None,
    seed: SeedOption = 0,
) -> None:
    """Advise which method to take, with its speed-up, from recorded logits and measured latencies.

    Record both models' logits along text that your target wrote, and measure your latencies. Two JSON tables take the
    place of a recording; the values are then exact. Without files the command uses two embedded n-gram models.

    [bold]Examples[/bold]

      spec-math advise --target t.npy --draft d.npy --tokens x.npy --logits --costs "target=20ms; draft=1ms"

      spec-math advise --target t.json --draft d.json --costs latencies.csv --out advice
    """
    from spec_math.studies.advice import study as of_advice

    limits = tuple(method or ()), k, lookahead, nodes, temperature, tuple(filters or ())
    asked = of_advice.AdviceRequest(target, draft, tokens, documents, logits, costs, *limits, text_of, samples, seed)
    study(lambda progress: of_advice.study(asked, progress), out)
