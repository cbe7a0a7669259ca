"""Reading a vocabulary, or a tokeniser, from a file: Hugging Face's tokenizer.json, tiktoken and SentencePiece."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from spec_math.language.vocabulary import Vocabulary


def read_vocabulary(path: str | Path) -> Vocabulary:
    """Read the vocabulary of a tokeniser file, whose kind is seen from its first bytes.

    A file that begins with "{" is a tokenizer.json; one whose first line is a base64 text and a number is tiktoken's;
    anything else is a SentencePiece model, for which the library sentencepiece is needed.

    Raises:
        FileNotFoundError: there is no such file.
        ImportError: the library for this kind is not installed; the message says which.
        ValueError: the file is empty, truncated or of no known kind; the path and the place are named.
    """
    # The readers use this module's checks, so they are imported where they are needed.
    from spec_math.language import sentencepiece_file, tiktoken_file, tokenizer_json

    place = Path(path)
    head = content(place)[:512]
    if head.lstrip().startswith(b"{"):
        return tokenizer_json.read(place)
    if tiktoken_file.begins(head):
        return tiktoken_file.read(place)
    return sentencepiece_file.read(place)


def content(path: Path) -> bytes:
    """Return the bytes of a tokeniser file.

    Raises:
        ValueError: the file is empty.
    """
    data = path.read_bytes()
    if not data:
        raise ValueError(f"{path} is empty: no tokeniser file")
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
