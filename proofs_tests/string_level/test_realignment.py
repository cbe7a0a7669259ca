"""Drafted text becomes target tokens; where the tokeniser loses text it is aligned with what stands before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.strategies import vocabularies
from proofs_tests.string_level.stripping import STRIPPING, WORDS, stripped
from spec_math.language import GreedyTokenizer, TokenizedModel, Vocabulary
from spec_math.string_level.reading import beyond, candidate


@given(vocabularies(most=4), st.text("ab", max_size=6), st.integers(0, 3))
def test_longest_prefixes_are_tokenised_alone_whatever_stands_before(words, text, lookbehind):
    target = TokenizedModel(lambda _: [], Vocabulary(words))
    greedy = GreedyTokenizer(target.vocabulary)
    prefix = tuple(range(len(words)))
    found = candidate(target, prefix, text.encode(), lookbehind)
    if greedy.reads(text):
        assert found == greedy.encode(text)
    else:
        # Nothing but the tokens before the failure.
        assert text.encode().startswith(target.vocabulary.spell(found))
        assert greedy.encode(target.vocabulary.spell(found)) == found


def test_a_lost_blank_is_found_again_with_the_tokens_before():
    # " b" alone loses its blank and becomes b; after a, the text "a b" is a and " b".
    assert candidate(STRIPPING, (0,), b" b", lookbehind=0) == (2,)
    assert candidate(STRIPPING, (0,), b" b", lookbehind=1) == (3,)
    assert candidate(STRIPPING, (2, 1, 0), b" b a", lookbehind=10) == (3, 1)
    # Without a prefix there is nothing to align with.
    assert candidate(STRIPPING, (), b" b", lookbehind=10) == (2,)


def test_texts_that_cannot_be_read_give_no_candidate():
    assert candidate(STRIPPING, (0,), b"", 10) == ()
    strict = TokenizedModel(lambda _: [], WORDS, lambda text: stripped(text.decode("ascii").encode()))
    assert candidate(strict, (0,), b"\xff", 10) == ()
    # The whole cannot be read, the drafted part can: with its loss.
    broken = TokenizedModel(
        lambda _: [], Vocabulary([b"\xff", " b", "b"]), lambda text: (2,) if text.decode() == " b" else ()
    )
    assert candidate(broken, (0,), b" b", 10) == (2,)


@given(st.lists(st.integers(0, 2), max_size=5), st.lists(st.integers(0, 2), max_size=5))
def test_what_lies_beyond_the_longest_stretch(old, new):
    # All stretches by trying: (length, end in old, how early in new), and the best of them.
    stretches = [
        (size, i + size, -j)
        for size in range(1, len(old) + 1)
        for i in range(len(old) - size + 1)
        for j in range(len(new) - size + 1)
        if old[i : i + size] == new[j : j + size]
    ]
    if not stretches:
        assert beyond(old, new) is None
        return
    size, end, early = max(stretches)
    assert beyond(old, new) == tuple(new[-early + size + len(old) - end :])


def test_what_is_left_of_the_old_tokens_is_matched_one_for_one():
    # The 9 at the end of old was read again as 8: it is skipped, and 5 is new.
    assert beyond((1, 2, 9), (1, 2, 8, 5)) == (5,)
    # Control: a rule that skips nothing would propose the 8 again.
    assert beyond((1, 2, 9), (1, 2, 8, 5)) != (8, 5)
