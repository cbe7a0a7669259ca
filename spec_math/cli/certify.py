"""Certify the optimal acceptance of given laws."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spec_math.cli.options import DraftLawOption, DraftsOption, ExactDraftOption, ExactLawOption, WeightsOption
from spec_math.cli.run import study


def certify(  # noqa: PLR0913 - typer takes an argument an option
    target: ExactLawOption = None,
    draft: ExactDraftOption = None,
    k: Annotated[int | None, typer.Option("--k", help="How many drafts of one law; 1 by default.")] = None,
    drafts: DraftsOption = "independent",
    draft_law: DraftLawOption = None,
    weights: WeightsOption = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for certificate.json, page, CSV, JSON and picture; FILE.json: the certificate."),
    ] = None,
) -> None:
    """Certify how often any verifier can keep a draft: the exact optimum of given laws, with a proof to hand on.

    The certificate holds a coupling that reaches the value and a subset of tokens that shows that nothing exceeds it.
    spec-math check judges it, and so do fifteen lines that import nothing of ours: examples/check_a_certificate.py.

    [bold]Examples[/bold]

      spec-math certify --target 2/5,3/5 --draft 3/4,1/4 --k 2 --out certificate.json

      spec-math certify --target 5,3,2 --draft 1,2,3 --k 3 --drafts greedy --weights --out proof

      spec-math certify --target t.json --draft first.json --draft second.json
    """
    from spec_math.studies import certificates

    asked = certificates.LawsRequest(target, tuple(draft or ()), k, drafts, draft_law, weights)
    study(lambda _: certificates.certify(asked), out)
