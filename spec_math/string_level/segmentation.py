"""The segmentations of a text: every way of cutting it into tokens, counted, listed and drawn as a tree.

Source: Timor et al., Lemma 3.1 and Appendix C.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from spec_math.language.trie import Integers, Trie, child, compiled, pack
from spec_math.language.vocabulary import Vocabulary, as_bytes

Pieces = builtins.list[builtins.list[tuple[int, int]]]
"""For each position of a text but its end, the tokens that start there: (where it ends, the token), shortest first."""

LISTED = 1_000_000
"""The most segmentations that `list` holds in memory at once; `each` has no such bound."""

_WORD = 63
"""A text of n bytes has at most 2^(n−1) segmentations, so up to 63 bytes they are counted in 64-bit integers."""


def count(text: str | bytes, vocabulary: Vocabulary) -> int:
    """Count the ways of cutting a text into tokens: exact, as a Python int; 0 where there is none.

    ways(0) = 1 and ways(j) = Σ ways(i) over the tokens text[i:j]: quadratic in the bytes of the text at most.
    Two tokens with the same bytes are one piece. Source: Timor et al., Section 3.4, Appendix C.

    >>> vocabulary = Vocabulary(["h", "e", "l", "o", "he", "ll", "hell"])
    >>> count("hello", vocabulary), count("help", vocabulary), count("", vocabulary)
    (5, 0, 1)
    """
    return _ways(_pieces(as_bytes(text), vocabulary.trie))[-1]


def counts(texts: Sequence[bytes], vocabulary: Vocabulary) -> builtins.list[int]:
    """Count the segmentations of many texts at once, such as all tokens of a vocabulary.

    Raises:
        TypeError: a text is neither str nor bytes.

    >>> counts([b"ab", b"abc", b"c"], Vocabulary(["a", "b", "ab", "bc"]))
    [2, 1, 0]
    """
    trie = vocabulary.trie
    data, offset = pack(texts)
    result = _count(trie.start, trie.byte, trie.token, data, offset).tolist()
    for place in np.flatnonzero(np.diff(offset) > _WORD):
        result[place] = count(texts[place], vocabulary)
    return result


def each(text: str | bytes, vocabulary: Vocabulary) -> Iterator[tuple[int, ...]]:
    """Walk the segmentations of a text one by one, shortest first token first, in the order of Timor et al., Fig. 1.

    >>> next(each("a" * 500, Vocabulary(["a", "aa"])))[:3]
    (0, 0, 0)
    """
    pieces = _completable(_pieces(as_bytes(text), vocabulary.trie))
    # The path so far, and for each of its places the pieces that are still to be tried there.
    path: builtins.list[int] = []
    waiting = [iter(pieces[0])] if pieces else []
    while waiting:
        piece = next(waiting[-1], None)
        if piece is None:
            waiting.pop()
            del path[-1:]
            continue
        end, token = piece
        if end == len(pieces):
            yield (*path, token)
        else:
            path.append(token)
            waiting.append(iter(pieces[end]))
    if not pieces:
        yield ()


def list(text: str | bytes, vocabulary: Vocabulary) -> builtins.list[tuple[int, ...]]:
    """List the segmentations of a text as tuples of token indices, in the order of `each`.

    Raises:
        ValueError: there are more than `LISTED`; `each` walks them without holding them.

    >>> list("aab", Vocabulary(["a", "b", "aa", "ab"]))
    [(0, 0, 1), (0, 3), (2, 1)]
    """
    total = count(text, vocabulary)
    if total > LISTED:
        raise ValueError(f"this text has {total:,} segmentations, and list holds at most {LISTED:,}; walk them by each")
    return [*each(text, vocabulary)]


def forward_passes(text: str | bytes, vocabulary: Vocabulary) -> int:
    """Count the distinct proper prefixes, the empty one included, of all segmentations of a text.

    At each of them a drafter has to be asked for its next law before ψ of the text is known: they are the inner nodes
    of the tree that `draw` draws. A text without segmentations has none.
    Source: Timor et al., Appendix C ("the number of non-leaf nodes in the tree plus one": the root is the one).

    >>> forward_passes("aab", Vocabulary(["a", "b", "aa", "ab"]))
    4
    """
    pieces = _pieces(as_bytes(text), vocabulary.trie)
    return sum(number for number, onward in zip(_ways(pieces), _completable(pieces), strict=False) if onward)


def draw(text: str | bytes, vocabulary: Vocabulary) -> str:
    """Draw the segmentations of a text as a tree, as in Timor et al., Fig. 1: each leaf, marked ✓, is one of them.

    Raises:
        ValueError: there are more than `LISTED` of them.

    >>> print(draw("aab", Vocabulary(["a", "b", "aa", "ab"])))
    aab
    ├─ a
    │  ├─ a
    │  │  └─ b ✓
    │  └─ ab ✓
    └─ aa
       └─ b ✓
    """
    return "\n".join([shown(as_bytes(text)), *_branches(list(text, vocabulary), vocabulary, 0, "")])


def _branches(rows: Sequence[tuple[int, ...]], vocabulary: Vocabulary, depth: int, indent: str) -> Iterator[str]:
    heads = [*dict.fromkeys(row[depth] for row in rows if len(row) > depth)]
    for head in heads:
        last = head == heads[-1]
        below = [row for row in rows if len(row) > depth and row[depth] == head]
        # Segmentations of one text never extend each other, so a row that ends here stands alone.
        mark = " ✓" if len(below[0]) == depth + 1 else ""
        yield f"{indent}{'└─' if last else '├─'} {shown(vocabulary[head])}{mark}"
        yield from _branches(below, vocabulary, depth + 1, indent + ("   " if last else "│  "))


def shown(spelled: bytes) -> str:
    """Return bytes as a text in which spaces and ends of lines are seen.

    >>> shown(b" a")
    '␣a'
    """
    return spelled.decode(errors="backslashreplace").replace(" ", "␣").replace("\n", "⏎")


def _pieces(spelled: bytes, trie: Trie) -> Pieces:
    pieces: Pieces = [[] for _ in spelled]
    for begin, end, token in _edges(trie.start, trie.byte, trie.token, np.frombuffer(spelled, dtype=np.uint8)):
        pieces[begin].append((end, token))
    return pieces


def _ways(pieces: Pieces) -> builtins.list[int]:
    """Return the number of segmentations of each prefix of the text, from the empty one (1) to the whole."""
    ways = [1] + [0] * len(pieces)
    for begin, onward in enumerate(pieces):
        for end, _ in onward:
            ways[end] += ways[begin]
    return ways


def _completable(pieces: Pieces) -> Pieces:
    """Keep the pieces from whose end the text can still be completed."""
    kept: Pieces = [[] for _ in pieces]
    for begin in reversed(range(len(pieces))):
        kept[begin] = [(end, token) for end, token in pieces[begin] if end == len(pieces) or kept[end]]
    return kept


@compiled
def _edges(start: Integers, byte: Integers, token: Integers, data: Integers) -> Any:
    found = [(0, 0, 0) for _ in range(0)]
    for begin in range(len(data)):
        node = 0
        for end in range(begin, len(data)):
            node = child(start, byte, node, data[end])
            if node < 0:
                break
            if token[node] >= 0:
                found.append((begin, end + 1, int(token[node])))
    return found


@compiled
def _count(start: Integers, byte: Integers, token: Integers, data: Integers, offset: Integers) -> Any:
    result = np.zeros(len(offset) - 1, np.int64)
    ways = np.zeros(_WORD + 1, np.int64)
    # Every walk begins at the root, which has up to 256 children: looked up, where others are searched.
    begins = np.full(256, -1, np.int64)
    for node in range(start[0], start[1]):
        begins[byte[node]] = node
    for i in range(len(result)):
        here, length = offset[i], offset[i + 1] - offset[i]
        if length > _WORD:
            continue
        ways[: length + 1] = 0
        ways[0] = 1
        for begin in range(length):
            if ways[begin] == 0:
                continue
            node = begins[data[here + begin]]
            end = begin + 1
            while node >= 0:
                if token[node] >= 0:
                    ways[end] += ways[begin]
                if end == length:
                    break
                node = child(start, byte, node, data[here + end])
                end += 1
        result[i] = ways[length]
    return result
