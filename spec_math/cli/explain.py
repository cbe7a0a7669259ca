"""Explain one verification, coin by coin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spec_math.cli.options import BlockSeedOption, OutOption, PrefixOption
from spec_math.cli.run import study

if TYPE_CHECKING:
    from spec_math.result import Result


def explain(  # noqa: PLR0913 - typer takes an argument an option
    scheme: Annotated[
        str,
        typer.Option(
            "--scheme",
            "--method",
            help="Beginning of a scheme's name, or FILE:NAME; with --blocks, of a method's.",
        ),
    ] = "K-SEQ",
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "--target-model",
            help="The target's distribution: masses with commas, or FILE@POSITION of a file; with --blocks a table.",
        ),
    ] = None,
    draft: Annotated[
        str | None,
        typer.Option("--draft", "--draft-model", help="The draft's distribution, or its table with --blocks."),
    ] = None,
    k: Annotated[int | None, typer.Option("--k", help="How many drafts, or paths: 2, and 6 with --blocks.")] = None,
    names: Annotated[Path | None, typer.Option(help="JSON list of the V token names.")] = None,
    seed: BlockSeedOption = None,
    blocks: Annotated[bool, typer.Option("--blocks", help="Run one block of K paths of L tokens.")] = False,
    lookahead: Annotated[int, typer.Option(help="Drafted tokens a path, with --blocks.")] = 4,
    prefix: PrefixOption = "",
    out: OutOption = None,
) -> None:
    """Run one verification step by step: every coin, its threshold, its answer, as bars and sentences.

    It also shows what the scheme does over all coins, and the subset of tokens that bounds any verifier of these
    distributions. logits:FILE@17 is the softmax of position 17. With --blocks and no seed it looks for a run shaped
    like SpecTr's Figure 4: 6, 3, 2 and 1 drafts that agree.

    [bold]Examples[/bold]

      spec-math explain --scheme recursive --target 0.7,0.2,0.1 --draft 0.2,0.3,0.5 --k 3 --seed 7

      spec-math explain --target logits:t.npy@17 --draft logits:d.npy@17 --names names.json

      spec-math explain --blocks --scheme "chain priorities" --k 4 --seed 1
    """
    if blocks:
        from spec_math.studies.blocks import study as of_blocks

        tables = [None if place is None else Path(place) for place in (target, draft)]
        block = of_blocks.BlockExample(scheme, 6 if k is None else k, lookahead, seed, tables[0], tables[1], prefix)
        study(lambda _: of_blocks.explain(block), out)
    from spec_math.studies.positions import explanation

    usual = explanation.OneStep()
    step = explanation.OneStep(
        scheme,
        usual.target if target is None else target,
        usual.draft if draft is None else draft,
        usual.k if k is None else k,
        seed or usual.seed,
        names,
    )

    def explained() -> Result:
        if (target is None) != (draft is None):
            raise ValueError("--target and --draft come together; only one was given")
        return explanation.explained(step)

    study(lambda _: explained(), out)
