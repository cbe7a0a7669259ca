"""A small vocabulary of byte pairs learnt from a text, with its tokeniser: what the embedded default drafts with.

Written here since the core has no library that learns one: `tokenizers` reads files, as an extra.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from spec_math.arrays import count
from spec_math.language.files import RankPairs
from spec_math.language.vocabulary import Vocabulary, as_bytes

Pair = tuple[bytes, bytes]

# Of several blanks the last one goes with the word after them.
_PIECE = re.compile(rb" ?[^ ]+| +(?= [^ ]| *$)")


class BytePairs:
    """Read a text piece by piece, a word with the blank before it, each by byte-pair encoding of the vocabulary.

    Every text can be read if the 256 bytes are tokens.

    >>> pairs = BytePairs(Vocabulary([b"a", b"b", b" ", b"ab", b" ab"]))
    >>> pairs.encode("ab ab")
    (3, 4)
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._piece = lru_cache(maxsize=2**14)(RankPairs(vocabulary).encode)

    def encode(self, text: str | bytes) -> tuple[int, ...]:
        """Return the tokens of a text.

        Raises:
            ValueError: a byte that no token spells alone is left over.
        """
        return tuple(token for piece in pieces(text) for token in self._piece(piece))

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of some tokens (`Vocabulary.decode`)."""
        return self.vocabulary.decode(tokens)


def pieces(text: str | bytes) -> list[bytes]:
    """Cut a text before its words: each word with one blank before it, other blanks in a row.

    >>> pieces("a list  of")
    [b'a', b' list', b' ', b' of']
    """
    return _PIECE.findall(as_bytes(text))


def learn(texts: Iterable[str | bytes], merges: int) -> Vocabulary:
    """Learn byte pairs: the 256 bytes, and `merges` tokens more, each the most frequent neighbours joined.

    Counted within pieces alone, each as often as it occurs; of equally frequent pairs the least in byte order is
    joined. A union that is a token already is joined without a new one; learning ends early when no pair is left.

    Raises:
        TypeError, ValueError: merges is not a positive integer.

    Source: Sennrich, Haddow and Birch 2016, "Neural machine translation of rare words with subword units", on bytes.

    >>> learn(["ab ab abc"], 3).tokens[256:]
    (b'ab', b' ab', b' abc')
    """
    found = Counter(piece for text in texts for piece in pieces(text))
    words = [([bytes([byte]) for byte in piece], number) for piece, number in found.items()]
    counts: Counter[Pair] = Counter()
    places: defaultdict[Pair, set[int]] = defaultdict(set)
    for at, (parts, number) in enumerate(words):
        for pair in pairwise(parts):
            counts[pair] += number
            places[pair].add(at)
    learnt: dict[bytes, None] = {}
    wanted = count(merges, "merges")
    while len(learnt) < wanted and counts:
        most = max(counts.values())
        best = min(pair for pair, number in counts.items() if number == most)
        learnt[best[0] + best[1]] = None
        changed: set[Pair] = set()
        for at in places.pop(best):
            parts, number = words[at]
            for pair in pairwise(parts):
                counts[pair] -= number
                changed.add(pair)
            parts[:] = _joined(parts, best)
            for pair in pairwise(parts):
                counts[pair] += number
                places[pair].add(at)
        for pair in changed:
            if not counts[pair]:
                del counts[pair]
    return Vocabulary([*(bytes([byte]) for byte in range(256)), *learnt])


def _joined(parts: list[bytes], pair: Pair) -> list[bytes]:
    result: list[bytes] = []
    for part in parts:
        if result and (result[-1], part) == pair:
            result[-1] = result[-1] + part
        else:
            result.append(part)
    return result
