"""The commands blocks and generate: methods on whole blocks compared, and text generated block by block."""

from __future__ import annotations

from typing import Annotated

from spec_math.cli.options import (
    CertificateOption,
    DraftModelOption,
    OutOption,
    PrefixOption,
    SeedOption,
    TargetModelOption,
    chain_of,
    option,
)
from spec_math.cli.run import study


def blocks(  # noqa: PLR0913 - typer takes an argument an option
    target: TargetModelOption = None,
    draft: DraftModelOption = None,
    prefix: PrefixOption = "",
    k: Annotated[str, option("Numbers of paths, separated by commas.")] = "1,2,4,8",
    lookahead: Annotated[str, option("Numbers of drafted tokens per path, separated by commas.")] = "4,8",
    method: Annotated[
        list[str] | None, option("Your own block verifier or selection rule, as FILE:FUNCTION; may be repeated.")
    ] = None,
    samples: Annotated[
        int,
        option("Largest number of samples; sampling ends when the answer is known.", "--samples", "--blocks-samples"),
    ] = 4000,
    out: OutOption = None,
    seed: SeedOption = 0,
    certificate: CertificateOption = None,
) -> None:
    """Compare the tokens per target call of all methods on K paths of L drafted tokens, and show the optimum.

    Without files the command uses two n-gram models of CPython's documentation. For small tables the values are exact.
    For larger models all methods are compared on the same sampled texts, until one is shown to be the fastest or
    equivalent to the fastest within 2 %. The table says which values are exact.

    Your own method is a function (coin, target_model, draft_model, prefix, lookahead), with k as last parameter if the
    method takes several paths. Your method can also be a function that selects one of K chains. The command judges on
    small models whether your method is lossless, and compares your method with the other methods.

    Exit codes: 0 done, 1 your method is lossy, 2 bad input, 3 your method is undecided.

    [bold]Examples[/bold]

      spec-math blocks --k 1,2,4,8 --lookahead 4,8 --out results

      spec-math blocks --target t.json --draft d.json --k 1,2 --lookahead 2

      spec-math blocks --method mine.py:generate --k 1,4 --lookahead 4 --samples 200
    """
    from spec_math.studies.blocks import study as of_blocks

    chain, out = chain_of(out)
    files = certificate, chain
    asked = of_blocks.Blocks(target, draft, prefix, k, lookahead, samples, seed, tuple(method or ()), *files)
    study(lambda progress: of_blocks.study(asked, progress), out)


def generate(  # noqa: PLR0913 - typer takes an argument an option
    tokens: Annotated[int, option("Smallest number of tokens to generate.")] = 100,
    method: Annotated[str, option("Some words of the verification method's name.")] = "chain priorities",
    k: Annotated[int, option("Number of drafted paths.")] = 4,
    lookahead: Annotated[int, option("Number of drafted tokens per path.")] = 4,
    seed: SeedOption = 0,
    target: TargetModelOption = None,
    draft: DraftModelOption = None,
    prefix: PrefixOption = "",
    out: OutOption = None,
) -> None:
    """Generate text block by block, and mark each token: accepted draft, rejected draft, or drawn from the target.

    If the output is a pipe or NO_COLOR is set, brackets mark the tokens instead of colours.

    [bold]Example[/bold]

      spec-math generate --tokens 200 --method block --seed 3
    """
    from spec_math.studies.blocks import study as of_blocks

    asked = of_blocks.BlockExample(method, k, lookahead, seed, target, draft, prefix)
    study(lambda _: of_blocks.generate(asked, tokens), out)
