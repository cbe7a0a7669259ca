"""Compare every scheme, or all methods on blocks, over many positions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from spec_math.cli.options import (
    CompressOption,
    DraftModelOption,
    DraftOption,
    KOption,
    LawOption,
    PrefixOption,
    SchemeOption,
    SeedOption,
    SweepOption,
    TargetModelOption,
)
from spec_math.cli.run import run
from spec_math.report import commands
from spec_math.report.blocks import commands as block_commands
from spec_math.report.blocks.commands import Blocks
from spec_math.report.vocabularies import commands as vocabulary_commands
from spec_math.report.vocabularies.commands import Vocabularies

USUAL_K, USUAL_POSITIONS, USUAL_LOOKAHEAD = "1,2,4,8", 2000, "4,8"


def compare(  # noqa: PLR0913 - typer takes an argument an option
    target: LawOption = None,
    draft: DraftOption = None,
    logits: Annotated[bool, typer.Option(help="The files hold logits, not probabilities.")] = False,
    k: KOption = USUAL_K,
    scheme: SchemeOption = None,
    sweep: SweepOption = None,
    compress: CompressOption = None,
    names: Annotated[Path | None, typer.Option(help="JSON list of the V token names.")] = None,
    position: Annotated[
        int | None, typer.Option(help="Position whose bounding subset is shown; else the one of least optimum.")
    ] = None,
    positions: Annotated[
        int | None,
        typer.Option(help=f"Positions looked at: {USUAL_POSITIONS} of the embedded default, 40 with --vocabularies."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for comparison.csv, .json and .svg, or blocks.*, or vocabularies.*.")
    ] = None,
    seed: SeedOption = 0,
    blocks: Annotated[bool, typer.Option("--blocks", help="Compare whole blocks: K paths of L tokens.")] = False,
    lookahead: Annotated[
        str | None,
        typer.Option(help=f"Drafted tokens: {USUAL_LOOKAHEAD} with --blocks, 1,2,4,8,16 with --vocabularies."),
    ] = None,
    blocks_samples: Annotated[int, typer.Option(help="Sampled blocks, with --blocks.")] = Blocks.samples,
    target_model: TargetModelOption = None,
    draft_model: DraftModelOption = None,
    prefix: PrefixOption = "",
    vocabularies: Annotated[
        bool, typer.Option("--vocabularies", help="Compare methods for drafters that speak another vocabulary.")
    ] = False,
    target_vocabulary: Annotated[
        Path | None, typer.Option(help="The target's vocabulary: tokenizer.json, tiktoken, SentencePiece or a list.")
    ] = None,
    draft_vocabulary: Annotated[Path | None, typer.Option(help="The drafter's vocabulary.")] = None,
    draft_cost: Annotated[
        str, typer.Option(help="A drafter call in target calls, with --vocabularies.")
    ] = Vocabularies.draft_cost,
) -> None:
    """Compare every scheme with the optimum, over many positions; with --blocks all methods on paths and trees.

    With --vocabularies: union, TLI, SLEM, SLRS and TokenTiming for a drafter that speaks another vocabulary, what each
    accepts and yields, and which one to take.

    Without files it compares two n-gram models on held-out words of CPython's own documentation. Small tables are
    added up exactly, with --blocks; what is larger is sampled, and says so.

    [bold]Examples[/bold]

      spec-math compare

      spec-math compare --target t.npy --draft d.npy --logits --out results

      spec-math compare --scheme mypackage.verifiers:mine --k 1,2,3

      spec-math compare --blocks --k 1,2,4,8 --lookahead 4,8 --out results

      spec-math compare --blocks --target-model t.json --draft-model d.json --k 1,2 --lookahead 2

      spec-math compare --vocabularies --out results

      spec-math compare --vocabularies --target t.npy --draft d.npy --target-vocabulary llama/tokenizer.json
      --draft-vocabulary qwen2/tokenizer.json

      spec-math compare --vocabularies --target-model t.json --draft-model d.json --target-vocabulary T.json
      --draft-vocabulary D.json --draft-cost 1/10
    """
    of_vocabularies = {
        "--target-vocabulary": target_vocabulary,
        "--draft-vocabulary": draft_vocabulary,
        "--draft-cost": None if draft_cost == Vocabularies.draft_cost else draft_cost,
    }
    if vocabularies:
        asked_of = Vocabularies(
            target=target,
            drafts=tuple(draft or ()),
            logits=logits,
            target_model=target_model,
            draft_model=draft_model,
            target_vocabulary=target_vocabulary,
            draft_vocabulary=draft_vocabulary,
            prefix=prefix,
            lookaheads=lookahead,
            draft_cost=draft_cost,
            positions=positions,
            out=out,
            seed=seed,
        )
        of_one = {
            "--k": None if k == USUAL_K else k,
            "--scheme": scheme,
            "--sweep": sweep,
            "--compress": compress,
            "--names": names,
            "--position": position,
            "--blocks": blocks,
        }
        run(lambda console, progress: vocabulary_commands.compare(asked_of, of_one, console, progress))
        return
    asked = Blocks(
        target_model,
        draft_model,
        prefix,
        k,
        USUAL_LOOKAHEAD if lookahead is None else lookahead,
        blocks_samples,
        out,
        seed,
    )
    if blocks:
        of_positions = of_vocabularies | {
            "--target": target,
            "--draft": draft,
            "--logits": logits,
            "--scheme": scheme,
            "--sweep": sweep,
            "--compress": compress,
            "--names": names,
            "--position": position,
        }
        run(lambda console, progress: block_commands.compare(asked, of_positions, console, progress))
        return
    request = commands.CompareRequest(
        target=target,
        drafts=tuple(draft or ()),
        logits=logits,
        ks=k,
        schemes=tuple(scheme or ()),
        sweep=sweep,
        compress=compress,
        names=names,
        position=position,
        positions=USUAL_POSITIONS if positions is None else positions,
        out=out,
        seed=seed,
    )

    def positions_alone(console: Console, progress: Progress) -> int:
        block_commands.refuse_models(asked)
        vocabulary_commands.refuse_files(of_vocabularies)
        return commands.compare(request, console, progress)

    run(positions_alone)
