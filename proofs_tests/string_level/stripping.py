"""A tokeniser that drops blanks at the start of a text."""

from __future__ import annotations

from spec_math.language import GreedyTokenizer, TokenizedModel, Vocabulary

WORDS = Vocabulary(["a", " a", "b", " b"])


def stripped(text: bytes) -> tuple[int, ...]:
    """A tokeniser that drops blanks at the start of a text, as some normalisers do."""
    return GreedyTokenizer(WORDS).encode(text.lstrip())


STRIPPING = TokenizedModel(lambda _: [], WORDS, stripped)
