"""The commands compare and lossy: rules of one position beside their optimum, lossless ones and lossy ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spec_math.cli.options import (
    BlockSeedOption,
    DraftOption,
    FilterOption,
    KOption,
    LawOption,
    OutOption,
    PrefixOption,
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

    drafts, schemes, chosen = (tuple(given or ()) for given in (draft, scheme, filters))
    asked = of_positions.CompareRequest(target, drafts, logits, k, schemes, chosen, sweep, positions, seed)
    study(lambda progress: of_positions.study(asked, progress), out)


def lossy(  # noqa: PLR0913 - typer takes an argument an option
    target: LawOption = None,
    draft: Annotated[str | None, typer.Option(help="File of the draft's distributions, of the same shape.")] = None,
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
    from spec_math.studies import lossy as of_lossy

    asked = of_lossy.LossyRequest(target, draft, logits, k, tuple(rule or ()), bias, length, positions)
    study(lambda progress: of_lossy.study(asked, progress), out)


def explain(  # noqa: PLR0913 - typer takes an argument an option
    scheme: Annotated[
        str,
        typer.Option(
            "--scheme", "--method", help="Beginning of a scheme's name, or FILE:NAME; with --blocks, of a method's."
        ),
    ] = "K-SEQ",
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "--target-model",
            help="The target's distribution: masses with commas, or FILE@POSITION of a file; with --blocks a table.",
        ),
    ] = None,
    draft: Annotated[
        str | None,
        typer.Option("--draft", "--draft-model", help="The draft's distribution, or its table with --blocks."),
    ] = None,
    k: Annotated[int | None, typer.Option("--k", help="How many drafts, or paths: 2, and 6 with --blocks.")] = None,
    names: Annotated[Path | None, typer.Option(help="JSON list of the V token names.")] = None,
    seed: BlockSeedOption = None,
    blocks: Annotated[bool, typer.Option("--blocks", help="Run one block of K paths of L tokens.")] = False,
    lookahead: Annotated[int, typer.Option(help="Drafted tokens a path, with --blocks.")] = 4,
    prefix: PrefixOption = "",
    out: OutOption = None,
) -> None:
    """Run one verification step by step: every coin, its threshold, its answer, as bars and sentences.

    It also shows what the scheme does over all coins, and the subset of tokens that bounds any verifier of these
    distributions. logits:FILE@17 is the softmax of position 17. With --blocks and no seed it looks for a run shaped
    like SpecTr's Figure 4: 6, 3, 2 and 1 drafts that agree.

    [bold]Examples[/bold]

      spec-math explain --scheme recursive --target 0.7,0.2,0.1 --draft 0.2,0.3,0.5 --k 3 --seed 7

      spec-math explain --target logits:t.npy@17 --draft logits:d.npy@17 --names names.json

      spec-math explain --blocks --scheme "chain priorities" --k 4 --seed 1
    """
    if blocks:
        from spec_math.studies.blocks import study as of_blocks

        tables = [None if place is None else Path(place) for place in (target, draft)]
        block = of_blocks.BlockExample(scheme, 6 if k is None else k, lookahead, seed, tables[0], tables[1], prefix)
        study(lambda _: of_blocks.explain(block), out)
    from spec_math.studies.arguments import together
    from spec_math.studies.positions import explanation

    usual = explanation.OneStep()
    laws = usual.target if target is None else target, usual.draft if draft is None else draft
    step = explanation.OneStep(scheme, *laws, usual.k if k is None else k, seed or usual.seed, names)

    study(lambda _: together(target, draft) or explanation.explained(step), out)
