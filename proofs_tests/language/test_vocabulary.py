"""A vocabulary is a list of byte strings; special tokens live in a namespace of their own."""

from __future__ import annotations

import pytest
from hypothesis import given

from proofs_tests.strategies import vocabularies
from spec_math.language import GreedyTokenizer, Vocabulary


@given(vocabularies())
def test_str_tokens_stand_for_their_utf8(words: list[str]) -> None:
    assert Vocabulary(words).tokens == Vocabulary([word.encode() for word in words]).tokens


def test_a_special_token_never_equals_text() -> None:
    vocabulary = Vocabulary(["<", "s", ">", "<s>", "<s>"], special=[4])
    assert vocabulary.index("<s>") == 3
    assert vocabulary.spell([4, 3]) == b"<s>"
    assert GreedyTokenizer(vocabulary).encode("<s>") == (3,)
    # Without the text token of that spelling the letters are read one by one, never the special token.
    assert GreedyTokenizer(Vocabulary(["<", "s", ">", "<s>"], special=[3])).encode("<s>") == (0, 1, 2)


def test_repeated_bytes_are_refused_or_read_as_the_last() -> None:
    with pytest.raises(ValueError, match=r"tokens 0 and 2 are both b'a'.*repeats=True"):
        Vocabulary(["a", "b", b"a"])
    vocabulary = Vocabulary(["a", "b", b"a"], repeats=True)
    assert vocabulary.repeats == {0: 2}
    assert vocabulary.index("a") == 2
    assert GreedyTokenizer(vocabulary).encode("ab") == (2, 1)
    assert vocabulary.trie.node[0] == vocabulary.trie.node[2]


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"tokens": []}, ValueError, "at least one token"),
        ({"tokens": ["a", ""]}, ValueError, "token 1 is empty.*special"),
        ({"tokens": "abc"}, TypeError, "one str"),
        ({"tokens": [1]}, TypeError, "token 0 must be str or bytes; got 1"),
        ({"tokens": ["a", "\ud800"]}, ValueError, "token 1 has no UTF-8: character 0 is the lone surrogate U\\+D800"),
        ({"tokens": ["a"], "special": [1]}, ValueError, "0 … 0; got 1"),
        ({"tokens": ["a"], "special": [True]}, TypeError, "got True"),
        ({"tokens": ["a", ""], "special": [1]}, ValueError, "token 1 is empty"),
        ({"tokens": ["a", b"\xff"], "special": [1]}, ValueError, "special token 1 must be UTF-8"),
        ({"tokens": ["a", "b"], "keys": ["a"]}, ValueError, "2 tokens and 1 keys"),
    ],
)
def test_bad_vocabularies_are_named(arguments: dict[str, object], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        Vocabulary(**arguments)


def test_bytes_that_are_no_utf8_name_byte_and_token() -> None:
    vocabulary = Vocabulary([b"a", b"\xc3", b"\xa9", b"\xff"])
    assert vocabulary.decode([0, 1, 2]) == "aé"
    with pytest.raises(ValueError, match=r"byte 0xff at position 3, in token 3 b'\\xff'"):
        vocabulary.decode([0, 1, 2, 3])
    with pytest.raises(ValueError, match="byte 0xc3 at position 1, in token 1"):
        vocabulary.decode([0, 1])
    assert vocabulary.spell([0, 1]) == b"a\xc3"


def test_wrong_indices_and_missing_keys_are_named() -> None:
    vocabulary = Vocabulary([b"a", "<end>"], special=[1])
    with pytest.raises(ValueError, match="0 … 1; got 2"):
        vocabulary.spell([2])
    with pytest.raises(ValueError, match="got -1"):
        vocabulary.spell([-1])
    with pytest.raises(ValueError, match="no raw keys"):
        _ = vocabulary.keys
    with pytest.raises(ValueError, match=r"'<end>' is not a text token.*name of a special token"):
        vocabulary.index("<end>")
    assert "<end>" not in vocabulary
    assert b"a" in vocabulary
