"""ψ of an n-gram drafter with texts merged: the same as the walk of all its paths."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.strategies import vocabularies
from spec_math.language import NGram, Vocabulary
from spec_math.string_level import merged_paths, psi

DEPTH = 8


def first_token(target_vocabulary, draft_vocabulary, model, start):
    """ψ after one start."""
    (found,) = merged_paths.first_tokens(target_vocabulary, draft_vocabulary, model, [start])
    return found


@st.composite
def cases(draw):
    """Target words, an n-gram model on draft words, and what it has heard."""
    target, words = draw(vocabularies("ab", most=5)), draw(vocabularies("abc", most=4))
    random = Random(draw(st.integers(0, 2**32 - 1)))
    text = [random.choice([-1, *range(len(words)), *range(len(words))]) for _ in range(30)] + [0]
    model = NGram.learn(text, draw(st.integers(1, 3)), len(words))
    heard = tuple(random.randrange(len(words)) for _ in range(random.randrange(4)))
    return Vocabulary(target), Vocabulary(words), model, heard


def walked(target, words, model, heard):
    return psi.first_token(target, words, lambda path: model((*heard, *path)))


def bound(words, model):
    """Both sides add and multiply positive terms: (1 + u)^N, N the roundings that a mass passes on its way.

    A row has at most 3·order roundings (`NGram.rows`); on each of at most DEPTH draws it is multiplied once, and a node
    gathers at most as many texts as there are sequences of draft tokens that spell it; a result as many again.
    """
    paths = (len(words) + 1) ** DEPTH
    roundings = DEPTH * (3 * model.order + 1 + paths) + paths
    return 2 * roundings * 2.0**-53 / (1 - 2 * roundings * 2.0**-53)


@given(cases())
def test_merged_paths_give_the_psi_of_all_paths(case):
    _, words, model, _ = case
    merged, all_paths = first_token(*case), walked(*case)
    assert max(map(len, case[0])) <= DEPTH
    assert (abs(merged.law - all_paths.law) <= bound(words, model) * all_paths.law).all()
    assert abs(merged.untokenisable - all_paths.untokenisable) <= bound(words, model) * all_paths.untokenisable
    assert abs(merged.draws - all_paths.draws) <= bound(words, model) * all_paths.draws
    assert merged.unreachable == all_paths.unreachable
    assert merged.calls <= all_paths.calls


@given(cases(), st.lists(st.lists(st.integers(0, 3), max_size=3).map(tuple), max_size=3))
def test_all_starts_in_one_walk_are_each_alone(case, starts):
    """Within the bound, as masses are summed in another order; what is counted, and what has no mass, is the same."""
    target, words, model, heard = case
    starts = [heard, *(tuple(token % len(words) for token in start) for start in starts)]
    together = merged_paths.first_tokens(target, words, model, starts)
    assert len(together) == len(starts)
    for start, found in zip(starts, together, strict=True):
        alone = walked(target, words, model, start)
        assert (abs(found.law - alone.law) <= bound(words, model) * alone.law).all()
        assert abs(found.untokenisable - alone.untokenisable) <= bound(words, model) * alone.untokenisable
        assert abs(found.draws - alone.draws) <= bound(words, model) * alone.draws
        assert found.unreachable == alone.unreachable
        assert found.calls == first_token(target, words, model, start).calls


def test_starts_that_differ_keep_contexts_of_their_own(monkeypatch):
    """After a and after b the next token differs: one context for both starts is seen at once."""
    target, words = Vocabulary(["aa", "ab"]), Vocabulary(["a", "b"])
    model = NGram.learn([0, 0, 0, 0, -1, 1, 1, 1, 1], order=2, size=2)
    starts = [(0,), (1,)]
    after_a, after_b = (found.law for found in merged_paths.first_tokens(target, words, model, starts))
    assert [after_a.tolist(), after_b.tolist()] == [
        walked(target, words, model, start).law.tolist() for start in starts
    ]
    monkeypatch.setattr(NGram, "context", lambda *_: np.array([0]))
    wrong = merged_paths.first_tokens(target, words, model, starts)
    assert wrong[0].law.tolist() == wrong[1].law.tolist() == after_a.tolist() != after_b.tolist()
    assert merged_paths.first_tokens(target, words, model, []) == []


def test_texts_of_one_node_and_different_contexts_stay_apart(monkeypatch):
    # aab is drafted as a ⊕ a or as aa, and what follows differs; merging by the node alone loses that.
    target, words = Vocabulary(["b", "aab", "aac"]), Vocabulary(["a", "aa", "b", "c"])
    model = NGram.learn([0, 0, 2, -1, 1, 3, -1, 0, 0, 2, -1, 1, 3], order=2, size=4)
    true = walked(target, words, model, ())

    def by_node_alone(level):
        nodes, contexts, masses = (np.concatenate(parts) for parts in zip(*level, strict=True))
        distinct, first, inverse = np.unique(nodes, return_index=True, return_inverse=True)
        return distinct, contexts[first], np.eye(len(distinct))[inverse].T @ masses

    right = first_token(target, words, model, ())
    monkeypatch.setattr(merged_paths, "_merged", by_node_alone)
    wrong = first_token(target, words, model, ())
    assert abs(right.law - true.law).max() <= bound(words, model) < 1e-2 < abs(wrong.law - true.law).max()


def test_what_does_not_fit_is_named():
    model = NGram.learn([0, 1], order=2, size=2)
    with pytest.raises(ValueError, match="the draft vocabulary has 3 tokens; the model has 2"):
        first_token(Vocabulary(["a"]), Vocabulary(["a", "b", "c"]), model, ())
    with pytest.raises(ValueError, match=r"draft token 1 \('<end>'\) adds no text"):
        first_token(Vocabulary(["a"]), Vocabulary(["a", "<end>"], special=[1]), model, ())


@given(cases())
def test_calls_are_the_different_contexts_at_open_nodes(case):
    """Counted over texts: one waits while a target token goes on from it; what counts is it and its last tokens."""
    target, words, model, heard = case
    asked, waiting = set(), [((), b"")]
    while waiting:
        said, text = waiting.pop()
        asked.add((text, (*(-1,) * model.order, *heard, *said)[len(heard) + len(said) + 1 :]))
        masses = model((*heard, *said))
        for token in range(len(words)):
            longer = text + words[token]
            if masses[token] > 0 and any(word != longer and word.startswith(longer) for word in target):
                waiting.append(((*said, token), longer))
    assert first_token(*case).calls == len(asked)


def test_texts_are_asked_about_in_parts_without_counting_any_twice(monkeypatch):
    target, words = Vocabulary(["b", "aab", "aac"]), Vocabulary(["a", "aa", "b", "c"])
    model = NGram.learn([0, 0, 2, -1, 1, 3, -1, 0, 0, 2, -1, 1, 3], order=2, size=4)
    whole = first_token(target, words, model, ())
    monkeypatch.setattr(merged_paths, "_CELLS", 1)
    parts = first_token(target, words, model, ())
    assert parts.law.tolist() == whole.law.tolist()
    assert (parts.calls, parts.draws) == (whole.calls, whole.draws)
