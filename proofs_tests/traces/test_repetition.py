"""Repetition: a token counts when the stretch that it ends was in its text before."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spec_math.traces.shard_audit import longest_run, repeats


def by_definition(tokens, texts, stretch):
    held, found = {}, []
    for token, text in zip(tokens, texts, strict=True):
        read = held.setdefault(text, ([], set()))
        read[0].append(token)
        ended = tuple(read[0][-stretch:])
        found.append(len(ended) == stretch and ended in read[1])
        if len(ended) == stretch:
            read[1].add(ended)
    return found


rows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), max_size=60)


@given(rows, st.integers(1, 4))
def test_repeats_are_those_of_the_definition(pairs, stretch):
    tokens = np.array([token for token, _ in pairs], dtype=np.int64)
    texts = np.array([text for _, text in pairs], dtype=np.int64)
    assert repeats(tokens, texts, stretch).tolist() == by_definition(tokens.tolist(), texts.tolist(), stretch)


def test_a_loop_is_seen_and_measured():
    tokens = np.tile(np.arange(10), 5)
    found = repeats(tokens, np.full(50, 3))
    # The first round is new, and so are the stretches that end in the first seven tokens of the second.
    assert found.tolist() == [False] * 17 + [True] * 33
    assert longest_run(found, np.full(50, 3)) == (33, 3)


def test_two_texts_do_not_repeat_each_other():
    tokens, texts = np.tile(np.arange(20), 2), np.repeat([0, 1], 20)
    assert not repeats(tokens, texts).any()
    assert longest_run(np.zeros(40, dtype=bool), texts) == (0, -1)
