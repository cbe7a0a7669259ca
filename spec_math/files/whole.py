"""Files that are read or written whole: JSON of a user, and files that appear at once or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Generator[Path]:
    """Give a neighbour of a file to write to, and move it over the name in one step once all is written.

    A reader sees the old file, the new one, or none; where the writing fails, nothing is left behind.

    Raises:
        OSError: the folder is missing or cannot be written.
    """
    target = Path(path)
    # In the same folder, so that the move is one step of the file system; two writers never share a neighbour.
    partial = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        yield partial
        with partial.open("r+b") as file:
            os.fsync(file.fileno())
        # By the operating system's name: it overwrites on every system.
        os.replace(partial, target)  # noqa: PTH105
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: bytes | str) -> Path:
    """Write a file whole or not at all; text is written as UTF-8.

    Raises:
        OSError: the folder is missing or cannot be written; nothing is left behind.
    """
    with replaced(path) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
    return Path(path)


def check_writable(folder: Path) -> None:
    """Fail before the work is done, not after it, where nothing can be written; the folder is made if it is missing.

    Raises:
        ValueError: the folder cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / ".spec-math-probe", "").unlink()
    except OSError as error:
        raise ValueError(f"{folder}: the folder cannot be written ({error}); choose another with --out") from error


def parsed(text: str | bytes, parse_float: Callable[[str], Any] | None = None) -> Any:
    """Return what a JSON text holds.

    Raises:
        ValueError: it is no JSON (json.JSONDecodeError, with the place), an object gives an entry twice, a number is
            NaN or infinite, or lists are nested too deeply to be read.
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_finite, parse_float=parse_float)
    except RecursionError:
        raise ValueError("its lists are nested too deeply to be read") from None


def read_json(path: Path, parse_float: Callable[[str], Any] | None = None) -> Any:
    """Return what a JSON file holds; a byte-order mark is skipped.

    Raises:
        OSError: the file cannot be read. ValueError: as `parsed`, or it is no UTF-8; the path is named.
    """
    try:
        return parsed(path.read_bytes().decode("utf-8-sig"), parse_float)
    except ValueError as error:
        raise ValueError(f"{path}: not a readable JSON file ({error})") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} occurs twice in one object")
    return result


def _finite(name: str) -> Any:
    raise ValueError(f"masses must be finite; the file has {name}")
