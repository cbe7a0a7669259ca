"""Tiktoken's files, one "base64 rank" a line: the vocabulary, and byte-pair encoding by rank."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from spec_math.language.file_content import content, library
from spec_math.language.vocabulary import Vocabulary, as_bytes


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


def read(path: str | Path, special: Mapping[str, int] | None = None) -> Vocabulary:
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


def begins(head: bytes) -> bool:
    """Say whether a file that begins so is tiktoken's: whether its first line is "base64 rank".

    >>> begins(b"IQ== 0\\nIg== 1\\n"), begins(b"\\x0a\\x0e\\x0a")
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
