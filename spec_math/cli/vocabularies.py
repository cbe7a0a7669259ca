"""The commands vocabularies, psi and overlap: drafters with another vocabulary than the target."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spec_math.cli.options import OutOption, PrefixOption, SeedOption, option
from spec_math.cli.run import study


def vocabularies(  # noqa: PLR0913 - typer takes an argument an option
    target_vocabulary: Annotated[
        Path | None,
        typer.Argument(
            help="The target's vocabulary: a tokenizer.json, tiktoken or SentencePiece file, or a JSON list."
        ),
    ] = None,
    draft_vocabulary: Annotated[Path | None, typer.Argument(help="The drafter's vocabulary.")] = None,
    target: Annotated[
        str | None,
        option("The target: a file of distributions, or a JSON table of a model.", "--target", "--target-model"),
    ] = None,
    draft: Annotated[
        str | None, option("The drafter, in the form of --target, with its own vocabulary.", "--draft", "--draft-model")
    ] = None,
    logits: Annotated[bool, option("The files contain logits, not probabilities.")] = False,
    prefix: PrefixOption = "",
    lookahead: Annotated[
        str | None, option("Numbers of drafted tokens; by default 1,2,4,8,16, for tables of models 1,2,3.")
    ] = None,
    draft_cost: Annotated[str, option("Cost of a drafter call in target calls.")] = "1/20",
    positions: Annotated[int | None, option("Number of positions to use; by default 40.")] = None,
    out: OutOption = None,
    seed: SeedOption = 0,
) -> None:
    """Recommend a method for a drafter with another vocabulary: union, TLI, SLEM, SLRS or TokenTiming.

    Without files the target is an n-gram model of CPython's documentation, and the tokens of the three drafters are
    words, byte pairs and bytes. For tables of models the values are exact. For files of distributions the command gives
    the acceptance of the first drafted token, but not the tokens per call.

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


def psi(  # noqa: PLR0913 - typer takes an argument an option
    vocabulary: Annotated[Path, option("The drafter's vocabulary: a tokenizer.json, tiktoken or SentencePiece file.")],
    token: Annotated[
        str | None, typer.Argument(metavar="TOKEN", help="Text of a target token; without it, all tokens are spelled.")
    ] = None,
    target_vocabulary: Annotated[
        Path | None, option("The target's vocabulary; the command needs it to compute ψ.")
    ] = None,
    draft: Annotated[
        str | None, option("File of the drafter's distribution [V]: .npy, .npz or .safetensors; by default uniform.")
    ] = None,
    text: Annotated[Path | None, option("A text file: its token frequencies are the drafter's distribution.")] = None,
    lookahead: Annotated[
        int | None, option("Most drafted tokens; by default drafting ends once the first target token is determined.")
    ] = None,
    shortest: Annotated[
        int | None, option("Without TOKEN: number of tokens to spell, beginning with the shortest.")
    ] = None,
    out: OutOption = None,
) -> None:
    """Count and draw a token's spellings in draft tokens; find ψ, the probability that a draft begins with the token.

    A vocabulary is a tokenizer.json, a tiktoken or SentencePiece file, or a JSON list of tokens: ["a", "ab"].

    [bold]Examples[/bold]

      spec-math psi hello --vocabulary qwen2/tokenizer.json --out hello.svg

      spec-math psi hello --vocabulary qwen2/tokenizer.json --target-vocabulary llama/tokenizer.json --text book.txt

      spec-math psi --vocabulary qwen2/tokenizer.json --shortest 150000 --out lengths.svg
    """
    from spec_math.studies.vocabularies import psi as of_psi

    asked = of_psi.PsiRequest(token, vocabulary, target_vocabulary, draft, text, lookahead, shortest)
    study(lambda progress: of_psi.study(asked, progress), out)


def overlap(
    first: Annotated[Path, typer.Argument(help="A vocabulary file.")],
    second: Annotated[Path, typer.Argument(help="Another vocabulary file.")],
    text: Annotated[Path | None, option("Also compare the tokens that occur in this text.")] = None,
    out: OutOption = None,
) -> None:
    """Show the tokens that two vocabularies share, by bytes and by raw keys, and the tokens that only one can spell.

    [bold]Example[/bold]

      spec-math overlap llama/tokenizer.json qwen2/tokenizer.json --out overlap.svg
    """
    from spec_math.studies.vocabularies import psi as of_two

    study(lambda progress: of_two.overlap(first, second, text, progress), out)
