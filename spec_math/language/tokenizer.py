"""Tokenising by repeated longest prefix, as Timor et al. define it, and the shape that every tokeniser here has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from spec_math.arrays import Array
from spec_math.arrays import as_law as checked
from spec_math.language.model import Model
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
        return self._cut(as_bytes(text))[0]

    def reads(self, text: str | bytes) -> bool:
        """Say whether `encode` gets through a text.

        >>> GreedyTokenizer(Vocabulary(["b", "ba", "bb"])).reads("bba")
        False
        """
        return not self._read(as_bytes(text))[2]

    def first(self, text: str | bytes) -> int | None:
        """Return the first token of a text, or None where no token is a prefix of it; what follows is not read.

        >>> tokenizer = GreedyTokenizer(Vocabulary(["b", "ba", "bb"]))
        >>> tokenizer.first("bba"), tokenizer.first("abb"), tokenizer.first("")
        (2, None, None)
        """
        read = self._read(as_bytes(text), most=1)[0]
        return read[0] if read else None

    def settled(self, text: str | bytes) -> tuple[tuple[int, ...], bytes]:
        """Return the tokens of a text that stay whatever is appended to it, and the rest, which waits for more.

        The rest is empty or a proper prefix of a token.

        Raises:
            UntokenisableError: no continuation of the text can be tokenised.

        >>> GreedyTokenizer(Vocabulary(["a", "b", "abc"])).settled("babab")
        ((1, 0, 1), b'ab')
        """
        return self._cut(as_bytes(text), waits=True)

    def _cut(self, spelled: bytes, waits: bool = False) -> tuple[tuple[int, ...], bytes]:
        read, position, stuck = self._read(spelled, waits=waits)
        if stuck:
            raise UntokenisableError(self._complaint(spelled, position, read), position, read)
        return read, spelled[position:]

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of some tokens (`Vocabulary.decode`).

        >>> GreedyTokenizer(Vocabulary(["a", "bc"])).decode((1, 0))
        'bca'
        """
        return self.vocabulary.decode(tokens)

    def _read(self, spelled: bytes, most: int = -1, waits: bool = False) -> tuple[tuple[int, ...], int, bool]:
        trie = self.vocabulary.trie
        data = np.frombuffer(spelled, dtype=np.uint8)
        walk = (trie.start, trie.byte, trie.token)
        read, position, stuck = _greedy(walk, data, len(data) if most < 0 else most, waits)
        return tuple(read.tolist()), position, stuck

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
def _greedy(trie: Any, data: Integers, most: int, waits: bool) -> Any:
    """Read at most `most` tokens: which they are, where they end, and whether no token starts there.

    With `waits`, reading stops before a token that a longer text could still change.
    """
    start, byte, token = trie
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
        if waits and node >= 0 and start[node + 1] > start[node]:
            break
        if found < 0:
            return read[:size], position, True
        read[size] = found
        size += 1
        position = after
    return read[:size], position, False


Encode = Callable[[bytes], tuple[int, ...]]
"""A way of reading: from the bytes of a text to token indices. A text that it cannot read is a ValueError."""


class TokenizedModel:
    """A model with its vocabulary: its laws are in the order of the vocabulary's tokens.

    `encode` reads texts, by repeated longest prefix unless another way is given; `end` is the model's end token.

    Raises:
        ValueError: the model's end is no token of the vocabulary.

    >>> tokenized = TokenizedModel(lambda prefix: ["1/3", "2/3"], Vocabulary(["a", "b"]))
    >>> tokenized.law((0,)).tolist(), tokenized.encode(b"ba"), tokenized.end
    ([Fraction(1, 3), Fraction(2, 3)], (1, 0), None)
    """

    def __init__(self, model: Model, vocabulary: Vocabulary, encode: Encode | None = None) -> None:
        self.model = model
        self.vocabulary = vocabulary
        self.encode: Encode = GreedyTokenizer(vocabulary).encode if encode is None else encode
        self.end: int | None = getattr(model, "end", None)
        if self.end is not None and self.end not in range(len(vocabulary)):
            raise ValueError(f"a model's end must be one of its {len(vocabulary)} tokens; got {self.end!r}")

    def law(self, prefix: tuple[int, ...]) -> Array:
        """Return the model's law [V] of the token after prefix, checked.

        Raises:
            ValueError: it is not a probability distribution on the tokens of the vocabulary; the message names the
                prefix.
            TypeError: the masses are not numbers.
        """
        found = self.model(prefix)
        try:
            row = checked(found, "distribution")
        except (TypeError, ValueError):
            # A long prefix takes longer to put into words than its law to check.
            row = checked(found, f"distribution after the prefix {prefix}")
        if tuple(row.shape) != (len(self.vocabulary),):
            raise ValueError(
                f"distribution after the prefix {prefix}: the vocabulary has {len(self.vocabulary)} tokens; got shape "
                f"{tuple(row.shape)}"
            )
        return row

    def read(self, text: str | bytes) -> tuple[int, ...]:
        """Return the tokens that the model is conditioned on after a text: the text as its own tokens.

        Where the whole text cannot be read, its longest suffix that can. Nothing follows the model's end token: if
        that has a text of its own, what comes after its last place in the text is a text of its own.

        >>> letters = TokenizedModel(lambda prefix: ["1/2", "1/2"], Vocabulary(["a", "bb"]))
        >>> letters.read("abba"), letters.read("abcbba"), letters.read("ab")
        ((0, 1, 0), (1, 0), ())
        """
        spelled = as_bytes(text)
        tokens = next(read for begin in range(len(spelled) + 1) if (read := self._read(spelled[begin:])) is not None)
        if self.end in tokens:
            return tokens[len(tokens) - tokens[::-1].index(self.end) :]
        return tokens

    def _read(self, text: bytes) -> tuple[int, ...] | None:
        if not text:
            return ()
        try:
            return tuple(self.encode(text))
        except ValueError:
            return None
