"""JSON of a user's file: an entry that is given twice, a number that is none and endless nesting are bad input.

Source: our own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


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
    data = path.read_bytes()
    try:
        return parsed(data.decode("utf-8-sig"), parse_float)
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
