"""The segmentations of one token, or of all, and ψ: how often a drafter begins with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spec_math.distribution import restriction
from spec_math.files.law_files import LawFileError, open_laws
from spec_math.language import Vocabulary
from spec_math.language.files import read_tokenizer
from spec_math.result import Column, Note, Picture, Result, Row, Table, sentences
from spec_math.string_level import segmentation
from spec_math.string_level.psi import first_token, longest_lookahead, most_calls
from spec_math.studies.positions.stream import from_files
from spec_math.studies.progress import Progress
from spec_math.studies.vocabularies import segmentation_counts
from spec_math.studies.vocabularies.overlap import read_all, text_of
from spec_math.studies.vocabularies.segmentation_pictures import by_length, histogram, tree
from spec_math.wording import counted

DRAWN = 200
"""Segmentations that are still drawn as a tree."""

COLUMNS = (
    Column("text"),
    Column("segmentations", "count"),
    Column("forward passes", "count", "calls of the drafter"),
    Column("psi", "number", "probability", digits=None, heading="ψ"),
    Column("n_max", "count", "draft tokens"),
    Column("expected draft tokens", "number", "draft tokens", digits=None),
    Column("laws asked of a drafter with context", "count", "calls of the drafter", heading="laws asked"),
    Column("texts that begin with no target token", "number", "probability", digits=None, heading="no target token"),
)
SUMMARY_COLUMNS = (Column("Table 5"), *(Column(name, "number", digits=None) for name in ("at least", "at most")))
LENGTH_COLUMNS = (
    Column("bytes", "count"),
    Column("tokens", "count"),
    *(Column(name, "count", "segmentations") for name in ("least", "median", "most")),
)


@dataclass(frozen=True)
class PsiRequest:
    """A text, or every token; the two vocabularies, and how the drafter draws."""

    text: str | None
    vocabulary: Path
    target_vocabulary: Path | None = None
    draft: str | None = None
    corpus: Path | None = None
    lookahead: int | None = None
    shortest: int | None = None


def study(request: PsiRequest, progress: Progress) -> Result:
    """Count in how many ways the drafter can spell a text and the calls that takes, draw the tree, and perhaps find ψ.

    Without a text: the segmentations of every token of the vocabulary, as in Timor et al., Table 5.

    Raises:
        ValueError, OSError: a file that holds no vocabulary; a text that is no target token; options that do not fit.

    >>> study(PsiRequest("ab", Path("none.json")), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'none.json'
    """
    places = [place for place in (request.vocabulary, request.target_vocabulary) if place is not None]
    drafter, *others = read_all(places, progress)
    drawing = request.draft, request.corpus, request.lookahead
    if request.text is None:
        if others or any(option is not None for option in drawing):
            raise ValueError("ψ is of one target token: name its text, as in spec-math psi hello --vocabulary FILE")
        return _every_token(request, drafter)
    if request.shortest is not None:
        raise ValueError("--shortest is for all tokens at once: leave the text out")
    if not others and any(option is not None for option in drawing):
        raise ValueError("--draft, --text and --lookahead are for ψ, which needs --target-vocabulary as well")
    number = segmentation.count(request.text, drafter)
    ways = counted(number, "segmentation")
    finding = f"{request.text!r} has {ways} in {request.vocabulary.name}."
    notes, drawn, passes = _spelled(request, drafter, number)
    cells: list[Any] = [None] * 5
    for target in others:
        cells, said = _psi_of(request, target, drafter)
        notes = (*notes, *sentences(said))
        finding = f"ψ = {cells[0]:.6g}: a drafted text begins so often with {request.text!r}, which has {ways}."
    row = Row((request.text, number, passes, *cells))
    title = f"{request.text}: {ways} in {request.vocabulary.name}"
    return Result("psi", title, finding, (Table("psi", "Segmentations and ψ", COLUMNS, (row,)),), drawn, notes)


def _spelled(
    request: PsiRequest, drafter: Vocabulary, number: int
) -> tuple[tuple[Note, ...], tuple[Picture, ...], Any]:
    text = request.text or ""
    if not number:
        return (), (), None
    if number > DRAWN:
        return sentences([f"The tree is drawn for up to {DRAWN} segmentations."]), (), None
    passes = segmentation.forward_passes(text, drafter)
    said = f"{passes:,} forward passes of the drafter to know the probability of all of them"
    title = f"{text}: {counted(number, 'segmentation')} in {request.vocabulary.name}"
    notes = Note(said), Note(segmentation.draw(text, drafter), "the segmentations", code=True)
    return notes, (tree(text, drafter, title),), passes


def _psi_of(request: PsiRequest, target: Vocabulary, drafter: Vocabulary) -> tuple[list[Any], list[str]]:
    index = target.index(request.text or "")
    law, said = _drafter_law(request, drafter)
    longest = longest_lookahead(target, drafter)
    found = first_token(target, drafter, law, request.lookahead)
    stop = "the first target token is determined"
    if request.lookahead is not None and request.lookahead < longest:
        stop = "one token is drafted" if request.lookahead == 1 else f"{request.lookahead} tokens are drafted"
    calls = most_calls(target, drafter)
    cells = [float(found.law[index]), longest, float(found.draws), calls, float(found.untokenisable)]
    return cells, [
        f"ψ is how often a drafted text begins with this target token, {said}, drafting until {stop}; "
        f"{float(found.untokenisable):.3g} of the texts begin with none.",
        f"After n_max = {longest} draft tokens the first target token is determined, after {float(found.draws):.3g} on "
        f"average; a drafter with context would be asked for {calls:,} laws.",
    ]


def _drafter_law(request: PsiRequest, drafter: Vocabulary) -> tuple[Any, str]:
    """Return the drafter's law, and what it is in words: a file's, a text's frequencies, or uniform."""
    spoken = np.array([bool(token) for token in drafter])
    if request.draft is not None and request.corpus is not None:
        raise ValueError("--draft and --text are two laws of one drafter; give one of them")
    if request.draft is not None:
        file = open_laws(request.draft)
        if file.shape != (1, len(drafter)):
            raise LawFileError(
                f"{file.path}: ψ takes one law on the drafter's {len(drafter):,} tokens; this is {list(file.shape)}"
            )
        row = next(from_files(file, file, logits=False).batches(1)).targets[0]
        return restriction(row / row.sum(), spoken), f"each draft token drawn from {file.path.name}"
    if request.corpus is not None:
        tokenizer, how = read_tokenizer(request.vocabulary)
        seen = np.bincount(tokenizer.encode(text_of(request.corpus)), minlength=len(drafter)) * spoken
        if not seen.any():
            raise ValueError(f"{request.corpus}: its text has no token, and frequencies need one")
        said = f"each draft token as often as in {request.corpus.name}, read {how}"
        return seen / seen.sum(), said
    return spoken / spoken.sum(), "each draft token being as likely"


def _every_token(request: PsiRequest, drafter: Vocabulary) -> Result:
    found = segmentation_counts.counts(drafter, request.shortest)
    size = len(found.least)
    title = f"the segmentations of {'all' if request.shortest is None else 'the shortest'} {size:,} tokens"
    lines = segmentation_counts.summary(found)
    of_lengths = [
        Row((length, len(row), row[0], row[(len(row) - 1) // 2], row[-1])) for length, row in found.by_length.items()
    ]
    notes: list[str] = []
    if found.kept is not None:
        length, tied = max(found.by_length), len(found.by_length[max(found.by_length)])
        notes.append(
            f"{found.kept:,} of the {tied:,} tokens of {length} bytes are meant; which ones is not determined, so that "
            "the lines with two numbers are intervals."
        )
    mean = lines["mean"]
    return Result(
        "segmentations",
        f"{title} of {request.vocabulary.name} in the same vocabulary",
        f"A token has {mean[0]:,.6g} segmentations on average, {lines['50 %'][0]:,.6g} in the middle.",
        (
            Table(
                "summary",
                "Table 5 of Timor et al.",
                SUMMARY_COLUMNS,
                tuple(Row((n, *ends)) for n, ends in lines.items()),
            ),
            Table("lengths", "By the length of the token", LENGTH_COLUMNS, tuple(of_lengths)),
        ),
        (by_length(found, title), histogram(found, title)),
        sentences(notes),
    )
