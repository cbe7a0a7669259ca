"""The segmentations of one token, or of all, and ψ: how often a drafter begins with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log10
from pathlib import Path
from statistics import quantiles, stdev
from typing import Any, NamedTuple

import numpy as np

from spec_math.arrays import count
from spec_math.distribution import restriction
from spec_math.files.law_files import LawFileError, open_laws
from spec_math.language import Vocabulary
from spec_math.language.files import read_tokenizer, read_vocabulary
from spec_math.language.overlap import Overlap, by_bytes, by_keys, expressibility, in_texts
from spec_math.mean import known
from spec_math.result import (
    Column,
    Curve,
    Node,
    Note,
    Panel,
    Picture,
    Result,
    Table,
    Tree,
    columns,
    curve,
    rows,
    sentences,
)
from spec_math.string_level import segmentation
from spec_math.string_level.psi import first_token, longest_lookahead, most_calls
from spec_math.studies.arguments import Progress, stepped
from spec_math.studies.positions.stream import from_files
from spec_math.wording import counted

OVERLAP_COLUMNS = (
    Column("compared"),
    Column("shared", "count", "tokens"),
    *columns(("of the first", "Jaccard", "of the larger"), "number", "share"),
)


def overlap(first: Path, second: Path, text: Path | None, progress: Progress) -> Result:
    """Compare two vocabularies.

    Raises:
        ValueError, OSError: a file that holds no vocabulary, or a text that is not UTF-8.
    """
    a, b = read_all([first, second], progress)
    found = {"by bytes": by_bytes(a, b)}
    if a.keyed and b.keyed:  # a tiktoken file lists bytes and no keys
        found["by raw keys"] = by_keys(a, b)
    notes: list[str] = []
    if text is not None:
        content = text_of(text)
        (ours, how), (theirs, other_way) = read_tokenizer(first), read_tokenizer(second)
        notes.append(f"{text.name} is read {how} of {first.name} and {other_way} of {second.name}")
        found["by bytes, tokens of the text"] = in_texts([content], ours, theirs)
    shares = [
        (name, len(one.shared), float(one.of_target), float(one.jaccard), float(one.of_larger))
        for name, one in found.items()
    ]
    relation = expressibility(a, b)
    sides = ((first, second), a, relation.target_breaks), ((second, first), b, relation.draft_breaks)
    notes += [
        f"{len(broken):,} tokens of {own.name} cannot be spelled in {other.name}{_examples(vocabulary, broken)}"
        for (own, other), vocabulary, broken in sides
    ]
    title = f"{first.name} ({len(a):,} tokens) and {second.name} ({len(b):,} tokens)"
    number, share = len(found["by bytes"].shared), float(found["by bytes"].of_target)
    finding = f"They share {number:,} tokens with equal bytes, {share:.1%} of {first.name}. "
    finding += "TLI and union can draft them." if number else "TLI and union have nothing to draft."
    table = Table("overlap", "Shared tokens", OVERLAP_COLUMNS, rows(shares))
    return Result("overlap", title, finding, (table,), (_picture(title, found),), sentences(notes))


def read_all(places: Sequence[Path], progress: Progress) -> list[Vocabulary]:
    """Read vocabularies one after another, and say so.

    Raises:
        ValueError, OSError: as `read_vocabulary`.
    """
    return [read_vocabulary(place) for place in stepped(places, "reading vocabularies", progress)]


def text_of(path: Path) -> str:
    """Return a text file as str.

    Raises:
        ValueError: it is not UTF-8; the byte and its position are named. OSError: there is no such file.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: no UTF-8 at byte {error.start} (0x{error.object[error.start]:02x}): {error.reason}"
        ) from error


def _picture(title: str, found: dict[str, Overlap]) -> Picture:
    heights = {place: known(overlap.jaccard) for place, overlap in enumerate(found.values())}
    bars = curve("Jaccard overlap", heights)
    panel = Panel((bars,), "", "Jaccard overlap", bars=True, ticks=tuple(found), limits=(0.0, 1.0))
    return Picture("overlap", title, "Shared tokens, as a share of the tokens in either vocabulary.", (panel,))


def _examples(vocabulary: Vocabulary, tokens: Any) -> str:
    shown = ", ".join(repr(vocabulary[index]) for index in list(tokens)[:5])
    return f": {shown}{', …' if len(tokens) > 5 else ''}" if shown else ""


