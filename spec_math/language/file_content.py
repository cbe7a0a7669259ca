"""What the readers of tokeniser files share: the bytes of a file, and a library that only some files need."""

from __future__ import annotations

import codecs
import importlib
from pathlib import Path
from typing import Any


def content(path: Path) -> bytes:
    """Return the bytes of a tokeniser file, without the byte-order mark that some editors put before a text.

    Raises:
        ValueError: the file is empty, or a text in UTF-16, as its mark says.
    """
    data = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    if not data:
        raise ValueError(f"{path} is empty: not a tokeniser file")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ValueError(f"{path}: its byte-order mark says UTF-16; tokeniser files are UTF-8: save it as that")
    return data


def library(name: str, purpose: str) -> Any:
    """Import an optional library when it is needed.

    Raises:
        ImportError: it is not installed.

    >>> library("no_such_library", "an example")
    Traceback (most recent call last):
    ImportError: an example needs the library no_such_library, which is not installed: pip install no_such_library
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs the library {name}, which is not installed: pip install {name}", name=name
        ) from error
