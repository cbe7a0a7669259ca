"""Generate text block by block."""

from __future__ import annotations

from typing import Annotated

import typer

from spec_math.cli.options import (
    DraftModelOption,
    MethodOption,
    OutOption,
    PrefixOption,
    SeedOption,
    TargetModelOption,
)
from spec_math.cli.run import study


def generate(  # noqa: PLR0913 - typer takes an argument an option
    tokens: Annotated[int, typer.Option(help="How many tokens, at least.")] = 100,
    method: MethodOption = "chain priorities",
    k: Annotated[int, typer.Option("--k", help="Drafted paths.")] = 4,
    lookahead: Annotated[int, typer.Option(help="Drafted tokens a path.")] = 4,
    seed: SeedOption = 0,
    target: TargetModelOption = None,
    draft: DraftModelOption = None,
    prefix: PrefixOption = "",
    out: OutOption = None,
) -> None:
    """Generate text block by block, each token marked: drafted and accepted, rejected, or the target's own.

    Where there are no colours (a pipe, NO_COLOR) the marks are brackets.

    [bold]Example[/bold]

      spec-math generate --tokens 200 --method block --seed 3
    """
    from spec_math.studies.blocks import study as of_blocks

    asked = of_blocks.BlockExample(method, k, lookahead, seed, target, draft, prefix)
    study(lambda _: of_blocks.generate(asked, tokens), out)
