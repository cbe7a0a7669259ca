"""Certificates: files that show a verdict to anybody, and one short checker for each kind of them.

A certificate is one JSON object, zipped where its name ends in `.gz`. Its entry "format" names its kind. The checker of
a kind is one file of this package that imports the standard library alone, so that it can be copied and run as
`python check_KIND.py FILE`. Each checker has

    FORMATS: a tuple of the values of "format" that it reads.
    check(document: dict, **options) -> str: the sentence that says what was checked, and what is assumed and was not.
        It raises ValueError with the reason where the certificate does not hold.
    main(argv: list[str]) -> int: the command: 0 the certificate holds, 1 it does not, 2 the file is no certificate.

The option `function` ("FILE:NAME") replays a function on each path. A checker refuses options that it does not take.
The first line of a checker is the comment `# pyright: basic`, as its functions carry no types.

A verdict makes its certificate when it is asked: `evidence` of `Lossless` and `Lossy` holds functions without
arguments. Each of them imports what it needs, and returns an object with `save(path)`, `check(function=None)` and `+`.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

from spec_math.files.whole import parsed, replaced

CHECKERS = {
    "spec_math paths certificate, version 1": "check_paths",
    "spec_math optimal transport certificate, version 1": "check_paths",
    "spec_math followed paths certificate, version 1": "check_followed",
    "spec_math proof certificate, version 1": "check_proof",
}
"""The module of this package that checks each format."""


def read(path: Path) -> dict[str, Any]:
    """Read a certificate of any kind, zipped or not, as claimed.

    Raises:
        OSError: there is no such file, or it cannot be read. ValueError: it is no certificate of a known format.
    """
    content = path.read_bytes()
    try:
        document = parsed((gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8-sig"))
    except (ValueError, EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} holds no certificate: {error}") from error
    if not isinstance(document, dict) or document.get("format") not in CHECKERS:
        raise ValueError(f'{path} holds no certificate: its "format" must be one of {", ".join(CHECKERS)}')
    return document


def write(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Write a certificate in a stream, zipped where the name ends in `.gz`; the file appears whole or not at all.

    Raises:
        OSError: the folder cannot be written to. ValueError: what makes the lines raises it.
    """
    with replaced(path) as partial, partial.open("wb") as raw:
        # Without a name and a time, equal certificates are equal files.
        zipped = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if Path(path).suffix == ".gz" else nullcontext(raw)
        with zipped as file:
            file.writelines(line.encode() for line in lines)


def check(document: dict[str, Any], **options: Any) -> str:
    """Check a certificate by the checker of its format; return the sentence that says what was checked.

    Raises:
        ValueError: it does not hold; the reason is given.

    >>> check({"format": "another"})
    Traceback (most recent call last):
    ValueError: no checker reads the format 'another'
    """
    name = CHECKERS.get(document.get("format", ""))
    if name is None:
        raise ValueError(f"no checker reads the format {document.get('format')!r}")
    return import_module(f"{__name__}.{name}").check(document, **options)
