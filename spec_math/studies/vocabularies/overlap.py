"""What two vocabularies share, by bytes and by raw keys, and what either cannot spell of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spec_math.language import Vocabulary
from spec_math.language.files import read_tokenizer, read_vocabulary
from spec_math.language.overlap import Overlap, by_bytes, by_keys, expressibility, in_texts
from spec_math.result import Column, Curve, Panel, Picture, Result, Row, Table, sentences
from spec_math.studies.progress import Progress

COLUMNS = (
    Column("compared"),
    Column("shared", "count", "tokens"),
    Column("of the first", "number", "share"),
    Column("Jaccard", "number", "share"),
    Column("of the larger", "number", "share"),
)


@dataclass(frozen=True)
class OverlapRequest:
    """Two files of vocabularies, and perhaps a text whose tokens alone are compared too."""

    first: Path
    second: Path
    text: Path | None = None


def study(request: OverlapRequest, progress: Progress) -> Result:
    """Compare two vocabularies.

    Raises:
        ValueError, OSError: a file that holds no vocabulary, or a text that is not UTF-8.

    >>> study(OverlapRequest(Path("a.json"), Path("b.json")), lambda what, steps: lambda done: None)
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'a.json'
    """
    first, second, text = request.first, request.second, request.text
    a, b = read_all([first, second], progress)
    found = _overlaps(a, b)
    notes: list[str] = []
    if text is not None:
        content = text_of(text)
        (ours, how), (theirs, other_way) = read_tokenizer(first), read_tokenizer(second)
        notes.append(f"{text.name} is read {how} of {first.name} and {other_way} of {second.name}")
        found["by bytes, tokens of the text"] = in_texts([content], ours, theirs)
    rows = [
        Row((name, len(one.shared), float(one.of_target), float(one.jaccard), float(one.of_larger)))
        for name, one in found.items()
    ]
    relation = expressibility(a, b)
    for names, vocabulary, broken in (
        ((first.name, second.name), a, relation.target_breaks),
        ((second.name, first.name), b, relation.draft_breaks),
    ):
        notes.append(
            f"{len(broken):,} tokens of {names[0]} cannot be spelled in {names[1]}{_examples(vocabulary, broken)}"
        )
    title = f"{first.name} ({len(a):,} tokens) and {second.name} ({len(b):,} tokens)"
    shared = found["by bytes"]
    return Result(
        "overlap",
        title,
        f"They share {len(shared.shared):,} tokens by their bytes, {float(shared.of_target):.1%} of {first.name}: "
        + ("TLI and union can draft them." if shared.shared else "TLI and union have nothing to draft."),
        (Table("overlap", "What they share", COLUMNS, tuple(rows)),),
        (_picture(title, found),),
        sentences(notes),
    )


def read_all(places: Sequence[Path], progress: Progress) -> list[Vocabulary]:
    """Read vocabularies one after another, and say so.

    Raises:
        ValueError, OSError: as `read_vocabulary`.

    >>> read_all([], lambda what, steps: lambda done: None)
    []
    """
    step = progress("reading vocabularies", len(places))
    found: list[Vocabulary] = []
    for place in places:
        found.append(read_vocabulary(place))
        step(1)
    return found


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
    bars = Curve(
        "Jaccard overlap", tuple(map(float, range(len(found)))), tuple(float(o.jaccard) for o in found.values())
    )
    panel = Panel((bars,), "", "Jaccard overlap", bars=True, ticks=tuple(found), limits=(0.0, 1.0))
    return Picture("overlap", title, "The shared tokens, of the tokens of either.", (panel,))


def _overlaps(a: Vocabulary, b: Vocabulary) -> dict[str, Overlap]:
    found = {"by bytes": by_bytes(a, b)}
    # A tiktoken file lists bytes and no keys.
    if a.keyed and b.keyed:
        found["by raw keys"] = by_keys(a, b)
    return found


def _examples(vocabulary: Vocabulary, tokens: Any) -> str:
    shown = ", ".join(repr(vocabulary[index]) for index in list(tokens)[:5])
    return f": {shown}{', …' if len(tokens) > 5 else ''}" if shown else ""
