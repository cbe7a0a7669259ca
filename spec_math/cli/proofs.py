"""The commands prove, certify and check: proofs for all distributions, and certificates of an optimum."""

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
    SchemeOption,
    WeightsOption,
)
from spec_math.cli.run import study


def certify(  # noqa: PLR0913 - typer takes an argument an option
    target: ExactLawOption = None,
    draft: ExactDraftOption = None,
    k: Annotated[int | None, typer.Option("--k", help="How many drafts of one distribution; 1 by default.")] = None,
    drafts: DraftsOption = "independent",
    draft_law: DraftLawOption = None,
    weights: WeightsOption = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for certificate.json, page, CSV, JSON and picture; FILE.json: the certificate."),
    ] = None,
) -> None:
    """Certify how often any verifier can keep a draft: the exact optimum, with a proof to hand on.

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


def check(  # noqa: PLR0913 - typer takes an argument an option
    certificate: Annotated[Path, typer.Argument(help="The file, as spec-math certify writes it.")],
    target: ExactLawOption = None,
    draft: ExactDraftOption = None,
    k: Annotated[int | None, typer.Option("--k", help="How many drafts of one distribution; 1 by default.")] = None,
    drafts: DraftsOption = "independent",
    draft_law: DraftLawOption = None,
    weights: WeightsOption = False,
    out: OutOption = None,
) -> None:
    """Check a certificate of an optimum with sums of fractions alone, whoever wrote it; no solver is called.

    Give your distributions too: a certificate can be true and about other distributions.

    Exit codes: 0 it holds, 1 it is rejected, with the first thing that is wrong, 2 the file is no certificate.

    [bold]Examples[/bold]

      spec-math check certificate.json

      spec-math check certificate.json --target 2/5,3/5 --draft 3/4,1/4 --k 2
    """
    from spec_math.studies import certificates

    asked = certificates.LawsRequest(target, tuple(draft or ()), k, drafts, draft_law, weights)
    study(lambda _: certificates.check(certificate, asked), out)


def prove(  # noqa: PLR0913 - typer takes an argument an option
    words: Annotated[
        list[str] | None, typer.Argument(help="Words of a theorem's name or scope; those that hold any are proved.")
    ] = None,
    scheme: SchemeOption = None,
    tokens: Annotated[str, typer.Option(help="Vocabulary sizes of --scheme, separated by commas.")] = "2,3",
    k: Annotated[
        str | None, typer.Option("--k", help="Numbers of i.i.d. drafts of --scheme; else 1, then 2 and 3.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Only proofs of up to two seconds.")] = False,
    only_list: Annotated[bool, typer.Option("--list", help="List the theorems, prove none.")] = False,
    jobs: Annotated[int, typer.Option(help="Proofs at a time.")] = 2,
    limit: Annotated[
        float | None,
        typer.Option(help="Seconds of processor time a theorem; 60 for --scheme without --k, else no limit."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the distributions on which what is proved is tried.")] = 13,
    out: OutOption = None,
) -> None:
    """Prove for ALL distributions on a few tokens that verifiers are lossless, and accept what their formulas say.

    The library's own programs run on symbols in place of masses. z3 discards the branches that no distribution reaches.
    What is proved is then tried on rational distributions with ties and zeros. A theorem that fails comes with a
    counterexample in fractions.
    Exit codes: 0 all proved, 1 one is refuted, 2 bad input, 3 one is left open and none refuted.

    [bold]Examples[/bold]

      spec-math prove "recursive rejection: lossless" "SpecHub"

      spec-math prove --scheme mypackage.verifiers:mine --tokens 2,3
    """
    from spec_math.studies import proofs as of_proofs

    wanted = of_proofs.Wanted(tuple(words or ()), quick, tuple(scheme or ()), tokens, k, jobs, limit, seed)
    study(
        (lambda _: of_proofs.listing(wanted)) if only_list else lambda progress: of_proofs.study(wanted, progress), out
    )
