"""What `spec-math overlap` does: two vocabularies side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from spec_math.files.whole import write_whole
from spec_math.language import Vocabulary
from spec_math.language.expressibility import expressibility
from spec_math.language.files import read_tokenizer, read_vocabulary
from spec_math.language.overlap import Overlap, by_bytes, by_keys, in_texts
from spec_math.report.pictures import bars


@dataclass(frozen=True)
class OverlapRequest:
    """What `spec-math overlap` was asked: two vocabularies, perhaps a text, and where the picture goes."""

    first: Path
    second: Path
    text: Path | None = None
    out: Path | None = None


def overlap(request: OverlapRequest, console: Console, progress: Progress) -> int:
    """Print what two vocabularies share, by bytes and by raw keys, and what either cannot spell of the other.

    Raises:
        ValueError, OSError: a file that holds no vocabulary, or a text that is no UTF-8.

    >>> overlap(OverlapRequest(Path("a.json"), Path("b.json")), Console(), Progress(disable=True))
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'a.json'
    """
    first, second, text, out = request.first, request.second, request.text, request.out
    a, b = read_all([first, second], progress)
    rows = _overlaps(a, b)
    if text is not None:
        content = text_of(text)
        (ours, how), (theirs, other_way) = read_tokenizer(first), read_tokenizer(second)
        console.print(Text(f"{text.name} is read {how} of {first.name} and {other_way} of {second.name}", style="dim"))
        rows["by bytes, tokens of the text"] = in_texts([content], ours, theirs)
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


def read_all(places: Sequence[Path], progress: Progress) -> list[Vocabulary]:
    """Read vocabularies one after another, and tell a progress bar.

    Raises:
        ValueError, OSError: as `read_vocabulary`.

    >>> read_all([], Progress(disable=True))
    []
    """
    task = progress.add_task("reading vocabularies", total=len(places))
    found: list[Vocabulary] = []
    for place in places:
        found.append(read_vocabulary(place))
        progress.advance(task)
    return found


def text_of(path: Path) -> str:
    """Return a text file as str.

    Raises:
        ValueError: it is no UTF-8; the byte and its position are named. OSError: there is no such file.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: no UTF-8 at byte {error.start} (0x{error.object[error.start]:02x}): {error.reason}"
        ) from error


def _overlaps(a: Vocabulary, b: Vocabulary) -> dict[str, Overlap]:
    found = {"by bytes": by_bytes(a, b)}
    # A tiktoken file lists bytes and no keys.
    if a.keyed and b.keyed:
        found["by raw keys"] = by_keys(a, b)
    return found


def _examples(vocabulary: Vocabulary, tokens: Any) -> str:
    shown = ", ".join(repr(vocabulary[index]) for index in list(tokens)[:5])
    return f": {shown}{', …' if len(tokens) > 5 else ''}" if shown else ""
