"""Compare every scheme at one position with the optimum, over many positions."""

from __future__ import annotations

from typing import Annotated

import typer

from spec_math.cli.options import (
    DraftOption,
    FilterOption,
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
    filters: FilterOption = None,
    sweep: SweepOption = None,
    positions: Annotated[int, typer.Option(help="Positions looked at of the embedded default.")] = 2000,
    out: OutOption = None,
    seed: SeedOption = 0,
) -> None:
    """Compare every scheme with the optimum, over many positions.

    Without files it compares two n-gram models on held-out words of CPython's own documentation. Whole blocks are
    compared by spec-math blocks, drafters with another vocabulary by spec-math vocabularies, and one position is looked
    at by spec-math explain. A bare function is judged, and its acceptance estimated by running it.

    Exit codes: 0 every scheme is lossless, 1 one is lossy or its formula wrong, 2 bad input, 3 one is undecided.

    [bold]Examples[/bold]

      spec-math compare

      spec-math compare --target t.npy --draft d.npy --logits --out results

      spec-math compare --scheme mypackage/verifiers.py:mine --k 1,2,3

      spec-math compare --filter target.temperature=0.7,top_p=0.9 --filter draft.top_k=50

      spec-math compare --sweep draft.temperature=0.2:1.0:5
    """
    from spec_math.studies.positions import study as of_positions

    asked = of_positions.CompareRequest(
        target=target,
        drafts=tuple(draft or ()),
        logits=logits,
        ks=k,
        schemes=tuple(scheme or ()),
        filters=tuple(filters or ()),
        sweep=sweep,
        positions=positions,
        seed=seed,
    )
    study(lambda progress: of_positions.study(asked, progress), out)
