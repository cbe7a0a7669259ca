"""Compare every scheme at one position with the optimum, over many positions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spec_math.cli.options import (
    CompressOption,
    DraftOption,
    KOption,
    LawOption,
    OutOption,
    SchemeOption,
    SeedOption,
    SweepOption,
)
from spec_math.cli.run import study


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
    positions: Annotated[int, typer.Option(help="Positions looked at of the embedded default.")] = 2000,
    out: OutOption = None,
    seed: SeedOption = 0,
) -> None:
    """Compare every scheme with the optimum, over many positions.

    Without files it compares two n-gram models on held-out words of CPython's own documentation. Whole blocks are
    compared by spec-math blocks, drafters with another vocabulary by spec-math vocabularies.

    Exit codes: 0 every scheme is lossless, 1 one is lossy or its formula wrong, 2 bad input, 3 one is undecided.

    [bold]Examples[/bold]

      spec-math compare

      spec-math compare --target t.npy --draft d.npy --logits --out results

      spec-math compare --scheme mypackage.verifiers:mine --k 1,2,3
    """
    from spec_math.studies.positions import study as of_positions

    asked = of_positions.CompareRequest(
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
        seed=seed,
    )
    study(lambda told: of_positions.study(asked, told), out)
