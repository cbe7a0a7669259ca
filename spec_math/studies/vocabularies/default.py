"""The embedded default with several vocabularies: a target over words, and drafters over words, byte pairs or bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from spec_math.arrays import Array, count
from spec_math.distribution import restriction
from spec_math.language import NGram, TokenizedModel, Vocabulary
from spec_math.language.byte_pairs import BytePairs, learn
from spec_math.scheme import Tokens
from spec_math.string_level import merged_paths
from spec_math.studies.default import DRAFT_ORDER, models

MERGES, PAIRS_ORDER, BYTES_ORDER = 256, 3, 6
"""The byte-pair drafter has the 256 bytes and as many pairs again; n-gram orders of both drafters, in their tokens."""


@dataclass(frozen=True, eq=False)
class Drafter:
    """A drafter of the embedded default: its name, its model with its vocabulary, and the n-gram model behind it.

    shortest: the least number of draft tokens that can make a target token, a blank and what follows it.
    """

    name: str
    tokenized: TokenizedModel
    model: NGram
    shortest: int = 1

    def first_token_laws(self, target: Vocabulary, texts: Sequence[bytes]) -> list[tuple[Array, Any]]:
        """Return ψ after each of some texts, and the mass of the drafted texts that begin with no target token."""
        heard = [self.tokenized.read(text) for text in texts]
        if self.tokenized.vocabulary is target:
            # A word is a token of its own, whatever follows: the next one begins with a blank, which no token holds
            # further on. So ψ is the law of the first draft token, without the one that has no text.
            said = np.array([bool(token) for token in target])
            return [(restriction(self.tokenized.law(tokens), said), 0.0) for tokens in heard]
        found = merged_paths.first_tokens(target, self.tokenized.vocabulary, self.model, heard)
        return [(one.law, one.untokenisable) for one in found]


@cache
def target() -> TokenizedModel:
    """Return the default's target as a tokenized: each word with the blank before it, the unknown one without text.

    >>> tokenized = target()
    >>> tokenized.vocabulary.spell(tokenized.read(" a list of")), len(tokenized.vocabulary.special)
    (b' a list of', 1)
    """
    found = models()
    words = Vocabulary([*(f" {name}" for name in found.corpus.names)], special=[found.corpus.size - 1])
    return TokenizedModel(found.target, words)


@cache
def byte_pairs() -> BytePairs:
    """Return the byte pairs that one of the drafters drafts, learnt from the target's text.

    >>> len(byte_pairs().vocabulary)
    512
    """
    return BytePairs(learn(_texts(), MERGES))


def _texts() -> list[bytes]:
    """Return the paragraphs of the target's text."""
    words = target().vocabulary
    return [words.spell(paragraph) for paragraph in paragraphs(models().corpus.training)]


@cache
def drafters() -> tuple[Drafter, ...]:
    """Return the drafters, all learnt from the target's text: words, byte pairs, and bytes.

    >>> [(drafter.name, len(drafter.tokenized.vocabulary)) for drafter in drafters()[1:]]
    [('byte pairs', 512), ('bytes', 256)]
    """
    found, words = models(), target().vocabulary
    texts, pairs = _texts(), byte_pairs()
    letters = Vocabulary([bytes([byte]) for byte in range(256)])
    same = Drafter(f"words (order {DRAFT_ORDER})", TokenizedModel(found.draft, words), found.draft)
    spelled = (
        ("byte pairs", pairs.vocabulary, pairs.encode, (PAIRS_ORDER, 1)),
        ("bytes", letters, tuple[int, ...], (BYTES_ORDER, 2)),
    )
    return same, *(
        Drafter(name, TokenizedModel(model, vocabulary, encode), model, shortest)
        for name, vocabulary, encode, (order, shortest) in spelled
        for model in [NGram.learn(_joined([encode(text) for text in texts]), order, len(vocabulary))]
    )


def paragraphs(tokens: Any) -> list[Tokens]:
    """Cut a text of token indices where it has a −1.

    >>> paragraphs([0, 1, -1, 2])
    [(0, 1), (2,)]
    """
    listed = np.asarray(tokens)
    parts = np.split(listed, np.flatnonzero(listed < 0))
    return [tuple(part[part >= 0].tolist()) for part in parts]


def prefixes(positions: int) -> list[Tokens]:
    """Return at most so many evenly spaced held-out positions, each by the words before it in its paragraph.

    Raises:
        TypeError, ValueError: positions is not a positive integer.

    >>> len(prefixes(2))
    2
    """
    found = [part[:at] for part in paragraphs(models().corpus.held_out) for at in range(len(part))]
    chosen = np.linspace(0, len(found) - 1, min(count(positions, "--positions"), len(found))).round().astype(int)
    return [found[place] for place in chosen]


def _joined(texts: list[Tokens]) -> list[int]:
    """Lay texts end to end with a −1 between them."""
    joined: list[int] = []
    for text in texts:
        joined += [*text, -1]
    return joined[:-1]
