"""Recorded logits along a text: files of both models' rows, the tokens, and the documents that they belong to.

Row p is the distribution that token p was drawn from. The text is tested against its rows while they are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from spec_math.files.law_files import LawFileError, read_integers
from spec_math.studies.positions.stream import FLOAT, Filters, Positions, filtered_files, parsed_filters

Chunk = tuple[FLOAT, ...]
"""Masses [n, V] of the target, of the draft, and of the distribution that wrote the text where that is another."""

EVIDENCE = log(1e6)
"""Text of the stated distribution is refused with chance 1e-6 at most."""

MASSES = 2**21
"""Masses of one model that are read at once."""


@dataclass(frozen=True)
class AdviceRequest:
    """Files of a recording, two tables, or none for the embedded models; texts are what a user types.

    documents: lengths separated by commas, or a file of lengths or of one number a token that tells documents apart.
    text_of: the writer of the text: target, draft, filters of the target such as temperature=0.7, or a file of rows.
    `samples` texts of `study.LENGTH` tokens are drawn from models that are asked.
    """

    target: str | None = None
    draft: str | None = None
    tokens: str | None = None
    documents: str = ""
    logits: bool = False
    costs: str = ""
    methods: tuple[str, ...] = ()
    ks: str = "1,2,4,8"
    lookahead: int = 8
    nodes: int = 64
    temperature: float | None = None
    filters: tuple[str, ...] = ()
    text_of: str = "target"
    samples: int = 20
    seed: int = 0


def opened(request: AdviceRequest, filters: Filters) -> tuple[Any, tuple[int, ...], Positions, Iterator[Chunk]]:
    """Return all tokens [N], the documents' lengths, the rows, and chunks of them, tested as they are gone through.

    Raises:
        ValueError: rows, tokens or documents that do not fit; while streaming, as `tested`.
    """
    if request.target is None or request.draft is None or request.tokens is None:
        names = f"--target {request.target or 'BIG'} --draft {request.draft or 'SMALL'}"
        raise ValueError(
            "a recording needs --target, --draft and --tokens. Models that transformers can load need a text to go on "
            f"from: spec-math advise {names} --text prompts.txt"
        )
    if ":draft_logits" in request.draft:
        with suppress(LawFileError):
            if (read_integers(request.draft.replace(":draft_logits", ":drafted")) < 0).any():
                why = "a trace has no draft logits where nothing was drafted; record them too"
                raise ValueError(f"{request.draft}: {why}")
    tokens, rows = read_integers(request.tokens), filtered_files(request.target, request.draft, request.logits, filters)
    if rows.count != len(tokens):
        raise ValueError(
            f"{request.target} has {rows.count:,} rows for {len(tokens):,} tokens; row p is the distribution of token "
            "p, so leave out rows without a token"
        )
    lengths, at_once = _lengths(request.documents, len(tokens)), max(1, MASSES // rows.size)
    writer = _writer(request, request.target, request.draft)
    chunks = ((batch.targets, batch.drafts) for batch in rows.batches(at_once))
    if writer is not None:
        others = writer.batches(at_once)
        chunks = ((*both, other.targets) for both, other in zip(chunks, others, strict=True))
    return tokens, lengths, rows, tested(chunks, tokens)


def _writer(request: AdviceRequest, target: str, draft: str) -> Positions | None:
    if request.text_of == "target":
        return None
    if "=" in request.text_of:
        return filtered_files(target, target, request.logits, parsed_filters([request.text_of]))
    place = draft if request.text_of == "draft" else request.text_of
    if not any(ending in place for ending in (".npy", ".npz", ".safetensors")):
        raise ValueError(
            "--text-of takes target, draft, filters such as temperature=0.7,top_p=0.9, or a file of the writer's rows; "
            f"got {place!r}. The distribution of a person's text is not known: record text that a model wrote"
        )
    return filtered_files(place, place, request.logits, Filters())


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
    >>> next(tested(iter([(rows, rows / 2 + 0.25)]), np.array([0, 1])))
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
        evidence = evidence + np.log((others + least) / (2 * np.maximum(p, 2.0**-99))).sum(1)
        # The row after is not known before its token: it says which way rows are shifted, and not that they are.
        if np.logaddexp.reduce(evidence[:-1]) - log(3) > EVIDENCE:
            said = SAID[int(evidence.argmax())]
            raise ValueError(f"position {start + number - 1}: tokens do not fit the rows at their places; {said}")
        last = writer[-1] / sizes[-1]
        start += number
        yield chunk
