"""Measure rules that change the law on purpose."""

from __future__ import annotations

from typing import Annotated

import typer

from spec_math.cli.options import LawOption, OutOption
from spec_math.cli.run import study


def lossy(  # noqa: PLR0913 - typer takes an argument an option
    target: LawOption = None,
    draft: Annotated[str | None, typer.Option(help="File of the draft's laws, of the same shape.")] = None,
    logits: Annotated[bool, typer.Option(help="The files hold logits, not probabilities.")] = False,
    k: Annotated[int, typer.Option("--k", help="Drafts of the rules that take several.")] = 2,
    rule: Annotated[list[str] | None, typer.Option(help="A rule, some words of its name; may be repeated.")] = None,
    bias: Annotated[str, typer.Option(help="Total variation a token at which rules are compared.")] = "0.05",
    length: Annotated[int, typer.Option(help="Tokens of the text whose total variation is bounded.")] = 10,
    positions: Annotated[int, typer.Option(help="Positions looked at, evenly spaced.")] = 24,
    out: OutOption = None,
) -> None:
    """Say what lossy rules gain, how far they are from the target, and what any rule could gain at that distance.

    Typical acceptance, lenience, ensembles, Cactus, mentored decoding, fuzzy, cascades, relaxed thresholds: each over
    its parameter, beside the frontier min(1, α* + total variation); MARS too where --logits are given. Without files
    it looks at both embedded pairs of models, prose and source code.

    [bold]Examples[/bold]

      spec-math lossy

      spec-math lossy --rule typical --rule lenience --bias 0.02 --out lossy

      spec-math lossy --target t.npy --draft d.npy --logits
    """
    from spec_math.studies.lossy import study as of_lossy

    asked = of_lossy.LossyRequest(target, draft, logits, k, tuple(rule or ()), bias, length, positions)
    study(lambda progress: of_lossy.study(asked, progress), out)
