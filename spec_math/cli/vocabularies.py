"""Compare methods for heterogeneous vocabularies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spec_math.cli.options import OutOption, PrefixOption, SeedOption
from spec_math.cli.run import study


def vocabularies(  # noqa: PLR0913 - typer takes an argument an option
    target_vocabulary: Annotated[
        Path | None, typer.Argument(help="The target's vocabulary: tokenizer.json, tiktoken, SentencePiece or a list.")
    ] = None,
    draft_vocabulary: Annotated[Path | None, typer.Argument(help="The drafter's vocabulary.")] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "--target-model", help="The target: a file of laws, or a JSON table of a model."),
    ] = None,
    draft: Annotated[
        str | None, typer.Option("--draft", "--draft-model", help="The drafter, likewise, over its own vocabulary.")
    ] = None,
    logits: Annotated[bool, typer.Option(help="The files hold logits, not probabilities.")] = False,
    prefix: PrefixOption = "",
    lookahead: Annotated[str | None, typer.Option(help="Drafted tokens: 1,2,4,8,16; of tables 1,2,3.")] = None,
    draft_cost: Annotated[str, typer.Option(help="A drafter call in target calls.")] = "1/20",
    positions: Annotated[int | None, typer.Option(help="Positions that are looked at, 40 by default.")] = None,
    out: OutOption = None,
    seed: SeedOption = 0,
) -> None:
    """Compare union, TLI, SLEM, SLRS and TokenTiming for a drafter with another vocabulary, and say which one to take.

    Without files it compares drafters of words, byte pairs and bytes for an n-gram model of CPython's documentation.
    Tables are added up exactly; laws say what is accepted of a first draft, but not tokens per call.

    [bold]Examples[/bold]

      spec-math vocabularies --out results

      spec-math vocabularies llama/tokenizer.json qwen2/tokenizer.json --target t.npy --draft d.npy

      spec-math vocabularies T.json D.json --target t.json --draft d.json --draft-cost 1/10
    """
    from spec_math.studies.vocabularies import study as of_vocabularies

    asked = of_vocabularies.Vocabularies(
        target_vocabulary, draft_vocabulary, target, draft, logits, prefix, lookahead, draft_cost, positions, seed
    )
    study(lambda progress: of_vocabularies.study(asked, progress), out)
