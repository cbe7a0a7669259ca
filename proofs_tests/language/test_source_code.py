"""Source code as a corpus: what is held out is not learnt from, words are the commonest, every run gives the same."""

from __future__ import annotations

import numpy as np
import pytest

from spec_math.language.corpus import HELD_OUT, SIZE, UNKNOWN, code_words, split_files, standard_library


def texts(tokens: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(part[part >= 0].tolist()) for part in np.split(tokens, np.flatnonzero(tokens < 0))]


def test_comments_and_long_strings_are_left_out_and_lines_keep_their_indentation() -> None:
    text = 'def f():\n    """Say\n    it."""\n\n\tif x:  # why\n        return "a"\n'
    head = ["\n", "def", "f", "(", ")", ":", "\n    ", '"', '"', "\n        ", "if", "x", ":"]
    assert code_words(text) == [*head, "\n        ", "return", '"', "a", '"']


def test_words_are_the_commonest_of_the_training_part() -> None:
    corpus = split_files(["b b c", "a a b", "z z z z"], 4, held_out=3)
    assert corpus.names == ("b", "\n", "a", UNKNOWN)
    assert texts(corpus.held_out) == [(1, 3, 3, 3, 3)]
    # The control: were the held-out file counted, its word would be the first.
    assert "z" not in corpus.names


def test_too_few_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="there are 1"):
        split_files(["a", ""], 4, held_out=2)


def test_the_library_is_large_enough_and_read_once() -> None:
    corpus = standard_library()
    assert corpus.size == SIZE
    assert corpus is standard_library()
    learnt, held_out = texts(corpus.training), texts(corpus.held_out)
    assert len(held_out) == (len(learnt) + len(held_out)) // HELD_OUT
    assert (corpus.training >= 0).sum() > 200_000
    assert 0.02 < float((corpus.held_out == corpus.size - 1).mean()) < 0.2
