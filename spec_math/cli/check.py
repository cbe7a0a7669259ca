"""Check anybody's certificate of an optimum."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spec_math.cli.options import (
    DraftLawOption,
    DraftsOption,
    ExactDraftOption,
    ExactLawOption,
    OutOption,
    WeightsOption,
)
from spec_math.cli.run import study


def check(  # noqa: PLR0913 - typer takes an argument an option
    certificate: Annotated[Path, typer.Argument(help="The file, as spec-math certify writes it.")],
    target: ExactLawOption = None,
    draft: ExactDraftOption = None,
    k: Annotated[int | None, typer.Option("--k", help="How many drafts of one law; 1 by default.")] = None,
    drafts: DraftsOption = "independent",
    draft_law: DraftLawOption = None,
    weights: WeightsOption = False,
    out: OutOption = None,
) -> None:
    """Check a certificate of an optimum with sums of fractions alone, whoever wrote it; no solver is called.

    Give your laws too: a certificate can be true and about other laws.

    Exit codes: 0 it holds, 1 it is rejected, with the first thing that is wrong, 2 the file is no certificate.

    [bold]Examples[/bold]

      spec-math check certificate.json

      spec-math check certificate.json --target 2/5,3/5 --draft 3/4,1/4 --k 2
    """
    from spec_math.studies import certificates

    asked = certificates.LawsRequest(target, tuple(draft or ()), k, drafts, draft_law, weights)
    study(lambda _: certificates.check(certificate, asked), out)
