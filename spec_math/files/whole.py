"""Files that appear whole or not at all, and a check before the work that they can be written."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
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
