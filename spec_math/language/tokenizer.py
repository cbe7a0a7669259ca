"""Tokenising by repeated longest prefix, as Timor et al. define it, and the shape that every tokeniser here has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from spec_math.language.trie import Integers, child, compiled
from spec_math.language.vocabulary import Vocabulary, as_bytes


class Tokenizer(Protocol):
    """A vocabulary with one way of reading a text as its tokens."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens that the indices stand for."""
        ...

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the tokens of a text."""
        ...

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of some tokens."""
        ...


class UntokenisableError(ValueError):
    """A text at whose `position` (in bytes) no token starts, after the tokens `read` had been taken."""

    def __init__(self, message: str, position: int, read: tuple[int, ...]) -> None:
        super().__init__(message)
        self.position = position
        self.read = read


class GreedyTokenizer:
    """Read a text from the left, each time taking its longest prefix that is a token.

    Text and tokens are bytes; special tokens are never read. It may fail on a text that other segmentations spell:
    the longest prefix is taken without looking further. Byte-pair encoding reads some texts otherwise.
    Source: Timor et al., Section 3, Notation.

    >>> GreedyTokenizer(Vocabulary(["a", "b", "ab", "abc"])).encode("ababca")
    (2, 3, 0)
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def encode(self, text: str | bytes) -> tuple[int, ...]:
        """Return the tokens of a text; the empty text has none.

        Raises:
            UntokenisableError: a ValueError that names the byte and its position.
            TypeError: the text is neither str nor bytes.

        >>> GreedyTokenizer(Vocabulary(["b", "ba", "bb"])).encode("bba")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        spec_math.language.tokenizer.UntokenisableError: no token starts at byte 2 of 3 (0x61, 'a'), after [2]: ...
        """
        spelled = as_bytes(text)
        tokens = self._longest_prefixes(spelled)
        read = tuple(tokens.tolist())
        position = sum(len(self.vocabulary[token]) for token in read)
        if position < len(spelled):
            raise UntokenisableError(self._complaint(spelled, position, read), position, read)
        return read

    def first(self, text: str | bytes) -> int | None:
        """Return the first token of a text alone, or None where no token is a prefix of it; the rest is not read.

        >>> tokenizer = GreedyTokenizer(Vocabulary(["b", "ba", "bb"]))
        >>> tokenizer.first("bba"), tokenizer.first("abb"), tokenizer.first("")
        (2, None, None)
        """
        tokens = self._longest_prefixes(as_bytes(text), most=1)
        return int(tokens[0]) if len(tokens) else None

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of some tokens (`Vocabulary.decode`).

        >>> GreedyTokenizer(Vocabulary(["a", "bc"])).decode((1, 0))
        'bca'
        """
        return self.vocabulary.decode(tokens)

    def _longest_prefixes(self, spelled: bytes, most: int | None = None) -> Integers:
        trie = self.vocabulary.trie
        data = np.frombuffer(spelled, dtype=np.uint8)
        return _greedy(trie.start, trie.byte, trie.token, data, len(data) if most is None else most)

    def _complaint(self, spelled: bytes, position: int, read: tuple[int, ...]) -> str:
        letter = spelled[position]
        shown = f"0x{letter:02x}" + (f", {chr(letter)!r}" if 32 < letter < 127 else "")
        taken = f"[{', '.join(map(str, read[-3:]))}]" if len(read) <= 3 else f"…, {', '.join(map(str, read[-3:]))}"
        root = self.vocabulary.trie
        known = child(root.start, root.byte, 0, letter) >= 0
        why = "of the tokens that begin so none goes on as the text does" if known else "no token begins with this byte"
        return (
            f"no token starts at byte {position} of {len(spelled)} ({shown}), after {taken}: {why}. "
            "segmentation.count says whether another way of cutting spells the text"
        )


@compiled
def _greedy(start: Integers, byte: Integers, token: Integers, data: Integers, most: int) -> Any:
    read = np.empty(min(len(data), most), np.int32)
    size = 0
    position = 0
    while position < len(data) and size < most:
        node, end, found, after = 0, position, -1, position
        while end < len(data):
            node = child(start, byte, node, data[end])
            if node < 0:
                break
            end += 1
            if token[node] >= 0:
                found, after = token[node], end
        if found < 0:
            break
        read[size] = found
        size += 1
        position = after
    return read[:size]
