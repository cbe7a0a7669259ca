"""The command advise: from recorded logits and measured latencies to a method and its speed-up."""

from __future__ import annotations

from typing import Annotated

import typer

from spec_math.cli.options import FilterOption, OutOption, SeedOption
from spec_math.cli.run import study

RECORDING, COSTS, LIMITS, TEXT, RESULT = "Recording", "Latencies", "Limits", "Sampling", "Result"


def _several(help_: str) -> typer.models.OptionInfo:
    return typer.Option(help=help_, rich_help_panel=RECORDING)


def advise(  # noqa: PLR0913 - typer takes an argument an option
    target: Annotated[
        list[str] | None,
        _several("The target's logits or probabilities \\[tokens, V], a file or PATH:NAME; repeat for more documents."),
    ] = None,
    draft: Annotated[list[str] | None, _several("The draft's, in the form of --target.")] = None,
    tokens: Annotated[
        list[str] | None, _several("The text: whole numbers \\[tokens]. Row p is the distribution of token p.")
    ] = None,
    documents: Annotated[
        str,
        typer.Option(
            help="Lengths of the documents, separated by commas; or a file of lengths or of a document number a token.",
            rich_help_panel=RECORDING,
        ),
    ] = "",
    logits: Annotated[
        bool, typer.Option(help="The files contain logits, not probabilities.", rich_help_panel=RECORDING)
    ] = False,
    costs: Annotated[
        str,
        typer.Option(
            help="Latencies, such as 'target=1:20ms,8:21ms±0.5ms; draft=1:1ms,4:1.1ms; verify=0.02ms; drafting=0.1ms', "
            "or a CSV file with the columns call,size,latency,spread. Sizes: tokens in a target call (K L + 1), texts "
            "in a draft step (K), verified nodes. A number alone holds for all sizes, and verify for each node.",
            rich_help_panel=COSTS,
        ),
    ] = "",
    method: Annotated[
        list[str] | None,
        typer.Option(help="Some words of a method that your engine has; may be repeated.", rich_help_panel=LIMITS),
    ] = None,
    k: Annotated[
        str, typer.Option("--k", help="Numbers of chains, separated by commas.", rich_help_panel=LIMITS)
    ] = "1,2,4,8",
    lookahead: Annotated[int, typer.Option(help="The most drafted tokens a chain.", rich_help_panel=LIMITS)] = 8,
    nodes: Annotated[int, typer.Option(help="The most verified nodes a call.", rich_help_panel=LIMITS)] = 64,
    temperature: Annotated[
        float | None, typer.Option(help="Temperature of both models, by default 1.", rich_help_panel=TEXT)
    ] = None,
    filters: FilterOption = None,
    text_of: Annotated[
        str,
        typer.Option(
            help="The writer of the text: target (with --temperature and --filter), draft, filters of the target such "
            "as temperature=1, or a file of the writer's rows. Values are then weighted.",
            rich_help_panel=TEXT,
        ),
    ] = "target",
    samples: Annotated[
        int, typer.Option(help="Number of texts that models without a recording write.", rich_help_panel=RESULT)
    ] = 20,
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

    places, drafts, texts = (tuple(given or ()) for given in (target, draft, tokens))
    methods, filtered = tuple(method or ()), tuple(filters or ())
    asked = of_advice.AdviceRequest(
        *(places, drafts, texts, documents, logits, costs, methods),
        *(k, lookahead, nodes, temperature, filtered, text_of, samples, seed),
    )
    study(lambda progress: of_advice.study(asked, progress), out)
