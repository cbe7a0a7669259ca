"""A speaker hears the longest suffix of a text that it can read, after its own end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.strategies import vocabularies
from spec_math.language import Table, TokenizedModel, Vocabulary


def greedy(text, words):
    """Repeated longest prefix over plain strings; None where it fails."""
    read = []
    while text:
        word = max((word for word in words if text.startswith(word)), key=len, default=None)
        if word is None:
            return None
        read.append(words.index(word))
        text = text[len(word) :]
    return tuple(read)


def even(prefix):
    raise AssertionError(f"no law is asked for by reading; got {prefix}")


@given(vocabularies("abc", most=4), st.text("abc", max_size=8))
def test_the_longest_suffix_that_can_be_read_is_heard(words, text):
    suffixes = (greedy(text[begin:], words) for begin in range(len(text) + 1))
    assert TokenizedModel(even, Vocabulary(words)).read(text) == next(read for read in suffixes if read is not None)


def test_a_text_that_can_be_read_is_heard_whole_and_a_broken_one_is_not():
    speaker = TokenizedModel(even, Vocabulary(["a", "ab", "bba"]))
    assert speaker.read("aab") == (0, 1)
    # Read greedily, abba is ab | b…: it fails, and so does no suffix that begins later than the b.
    assert greedy("abba", ["a", "ab", "bba"]) is None
    assert speaker.read("abba") == (2,)
    assert speaker.read("bb") == ()


def test_nothing_is_heard_from_before_the_own_end():
    model = Table({(): ["1/2", "1/2"]}, default=["1/2", "1/2"], end=1)
    speaker = TokenizedModel(model, Vocabulary(["a", "b"]))
    assert speaker.read("aabaa") == (0, 0)
    assert speaker.read("ab") == ()
    assert speaker.law(speaker.read("ab")).tolist() == speaker.law(()).tolist()


def test_another_way_of_reading_may_be_given():
    shout = TokenizedModel(
        even, Vocabulary(["a", "b"]), lambda text: tuple("ab".index(letter) for letter in text.decode().lower())
    )
    assert shout.read("AB") == (0, 1)
    # A multi-byte character cut in two is not valid UTF-8, and what cannot be decoded cannot be read.
    assert shout.read("é".encode()[1:] + b"a") == (0,)


def test_wrong_speakers_are_named():
    with pytest.raises(ValueError, match="a model's end must be one of its 1 tokens; got 1"):
        TokenizedModel(Table({(): [1, 0]}, end=1), Vocabulary(["a"]))
    with pytest.raises(ValueError, match=r"after the prefix \(0,\): the vocabulary has 2 tokens; got shape \(1,\)"):
        TokenizedModel(lambda _: [1], Vocabulary(["a", "b"])).law((0,))
    with pytest.raises(ValueError, match=r"after the prefix \(\): masses must sum to exactly 1"):
        TokenizedModel(lambda _: ["1/2", "1/3"], Vocabulary(["a", "b"])).law(())
    with pytest.raises(TypeError, match="str or bytes"):
        TokenizedModel(even, Vocabulary(["a"])).read(3)


@pytest.mark.parametrize("row", [["1/2", "1/4"], [0.5, 0.25], [1.5, -0.5]])
def test_a_law_that_is_none_is_named_by_its_prefix(row):
    with pytest.raises(ValueError, match=r"distribution after the prefix \(0, 1\)"):
        TokenizedModel(lambda _prefix: row, Vocabulary(["a", "b"])).law((0, 1))
