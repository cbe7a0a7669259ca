"""The commands compare and lossy: rules of one position beside their optimum, lossless ones and lossy ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from spec_math.cli.options import (
    BlockSeedOption,
    FilterOption,
    KOption,
    LawOption,
    OutOption,
    PrefixOption,
    SchemeOption,
    SeedOption,
    option,
)
from spec_math.cli.run import study


def compare(  # noqa: PLR0913 - typer takes an argument an option
    target: LawOption = None,
    draft: Annotated[
        list[str] | None, option("File of the draft's distributions; repeat the option to compare drafters.")
    ] = None,
    logits: Annotated[bool, option("The files contain logits, not probabilities.")] = False,
    k: KOption = "1,2,4,8",
    scheme: SchemeOption = None,
    filters: FilterOption = None,
    sweep: Annotated[
        str | None, option("Vary one filter as NAME=FROM:TO:COUNT, such as draft.temperature=0.5:1.5:5.")
    ] = None,
    positions: Annotated[int, option("Number of positions of the embedded models.")] = 2000,
    out: OutOption = None,
    seed: SeedOption = 0,
) -> None:
    """Compare the acceptance of every scheme with the optimum, averaged over many positions.

    Without files the command uses two n-gram models on held-out words of CPython's documentation. With --scheme, the
    command also judges your function, and estimates its acceptance from runs. Related commands: blocks compares
    blocks, vocabularies compares drafters with another vocabulary, and explain shows one position.

    Exit codes: 0 every scheme is lossless, 1 a scheme is lossy or its acceptance formula is wrong, 2 bad input, 3 a
    scheme is undecided.

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
    draft: Annotated[str | None, option("File of the draft's distributions, in --target's form.")] = None,
    logits: Annotated[bool, option("The files contain logits, not probabilities.")] = False,
    k: Annotated[int, option("Number of drafts of the rules that take several.")] = 2,
    rule: Annotated[list[str] | None, option("Beginning of a rule's name; repeat for more rules.")] = None,
    bias: Annotated[str, option("Total variation per token at which the rules are compared.")] = "0.05",
    length: Annotated[int, option("Length in tokens of the text whose total variation is bounded.")] = 10,
    positions: Annotated[int, option("Number of evenly spaced positions to use.")] = 24,
    out: OutOption = None,
) -> None:
    """Compare lossy rules by their gain in acceptance, their distance from the target, and the largest possible gain.

    The rules are typical acceptance, lenience, ensembles, Cactus, mentored decoding, fuzzy decoding, cascades and
    relaxed thresholds, and with --logits also MARS. The command varies the parameter of each rule. No rule's acceptance
    exceeds min(1, α* + total variation), where α* is the largest lossless acceptance. Without files the command uses
    two embedded pairs of models, one of documentation and one of source code.

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
        option("Beginning of a scheme's name, or FILE:NAME; with --blocks, a method's name.", "--scheme", "--method"),
    ] = "K-SEQ",
    target: Annotated[
        str | None,
        option(
            "The target's distribution, as 1/4,3/4 or FILE@POSITION; with --blocks a JSON table of a model.",
            "--target",
            "--target-model",
        ),
    ] = None,
    draft: Annotated[
        str | None, option("The draft's distribution or model, in the form of --target.", "--draft", "--draft-model")
    ] = None,
    k: Annotated[
        int | None, option("Number of drafts, by default 2; with --blocks the number of paths, by default 6.")
    ] = None,
    names: Annotated[Path | None, option("File with a JSON list of the names of all V tokens.")] = None,
    seed: BlockSeedOption = None,
    blocks: Annotated[bool, option("Explain one block of K paths of L tokens.", "--blocks")] = False,
    lookahead: Annotated[int, option("Number of drafted tokens per path, with --blocks.")] = 4,
    prefix: PrefixOption = "",
    out: OutOption = None,
) -> None:
    """Show one verification step by step: every random decision, its threshold and its outcome.

    The command also shows the scheme's acceptance, averaged over all random numbers, and the set of tokens that bounds
    the acceptance of every verifier. The argument logits:FILE@17 is the softmax of the logits at position 17 of FILE.
    With --blocks and no --seed, the command shows a run like SpecTr's Figure 4: 6, 3, 2 and 1 drafts at its nodes.

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

    given: dict[str, Any] = {"target": target, "draft": draft, "k": k, "seed": seed, "names": names}
    step = explanation.OneStep(scheme, **{name: value for name, value in given.items() if value is not None})
    study(lambda _: together(target, draft) or explanation.explained(step), out)
