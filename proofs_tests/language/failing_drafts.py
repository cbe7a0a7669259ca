"""Text that one vocabulary spells and longest-prefix tokenisation with another does not get through."""

from __future__ import annotations

from collections import deque

from spec_math.language.tokenizer import GreedyTokenizer
from spec_math.language.vocabulary import Vocabulary


def untokenisable(source: Vocabulary, vocabulary: Vocabulary) -> tuple[int, ...]:
    """Return the text tokens of `source` that longest-prefix tokenisation with `vocabulary` does not get through."""
    reads = GreedyTokenizer(vocabulary).reads
    return tuple(index for index, token in enumerate(source.tokens) if not reads(token))


def failing_draft(source: Vocabulary, vocabulary: Vocabulary) -> tuple[int, ...] | None:
    """Return a shortest sequence of `source` tokens whose text longest-prefix tokenisation fails on, or None."""
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
