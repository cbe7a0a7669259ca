"""Recorded logits along a text: files of both models' rows, the tokens, and the documents that they belong to.

Row p is the distribution that token p was drawn from. The text is tested against its rows while they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any

import numpy as np

from spec_math.files.law_files import array_names, open_laws, read_integers
from spec_math.studies.positions.stream import Filters, Positions, filtered, from_files, parsed_filters

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

Chunk = tuple[FLOAT, ...]
"""Masses [n, V] of the target, of the draft, and of the distribution that wrote the text where that is another."""

EVIDENCE = log(1e6)
"""Text of the stated distribution is refused with chance 1e-6 at most."""

MASSES = 2**21
"""Masses of one model that are read at once."""


@dataclass(frozen=True)
class Files:
    """The files of a recording: one of each kind, or one of each for every document.

    documents: lengths separated by commas, or a file of lengths or of one number a token that tells documents apart.
    text_of: the writer of the text: target, draft, filters of the target such as temperature=0.7, or a file of rows.
    """

    targets: Sequence[str]
    drafts: Sequence[str]
    tokens: Sequence[str]
    documents: str = ""
    logits: bool = False
    filters: Filters = field(default_factory=Filters)
    text_of: str = "target"


@dataclass(frozen=True)
class Recording:
    """A recording: all tokens [N], the documents' lengths, V, and a stream of chunks."""

    tokens: Any
    lengths: tuple[int, ...]
    size: int
    chunks: Iterator[Chunk]
    own: bool


def opened(files: Files) -> Recording:
    """Open a recording; its rows are read and tested as `chunks` is gone through.

    Raises:
        ValueError: numbers of files, rows, tokens or documents that do not fit; while streaming, as `tested`.
    """
    if not len(files.targets) == len(files.drafts) == len(files.tokens):
        raise ValueError(
            "a recording needs --target, --draft and --tokens, each once or once a document; got "
            f"{len(files.targets)}, {len(files.drafts)} and {len(files.tokens)}"
        )
    tokens = [read_integers(place) for place in files.tokens]
    streams: list[tuple[Positions, Positions | None]] = []
    for target, draft, own in zip(files.targets, files.drafts, tokens, strict=True):
        if "drafted" in array_names(draft) and (read_integers(f"{_file(draft)}:drafted") < 0).any():
            raise ValueError(f"{draft}: a trace has no draft logits where nothing was drafted; record them there too")
        rows = _rows(files, target, draft, files.filters)
        if rows.count != len(own):
            raise ValueError(
                f"{target} has {rows.count:,} rows for {len(own):,} tokens; row p is the distribution of token p, so "
                "leave out rows without a token"
            )
        streams.append((rows, _writer(files, target, draft)))
    if len({rows.size for rows, _ in streams}) > 1:
        raise ValueError("all documents need one vocabulary")
    lengths = tuple(map(len, tokens)) if len(tokens) > 1 else _lengths(files.documents, len(tokens[0]))
    every = np.concatenate(tokens)
    return Recording(every, lengths, streams[0][0].size, tested(_chunks(streams), every), files.text_of == "target")


def _file(place: str) -> str:
    return place[: place.index(".safetensors") + 12] if ".safetensors" in place else place.partition(".npz")[0] + ".npz"


def _rows(files: Files, target: str, draft: str, filters: Filters) -> Positions:
    heats = filters.target.temperature or 1.0, filters.draft.temperature or 1.0
    return filtered(from_files(open_laws(target), open_laws(draft), files.logits, heats), filters, heated=files.logits)


def _writer(files: Files, target: str, draft: str) -> Positions | None:
    if files.text_of == "target":
        return None
    if files.text_of == "draft":
        return _rows(files, draft, draft, Filters())
    if "=" in files.text_of:
        return _rows(files, target, target, parsed_filters([files.text_of]))
    if not any(ending in files.text_of for ending in (".npy", ".npz", ".safetensors")):
        raise ValueError(
            "--text-of takes target, draft, filters such as temperature=0.7,top_p=0.9, or a file of the writer's rows; "
            f"got {files.text_of!r}. The distribution of a person's text is not known: record text that a model wrote"
        )
    return _rows(files, files.text_of, files.text_of, Filters())


