"""The corpus: what is held out is not learnt from, and every run gives the same."""

import os
import subprocess
import sys

import numpy as np
import pytest

from spec_math.language.corpus import HELD_OUT, UNKNOWN, documentation, split, words


def paragraphs(tokens):
    cuts = np.flatnonzero(tokens < 0)
    return [tuple(part[part >= 0].tolist()) for part in np.split(tokens, cuts)]


def test_held_out_paragraphs_are_not_in_the_training_part():
    corpus = documentation()
    learnt, held_out = paragraphs(corpus.training), paragraphs(corpus.held_out)
    assert set(learnt).isdisjoint(held_out)
    assert len(set(learnt)) == len(learnt)
    assert len(held_out) == (len(learnt) + len(held_out)) // HELD_OUT


def test_a_split_that_keeps_repeats_would_be_caught():
    text = [(0, 1), (2,), (0, 1)]
    assert not set(text[:2]).isdisjoint(text[2:])
    repeated = split(["a b\n\nc\n\na b\n\nd"], held_out=3)
    assert paragraphs(repeated.training) == [(0, 1), (2,)]
    assert paragraphs(repeated.held_out) == [(3,)]


def test_vocabulary_is_learnt_from_the_training_part_alone():
    corpus = documentation()
    assert corpus.names[-1] == UNKNOWN
    assert len(set(corpus.names)) == corpus.size
    assert sorted(set(corpus.training[corpus.training >= 0].tolist())) == list(range(corpus.size - 1))
    unknown = corpus.held_out == corpus.size - 1
    assert 0 < unknown.mean() < 0.1


def test_documentation_has_about_four_thousand_words():
    corpus = documentation()
    assert 3_500 < corpus.size < 5_000
    assert (corpus.training >= 0).sum() > 60_000
    assert (corpus.held_out >= 0).sum() > 2_500


def test_documentation_is_the_same_in_every_process_and_read_once():
    program = (
        "import hashlib; from spec_math.language.corpus import documentation; c = documentation(); "
        "print(hashlib.sha256(c.training.tobytes() + c.held_out.tobytes() + repr(c.names).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1
    assert documentation() is documentation()


def test_a_corpus_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        documentation().training[0] = 1


def test_a_python_without_documentation_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    with pytest.raises(ModuleNotFoundError, match="give the models as files"):
        documentation.__wrapped__()


def test_words_keep_names_and_shorten_rulers():
    assert words("") == []
    assert words("x**2 // y_1 == 'π'") == ["x", "*", "*", "2", "/", "/", "y_1", "=", "=", "'", "π", "'"]
    assert words(">>> a...\n=======\n----") == [">>>", "a", "...", "===", "---"]


def test_split_refuses_to_hold_out_nothing_or_everything():
    with pytest.raises(ValueError, match="the text has 2"):
        split(["a\n\nb\n\na"], held_out=3)
    with pytest.raises(ValueError, match="at least 2"):
        split(["a\n\nb"], held_out=1)
    with pytest.raises(TypeError, match="held_out must be a whole number"):
        split(["a\n\nb"], held_out=True)
