"""Hugging Face's tokenizer.json: its vocabulary, read by hand, and its tokeniser, by the library tokenizers."""

from __future__ import annotations

import codecs
import importlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

from spec_math.language.vocabulary import Vocabulary

_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


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


class TokenizerJson:
    """The tokeniser of a tokenizer.json as it stands: its normaliser, its merges and its decoder, none added.

    Neither special tokens around the text nor their removal: encode(text) reads the text alone, decode keeps all.

    Raises:
        ImportError: the library tokenizers is not installed.
        ValueError: as `read`.
    """

    def __init__(self, path: str | Path) -> None:
        self.vocabulary = read(path)
        tokenizers = library("tokenizers", "tokenising as a tokenizer.json does")
        self._tokenizer = tokenizers.Tokenizer.from_str(content(Path(path)).decode())

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the tokens of a text, without special tokens around it."""
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of some tokens, special ones by their names."""
        return self._tokenizer.decode(list(tokens), skip_special_tokens=False)


def read(path: str | Path) -> Vocabulary:
    """Read the vocabulary of a tokenizer.json: the bytes that each token adds, its raw keys, its special tokens.

    The decoder says what a key stands for: ByteLevel, its alphabet of 256 signs; Metaspace or Replace, a sign for the
    space; ByteFallback, <0xNN> for one byte. Added tokens are keys like others unless they are marked special.
    An id that the file leaves out becomes a special token "<no token N>": laws have a place for it, texts have not.
    Several tokens with the same bytes are kept (`Vocabulary`, repeats).

    Raises:
        ValueError: the file is truncated, or no tokenizer.json; its pieces have no bytes of their own (WordPiece).
    """
    place = Path(path)
    fields = _fields(place)
    added = {entry["id"]: entry for entry in cast("list[dict[str, Any]]", fields.get("added_tokens") or [])}
    keys = {number: key for key, number in _pieces(fields, place)}
    keys |= {number: entry["content"] for number, entry in added.items()}
    special = {number for number, entry in added.items() if entry.get("special")}
    special |= {number for number in _unknown(fields["model"]) if number in keys}
    holes = set(range(max(keys) + 1)) - set(keys)
    special |= holes
    keys |= {number: f"<no token {number}>" for number in holes}
    spell = _speller(fields, place)
    listed = [keys[number] for number in range(len(keys))]
    tokens = [key.encode() if number in special else spell(key) for number, key in enumerate(listed)]
    return Vocabulary(tokens, special, listed, repeats=True)


def byte_alphabet() -> dict[str, int]:
    """Return the alphabet in which byte-level tokenisers write bytes: {sign: byte}.

    Printable Latin-1 characters are themselves; the other 68 bytes, in order, are the characters from U+0100 on.

    >>> byte_alphabet()["Ġ"], byte_alphabet()["a"], len(byte_alphabet())
    (32, 97, 256)
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + at): byte for at, byte in enumerate(others)}


def _fields(path: Path) -> dict[str, Any]:
    data = content(path)
    try:
        fields = json.loads(data)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: no UTF-8 at byte {error.start} of {len(data)}; a tokenizer.json is UTF-8") from error
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path}: truncated or not JSON, at character {error.pos} of {len(error.doc)}: {error.msg}"
        ) from error
    except RecursionError:
        raise ValueError(f"{path}: its lists are nested too deeply to be read") from None
    if not isinstance(fields, dict) or "vocab" not in (cast("dict[str, Any]", fields).get("model") or {}):
        raise ValueError(f"{path} is not a tokenizer.json: it holds no 'model' with a 'vocab'")
    return cast("dict[str, Any]", fields)


def _pieces(fields: dict[str, Any], path: Path) -> list[tuple[str, int]]:
    """List (key, id): BPE and WordPiece map keys to ids, Unigram lists [key, score] in the order of the ids."""
    vocabulary = fields["model"]["vocab"]
    if isinstance(vocabulary, dict):
        return list(cast("dict[str, int]", vocabulary).items())
    if not vocabulary:
        raise ValueError(f"{path}: its 'vocab' is empty")
    return [(entry[0], number) for number, entry in enumerate(vocabulary)]


def _unknown(model: dict[str, Any]) -> list[int]:
    """Return the id of the unknown token, which stands for text that it does not hold."""
    if model.get("unk_id") is not None:
        return [model["unk_id"]]
    name = model.get("unk_token")
    vocabulary = model["vocab"]
    return [vocabulary[name]] if name is not None and isinstance(vocabulary, dict) and name in vocabulary else []


def _speller(fields: dict[str, Any], path: Path) -> Callable[[str], bytes]:
    """Return what the decoder makes of a key."""
    listed = [*_parts(fields.get("decoder"))]
    parts = {part["type"]: part for part in listed}
    for kind in ("WordPiece", "BPEDecoder", "CTC"):
        if kind in parts:
            raise ValueError(
                f"{path}: its decoder is {kind}, where the space before a piece depends on its neighbours: "
                "the pieces have no bytes of their own, and no vocabulary of bytes can be read"
            )
    if "ByteLevel" in parts:
        alphabet = byte_alphabet()
        # The library's rule: a key with any sign outside the alphabet stands for its own UTF-8.
        return lambda key: bytes(map(alphabet.__getitem__, key)) if alphabet.keys() >= set(key) else key.encode()
    to_space = (part for part in listed if part["type"] == "Replace" and part.get("content") == " ")
    replaced = next((part["pattern"].get("String") for part in to_space), None)
    space, fallback = parts.get("Metaspace", {}).get("replacement") or replaced, "ByteFallback" in parts

    def spell(key: str) -> bytes:
        piece = _BYTE_PIECE.fullmatch(key) if fallback else None
        if piece:
            return bytes([int(piece[1], 16)])
        return (key.replace(space, " ") if space else key).encode()

    return spell


def _parts(decoder: Any) -> Iterator[dict[str, Any]]:
    if decoder is not None and decoder["type"] == "Sequence":
        for part in decoder["decoders"]:
            yield from _parts(part)
    elif decoder is not None:
        yield decoder
