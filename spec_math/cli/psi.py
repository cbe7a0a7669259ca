"""Show the spellings of one token."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spec_math.cli.options import VocabularyOption
from spec_math.cli.run import run
from spec_math.report import vocabulary_commands


def psi(
    text: Annotated[str, typer.Argument(help="The text of a target token.")],
    vocabulary: VocabularyOption,
    target_vocabulary: Annotated[Path | None, typer.Option(help="The target's vocabulary, to have ψ as well.")] = None,
    out: Annotated[Path | None, typer.Option(help="JSON file for the numbers.")] = None,
) -> None:
    """Show in how many ways a drafter can spell a token, the tree of them, and perhaps ψ.

    [bold]Example[/bold]

      spec-math psi hello --vocabulary qwen2/tokenizer.json
    """
    request = vocabulary_commands.PsiRequest(text, vocabulary, target_vocabulary, out)
    run(lambda console, _: vocabulary_commands.psi(request, console))
