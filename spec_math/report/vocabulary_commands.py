"""What `spec-math psi` and `spec-math overlap` do: two vocabularies seen through one token, and side by side."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from spec_math.language import Vocabulary
from spec_math.language.expressibility import expressibility
from spec_math.language.files import read_vocabulary
from spec_math.language.overlap import Overlap, by_bytes, by_keys, bytes_of
from spec_math.report.law_files import write_whole
from spec_math.report.pictures import bars
from spec_math.string_level import segmentation
from spec_math.string_level.psi import first_token

DRAWN = 200
"""Segmentations that are still drawn as a tree."""


@dataclass(frozen=True)
class PsiRequest:
    """What `spec-math psi` was asked: a text, the drafter's vocabulary, and perhaps the target's, to have ψ itself."""

    text: str
    vocabulary: Path
    target_vocabulary: Path | None = None
    out: Path | None = None


def psi(request: PsiRequest, console: Console) -> int:
    """Print in how many ways the drafter can spell a text, the target calls that takes, the tree, and perhaps ψ.

    ψ is for a drafter that draws each of its tokens alike, as no other law comes with a vocabulary.

    Raises:
        ValueError, OSError: a file that holds no vocabulary; a text that is no target token.

    >>> psi(PsiRequest("ab", Path("none.json")), Console())
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'none.json'
    """
    drafter = read_vocabulary(request.vocabulary)
    number = segmentation.count(request.text, drafter)
    console.print(Text(f"{request.text!r} has {number:,} segmentations in {request.vocabulary.name}", style="bold"))
    lines: dict[str, Any] = {"text": request.text, "segmentations": str(number)}
    if 0 < number <= DRAWN:
        passes = segmentation.forward_passes(request.text, drafter)
        lines["forward passes"] = passes
        console.print(f"{passes:,} forward passes of the drafter to know the probability of all of them")
        console.print(Text(segmentation.draw(request.text, drafter)))
    elif number:
        console.print(f"(the tree is drawn for up to {DRAWN} segmentations)")
    if request.target_vocabulary is not None:
        lines |= _psi_of(request.text, read_vocabulary(request.target_vocabulary), drafter, console)
    if request.out is not None:
        console.print(Text(f"wrote {write_whole(request.out, json.dumps(lines, indent=2, ensure_ascii=False))}"))
    return 0


def overlap(first: Path, second: Path, text: Path | None, out: Path | None, console: Console) -> int:
    """Print what two vocabularies share, by bytes and by raw keys, and what either cannot spell of the other.

    Raises:
        ValueError, OSError: a file that holds no vocabulary, or a text that is no UTF-8.

    >>> overlap(Path("a.json"), Path("b.json"), None, None, Console())
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'a.json'
    """
    a, b = read_vocabulary(first), read_vocabulary(second)
    rows = dict(_overlaps(a, b))
    if text is not None:
        content = text.read_text(encoding="utf-8").encode()
        used = [frozenset(bytes_of(v, _tokens_in(content, v))) for v in (a, b)]
        rows["by bytes, tokens inside the text"] = Overlap(*used)
    table = Table(title=f"{first.name} ({len(a):,} tokens) and {second.name} ({len(b):,} tokens)")
    for column in ("compared", "shared", "of the first", "Jaccard", "of the larger"):
        table.add_column(column, justify="left" if column == "compared" else "right")
    for name, found in rows.items():
        shares = (f"{float(share):.4f}" for share in (found.of_target, found.jaccard, found.of_larger))
        table.add_row(name, f"{len(found.shared):,}", *shares)
    console.print(table)
    relation = expressibility(a, b)
    for names, vocabulary, broken in (
        ((first.name, second.name), a, relation.target_breaks),
        ((second.name, first.name), b, relation.draft_breaks),
    ):
        said = f"{len(broken):,} tokens of {names[0]} cannot be spelled in {names[1]}{_examples(vocabulary, broken)}"
        console.print(Text(said))
    if out is not None:
        shares = {name: float(found.jaccard) for name, found in rows.items()}
        console.print(
            Text(f"wrote {write_whole(out, bars(shares, 'Jaccard overlap', f'{first.stem} and {second.stem}'))}")
        )
    return 0


def _overlaps(a: Vocabulary, b: Vocabulary) -> list[tuple[str, Overlap]]:
    kinds: tuple[tuple[str, Callable[[Vocabulary, Vocabulary], Overlap]], ...] = (
        ("by bytes", by_bytes),
        ("by raw keys", by_keys),
    )
    return [(name, kind(a, b)) for name, kind in kinds]


def _tokens_in(content: bytes, vocabulary: Vocabulary) -> list[int]:
    return [index for index, token in enumerate(vocabulary) if token and token in content]


def _psi_of(text: str, target: Vocabulary, drafter: Vocabulary, console: Console) -> dict[str, Any]:
    index = target.index(text)
    weights = np.array([1.0 if token else 0.0 for token in drafter])
    found = first_token(target, drafter, weights / weights.sum())
    mass = float(found.law[index])
    console.print(
        f"ψ = {mass:.6g}: how often a drafted text begins with this target token, each draft token being as likely; "
        f"{float(found.untokenisable):.3g} of the texts cannot be tokenised"
    )
    return {"psi, uniform drafter": mass}


def _examples(vocabulary: Vocabulary, tokens: Any) -> str:
    shown = ", ".join(repr(vocabulary[index]) for index in list(tokens)[:5])
    return f": {shown}{', …' if len(tokens) > 5 else ''}" if shown else ""
