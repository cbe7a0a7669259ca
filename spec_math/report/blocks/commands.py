"""What the block commands do: compare all methods on K paths, run one block step by step, and generate text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from spec_math.arrays import count
from spec_math.block_level.methods import Method, named
from spec_math.files.whole import check_writable, write_whole
from spec_math.report.arguments import parsed_ks
from spec_math.report.blocks import pictures as block_pictures
from spec_math.report.blocks import tables as block_tables
from spec_math.report.blocks.comparison import BlockRequest, compare_blocks
from spec_math.report.blocks.explanation import sentences
from spec_math.report.blocks.models import BlockModels, embedded, from_tables
from spec_math.report.blocks.run import run, shaped, start
from spec_math.report.generated_text import generate as generate_text
from spec_math.report.generated_text import legend, marked, reached
from spec_math.report.page import Picture


@dataclass(frozen=True)
class Blocks:
    """What `spec-math compare --blocks` was asked."""

    target_model: Path | None = None
    draft_model: Path | None = None
    prefix: str = ""
    ks: str = "1,2,4,8"
    lookaheads: str = "4,8"
    samples: int = 800
    out: Path | None = None
    seed: int = 0


@dataclass(frozen=True)
class BlockExample:
    """What one block, or a text of blocks, was asked for; without a seed `explain` looks for SpecTr's Figure 4."""

    method: str = "K-SEQ"
    k: int = 6
    lookahead: int = 4
    seed: int | None = None
    target_model: Path | None = None
    draft_model: Path | None = None
    prefix: str = ""


FIGURE_4 = (6, 3, 2, 1)
"""How many of the drafts agree, node by node, in SpecTr's Figure 4, where the last of them is rejected."""

FIRST_LIKE_FIGURE_4 = 350
"""The least seed with such a run on the documentation of CPython 3.11; on another one the search goes on from here."""


def models_of(target: Path | None, draft: Path | None, prefix: str) -> BlockModels:
    """Return the models that were named: two tables, or the embedded default where none is.

    Raises:
        ValueError, TypeError, OSError: one of two files; as `from_tables`.

    >>> models_of(Path("t.json"), None, "")
    Traceback (most recent call last):
    ValueError: --target-model and --draft-model come together; only one was given
    """
    if (target is None) != (draft is None):
        raise ValueError("--target-model and --draft-model come together; only one was given")
    if target is None or draft is None:
        if prefix:
            raise ValueError("--prefix is for models from files; the embedded default starts at its held-out words")
        return embedded()
    return from_tables(target, draft, prefix)


def compare(request: Blocks, others: Mapping[str, Any], console: Console, progress: Progress) -> int:
    """Compare all methods on K paths, print the table, and write what was asked for.

    `others` are options that belong to a comparison of positions; none of them may be given.

    Raises:
        ValueError, TypeError, OSError: bad input, before anything is written.

    >>> compare(Blocks(lookaheads="0"), {}, Console(), Progress(disable=True))
    Traceback (most recent call last):
    ValueError: --lookahead must be at least 1; got 0
    """
    given = [option for option, value in others.items() if value not in (None, False)]
    if given:
        raise ValueError(
            f"{', '.join(given)} belong to a comparison of positions: leave them out with --blocks, which takes models "
            "(--target-model and --draft-model) or the embedded default"
        )
    ks = parsed_ks(request.ks)
    lookaheads = parsed_ks(request.lookaheads, "--lookahead", "4,8")
    samples = count(request.samples, "--blocks-samples")
    models = models_of(request.target_model, request.draft_model, request.prefix)
    if request.out is not None:
        check_writable(request.out)
    result = compare_blocks(BlockRequest(models, ks, lookaheads, samples, request.seed), told_by(progress))
    console.print(block_tables.terminal_table(result))
    for note in block_tables.footnotes(result):
        console.print(Text(note))
    if request.out is not None:
        files = {
            "blocks.csv": block_tables.as_csv(result),
            "blocks.json": block_tables.as_json(result),
            "blocks.svg": block_pictures.tokens_against_k(result),
        }
        for name, content in files.items():
            console.print(Text(f"wrote {write_whole(request.out / name, content)}"))
    return 0