DRAWN = 200
"""Segmentations that are still drawn as a tree."""

COLUMNS = (
    Column("text"),
    Column("segmentations", "count"),
    Column("forward passes", "count", "calls of the drafter"),
    Column("psi", "number", "probability", digits=None, heading="ψ"),
    Column("n_max", "count", "draft tokens"),
    Column("expected draft tokens", "number", "draft tokens", digits=None),
    Column("laws asked of a drafter with context", "count", "calls of the drafter", heading="drafter calls"),
    Column("texts that begin with no target token", "number", "probability", digits=None, heading="no target token"),
)
SUMMARY_COLUMNS = Column("Table 5"), *columns(("at least", "at most"), "number", digits=None)
LENGTH_COLUMNS = *columns(("bytes", "tokens"), "count"), *columns(("least", "median", "most"), "count", "segmentations")


class PsiRequest(NamedTuple):
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
    """
    places = [place for place in (request.vocabulary, request.target_vocabulary) if place is not None]
    drafter, *others = read_all(places, progress)
    drawing = request.draft, request.corpus, request.lookahead
    if request.text is None:
        if others or any(option is not None for option in drawing):
            raise ValueError("ψ needs one target token, as in spec-math psi hello --vocabulary FILE")
        return _every_token(request, drafter)
    if request.shortest is not None:
        raise ValueError("--shortest is for all tokens; leave out the token")
    if not others and any(option is not None for option in drawing):
        raise ValueError("--draft, --text and --lookahead need --target-vocabulary")
    number = segmentation.count(request.text, drafter)
    ways = counted(number, "segmentation")
    finding = f"{request.text!r} has {ways} in {request.vocabulary.name}."
    notes, drawn, passes = _spelled(request, drafter, number)
    cells: list[Any] = [None] * 5
    for target in others:
        cells, said = _psi_of(request, target, drafter)
        notes = (*notes, *sentences(said))
        finding = f"ψ = {cells[0]:.6g}, the probability that a draft begins with {request.text!r}, which has {ways}."
    row = rows([(request.text, number, passes, *cells)])
    title = f"{request.text}: {ways} in {request.vocabulary.name}"
    return Result("psi", title, finding, (Table("psi", "Segmentations and ψ", COLUMNS, row),), drawn, notes)


def _spelled(
    request: PsiRequest, drafter: Vocabulary, number: int
) -> tuple[tuple[Note, ...], tuple[Picture, ...], Any]:
    text = request.text or ""
    if not number:
        return (), (), None
    if number > DRAWN:
        return sentences([f"The tree is drawn for up to {DRAWN} segmentations."]), (), None
    passes = segmentation.forward_passes(text, drafter)
    said = f"The probabilities of all of them need {passes:,} forward passes of the drafter."
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
        f"ψ is the probability that a drafted text begins with this target token, {said}. Drafting ends when {stop}. "
        f"With probability {float(found.untokenisable):.3g} a text begins with no target token.",
        f"The first target token is determined after {float(found.draws):.3g} draft tokens on average, and after at "
        f"most n_max = {longest}. A drafter with context would be called {calls:,} times.",
    ]


def _drafter_law(request: PsiRequest, drafter: Vocabulary) -> tuple[Any, str]:
    """Return the drafter's law, and what it is in words: a file's, a text's frequencies, or uniform."""
    spoken = np.array([bool(token) for token in drafter])
    if request.draft is not None and request.corpus is not None:
        raise ValueError("--draft and --text both define the drafter; give only one of them")
    if request.draft is not None:
        file = open_laws(request.draft)
        if file.shape != (1, len(drafter)):
            raise LawFileError(
                f"{file.path}: ψ needs one row for the drafter's {len(drafter):,} tokens; got {list(file.shape)}"
            )
        row, _ = next(from_files(file, file, logits=False).laws([0]))
        return restriction(row, spoken), f"if each draft token is drawn from {file.path.name}"
    if request.corpus is not None:
        tokenizer, how = read_tokenizer(request.vocabulary)
        seen = np.bincount(tokenizer.encode(text_of(request.corpus)), minlength=len(drafter)) * spoken
        if not seen.any():
            raise ValueError(f"{request.corpus}: its text has no token, and frequencies need one")
        said = f"if draft tokens have their frequencies in {request.corpus.name}, read {how}"
        return seen / seen.sum(), said
    return spoken / spoken.sum(), "if all draft tokens are equally likely"


