"""Generate text block by block."""

from __future__ import annotations

from typing import Annotated

import typer

from spec_math.cli.options import DraftModelOption, MethodOption, PrefixOption, SeedOption, TargetModelOption
from spec_math.cli.run import run
from spec_math.report.blocks import commands as block_commands
from spec_math.report.blocks.commands import BlockExample


def generate(  # noqa: PLR0913
    tokens: Annotated[int, typer.Option(help="How many tokens, at least.")] = 100,
    method: MethodOption = "chain priorities",
    k: Annotated[int, typer.Option("--k", help="Drafted paths.")] = 4,
    lookahead: Annotated[int, typer.Option(help="Drafted tokens a path.")] = 4,
    seed: SeedOption = 0,
    target_model: TargetModelOption = None,
    draft_model: DraftModelOption = None,
    prefix: PrefixOption = "",
) -> None:
    """Generate text block by block, each token marked: drafted and accepted, rejected, or the target's own.

    Where there are no colours (a pipe, NO_COLOR) the marks are brackets.

    [bold]Example[/bold]

      spec-math generate --tokens 200 --method block --seed 3
    """
    asked = BlockExample(method, k, lookahead, seed, target_model, draft_model, prefix)
    run(lambda console, _: block_commands.generate(asked, tokens, console))
