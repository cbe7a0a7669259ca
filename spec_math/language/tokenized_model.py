"""A model together with its vocabulary, and how it tokenises a text that another model has written.

Source: Timor et al., Section 3, for a model with its vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable

from spec_math.arrays import Array
from spec_math.arrays import as_law as checked
from spec_math.language.model import Model
from spec_math.language.tokenizer import GreedyTokenizer
from spec_math.language.vocabulary import Vocabulary, as_bytes

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
            row = checked(found, "law")
        except (TypeError, ValueError):
            # A long prefix takes longer to put into words than its law to check.
            row = checked(found, f"law after the prefix {prefix}")
        if tuple(row.shape) != (len(self.vocabulary),):
            raise ValueError(
                f"law after the prefix {prefix}: the vocabulary has {len(self.vocabulary)} tokens; the law has shape "
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