def _lengths(text: str, number: int) -> tuple[int, ...]:
    if not text:
        return (number,)
    stated = text.replace(",", "").replace(" ", "").isdecimal()
    found = np.array(text.split(","), dtype=np.int64) if stated else read_integers(text)
    if len(found) == number and not stated:
        found = np.diff(np.flatnonzero(np.concatenate([[True], found[1:] != found[:-1], [True]])))
    if found.sum() != number or found.min(initial=1) < 1:
        raise ValueError(
            f"--documents: lengths must be positive and add up to the {number:,} tokens; these {len(found):,} add up "
            f"to {found.sum():,}"
        )
    return tuple(found.tolist())


def _chunks(streams: Sequence[tuple[Positions, Positions | None]]) -> Iterator[Chunk]:
    for rows, writer in streams:
        at_once = max(1, MASSES // rows.size)
        if writer is None:
            yield from ((batch.targets, batch.drafts) for batch in rows.batches(at_once))
        else:
            both = zip(rows.batches(at_once), writer.batches(at_once), strict=True)
            yield from ((batch.targets, batch.drafts, other.targets) for batch, other in both)


SAID = (
    "the tokens fit the draft's rows better: exchange --target and --draft, or add --text-of draft",
    "the tokens fit the row before theirs: rows are shifted by one, leave out the first token and last row",
    "say with --temperature, --filter or --text-of what wrote the text",
    "the tokens fit the row after theirs: rows are shifted by one, leave out the last token and first row",
)


def tested(chunks: Iterator[Chunk], tokens: Any) -> Iterator[Chunk]:
    """Yield chunks, and test on the way that each token was drawn from the writer's row at its place.

    For a distribution q that is known before token x, with the writer's p, Π (q(x) + 1/V)/(2 p(x)) is a nonnegative
    martingale if tokens are drawn from p. The mean of three, for q the draft's row, the writer's row before, and p²
    over its sum, exceeds 1e6 with chance 1e-6 at most (Ville).

    Raises:
        ValueError: it exceeds that; the message names the rows that the tokens fit better.

    >>> rows = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> next(tested(iter([(rows, rows)]), np.array([0, 1])))
    Traceback (most recent call last):
    ValueError: position 1: tokens do not fit the rows at their places; the tokens fit the row before theirs: rows are \
shifted by one, leave out the first token and last row
    """
    evidence, start, last = np.zeros(len(SAID)), 0, None
    for chunk in chunks:
        writer, number = chunk[-1] if len(chunk) == 3 else chunk[0], len(chunk[0])
        own, sizes = tokens[start : start + number], writer.sum(1)
        if len(own) < number or own.min(initial=0) < 0 or own.max(initial=0) >= writer.shape[1]:
            raise ValueError(f"tokens must lie in 0..{writer.shape[1] - 1}, one for each row")
        places, least = np.arange(number), 1 / writer.shape[1]
        p = writer[places, own] / sizes
        before = np.concatenate([[least if last is None else last[own[0]]], writer[places[:-1], own[1:]] / sizes[:-1]])
        after = np.concatenate([writer[places[1:], own[:-1]] / sizes[1:], [least]])
        sharp = writer[places, own] ** 2 / np.einsum("ij,ij->i", writer, writer)
        others = np.stack([chunk[1][places, own] / chunk[1].sum(1), before, sharp, after])
        with np.errstate(divide="ignore"):
            evidence = evidence + np.log((others + least) / (2 * p)).sum(1)
        # The row after is not known before its token: it says which way rows are shifted, and not that they are.
        if np.logaddexp.reduce(evidence[:-1]) - log(3) > EVIDENCE:
            said = SAID[int(evidence.argmax())]
            raise ValueError(f"position {start + number - 1}: tokens do not fit the rows at their places; {said}")
        last = writer[-1] / sizes[-1]
        start += number
        yield chunk
