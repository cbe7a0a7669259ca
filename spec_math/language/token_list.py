"""A vocabulary written by hand: a JSON list of its tokens, for small models."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from spec_math.files.whole import parsed
from spec_math.language.file_content import content
from spec_math.language.vocabulary import Vocabulary


def read(path: str | Path) -> Vocabulary:
    """Read a JSON list of tokens in the order of a model's laws: ["a", "ab", {"bytes": "ff"}, {"special": "<end>"}].

    A string is the text of a token; {"bytes": …} lists bytes in hexadecimal; {"special": …} names a token without text.

    Raises:
        ValueError: no such list (truncated, empty, another kind of entry), or as `Vocabulary`; the path is named.
    """
    place = Path(path)
    try:
        listed = parsed(content(place))
    except ValueError as error:
        raise ValueError(f"{place}: truncated or not JSON: {error}") from error
    if not isinstance(listed, list):
        raise ValueError(f"{place}: a token list is a JSON list; this is {type(listed).__name__}")
    entries = [_entry(entry, f"{place}: token {number}") for number, entry in enumerate(cast("list[Any]", listed))]
    try:
        return Vocabulary(
            [token for token, _ in entries], [number for number, (_, special) in enumerate(entries) if special]
        )
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


def _entry(entry: Any, name: str) -> tuple[str | bytes, bool]:
    if isinstance(entry, str):
        return entry, False
    if isinstance(entry, dict) and len(fields := cast("dict[str, Any]", entry)) == 1:
        kind, value = next(iter(fields.items()))
        if kind == "special" and isinstance(value, str):
            return value, True
        if kind == "bytes" and isinstance(value, str):
            try:
                return bytes.fromhex(value), False
            except ValueError as error:
                raise ValueError(f"{name}: {value!r} is not a list of bytes in hexadecimal: {error}") from error
    raise ValueError(f'{name} must be a text, {{"bytes": "c3a9"}} or {{"special": "<end>"}}; got {entry!r}')
