"""The vocabularies of published models, where their folder is at hand; a test that needs them is skipped without it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from spec_math.language import Vocabulary
from spec_math.language.tokenizer_json import byte_alphabet

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "vocabularies"


@cache
def stored(name: str) -> dict[str, Any]:
    """The stored fields of a vocabulary."""
    path = FOLDER / f"{name}.json.gz"
    if not path.exists():
        pytest.skip(f"needs the vocabulary of {name}, {path.name} in a folder shared/vocabularies beside the project")
    return json.loads(gzip.decompress(path.read_bytes()))


@cache
def published() -> dict[str, Any]:
    """The figures of the papers and their recounts."""
    path = FOLDER / "published_tables.json"
    if not path.exists():
        pytest.skip("needs published_tables.json in a folder shared/vocabularies beside the project")
    return json.loads(path.read_text())


@cache
def real(name: str) -> Vocabulary:
    """A published vocabulary: the bytes of its tokens, their raw keys, special tokens apart."""
    fields = stored(name)
    raw = [base64.b64decode(token) for token in fields["tokens"]]
    if fields["kind"] == "byte_bpe":
        signs = {byte: sign for sign, byte in byte_alphabet().items()}
        special = set(fields["added"].values())
        keys = [
            token.decode() if index in special else "".join(signs[byte] for byte in token)
            for index, token in enumerate(raw)
        ]
        return Vocabulary(raw, special, keys)
    keys = [token.decode() for token in raw]
    kinds = fields["types"]
    special = {index for index, kind in enumerate(kinds) if kind in "23"}
    tokens = [key.encode() if index in special else _piece(key, kinds[index] == "6") for index, key in enumerate(keys)]
    return Vocabulary(tokens, special, keys, repeats=True)


def _piece(key: str, byte: bool) -> bytes:
    if byte and re.fullmatch("<0x[0-9A-F]{2}>", key):
        return bytes([int(key[3:5], 16)])
    return key.replace("\u2581", " ").encode()
