"""What `spec-math compare --vocabularies` does: methods for a target and drafters that speak other vocabularies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from spec_math.arrays import count
from spec_math.files.whole import check_writable, write_whole
from spec_math.report.arguments import parsed_ks
from spec_math.report.blocks.commands import told_by
from spec_math.report.vocabularies import laws as vocabulary_laws
from spec_math.report.vocabularies import models as vocabulary_models
from spec_math.report.vocabularies import sampling as vocabulary_sampling
from spec_math.report.vocabularies.comparison import VocabularyComparison
from spec_math.report.vocabularies.pictures import acceptance_and_tokens
from spec_math.report.vocabularies.tables import as_csv, as_json, footnotes, terminal_tables

EMBEDDED, TABLES = (1, 2, 4, 8, 16), (1, 2, 3)
"""Lookaheads that are compared unless others are asked for: of the embedded drafters, and of tables."""


@dataclass(frozen=True)
class Vocabularies:
    """What `spec-math compare --vocabularies` was asked."""

    target: str | None = None
    drafts: tuple[str, ...] = ()
    logits: bool = False
    target_model: Path | None = None
    draft_model: Path | None = None
    target_vocabulary: Path | None = None
    draft_vocabulary: Path | None = None
    prefix: str = ""
    lookaheads: str | None = None
    draft_cost: str = "1/20"
    positions: int | None = None
    out: Path | None = None
    seed: int = 0


def compare(request: Vocabularies, others: Mapping[str, Any], console: Console, progress: Progress) -> int:
    """Compare the methods for two vocabularies, print tables and advice, and write what was asked for.

    `others` are options that belong to a comparison over one vocabulary; none of them may be given.

    Raises:
        ValueError, TypeError, OSError: bad input, before anything is written.

    >>> compare(Vocabularies(target="t.npy"), {}, Console(), Progress(disable=True))
    Traceback (most recent call last):
    ValueError: files need both --target-vocabulary and --draft-vocabulary
    """
    given = [option for option, value in others.items() if value not in (None, False)]
    if given:
        raise ValueError(f"{', '.join(given)} belong to a comparison over one vocabulary: leave them out")
    if request.out is not None:
        check_writable(request.out)
    result = _compared(request, progress)
    console.print(Text(result.source, style="bold"))
    for table in terminal_tables(result):
        console.print(table)
    for note in footnotes(result):
        console.print(Text(note))
    if request.out is not None:
        files = {
            "vocabularies.csv": as_csv(result),
            "vocabularies.json": as_json(result),
            "vocabularies.svg": acceptance_and_tokens(result),
        }
        for name, content in files.items():
            console.print(Text(f"wrote {write_whole(request.out / name, content)}"))
    return 0


def refuse_files(options: Mapping[str, Any]) -> None:
    """Refuse what is only for two vocabularies where one is compared.

    >>> refuse_files({"--draft-cost": "1/10"})
    Traceback (most recent call last):
    ValueError: --draft-cost: only with --vocabularies
    """
    given = [option for option, value in options.items() if value is not None]
    if given:
        raise ValueError(f"{', '.join(given)}: only with --vocabularies")


def _compared(request: Vocabularies, progress: Progress) -> VocabularyComparison:
    cost = _cost(request.draft_cost)
    laws = request.target is not None or bool(request.drafts)
    models = request.target_model is not None or request.draft_model is not None
    words, other = request.target_vocabulary, request.draft_vocabulary
    if not (laws or models or words or other):
        if request.prefix:
            raise ValueError("--prefix is for models from files; the embedded default starts at its held-out words")
        lookaheads = _lookaheads(request, EMBEDDED)
        positions = vocabulary_sampling.Sampling.positions if request.positions is None else request.positions
        sampling = vocabulary_sampling.Sampling(
            positions, lookaheads=lookaheads, draft_cost=float(cost), seed=request.seed
        )
        return vocabulary_sampling.compare(sampling, told_by(progress))
    if words is None or other is None:
        raise ValueError("files need both --target-vocabulary and --draft-vocabulary")
    if laws == models:
        raise ValueError(
            "two vocabularies are compared with their laws (--target and --draft) or with their models (--target-model "
            f"and --draft-model); got {'both' if laws else 'neither; spec-math overlap compares vocabularies alone'}"
        )
    if models:
        if request.target_model is None or request.draft_model is None:
            raise ValueError("--target-model and --draft-model come together; only one was given")
        tables = vocabulary_models.Tables(request.target_model, request.draft_model, words, other, request.prefix)
        return vocabulary_models.compare(tables, _lookaheads(request, TABLES), cost, told_by(progress))
    if request.target is None or len(request.drafts) != 1:
        raise ValueError(f"--target takes one --draft with --vocabularies; got {len(request.drafts)} of it")
    if request.lookaheads is not None or request.prefix:
        raise ValueError("--lookahead and --prefix are for models; files of laws say nothing of further draft tokens")
    most = vocabulary_laws.Laws.positions if request.positions is None else count(request.positions, "--positions")
    files = vocabulary_laws.Laws(request.target, request.drafts[0], words, other, request.logits, most)
    return vocabulary_laws.compare(files, float(cost), told_by(progress))


def _lookaheads(request: Vocabularies, usual: tuple[int, ...]) -> tuple[int, ...]:
    return usual if request.lookaheads is None else parsed_ks(request.lookaheads, "--lookahead", "1,2,4")


def _cost(written: str) -> Fraction:
    try:
        cost = Fraction(written)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"--draft-cost takes a number, such as 0.05 or 1/20; got {written!r}") from None
    if cost < 0:
        raise ValueError(f"--draft-cost is at least 0 target calls; got {written}")
    return cost