def _every_token(request: PsiRequest, drafter: Vocabulary) -> Result:
    found = counts(drafter, request.shortest)
    size = len(found.least)
    title = f"the segmentations of {'all' if request.shortest is None else 'the shortest'} {size:,} tokens"
    lines = summary(found)
    of_lengths = [(size, len(row), row[0], row[(len(row) - 1) // 2], row[-1]) for size, row in found.by_length.items()]
    notes: list[str] = []
    if found.kept is not None:
        length = max(found.by_length)
        tied = len(found.by_length[length])
        notes.append(
            f"Only {found.kept:,} of the {tied:,} tokens of {length} bytes are included. The order does not determine "
            "which, so rows with two numbers are intervals."
        )
    mean, median = lines["mean"][0], lines["50 %"][0]
    finding = f"A token has {mean:,.6g} segmentations on average; the median is {median:,.6g}."
    table_5 = rows((name, *ends) for name, ends in lines.items())
    tables = (
        Table("summary", "Table 5 of Timor et al.", SUMMARY_COLUMNS, table_5),
        Table("lengths", "By the length of the token", LENGTH_COLUMNS, rows(of_lengths)),
    )
    pictures, heading = (by_length(found, title), histogram(found, title)), f"{title} of {request.vocabulary.name}"
    return Result("segmentations", f"{heading} in the same vocabulary", finding, tables, pictures, sentences(notes))


class Counts(NamedTuple):
    """The segmentations of tokens by length in bytes, {length: counts in ascending order}, shortest length first.

    kept: of the `tied` tokens of the last length so many are meant, None where all are: which ones is not determined,
    and neither is what depends on it.
    """

    by_length: dict[int, list[int]]
    kept: int | None = None

    @property
    def least(self) -> list[int]:
        """Every count, of the tied ones the smallest: the choice with the smallest mean."""
        return self._chosen(slice(None, self.kept))

    @property
    def most(self) -> list[int]:
        """Every count, of the tied ones the largest: the choice with the largest mean."""
        return self._chosen(slice(None if self.kept is None else -self.kept, None))

    def _chosen(self, of_last: slice) -> list[int]:
        *shorter, last = self.by_length.values()
        return sorted([*(value for row in shorter for value in row), *last[of_last]])


def counts(vocabulary: Vocabulary, shortest: int | None = None) -> Counts:
    """Count the segmentations of all text tokens into tokens of the same vocabulary, or of so many shortest ones.

    Tokens that only repeat the bytes of another are counted like it.

    Raises:
        ValueError: there are fewer text tokens. TypeError: shortest is not a positive integer.

    Source: Timor et al., Appendix C, with the 150,000 shortest of 151,646.
    """
    texts = [token for token in vocabulary if token]
    wanted = len(texts) if shortest is None else count(shortest, "--shortest")
    if wanted > len(texts):
        raise ValueError(f"--shortest must not exceed the {len(texts):,} tokens with text; got {wanted:,}")
    last = sorted(map(len, texts))[wanted - 1]
    within = [text for text in texts if len(text) <= last]
    rows: dict[int, list[int]] = {}
    for text, number in zip(within, segmentation.counts(within, vocabulary), strict=True):
        rows.setdefault(len(text), []).append(number)
    kept = len(rows[last]) - (len(within) - wanted)
    return Counts({size: sorted(rows[size]) for size in sorted(rows)}, None if kept == len(rows[last]) else kept)


def summary(found: Counts) -> dict[str, tuple[float, float]]:
    """Return Table 5's lines for the number of segmentations, each as the least and the largest it can be.

    Equal ends are determined. Quantiles between two values are interpolated, the deviation divides by n − 1: as the
    table's do.
    """
    names = "mean", "standard deviation", "minimum", "25 %", "50 %", "75 %", "maximum"
    return dict(zip(names, zip(_statistics(found.least), _statistics(found.most), strict=True), strict=True))


def _statistics(side: list[int]) -> list[float]:
    several = len(side) > 1
    quartiles = quantiles(side, method="inclusive") if several else side * 3
    spread = stdev(side) if several else 0.0
    return [sum(side) / len(side), spread, *map(float, (side[0], *quartiles, side[-1]))]


BINS = 10
"""Bins of the histogram a power of ten."""


def tree(text: str | bytes, vocabulary: Vocabulary, title: str) -> Picture:
    """Return the segmentations of a text as a tree; each leaf is one of them.

    Raises:
        ValueError: the text has no segmentation, or too many to list. Source: Timor et al., Figure 1.
    """
    leaves = segmentation.list(text, vocabulary)
    if not leaves:
        raise ValueError(f"{text!r} has no segmentation to draw")
    places: dict[tuple[int, ...], int] = {(): 0}
    nodes = [Node("start", None, False)]
    for leaf in leaves:
        for depth in range(1, len(leaf) + 1):
            if leaf[:depth] not in places:
                places[leaf[:depth]] = len(nodes)
                label = segmentation.shown(vocabulary[leaf[depth - 1]]).replace("$", r"\$")
                nodes.append(Node(label, places[leaf[: depth - 1]], leaf[:depth] == leaf))
    return Picture(
        "tree",
        title,
        "Each leaf is one sequence of draft tokens that spells the text, as in Figure 1 of Timor et al. The drafter "
        "must be called at every inner node to compute ψ.",
        Tree(tuple(nodes)),
    )


def by_length(found: Counts, title: str) -> Picture:
    """Return the number of segmentations against the length: least, quartiles, median, most, and 2^(m−1) for m bytes.

    A length of which only some tokens are meant is drawn apart, as it is not determined. Source: Figure 2.
    """
    tied = max(found.by_length) if found.kept is not None else None
    lengths = {size: row for size, row in found.by_length.items() if size != tied}
    curves = [_spread("median, least to most", lengths, 4), _spread("quartiles", lengths, 2)]
    if tied is not None:
        meant = f"{found.kept:,} of these {len(found.by_length[tied]):,}"
        label = f"{tied} bytes: only {meant} count, not determined which"
        curves.append(_spread(label, {tied: found.by_length[tied]}, 4))
    ends = float(min(found.by_length)), float(max(found.by_length))
    curves.append(Curve("all: 2^(m − 1)", ends, tuple((m - 1) * log10(2) for m in ends), style="guide"))
    return Picture(
        "lengths",
        title,
        "Longer tokens have more segmentations (Timor et al., Figure 2). The dotted line is the maximum.",
        (Panel(tuple(curves), "bytes of the token", "segmentations, powers of ten"),),
    )


def histogram(found: Counts, title: str) -> Picture:
    """Return how many tokens have how many segmentations; those of a tied length are a line of their own.

    The paper's kernel density is left out: its bandwidth is not stated. Source: Figure 3.
    """
    rows = list(found.by_length.values())
    settled = [value for row in (rows if found.kept is None else rows[:-1]) for value in row]
    curves = [_binned("determined", settled)]
    if found.kept is not None:
        curves.append(_binned(f"the {len(rows[-1]):,} tied ones ({found.kept:,} of them count)", rows[-1]))
    return Picture(
        "histogram",
        title,
        "Histogram of the number of segmentations (Timor et al., Figure 3), in bins of a tenth of a power of ten.",
        (Panel(tuple(curves), "segmentations, powers of ten", "tokens", log_y=True),),
    )


def _spread(label: str, lengths: dict[int, list[int]], share: int) -> Curve:
    """Return medians with the range of all (share 4) or of the quartiles (share 2), as powers of ten."""

    def quantile(quarter: int) -> tuple[float, ...]:
        return tuple(_log10(row[(len(row) - 1) * quarter // 4]) for row in lengths.values())

    low, high = (0, 4) if share == 4 else (1, 3)
    return Curve(label, tuple(map(float, lengths)), quantile(2), quantile(low), quantile(high), "points")


def _binned(label: str, values: list[int]) -> Curve:
    held = Counter(int(_log10(value) * BINS) for value in values)
    return Curve(label, tuple((b + 0.5) / BINS for b in sorted(held)), tuple(float(held[b]) for b in sorted(held)))


def _log10(value: int) -> float:
    """Return the logarithm of a whole number of any size."""
    return log10(value) if value > 0 else 0.0
