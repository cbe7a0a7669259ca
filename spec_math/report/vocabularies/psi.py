"""What `spec-math psi` does: the segmentations of one token, or of all, and how often a drafter begins with it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from spec_math.distribution import restriction
from spec_math.files.whole import write_whole
from spec_math.language import Vocabulary
from spec_math.language.files import read_tokenizer
from spec_math.report.law_files import LawFileError, open_laws
from spec_math.report.positions import from_files
from spec_math.report.vocabularies import segmentation_figures
from spec_math.report.vocabularies.overlap import read_all, text_of
from spec_math.report.vocabularies.segmentation_pictures import by_length, histogram, tree
from spec_math.string_level import segmentation
from spec_math.string_level.psi import first_token, longest_lookahead, most_calls

DRAWN = 200
"""Segmentations that are still drawn as a tree."""


@dataclass(frozen=True)
class PsiRequest:
    """What `spec-math psi` was asked: a text, or every token; the two vocabularies, and how the drafter draws."""

    text: str | None
    vocabulary: Path
    target_vocabulary: Path | None = None
    draft: str | None = None
    corpus: Path | None = None
    lookahead: int | None = None
    shortest: int | None = None
    out: Path | None = None


def psi(request: PsiRequest, console: Console, progress: Progress) -> int:
    """Print in how many ways the drafter can spell a text, the target calls that takes, the tree, and perhaps ψ.

    Without a text: the segmentations of every token of the vocabulary, as in Timor et al., Table 5.

    Raises:
        ValueError, OSError: a file that holds no vocabulary; a text that is no target token; options that do not fit.

    >>> psi(PsiRequest("ab", Path("none.json")), Console(), Progress(disable=True))
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'none.json'
    """
    drafter, *others = read_all(
        [place for place in (request.vocabulary, request.target_vocabulary) if place is not None], progress
    )
    drawing = request.draft, request.corpus, request.lookahead
    if request.text is None:
        if request.target_vocabulary is not None or any(option is not None for option in drawing):
            raise ValueError("ψ is of one target token: name its text, as in spec-math psi hello --vocabulary FILE")
        return _every_token(request, drafter, console)
    if request.shortest is not None:
        raise ValueError("--shortest is for all tokens at once: leave the text out")
    if request.target_vocabulary is None and any(option is not None for option in drawing):
        raise ValueError("--draft, --text and --lookahead are for ψ, which needs --target-vocabulary as well")
    number = segmentation.count(request.text, drafter)
    lines: dict[str, Any] = {"text": request.text, "segmentations": str(number)}
    ways = f"{number:,} segmentation{'s' * (number != 1)}"
    console.print(Text(f"{request.text!r} has {ways} in {request.vocabulary.name}", style="bold"))
    if 0 < number <= DRAWN:
        passes = segmentation.forward_passes(request.text, drafter)
        lines["forward passes"] = passes
        console.print(f"{passes:,} forward passes of the drafter to know the probability of all of them")
        console.print(Text(segmentation.draw(request.text, drafter)))
    elif number:
        console.print(f"(the tree is drawn for up to {DRAWN} segmentations)")
    for target in others:
        lines |= _psi_of(request, target, drafter, console)
    if request.out is not None:
        title = f"{request.text}: {ways} in {request.vocabulary.name}"
        if request.out.suffix != ".svg":
            content = json.dumps(lines, indent=2, ensure_ascii=False)
        elif number <= DRAWN:
            content = tree(request.text, drafter, title)
        else:
            raise ValueError(f"{number:,} segmentations are too many to draw; up to {DRAWN} are, others as .json")
        console.print(Text(f"wrote {write_whole(request.out, content)}"))
    return 0


def _psi_of(request: PsiRequest, target: Vocabulary, drafter: Vocabulary, console: Console) -> dict[str, Any]:
    text = request.text or ""
    index = target.index(text)
    law, said = _drafter_law(request, drafter)
    longest = longest_lookahead(target, drafter)
    found = first_token(target, drafter, law, request.lookahead)
    mass = float(found.law[index])
    stop = "the first target token is determined"
    if request.lookahead is not None and request.lookahead < longest:
        stop = "one token is drafted" if request.lookahead == 1 else f"{request.lookahead} tokens are drafted"
    console.print(
        f"ψ = {mass:.6g}: how often a drafted text begins with this target token, {said}, drafting until {stop}; "
        f"{float(found.untokenisable):.3g} of the texts begin with none"
    )
    calls = most_calls(target, drafter)
    console.print(
        f"after n_max = {longest} draft tokens the first target token is determined, after {float(found.draws):.3g} on "
        f"average; a drafter with context would be asked for {calls:,} laws"
    )
    return {
        "psi": mass,
        "drafter": said,
        "stop": stop,
        "n_max": longest,
        "expected draft tokens": float(found.draws),
        "laws asked of a drafter with context": str(calls),
        "texts that begin with no target token": float(found.untokenisable),
    }


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


def _every_token(request: PsiRequest, drafter: Vocabulary, console: Console) -> int:
    found = segmentation_figures.counts(drafter, request.shortest)
    size = len(found.least)
    title = f"the segmentations of {'all' if request.shortest is None else 'the shortest'} {size:,} tokens"
    lines = segmentation_figures.summary(found)
    table = Table(title=f"{title} of {request.vocabulary.name} in the same vocabulary")
    table.add_column("Table 5")
    for heading in ("at least", "at most"):
        table.add_column(heading, justify="right")
    for name, (least, most) in lines.items():
        table.add_row(name, f"{least:,.6g}", f"{most:,.6g}" if least != most else "the same")
    console.print(table)
    if found.kept is not None:
        length, tied = max(found.by_length), len(found.by_length[max(found.by_length)])
        console.print(
            f"{found.kept:,} of the {tied:,} tokens of {length} bytes are meant; which ones is not determined, so that "
            "the lines with two numbers are intervals"
        )
    if request.out is not None:
        if request.out.suffix == ".svg":
            other = request.out.with_name(f"{request.out.stem}-histogram.svg")
            files = {request.out: by_length(found, title), other: histogram(found, title)}
        else:
            rows = {str(length): [str(number) for number in row] for length, row in found.by_length.items()}
            content = {"tokens": size, "summary": lines, "segmentations by length": rows}
            files = {request.out: json.dumps(content, indent=2)}
        for path, written in files.items():
            console.print(Text(f"wrote {write_whole(path, written)}"))
    return 0
