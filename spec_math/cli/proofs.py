"""The commands prove, certify and check: proofs for all distributions, and certificates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spec_math.cli.options import (
    CertificateOption,
    DraftLawOption,
    DraftsOption,
    ExactDraftOption,
    ExactLawOption,
    OutOption,
    SchemeOption,
    WeightsOption,
    option,
)
from spec_math.cli.run import study


def certify(  # noqa: PLR0913 - typer takes an argument an option
    target: ExactLawOption = None,
    draft: ExactDraftOption = None,
    k: Annotated[int | None, option("Number of drafts from a single --draft; by default 1.")] = None,
    drafts: DraftsOption = "independent",
    draft_law: DraftLawOption = None,
    weights: WeightsOption = False,
    out: Annotated[
        Path | None,
        option("Where to write: a folder for the certificate and its page, or FILE.json for the certificate alone."),
    ] = None,
    certificate: CertificateOption = None,
) -> None:
    """Compute the optimal acceptance of a target and its drafts exactly, with a proof that anyone can check.

    The certificate contains a coupling that reaches the optimum, and a set of tokens that proves that no verifier
    exceeds the optimum. To check a certificate, run spec-math check, or copy spec_math/certificates/check_paths.py,
    which imports nothing from this library.

    [bold]Examples[/bold]

      spec-math certify --target 2/5,3/5 --draft 3/4,1/4 --k 2 --out certificate.json

      spec-math certify --target 5,3,2 --draft 1,2,3 --k 3 --drafts greedy --weights --out proof

      spec-math certify --target t.json --draft first.json --draft second.json
    """
    from spec_math.studies import certificates

    asked = certificates.LawsRequest(target, tuple(draft or ()), k, drafts, draft_law, weights)
    study(lambda _: certificates.certify(asked, certificate), out)


def check(  # noqa: PLR0913 - typer takes an argument an option
    certificate: Annotated[Path, typer.Argument(help="Certificate of any kind: FILE.json, or FILE.json.gz.")],
    function: Annotated[
        str | None, option("Your function, to replay on each path of a certificate with paths.", metavar="FILE:NAME")
    ] = None,
    target: ExactLawOption = None,
    draft: ExactDraftOption = None,
    k: Annotated[int | None, option("Number of drafts from a single --draft; by default 1.")] = None,
    drafts: DraftsOption = "independent",
    draft_law: DraftLawOption = None,
    weights: WeightsOption = False,
    out: OutOption = None,
) -> None:
    """Check a certificate of any kind by adding and multiplying fractions, without a solver.

    The command reads certificates of verdicts (audit, blocks), of proofs (prove) and of optima (certify). Each kind
    has a checker of one file in spec_math/certificates, which imports nothing and can be copied elsewhere. A valid
    certificate may be about other distributions than yours. For an optimum, give yours with --target and --draft.

    Exit codes: 0 the certificate holds, 1 it does not (its first error is shown), 2 the file is not a certificate.

    [bold]Examples[/bold]

      spec-math check certificate.json

      spec-math check certificate.json --target 2/5,3/5 --draft 3/4,1/4 --k 2

      spec-math check verdict.json.gz --function sampling.py:verify
    """
    from spec_math.studies import certificates

    asked = certificates.LawsRequest(target, tuple(draft or ()), k, drafts, draft_law, weights)
    study(lambda _: certificates.check(certificate, asked, function), out)


def prove(  # noqa: PLR0913 - typer takes an argument an option
    words: Annotated[
        list[str] | None, typer.Argument(help="Prove only theorems whose name or scope contains one of these words.")
    ] = None,
    scheme: SchemeOption = None,
    tokens: Annotated[str, option("Vocabulary sizes of --scheme, separated by commas.")] = "2,3",
    k: Annotated[str | None, option("Numbers of i.i.d. drafts to prove --scheme for; by default 1, 2 and 3.")] = None,
    quick: Annotated[bool, option("Run only proofs that take at most two seconds.", "--quick")] = False,
    only_list: Annotated[bool, option("List the theorems without proving them.", "--list")] = False,
    jobs: Annotated[int, option("Number of proofs at a time.")] = 2,
    limit: Annotated[
        float | None,
        option("Most processor seconds per theorem; by default 60 for --scheme without --k, else no limit."),
    ] = None,
    seed: Annotated[int, option("Seed of the distributions on which each proved theorem is tried.")] = 13,
    certificate: Annotated[
        Path | None, option("File for the certificate of one theorem, or folder for those of several.")
    ] = None,
    out: OutOption = None,
) -> None:
    """Prove for ALL distributions on a few tokens that verifiers are lossless and their acceptance formulas correct.

    The command runs the code of the verifiers on symbols instead of probabilities. The solver z3 discards the branches
    that no distribution reaches. Each proved theorem is then tested on rational distributions with ties and zeros. For
    a refuted theorem the command prints a counterexample in fractions.

    Exit codes: 0 all theorems are proved, 1 one is refuted, 2 bad input, 3 none is refuted, but one is unproved.

    [bold]Examples[/bold]

      spec-math prove "recursive rejection: lossless" "SpecHub"

      spec-math prove --scheme mypackage.verifiers:mine --tokens 2,3

      spec-math prove "SpecHub: lossless" --certificate proofs
    """
    from spec_math.studies import proofs as of_proofs

    wanted = of_proofs.Wanted(tuple(words or ()), quick, tuple(scheme or ()), tokens, k, jobs, limit, seed, certificate)
    study(lambda progress: of_proofs.listing(wanted) if only_list else of_proofs.study(wanted, progress), out)
