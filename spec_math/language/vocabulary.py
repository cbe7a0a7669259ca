"""A vocabulary: the bytes each token adds to a text, with special tokens in a namespace of their own.

Source: Timor et al., Section 3, Notation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from spec_math.language import trie


class Vocabulary:
    """The tokens of a model in the order of its laws: bytes, where a str stands for its UTF-8.

    A special token (an index listed in `special`; what stands at that index is its name) adds no text: it never
    equals a text token, even one spelled like its name, and it takes part in no tokenisation.
    Two text tokens with the same bytes are an error unless `repeats` is True. Then a text is read as the LAST of them,
    since SentencePiece lists its single bytes first and uses one only where no piece spells the character.
    `keys` are the spellings a tokeniser file lists them under; tokens that are all str are their own keys.

    Raises:
        TypeError: a token is neither str nor bytes, or the tokens are one str.
        ValueError: no tokens, an empty or repeated token, a special index out of range, a lone surrogate.

    >>> vocabulary = Vocabulary(["a", "b", "é", "<end>"], special=[3])
    >>> len(vocabulary), vocabulary[2], vocabulary[3], vocabulary.special
    (4, b'\\xc3\\xa9', b'', {3: '<end>'})
    """

    def __init__(
        self,
        tokens: Iterable[str | bytes],
        special: Iterable[int] = (),
        keys: Iterable[str] | None = None,
        repeats: bool = False,
    ) -> None:
        if isinstance(tokens, str | bytes):
            raise TypeError(f"tokens must be a list of str or bytes; got one {type(tokens).__name__}: {tokens!r}")
        listed = list(tokens)
        if not listed:
            raise ValueError("a vocabulary needs at least one token; got none")
        spelled = [as_bytes(token, f"token {index}") for index, token in enumerate(listed)]
        indices = sorted({_checked_index(index, len(listed), "special") for index in special})
        self.special = {index: _name(spelled[index], index) for index in indices}
        for index, token in enumerate(spelled):
            if not token:
                raise ValueError(
                    f"every token must add text; token {index} is empty. If it stands for no text (an end, a padding), "
                    "give it a name and list its index in special"
                )
        self.tokens = tuple(b"" if index in self.special else token for index, token in enumerate(spelled))
        self._keys = _keys(keys, listed)
        self._index = {token: index for index, token in enumerate(self.tokens) if token}
        if not repeats and self.repeats:
            first, later = next(iter(self.repeats.items()))
            raise ValueError(
                f"tokens must differ; tokens {first} and {later} are both {self.tokens[first]!r} "
                f"({len(self.repeats)} such tokens in all). Pass repeats=True to keep them: texts are read as the last"
            )

    @cached_property
    def trie(self) -> trie.Trie:
        """The trie of the text tokens, built when first asked for."""
        return trie.build(self.tokens)

    @cached_property
    def packed(self) -> tuple[Any, Any]:
        """The bytes of all tokens end to end, and the offset at which each starts (`trie.pack`)."""
        return trie.pack(self.tokens)

    @cached_property
    def repeats(self) -> dict[int, int]:
        """The tokens that no tokenisation yields because a later one has the same bytes: {index: the later index}."""
        read = ((index, self._index.get(token, index)) for index, token in enumerate(self.tokens))
        return {index: later for index, later in read if index != later}

    @property
    def keyed(self) -> bool:
        """True if the vocabulary has raw keys: one made from bytes has none."""
        return self._keys is not None

    @property
    def keys(self) -> tuple[str, ...]:
        """The raw keys, the spellings in a tokeniser file (Hugging Face's `get_vocab()`), in the order of the tokens.

        Raises:
            ValueError: the vocabulary was made from bytes without keys.
        """
        if self._keys is None:
            raise ValueError(
                "this vocabulary was made from bytes and has no raw keys; pass keys=..., or read it from its file"
            )
        return self._keys

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, index: int) -> bytes:
        return self.tokens[index]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.tokens)

    def __contains__(self, token: object) -> bool:
        return isinstance(token, str | bytes) and as_bytes(token, "the token") in self._index

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,} tokens, {len(self.special)} special)"

    def index(self, token: str | bytes) -> int:
        """Return the index of the text token with these bytes.

        Raises:
            ValueError: no text token has them.

        >>> Vocabulary(["a", "b"]).index("b")
        1
        """
        spelled = as_bytes(token, "the token")
        if spelled not in self._index:
            named = " (it is the name of a special token)" if token in self.special.values() else ""
            raise ValueError(f"{token!r} is not a text token of this vocabulary of {len(self):,}{named}")
        return self._index[spelled]

    def spell(self, indices: Iterable[int]) -> bytes:
        """Return the bytes that a sequence of tokens adds to a text; special tokens add none.

        Raises:
            TypeError, ValueError: an index is not an int, or out of range.

        >>> Vocabulary(["a", "bc"]).spell((1, 0))
        b'bca'
        """
        tokens, size = self.tokens, len(self)
        # What is plainly an index is passed at once: texts so far are spelled at every step of a draft.
        return b"".join(
            [
                tokens[index if type(index) is int and 0 <= index < size else _checked_index(index, size)]
                for index in indices
            ]
        )

    def decode(self, indices: Iterable[int]) -> str:
        """Return the text of a sequence of tokens, as str.

        Raises:
            ValueError: the bytes are not valid UTF-8; the message names the first bad byte and its token.

        >>> Vocabulary(["a", "é"]).decode((1, 0))
        'éa'
        """
        listed = list(indices)
        spelled = self.spell(listed)
        try:
            return spelled.decode()
        except UnicodeDecodeError as error:
            ends = np.cumsum([len(self.tokens[index]) for index in listed])
            place = int(np.searchsorted(ends, error.start, side="right"))
            raise ValueError(
                f"these {len(listed)} tokens spell {len(spelled)} bytes that are not valid UTF-8: byte 0x"
                f"{spelled[error.start]:02x} at position {error.start}, in token {listed[place]} "
                f"{self.tokens[listed[place]]!r} ({error.reason}); use spell for the bytes"
            ) from None


def as_bytes(text: str | bytes, name: str = "the text") -> bytes:
    """Return a text as bytes, a str as its UTF-8.

    Raises:
        TypeError: neither str nor bytes.
        ValueError: a lone surrogate, which has no UTF-8; its position is named.

    >>> as_bytes("é")
    b'\\xc3\\xa9'
    """
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{name} must be str or bytes; got {text!r} of type {type(text).__name__}")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name} has no UTF-8: character {error.start} is the lone surrogate U+{ord(text[error.start]):04X}; "
            "pass bytes if these bytes are meant"
        ) from None


def _name(spelled: bytes, index: int) -> str:
    try:
        return spelled.decode()
    except UnicodeDecodeError:
        raise ValueError(f"the name of special token {index} must be UTF-8; got {spelled!r}") from None


def _checked_index(index: Any, size: int, name: str = "a token") -> int:
    if isinstance(index, bool | np.bool_) or not isinstance(index, int | np.integer):
        raise TypeError(f"{name}: token indices are ints; got {index!r} of type {type(index).__name__}")
    place = int(index)
    if not 0 <= place < size:
        raise ValueError(f"{name}: token indices lie in 0 … {size - 1}; got {place}")
    return place


def _keys(keys: Iterable[str] | None, listed: Sequence[str | bytes]) -> tuple[str, ...] | None:
    if keys is None:
        spelled = tuple(token for token in listed if isinstance(token, str))
        return spelled if len(spelled) == len(listed) else None
    given = tuple(keys)
    if len(given) != len(listed):
        raise ValueError(f"keys must name every token; there are {len(listed)} tokens and {len(given)} keys")
    return given
