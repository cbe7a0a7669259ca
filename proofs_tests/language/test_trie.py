"""The trie holds each prefix of each token once, and knows the longest token on the way to it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.strategies import vocabularies
from spec_math.language.trie import build, child

TOKENS = st.lists(st.binary(min_size=0, max_size=4), min_size=1, max_size=8, unique=True)


def spellings(trie: Any) -> list[bytes]:
    """The text of each node, by walking from the root over the stored children."""
    texts: dict[int, bytes] = {0: b""}
    for node in range(len(trie)):
        for below in range(trie.start[node], trie.start[node + 1]):
            texts[below] = texts[node] + bytes([trie.byte[below]])
    return [texts[node] for node in range(len(texts))]


@given(st.one_of(TOKENS, vocabularies().map(lambda words: [word.encode() for word in words])))
def test_nodes_are_the_prefixes_by_depth_and_spelling(tokens: list[bytes]) -> None:
    trie = build(tokens)
    texts = spellings(trie)
    prefixes = {token[:length] for token in tokens for length in range(len(token) + 1)} | {b""}
    assert texts == sorted(prefixes, key=lambda text: (len(text), text))


@given(st.one_of(TOKENS, vocabularies().map(lambda words: [word.encode() for word in words])))
def test_tokens_and_longest_tokens_are_found(tokens: list[bytes]) -> None:
    trie = build(tokens)
    for node, text in enumerate(spellings(trie)):
        prefixes = [token for token in tokens if token and text.startswith(token)]
        longest = max(prefixes, key=len, default=None)
        assert trie.token[node] == (tokens.index(text) if text and text in tokens else -1)
        assert trie.longest[node] == (-1 if longest is None else tokens.index(longest))
        assert bool(trie.open[node]) == any(token != text and token.startswith(text) for token in tokens)
        for letter in range(256):
            expected = text + bytes([letter])
            found = child(trie.start, trie.byte, node, letter)
            assert (found >= 0) == (expected in spellings(trie))
    assert trie.node.tolist() == [spellings(trie).index(token) if token else -1 for token in tokens]


def test_of_equal_tokens_the_last_is_kept() -> None:
    trie = build([b"a", b"ab", b"a"])
    assert trie.token.tolist() == [-1, 2, 1]
    assert trie.node.tolist() == [1, 2, 1]