def refuse_models(request: Blocks) -> None:
    """Refuse models where positions are compared: they take files of laws.

    >>> refuse_models(Blocks(prefix="0 1"))
    Traceback (most recent call last):
    ValueError: --target-model, --draft-model and --prefix are for blocks: add --blocks, or give --target and --draft
    """
    if request.target_model is not None or request.draft_model is not None or request.prefix:
        raise ValueError(
            "--target-model, --draft-model and --prefix are for blocks: add --blocks, or give --target and --draft"
        )


def explain(request: BlockExample, console: Console) -> int:
    """Print one block step by step: the run of a seed, or one that is shaped like SpecTr's Figure 4.

    >>> explain(BlockExample(method="no such method"), Console())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: no method is named 'no such method'; there are: one chain, token by token; ...
    """
    method, size, models = _read(request)
    if request.seed is not None or method.verifier is None or request.target_model is not None or size != (4, 6):
        seed = request.seed or 0
        rng = np.random.default_rng(seed)
        found, like = run(method, models, start(models, rng), size, rng), ""
    else:
        found, seed = shaped(method, models, size, FIGURE_4, FIRST_LIKE_FIGURE_4)
        like = ", shaped like SpecTr's Figure 4"
    paths = f"{size[1]} paths of {size[0]} tokens" if method.drafts != "one" else f"{size[0]} tokens"
    console.print(Text(f"{method.name}: {paths}, seed {seed}{like}", style="bold"))
    console.print(Text(models.source))
    for sentence in sentences(found, models):
        console.print(sentence)
    return 0


def generate(request: BlockExample, tokens: int, console: Console) -> int:
    """Print generated text, each token marked as accepted, rejected or the target's own, and the tokens per call.

    >>> generate(BlockExample(), 0, Console())
    Traceback (most recent call last):
    ValueError: --tokens must be at least 1; got 0
    """
    wanted = count(tokens, "--tokens")
    method, size, models = _read(request)
    seed = request.seed or 0
    found = generate_text(method, models, size, wanted, seed)
    colours = console.color_system is not None and not console.no_color
    console.print(marked(found, models, colours), soft_wrap=not console.is_terminal)
    console.print()
    console.print(legend(colours))
    paths = f"K = {size[1]}, " if method.drafts != "one" else ""
    console.print(Text(f"{method.name}, {paths}L = {size[0]}, seed {seed}: {reached(found)}"))
    return 0


def picture(samples: int, seed: int, progress: Progress) -> Picture:
    """Return the picture of the embedded default for the report, with what to see in it.

    >>> picture(1, 0, Progress(disable=True))
    Traceback (most recent call last):
    ValueError: an interval needs at least 2 samples of each method; take at least 4; got 1
    """
    result = compare_blocks(BlockRequest(embedded(), (1, 2, 4, 8), (4, 8), samples, seed), told_by(progress))
    return Picture(
        "Blocks and trees: tokens per call of the target",
        block_pictures.tokens_against_k(result),
        f"K paths of L drafted tokens, verified at once. Monte Carlo: {result.samples:,} sampled blocks, drafts shared "
        "by all methods; bars are 99 % intervals. Methods that verify a path as a whole gain most from long blocks. "
        + " ".join(block_tables.fastest_sentences(result)),
    )


def told_by(progress: Progress) -> Callable[[str, int], Callable[[int], None]]:
    """Return the way in which work tells a progress bar how far it is.

    >>> told_by(Progress(disable=True))("work", 2)(1)
    """

    def task(what: str, steps: int) -> Callable[[int], None]:
        number = progress.add_task(what, total=steps)
        return lambda done: progress.advance(number, done)

    return task


def _read(request: BlockExample) -> tuple[Method, tuple[int, int], BlockModels]:
    method = named(request.method)
    size = count(request.lookahead, "--lookahead"), count(request.k, "--k")
    return method, size, models_of(request.target_model, request.draft_model, request.prefix)
