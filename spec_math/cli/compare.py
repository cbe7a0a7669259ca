"""Compare every scheme, or all methods on blocks, over many positions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from spec_math.cli.options import (
    CompressOption,
    DraftModelOption,
    DraftOption,
    KOption,
    LawOption,
    PositionsOption,
    PrefixOption,
    SchemeOption,
    SeedOption,
    SweepOption,
    TargetModelOption,
)
from spec_math.cli.run import run
from spec_math.report import block_commands, commands
from spec_math.report.block_commands import Blocks


def compare(  # noqa: PLR0913 - typer takes an argument an option
    target: LawOption = None,
    draft: DraftOption = None,
    logits: Annotated[bool, typer.Option(help="The files hold logits, not probabilities.")] = False,
    k: KOption = "1,2,4,8",
    scheme: SchemeOption = None,
    sweep: SweepOption = None,
    compress: CompressOption = None,
    names: Annotated[Path | None, typer.Option(help="JSON list of the V token names.")] = None,
    position: Annotated[
        int | None, typer.Option(help="Position whose bounding subset is shown; else the one of least optimum.")
    ] = None,
    positions: PositionsOption = 2000,
    out: Annotated[Path | None, typer.Option(help="Folder for comparison.csv, .json and .svg, or blocks.*.")] = None,
    seed: SeedOption = 0,
    blocks: Annotated[bool, typer.Option("--blocks", help="Compare whole blocks: K paths of L tokens.")] = False,
    lookahead: Annotated[str, typer.Option(help="Drafted tokens a path, with --blocks.")] = "4,8",
    blocks_samples: Annotated[int, typer.Option(help="Sampled blocks, with --blocks.")] = Blocks.samples,
    target_model: TargetModelOption = None,
    draft_model: DraftModelOption = None,
    prefix: PrefixOption = "",
) -> None:
    """Compare every scheme with the optimum, over many positions; with --blocks all methods on paths and trees.

    Without files it compares two n-gram models on held-out words of CPython's own documentation. Small tables are
    added up exactly, with --blocks; what is larger is sampled, and says so.

    [bold]Examples[/bold]

      spec-math compare

      spec-math compare --target t.npy --draft d.npy --logits --out results

      spec-math compare --scheme mypackage.verifiers:mine --k 1,2,3

      spec-math compare --blocks --k 1,2,4,8 --lookahead 4,8 --out results

      spec-math compare --blocks --target-model t.json --draft-model d.json --k 1,2 --lookahead 2
    """
    asked = Blocks(target_model, draft_model, prefix, k, lookahead, blocks_samples, out, seed)
    if blocks:
        of_positions = {
            "--target": target,
            "--draft": draft,
            "--logits": logits,
            "--scheme": scheme,
            "--sweep": sweep,
            "--compress": compress,
            "--names": names,
            "--position": position,
        }
        run(lambda console, progress: block_commands.compare(asked, of_positions, console, progress))
        return
    request = commands.CompareRequest(
        target=target,
        drafts=tuple(draft or ()),
        logits=logits,
        ks=k,
        schemes=tuple(scheme or ()),
        sweep=sweep,
        compress=compress,
        names=names,
        position=position,
        positions=positions,
        out=out,
        seed=seed,
    )

    def positions_alone(console: Console, progress: Progress) -> int:
        block_commands.refuse_models(asked)
        return commands.compare(request, console, progress)

    run(positions_alone)
