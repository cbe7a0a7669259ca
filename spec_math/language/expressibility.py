"""Which texts a vocabulary can spell, and which tokens of another vocabulary break it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec_math.language.tokenizer import GreedyTokenizer
from spec_math.language.trie import Integers, child, compiled, pack
from spec_math.language.vocabulary import Vocabulary, as_bytes


@dataclass(frozen=True)
class Expressibility:
    """Both relations of two vocabularies: the tokens of each that the other cannot spell, in any way of cutting.

    T ↠ D* holds if target_breaks is empty; D ↠ T*, and so D* ↠ T*, if draft_breaks is.
    """

    target_breaks: tuple[int, ...]
    draft_breaks: tuple[int, ...]

    def __bool__(self) -> bool:
        """Say whether both relations hold, as Timor et al., Algorithms 2 and 3, assume."""
        return not (self.target_breaks or self.draft_breaks)


def expressibility(target: Vocabulary, draft: Vocabulary) -> Expressibility:
    """Find the tokens of each vocabulary that no concatenation of the other's tokens spells.

    Special tokens have no text to spell and break nothing. Source: Timor et al., Section 3, Notation; Section 3.1.

    >>> expressibility(Vocabulary(["a", "b", "ab"]), Vocabulary(["a", "ba"]))
    Expressibility(target_breaks=(1, 2), draft_breaks=())
    """
    return Expressibility(inexpressible(target, draft), inexpressible(draft, target))


def inexpressible(source: Vocabulary, vocabulary: Vocabulary) -> tuple[int, ...]:
    """Return the text tokens of `source` that no concatenation of tokens of `vocabulary` spells.

    >>> inexpressible(Vocabulary(["b", "bba", "c"]), Vocabulary(["b", "ba", "bb"]))
    (2,)
    """
    spelled = _expressible(source.tokens, vocabulary)
    return tuple(int(index) for index in np.flatnonzero(~spelled))


def expressible(text: str | bytes, vocabulary: Vocabulary) -> bool:
    """Say whether a text is a concatenation of tokens; the empty text is.

    >>> expressible("bba", Vocabulary(["b", "ba", "bb"])), expressible("abb", Vocabulary(["b", "ba", "bb"]))
    (True, False)
    """
    return bool(_expressible([as_bytes(text)], vocabulary)[0])


def untokenisable(source: Vocabulary, vocabulary: Vocabulary) -> tuple[int, ...]:
    """Return the text tokens of `source` that longest-prefix tokenisation with `vocabulary` does not get through.

    All that are inexpressible, and those on which taking the longest prefix leads to a dead end.

    >>> untokenisable(Vocabulary(["b", "bba", "c"]), Vocabulary(["b", "ba", "bb"]))
    (1, 2)
    """
    reads = GreedyTokenizer(vocabulary).reads
    return tuple(index for index, token in enumerate(source.tokens) if not reads(token))


def failing_draft(source: Vocabulary, vocabulary: Vocabulary) -> tuple[int, ...] | None:
    """Return a shortest sequence of `source` tokens whose text longest-prefix tokenisation fails on, or None.

    Every single token may pass and a sequence still fail. Searched breadth first over the texts that wait for more,
    proper prefixes of tokens, so that the search ends: at most (nodes of the trie) × (source tokens) steps. It is over
    at once where each byte that the source uses is a token.

    >>> failing_draft(Vocabulary(["b", "ba"]), Vocabulary(["b", "ba", "bb"]))  # b ⊕ ba is read as bb, and a is left
    (0, 1)
    >>> failing_draft(Vocabulary(["b", "ba"]), Vocabulary(["b", "ba", "bb", "a"])) is None
    True
    """
    letters = set(b"".join(source.tokens))
    if all(bytes([letter]) in vocabulary for letter in letters):
        return None
    tokenizer = GreedyTokenizer(vocabulary)
    queue: deque[tuple[bytes, tuple[int, ...]]] = deque([(b"", ())])
    seen = {b""}
    while queue:
        waiting, drafted = queue.popleft()
        for index, token in enumerate(source.tokens):
            text = waiting + token
            if not token:
                continue
            if not tokenizer.reads(text):
                return (*drafted, index)
            _, rest = tokenizer.settled(text)
            if rest not in seen:
                seen.add(rest)
                queue.append((rest, (*drafted, index)))
    return None


def _expressible(texts: Sequence[bytes], vocabulary: Vocabulary) -> Any:
    trie = vocabulary.trie
    data, offset = pack(texts)
    return _spelled(trie.start, trie.byte, trie.token, data, offset)


@compiled
def _spelled(start: Integers, byte: Integers, token: Integers, data: Integers, offset: Integers) -> Any:
    """Say of each text whether some way of cutting it ends at its end."""
    result = np.zeros(len(offset) - 1, np.bool_)
    for i in range(len(result)):
        here, length = offset[i], offset[i + 1] - offset[i]
        reached = np.zeros(length + 1, np.bool_)
        reached[0] = True
        for begin in range(length):
            if not reached[begin]:
                continue
            node = 0
            for end in range(begin, length):
                node = child(start, byte, node, data[here + end])
                if node < 0:
                    break
                if token[node] >= 0:
                    reached[end + 1] = True
        result[i] = reached[length]
    return result
