"""Show the spellings of one token, or of all."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spec_math.cli.options import OutOption, VocabularyOption
from spec_math.cli.run import study


def psi(  # noqa: PLR0913 - typer takes an argument an option
    vocabulary: VocabularyOption,
    token: Annotated[
        str | None,
        typer.Argument(metavar="TOKEN", help="Text of a target token; without it all tokens are counted."),
    ] = None,
    target_vocabulary: Annotated[Path | None, typer.Option(help="The target's vocabulary, to have ψ as well.")] = None,
    draft: Annotated[
        str | None, typer.Option(help="File of the drafter's law, [V]: .npy, .npz or .safetensors; else uniform.")
    ] = None,
    text: Annotated[Path | None, typer.Option(help="A text whose token frequencies are the drafter's law.")] = None,
    lookahead: Annotated[
        int | None, typer.Option(help="Draft so many tokens; else until the first target token is determined.")
    ] = None,
    shortest: Annotated[int | None, typer.Option(help="Without TOKEN: only so many shortest tokens.")] = None,
    out: OutOption = None,
) -> None:
    """Show in how many ways a drafter can spell a token, the tree of them, and ψ: how often it drafts that token first.

    A vocabulary is a tokenizer.json, a tiktoken or SentencePiece file, or a JSON list of tokens: ["a", "ab"].

    [bold]Examples[/bold]

      spec-math psi hello --vocabulary qwen2/tokenizer.json --out hello.svg

      spec-math psi hello --vocabulary qwen2/tokenizer.json --target-vocabulary llama/tokenizer.json --text book.txt

      spec-math psi --vocabulary qwen2/tokenizer.json --shortest 150000 --out lengths.svg
    """
    from spec_math.studies.vocabularies import psi as of_psi

    asked = of_psi.PsiRequest(token, vocabulary, target_vocabulary, draft, text, lookahead, shortest)
    study(lambda progress: of_psi.study(asked, progress), out)
