"""The command line: spec-math compare | explain | generate | report. Errors are sentences, exit codes for scripts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from spec_math.report import block_commands, commands, vocabulary_commands
from spec_math.report.block_commands import BlockExample, Blocks

app = typer.Typer(
    name="spec-math",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Is this speculative decoder lossless, and how much faster could any be? Computed exactly.\n\n"
    "Exit codes: 0 all well, 1 a scheme was judged lossy, 2 bad input.",
)

LawOption = Annotated[
    str | None,
    typer.Option(help="File of laws, positions × V: .npy, .npz or .safetensors (PATH:NAME for one array of many)."),
]
DraftOption = Annotated[
    list[str] | None, typer.Option(help="File of the draft's laws; given twice, two different drafters are compared.")
]
KOption = Annotated[str, typer.Option("--k", help="Numbers of drafts, separated by commas.")]
SchemeOption = Annotated[list[str] | None, typer.Option(help="A scheme of your own, module:name; may be repeated.")]
SweepOption = Annotated[
    str | None, typer.Option(help="draft-temperature=FROM:TO:STEP, such as draft-temperature=0.5:1.5:0.1.")
]
CompressOption = Annotated[
    int | None, typer.Option(help="Restrict to the union of both laws' best N tokens (SpecTr Fig. 5).")
]
PositionsOption = Annotated[int, typer.Option(help="Held-out positions of the embedded default.")]
VocabularyOption = Annotated[
    Path, typer.Option(help="The drafter's vocabulary: a tokenizer.json, tiktoken or SentencePiece file.")
]
SeedOption = Annotated[int, typer.Option(help="Seed of everything that is sampled.")]
TargetModelOption = Annotated[
    Path | None, typer.Option(help='JSON table of the target model: {"rows": {"0 1": law, ...}, "context": ...}.')
]
DraftModelOption = Annotated[Path | None, typer.Option(help="JSON table of the draft model.")]
PrefixOption = Annotated[str, typer.Option(help="Where tables start: token indices with blanks between them.")]
MethodOption = Annotated[str, typer.Option(help="Method of verification, some words of its name.")]
BlockSeedOption = Annotated[int | None, typer.Option(help="Seed of everything that is sampled.")]


@app.command()
def compare(  # noqa: PLR0913 - typer takes an argument an option
    target: LawOption = None,
    draft: DraftOption = None,
    logits: Annotated[bool, typer.Option(help="The files hold logits, not probabilities.")] = False,
    k: KOption = "1,2,4,8",
    scheme: SchemeOption = None,
    sweep: SweepOption = None,
    compress: CompressOption = None,
    names: Annotated[Path | None, typer.Option(help="JSON list of the V token names.")] = None,
    position: Annotated[
        int | None, typer.Option(help="Position whose bounding subset is shown; else the one of least optimum.")
    ] = None,
    positions: PositionsOption = 2000,
    out: Annotated[Path | None, typer.Option(help="Folder for comparison.csv, .json and .svg, or blocks.*.")] = None,
    seed: SeedOption = 0,
    blocks: Annotated[bool, typer.Option("--blocks", help="Compare whole blocks: K paths of L tokens.")] = False,
    lookahead: Annotated[str, typer.Option(help="Drafted tokens a path, with --blocks.")] = "4,8",
    blocks_samples: Annotated[int, typer.Option(help="Sampled blocks, with --blocks.")] = Blocks.samples,
    target_model: TargetModelOption = None,
    draft_model: DraftModelOption = None,
    prefix: PrefixOption = "",
) -> None:
    """Compare every scheme with the optimum, over many positions; with --blocks all methods on paths and trees.

    Without files it compares two n-gram models on held-out words of CPython's own documentation. Small tables are
    added up exactly, with --blocks; what is larger is sampled, and says so.

    [bold]Examples[/bold]

      spec-math compare

      spec-math compare --target t.npy --draft d.npy --logits --out results

      spec-math compare --scheme mypackage.verifiers:mine --k 1,2,3

      spec-math compare --blocks --k 1,2,4,8 --lookahead 4,8 --out results

      spec-math compare --blocks --target-model t.json --draft-model d.json --k 1,2 --lookahead 2
    """
    asked = Blocks(target_model, draft_model, prefix, k, lookahead, blocks_samples, out, seed)
    if blocks:
        of_positions = {
            "--target": target,
            "--draft": draft,
            "--logits": logits,
            "--scheme": scheme,
            "--sweep": sweep,
            "--compress": compress,
            "--names": names,
            "--position": position,
        }
        _run(lambda console, progress: block_commands.compare(asked, of_positions, console, progress))
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
        positions=positions,
        out=out,
        seed=seed,
    )

    def positions_alone(console: Console, progress: Progress) -> int:
        block_commands.refuse_models(asked)
        return commands.compare(request, console, progress)

    _run(positions_alone)


@app.command()
def explain(  # noqa: PLR0913
    scheme: Annotated[str, typer.Option(help="Name of a scheme (its beginning is enough), or module:name.")] = "K-SEQ",
    target: Annotated[str, typer.Option(help="The target law, masses separated by commas.")] = "1/2,1/4,1/8,1/8",
    draft: Annotated[str, typer.Option(help="The draft law.")] = "1/8,1/4,1/4,3/8",
    k: Annotated[int | None, typer.Option("--k", help="How many drafts, or paths: 2, and 6 with --blocks.")] = None,
    seed: BlockSeedOption = None,
    blocks: Annotated[bool, typer.Option("--blocks", help="Run one block of K paths of L tokens.")] = False,
    method: MethodOption = BlockExample.method,
    lookahead: Annotated[int, typer.Option(help="Drafted tokens a path, with --blocks.")] = BlockExample.lookahead,
    target_model: TargetModelOption = None,
    draft_model: DraftModelOption = None,
    prefix: PrefixOption = "",
) -> None:
    """Run one verification step by step: every coin, its threshold, its answer, as bars and sentences.

    With --blocks and no seed it looks for a run shaped like SpecTr's Figure 4: 6, 3, 2 and 1 drafts that agree.

    [bold]Examples[/bold]

      spec-math explain --scheme recursive --target 0.7,0.2,0.1 --draft 0.2,0.3,0.5 --k 3 --seed 7

      spec-math explain --blocks

      spec-math explain --blocks --method "chain priorities" --k 4 --seed 1
    """
    if blocks:
        asked = BlockExample(
            method, BlockExample.k if k is None else k, lookahead, seed, target_model, draft_model, prefix
        )
        _run(lambda console, _: block_commands.explain(asked, console))
        return
    _run(lambda console, _: commands.explain(scheme, target, draft, 2 if k is None else k, seed or 0, console))


@app.command()
def generate(  # noqa: PLR0913
    tokens: Annotated[int, typer.Option(help="How many tokens, at least.")] = 100,
    method: MethodOption = "chain priorities",
    k: Annotated[int, typer.Option("--k", help="Drafted paths.")] = 4,
    lookahead: Annotated[int, typer.Option(help="Drafted tokens a path.")] = 4,
    seed: SeedOption = 0,
    target_model: TargetModelOption = None,
    draft_model: DraftModelOption = None,
    prefix: PrefixOption = "",
) -> None:
    """Generate text block by block, each token marked: drafted and accepted, rejected, or the target's own.

    Where there are no colours (a pipe, NO_COLOR) the marks are brackets.

    [bold]Example[/bold]

      spec-math generate --tokens 200 --method block --seed 3
    """
    asked = BlockExample(method, k, lookahead, seed, target_model, draft_model, prefix)
    _run(lambda console, _: block_commands.generate(asked, tokens, console))


@app.command()
def report(
    out: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("out/report.html"),
    positions: PositionsOption = 2000,
    seed: SeedOption = 0,
) -> None:
    """Write one self-contained HTML page on the embedded default: tables, pictures, and what each number means."""
    _run(lambda console, progress: commands.report(out, positions, seed, console, progress))


@app.command()
def psi(
    text: Annotated[str, typer.Argument(help="The text of a target token.")],
    vocabulary: VocabularyOption,
    target_vocabulary: Annotated[Path | None, typer.Option(help="The target's vocabulary, to have ψ as well.")] = None,
    out: Annotated[Path | None, typer.Option(help="JSON file for the numbers.")] = None,
) -> None:
    """Show in how many ways a drafter can spell a token, the tree of them, and perhaps ψ.

    [bold]Example[/bold]

      spec-math psi hello --vocabulary qwen2/tokenizer.json
    """
    request = vocabulary_commands.PsiRequest(text, vocabulary, target_vocabulary, out)
    _run(lambda console, _: vocabulary_commands.psi(request, console))


@app.command()
def overlap(
    first: Annotated[Path, typer.Argument(help="A vocabulary file.")],
    second: Annotated[Path, typer.Argument(help="Another one.")],
    text: Annotated[Path | None, typer.Option(help="Compare also the tokens found in this text alone.")] = None,
    out: Annotated[Path | None, typer.Option(help="SVG file for the bars.")] = None,
) -> None:
    """Show what two vocabularies share, by bytes and by raw keys, and what either cannot spell of the other.

    [bold]Example[/bold]

      spec-math overlap llama/tokenizer.json qwen2/tokenizer.json --out overlap.svg
    """
    _run(lambda console, _: vocabulary_commands.overlap(first, second, text, out, console))


def main() -> None:
    """Run the command line, with errors as sentences on standard error and exit code 2.

    >>> main.__module__
    'spec_math.cli'
    """
    app()


def _run(work: Callable[[Console, Progress], int]) -> None:
    console, complaints = _console(sys.stdout), _console(sys.stderr)
    # The bar goes to standard error, so that a piped table stays clean; none where nobody watches.
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=complaints, transient=True, disable=not complaints.is_terminal)
    try:
        with progress:
            code = work(console, progress)
    except (ValueError, TypeError, OSError, LookupError) as error:
        if isinstance(error, KeyError | IndexError):  # no model says so: a fault of ours
            raise
        complaints.print("[bold red]error:[/bold red]", end=" ")
        complaints.print("; ".join([str(error), *getattr(error, "__notes__", [])]), markup=False, soft_wrap=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        complaints.print("interrupted; nothing was written")
        raise typer.Exit(130) from None
    raise typer.Exit(code)


def _console(stream: Any) -> Console:
    console = Console(file=stream, highlight=False)
    return console if console.is_terminal else Console(file=stream, highlight=False, width=140)
