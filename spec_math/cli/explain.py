"""Explain one verification, coin by coin."""

from __future__ import annotations

from typing import Annotated

import typer

from spec_math.cli.options import BlockSeedOption, DraftModelOption, MethodOption, PrefixOption, TargetModelOption
from spec_math.cli.run import run
from spec_math.report import commands
from spec_math.report.blocks import commands as block_commands
from spec_math.report.blocks.commands import BlockExample


def explain(  # noqa: PLR0913
    scheme: Annotated[str, typer.Option(help="Name of a scheme (its beginning is enough), or module:name.")] = "K-SEQ",
    target: Annotated[str, typer.Option(help="The target law, masses separated by commas.")] = "1/2,1/4,1/8,1/8",
    draft: Annotated[str, typer.Option(help="The draft law.")] = "1/8,1/4,1/4,3/8",
    k: Annotated[int | None, typer.Option("--k", help="How many drafts, or paths: 2, and 6 with --blocks.")] = None,
    seed: BlockSeedOption = None,
    blocks: Annotated[bool, typer.Option("--blocks", help="Run one block of K paths of L tokens.")] = False,
    method: MethodOption = BlockExample.method,
    lookahead: Annotated[int, typer.Option(help="Drafted tokens a path, with --blocks.")] = BlockExample.lookahead,
    target_model: TargetModelOption = None,
    draft_model: DraftModelOption = None,
    prefix: PrefixOption = "",
) -> None:
    """Run one verification step by step: every coin, its threshold, its answer, as bars and sentences.

    With --blocks and no seed it looks for a run shaped like SpecTr's Figure 4: 6, 3, 2 and 1 drafts that agree.

    [bold]Examples[/bold]

      spec-math explain --scheme recursive --target 0.7,0.2,0.1 --draft 0.2,0.3,0.5 --k 3 --seed 7

      spec-math explain --blocks

      spec-math explain --blocks --method "chain priorities" --k 4 --seed 1
    """
    if blocks:
        asked = BlockExample(
            method, BlockExample.k if k is None else k, lookahead, seed, target_model, draft_model, prefix
        )
        run(lambda console, _: block_commands.explain(asked, console))
        return
    run(lambda console, _: commands.explain(scheme, target, draft, 2 if k is None else k, seed or 0, console))
