"""Prove the theorems for every law."""

from __future__ import annotations

from typing import Annotated

import typer

from spec_math.cli.options import OutOption, SchemeOption
from spec_math.cli.run import study
from spec_math.symbolic.trial import SEED


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
    seed: Annotated[int, typer.Option(help="Seed of the laws that what is proved is tried on.")] = SEED,
    out: OutOption = None,
) -> None:
    """Prove for ALL laws on a few tokens that verifiers are lossless, and accept what their formulas say.

    The library's own programs run on symbols in place of masses; z3 discards what no law can reach. What is proved is
    then tried on rational laws with ties and zeros. A theorem that fails comes with a counterexample in fractions.
    Exit codes: 0 all proved, 1 one is refuted, 2 bad input, 3 one is left open and none refuted.

    [bold]Examples[/bold]

      spec-math prove "recursive rejection: lossless" "SpecHub"

      spec-math prove --scheme mypackage.verifiers:mine --tokens 2,3
    """
    from spec_math.studies.proofs import study as of_proofs

    wanted = of_proofs.Wanted(tuple(words or ()), quick, tuple(scheme or ()), tokens, k, jobs, limit, seed)
    study(
        (lambda _: of_proofs.listed(wanted)) if only_list else lambda progress: of_proofs.study(wanted, progress), out
    )
