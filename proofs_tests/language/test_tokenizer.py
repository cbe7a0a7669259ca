"""Longest-prefix tokenisation, against the same rule written over plain strings."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.language.longest_prefixes import by_strings
from proofs_tests.strategies import vocabularies
from spec_math.language import GreedyTokenizer, UntokenisableError, Vocabulary


@given(vocabularies(), st.text("ab", max_size=8))
def test_greedy_tokenisation_is_the_repeated_longest_prefix(words: list[str], text: str) -> None:
    tokenizer = GreedyTokenizer(Vocabulary(words))
    expected = by_strings(text, words)
    assert tokenizer.reads(text) == (expected is not None)
    if expected is None:
        with pytest.raises(UntokenisableError):
            tokenizer.encode(text)
        return
    tokens = tokenizer.encode(text)
    assert [words[token] for token in tokens] == expected
    assert tokenizer.decode(tokens) == text
    assert tokenizer.first(text) == (tokens[0] if tokens else None)


def test_a_tokeniser_of_shortest_prefixes_is_told_apart() -> None:
    shortest = [min((word for word in ["a", "ab"] if "ab".startswith(word)), key=len)]
    assert shortest != by_strings("ab", ["a", "ab"])
    assert GreedyTokenizer(Vocabulary(["a", "ab", "b"])).encode("ab") == (1,)


@given(vocabularies(), st.text("ab", max_size=5))
def test_settled_tokens_are_those_that_every_continuation_keeps(words: list[str], text: str) -> None:
    tokenizer = GreedyTokenizer(Vocabulary([*words, "c"]))
    try:
        settled, rest = tokenizer.settled(text)
    except UntokenisableError:
        assert all(by_strings(text + "".join(more), [*words, "c"]) is None for more in product("ab", repeat=3))
        return
    assert tokenizer.decode(settled) + rest.decode() == text
    assert not rest or any(word != rest.decode() and word.startswith(rest.decode()) for word in words)
    for more in product("abc", repeat=3):
        read = by_strings(text + "".join(more), [*words, "c"])
        if read is not None:
            assert read[: len(settled)] == [words[token] for token in settled]


def test_text_that_cannot_be_tokenised_names_byte_and_position() -> None:
    # The text is spellable, b ⊕ ba, and the longest prefix bb leaves an a that begins no token.
    tokenizer = GreedyTokenizer(Vocabulary(["b", "ba", "bb"]))
    with pytest.raises(UntokenisableError, match=r"byte 2 of 3 \(0x61, 'a'\), after \[2\].*no token begins") as caught:
        tokenizer.encode("bba")
    assert (caught.value.position, caught.value.read) == (2, (2,))
    with pytest.raises(UntokenisableError, match=r"byte 0 of 2 \(0xc3\), after \[\]"):
        tokenizer.encode("é")
    with pytest.raises(UntokenisableError, match="none goes on as the text does"):
        GreedyTokenizer(Vocabulary(["abc"])).encode("abd")
    with pytest.raises(TypeError, match="str or bytes; got 3"):
        tokenizer.encode(3)
    with pytest.raises(ValueError, match="lone surrogate U\\+DC00"):
        tokenizer.encode("b\udc00")


def test_byte_pair_encoding_may_change_a_settled_first_token() -> None:
    # Merges bc before ab: "ab" is read as [ab] and "abc" as [a, bc], so "determined" speaks of longest prefixes alone.
    from spec_math.language.files import RankPairs

    pairs = RankPairs(Vocabulary(["a", "b", "c", "bc", "ab"]))
    assert pairs.encode("ab") == (4,)
    assert pairs.encode("abc") == (0, 3)
    assert GreedyTokenizer(pairs.vocabulary).encode("abc") == (4, 2)
