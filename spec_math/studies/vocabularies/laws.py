"""Two files of laws over two vocabularies: what each method accepts of a first draft, at many positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spec_math.distribution import restriction
from spec_math.drafting.correspondence import carried, places
from spec_math.files.law_files import LawFile, LawFileError, open_laws
from spec_math.language import Vocabulary
from spec_math.language.files import read_vocabulary
from spec_math.mean import of_positions
from spec_math.string_level.methods import METHODS, First, Method
from spec_math.string_level.psi import first_token, most_calls
from spec_math.studies.positions.stream import from_files
from spec_math.studies.progress import Progress
from spec_math.studies.vocabularies.comparison import DrafterLines, MethodLine, VocabularyComparison
from spec_math.wording import counted


@dataclass(frozen=True)
class Laws:
    """Four files: laws [positions, T] and [positions, D], and two vocabularies; at most `positions` are looked at."""

    target: str
    draft: str
    target_vocabulary: Path
    draft_vocabulary: Path
    logits: bool = False
    positions: int = 40


def compare(files: Laws, draft_cost: float, progress: Progress) -> VocabularyComparison:
    """Compare union, TLI, SLEM and SLRS at evenly spaced positions of two files.

    ψ is that of one draft token, which needs no law but the one in the file; and, as lines of their own, that of a
    drafter which draws every further token from the same law until the first target token is determined. Special draft
    tokens are left out of ψ (`distribution.restriction`), as they add no text.

    Raises:
        LawFileError: a file is none, the numbers of positions differ, or a law has another size than its vocabulary.
        ValueError, OSError: a vocabulary file is none.

    >>> files = Laws("t.npy", "d.npy", Path("a"), Path("b"))
    >>> compare(files, 0.05, lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    spec_math.files.law_files.LawFileError: t.npy: there is no such file
    """
    sides = open_laws(files.target), open_laws(files.draft)
    words = read_vocabulary(files.target_vocabulary), read_vocabulary(files.draft_vocabulary)
    _fit(sides, words, (files.target_vocabulary, files.draft_vocabulary))
    chosen = np.linspace(0, sides[0].shape[0] - 1, min(files.positions, sides[0].shape[0])).round().astype(int)
    step = progress("comparing two vocabularies", len(chosen))
    found: list[dict[Key, float]] = []
    for rows in _rows(sides, files.logits, set(chosen.tolist())):
        found.append(_at(*rows, *words))
        step(1)
    shared = places(*words)
    about = DrafterLines(
        Path(files.draft).name,
        len(words[1]),
        len(np.unique(shared[shared >= 0])),
        of_positions([position["shared"] for position in found]),
        of_positions([position["untokenisable"] for position in found]),
        most_calls(*words),
        tuple(_lines(found, draft_cost)),
    )
    return VocabularyComparison(
        f"{files.target} and {files.draft}, {len(chosen):,} of {counted(sides[0].shape[0], 'position')}",
        len(words[0]),
        len(chosen),
        draft_cost,
        (about,),
        of_positions([position["surest"] for position in found]),
        "laws",
    )


def _fit(sides: tuple[LawFile, LawFile], words: tuple[Vocabulary, Vocabulary], paths: tuple[Path, Path]) -> None:
    for side, vocabulary, path in zip(sides, words, paths, strict=True):
        if side.shape[1] != len(vocabulary):
            raise LawFileError(f"{side.path}: its laws have {side.shape[1]:,} tokens, {path} has {len(vocabulary):,}")
    if sides[0].shape[0] != sides[1].shape[0]:
        raise LawFileError(
            f"both files need the same positions; {sides[0].path} has {sides[0].shape[0]:,}, {sides[1].path} has "
            f"{sides[1].shape[0]:,}"
        )


def _rows(sides: tuple[LawFile, LawFile], logits: bool, chosen: set[int]) -> Iterator[tuple[Any, Any]]:
    """Yield both laws at the chosen positions."""
    streams = [from_files(side, side, logits).batches(8) for side in sides]
    for batches in zip(*streams, strict=True):
        for row in range(len(batches[0].targets)):
            if batches[0].start + row in chosen:
                target, draft = (batch.targets[row] / batch.targets[row].sum() for batch in batches)
                yield target, draft


Key = tuple[Method, bool] | str
"""A method and whether each draft token is taken to be from this law, or another fact of a position."""


def _at(target: Any, draft: Any, words: Vocabulary, other: Vocabulary) -> dict[Key, float]:
    said = draft if not other.special else restriction(draft, np.array([bool(token) for token in other]))
    found: dict[Key, Any] = {
        "shared": carried(draft, words, other)[0].sum(),
        "surest": target.max(),
    }
    for alike, lookahead in ((False, 1), (True, None)):
        psi = first_token(words, other, said, lookahead)
        first = First(target, draft, words, other, psi.law)
        for method in METHODS:
            if method.accepts is not None and method.like is None and (method.models is None or not alike):
                found[method, alike] = method.accepts(first)
        found["untokenisable"] = psi.untokenisable
    return {name: float(value) for name, value in found.items()}


def _lines(found: list[dict[Key, float]], draft_cost: float) -> Iterator[MethodLine]:
    for alike, lookahead in ((False, 1), (True, None)):
        for method in METHODS:
            if (method, alike) not in found[0]:
                continue
            acceptance = of_positions([position[method, alike] for position in found])
            # One draft token that is accepted or not: 1 + acceptance, unless it is read as several target tokens.
            known = lookahead == 1 and method.retokenised is None
            tokens = of_positions([1 + position[method, alike] for position in found]) if known else None
            yield MethodLine(
                method,
                acceptance,
                lookahead,
                tokens,
                float(lookahead) if known and lookahead else None,
                tokens.value / (1 + draft_cost) if tokens else None,
                alike=alike,
            )
