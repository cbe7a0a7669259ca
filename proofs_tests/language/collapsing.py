"""A tokeniser that loses text."""

from __future__ import annotations

from spec_math.language import GreedyTokenizer, Vocabulary


class Collapsing:
    """Reads runs of spaces as one space, as some normalisers do."""

    def __init__(self):
        self.vocabulary = Vocabulary([bytes([byte]) for byte in range(256)])

    def encode(self, text):
        return GreedyTokenizer(self.vocabulary).encode(" ".join(text.split(" ")).replace("  ", " "))

    def decode(self, tokens):
        return self.vocabulary.decode(tokens)
