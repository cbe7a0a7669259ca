"""Reading a vocabulary from a file: Hugging Face's tokenizer.json, tiktoken, SentencePiece, or a list of tokens.

Source: the formats of tokenizers, tiktoken and sentencepiece.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from spec_math.files.whole import parsed
from spec_math.language import tokenizer_json
from spec_math.language.tokenizer import GreedyTokenizer, Tokenizer
from spec_math.language.tokenizer_json import content, library
from spec_math.language.vocabulary import Vocabulary, as_bytes


def read_vocabulary(path: str | Path) -> Vocabulary:
    """Read the vocabulary of a tokeniser file, whose kind is seen from its first bytes.

    A file that begins with "{" is a tokenizer.json; with "[", a list of tokens; one whose first line is
    a base64 text and a number is tiktoken's; anything else is a SentencePiece model, for which the library
    sentencepiece is needed.

    Raises:
        FileNotFoundError: there is no such file.
        ImportError: the library for this kind is not installed; the message says which.
        ValueError: the file is empty, truncated or of no known kind; the path and the place are named.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder) / "tokens.json"
    ...     _ = place.write_text('["a", "ab"]')
    ...     read_vocabulary(place)
    Vocabulary(2 tokens, 0 special)
    """
    place = Path(path)
    head = content(place)[:512]
    if head.lstrip().startswith(b"{"):
        return tokenizer_json.read(place)
    if head.lstrip().startswith(b"["):
        return read_list(place)
    if begins_with_rank(head):
        return read_tiktoken(place)
    return read_sentencepiece(place)


def read_tokenizer(path: str | Path) -> tuple[Tokenizer, str]:
    """Read the tokeniser of a file, and say in words how it reads: as the file says, or by longest prefixes.

    Longest prefixes stand in where the file does not say how texts are cut (tiktoken, a list of tokens), or the library
    for its kind is not installed.

    Raises:
        ValueError, OSError: as `read_vocabulary`.
    """
    place = Path(path)
    vocabulary = read_vocabulary(place)
    head = content(place)[:512].lstrip()
    with suppress(ImportError):
        if head.startswith(b"{"):
            return tokenizer_json.TokenizerJson(place), "by its own tokeniser"
        if not head.startswith(b"[") and not begins_with_rank(head):
            return SentencePiece(place), "by its own tokeniser"
    return GreedyTokenizer(vocabulary), "by longest prefixes"


def read_list(path: str | Path) -> Vocabulary:
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


_SPACE = "\u2581"


class SentencePiece:
    """The tokeniser of a .model file as it stands, its normaliser and its space before the text included.

    Raises:
        ImportError: the library sentencepiece is not installed.
        ValueError: as `read`.
    """

    def __init__(self, path: str | Path) -> None:
        place = Path(path)
        data = content(place)
        sentencepiece = library("sentencepiece", "reading a SentencePiece model")
        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=data)
        except (RuntimeError, ValueError) as error:
            raise ValueError(
                f"{place}: {len(data)} bytes that are no SentencePiece model, or a truncated one ({error})"
            ) from error
        self.vocabulary = _vocabulary(self._processor)

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the tokens of a text, without special tokens around it."""
        return tuple(self._processor.encode(text, out_type=int))

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of some tokens; the space that was put before it is taken away."""
        return self._processor.decode(list(tokens))


def read_sentencepiece(path: str | Path) -> Vocabulary:
    """Read the vocabulary of a .model file.

    A piece adds its characters, "▁" standing for a space; a byte piece <0xNN> adds one byte; unknown, control and
    unused pieces are special. Several tokens with the same bytes are kept (`Vocabulary`, repeats): the piece is later
    than the byte. The keys are the pieces as stored.

    Raises:
        ImportError: the library sentencepiece is not installed.
        ValueError: the file is truncated, or no SentencePiece model.
    """
    return SentencePiece(path).vocabulary


def _vocabulary(processor: Any) -> Vocabulary:
    size = processor.get_piece_size()
    keys = [processor.id_to_piece(index) for index in range(size)]
    special = [
        index
        for index in range(size)
        if processor.is_unknown(index) or processor.is_control(index) or processor.is_unused(index)
    ]
    tokens = [
        bytes([int(key[3:5], 16)]) if processor.is_byte(index) else key.replace(_SPACE, " ").encode()
        for index, key in enumerate(keys)
    ]
    return Vocabulary(tokens, special, keys, repeats=True)


class RankPairs:
    """Byte-pair encoding by rank: of all neighbours whose union is a token, the one of lowest index is joined first.

    The first of equals is joined; what is left at the end are the tokens. `pattern` is the regular expression that
    cuts a text into pieces before (Rust's dialect, through the library tokenizers); a tiktoken file does not hold it.
    None encodes each text as one piece. Special tokens are never read.

    Raises:
        ImportError: a pattern is given and the library tokenizers is not installed.

    >>> RankPairs(Vocabulary(["a", "b", "c", "bc", "ab"])).encode("abc")  # bc has the lower rank and is joined first
    (0, 3)
    """

    def __init__(self, vocabulary: Vocabulary, pattern: str | None = None) -> None:
        self.vocabulary = vocabulary
        self._rank = {token: index for index, token in enumerate(vocabulary.tokens) if token}
        self._split = None
        if pattern is not None:
            tokenizers = library("tokenizers", "cutting a text by a pattern")
            self._split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")

    def encode(self, text: str | bytes) -> tuple[int, ...]:
        """Return the tokens of a text; bytes only where there is no pattern, which cuts characters.

        Raises:
            ValueError: a byte that no token spells alone is left over.
        """
        pieces = [text] if self._split is None else [piece for piece, _ in self._split.pre_tokenize_str(text)]
        return tuple(token for piece in pieces for token in self._joined(as_bytes(piece)))

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of some tokens (`Vocabulary.decode`)."""
        return self.vocabulary.decode(tokens)

    def _joined(self, piece: bytes) -> list[int]:
        if piece in self._rank:
            return [self._rank[piece]]
        parts = [bytes([byte]) for byte in piece]
        worst = len(self.vocabulary)
        while len(parts) > 1:
            ranks = [self._rank.get(left + right, worst) for left, right in pairwise(parts)]
            best = min(ranks)
            if best == worst:
                break
            at = ranks.index(best)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        for at, part in enumerate(parts):
            if part not in self._rank:
                place = len(b"".join(parts[:at]))
                raise ValueError(f"no token spells byte 0x{part[0]:02x} at position {place} of the piece {piece!r}")
        return [self._rank[part] for part in parts]


def read_tiktoken(path: str | Path, special: Mapping[str, int] | None = None) -> Vocabulary:
    """Read the vocabulary of a tiktoken file; special tokens, which it does not list, are given as {name: index}.

    An index that neither names becomes a special token "<no token N>".

    Raises:
        ValueError: a line is no "base64 rank" (a truncated file), a rank comes twice, a special index is taken.
    """
    place = Path(path)
    tokens: dict[int, bytes] = {}
    for number, line in enumerate(content(place).splitlines(), start=1):
        if not line.strip():
            continue
        spelled = _line(line)
        if spelled is None or not spelled[0]:
            raise ValueError(
                f"{place}: line {number} is not 'base64 rank' ({line[:40]!r}): truncated, or not a tiktoken file"
            )
        token, rank = spelled
        if rank in tokens:
            raise ValueError(f"{place}: line {number} gives rank {rank} a second time")
        tokens[rank] = token
    if not tokens:
        raise ValueError(f"{place} holds blank lines only: no tiktoken file")
    names = {index: name for name, index in (special or {}).items()}
    for index, name in names.items():
        if index in tokens:
            raise ValueError(f"special token {name!r} has index {index}, which {place} gives to {tokens[index]!r}")
    size = max([*tokens, *names]) + 1
    names |= {index: f"<no token {index}>" for index in range(size) if index not in tokens and index not in names}
    listed = [tokens[index] if index in tokens else names[index] for index in range(size)]
    return Vocabulary(listed, special=names)


def begins_with_rank(head: bytes) -> bool:
    """Say whether a file that begins so is tiktoken's: whether its first line is "base64 rank".

    >>> begins_with_rank(b"IQ== 0\\nIg== 1\\n"), begins_with_rank(b"\\x0a\\x0e\\x0a")
    (True, False)
    """
    lines = head.splitlines()
    return bool(lines) and _line(lines[0]) is not None


def _line(line: bytes) -> tuple[bytes, int] | None:
    parts = line.split()
    if len(parts) != 2 or not parts[1].isdigit():
        return None
    try:
        return base64.b64decode(parts[0], validate=True), int(parts[1])
    except binascii.Error:
        return None
