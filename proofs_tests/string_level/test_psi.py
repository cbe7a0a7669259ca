"""ψ by its definition, by the two tries and by stopping early; the paper's worked examples and errata i, j and z."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from proofs_tests.language.longest_prefixes import first_by_strings
from proofs_tests.strategies import laws, vocabularies
from spec_math.arrays import exact
from spec_math.chance import law
from spec_math.language import GreedyTokenizer, Table, Vocabulary
from spec_math.string_level.psi import first_token, longest_lookahead, most_calls, most_tokens, psi, unreachable

HALF = Fraction(1, 2)


def by_definition(target, draft, model, draws):
    """P(T(d₁ ⊕ … ⊕ d_n)₁ = x), summing over all sequences of exactly `draws` tokens; None gathers the rest."""
    masses = dict.fromkeys([*target, None], Fraction(0))
    for drafted in product(range(len(draft)), repeat=draws):
        mass = Fraction(1)
        for place, token in enumerate(drafted):
            mass *= model(drafted[:place])[token]
        masses[first_by_strings("".join(draft[token] for token in drafted), target)] += mass
    return [masses[word] for word in target], masses[None]


def most_draws(target, draft):
    """The largest number of draft tokens whose text is a proper prefix of a target token, plus one, by trying."""
    most, waiting = 0, [""]
    while waiting:
        waiting = [
            text + word
            for text in waiting
            for word in draft
            if any(other != text + word and other.startswith(text + word) for other in target)
        ]
        most += 1
    return most


@st.composite
def settings(draw):
    """Two vocabularies, over two letters, or over five so that nodes have children with others between, and a law."""
    letters = draw(st.sampled_from(["ab", "abcde"]))
    target, draft = draw(vocabularies(letters, most=6)), draw(vocabularies(letters, most=6))
    return target, draft, draw(laws(len(draft)))


@st.composite
def with_context(draw):
    """A drafter whose law depends on all that it drafted: one of three laws, by a number made from the prefix."""
    target, draft = draw(vocabularies()), draw(vocabularies(most=3))
    rows = [draw(laws(len(draft))) for _ in range(3)]
    return target, draft, lambda prefix: rows[sum((place + 2) * (token + 1) for place, token in enumerate(prefix)) % 3]


@given(settings())
@example((["a", "c", "e", "ea"], ["a", "b", "c", "d", "e"], exact(["1/2", "1/4", "1/8", "1/16", "1/16"])))
def test_psi_equals_its_definition(case):
    target, draft, masses = case
    found = first_token(Vocabulary(target), Vocabulary(draft), masses)
    expected, missed = by_definition(target, draft, lambda _: masses, most_draws(target, draft))
    assert found.law.tolist() == expected
    assert found.untokenisable == missed
    assert all(type(mass) is Fraction for mass in [*found.law, found.untokenisable, found.draws])


@given(settings())
def test_two_tries_equal_the_paths_of_a_drafter_with_context(case):
    target, draft, masses = case
    for lookahead in (None, 1, 2, 3):
        walked = first_token(Vocabulary(target), Vocabulary(draft), masses, lookahead)
        paths = first_token(Vocabulary(target), Vocabulary(draft), lambda _: masses, lookahead)
        assert walked.law.tolist() == paths.law.tolist()
        assert (walked.untokenisable, walked.draws) == (paths.untokenisable, paths.draws)


@given(with_context())
def test_psi_with_context_equals_its_definition(case):
    target, draft, model = case
    found = first_token(Vocabulary(target), Vocabulary(draft), model)
    expected, missed = by_definition(target, draft, model, most_draws(target, draft))
    assert found.law.tolist() == expected
    assert found.untokenisable == missed


@given(with_context(), st.integers(1, 3))
def test_psi_of_a_lookahead_equals_its_definition(case, lookahead):
    target, draft, model = case
    expected, missed = by_definition(target, draft, model, lookahead)
    found = first_token(Vocabulary(target), Vocabulary(draft), model, lookahead)
    assert found.law.tolist() == expected
    assert found.untokenisable == missed


@given(with_context())
def test_stopping_when_determined_equals_any_lookahead_from_n_max_on(case):
    target, draft, model = case
    n_max = longest_lookahead(Vocabulary(target), Vocabulary(draft))
    assert n_max == most_draws(target, draft)
    determined = first_token(Vocabulary(target), Vocabulary(draft), model)
    for lookahead in (n_max, n_max + 1):
        fixed = first_token(Vocabulary(target), Vocabulary(draft), model, lookahead)
        assert fixed.law.tolist() == determined.law.tolist()
        assert (fixed.draws, fixed.calls) == (determined.draws, determined.calls)
    assert determined.draws <= n_max


@given(with_context())
def test_psi_equals_the_law_of_a_drafting_program(case):
    """Draw until `GreedyTokenizer.settled` has a token: the program that a verifier runs."""
    target, draft, model = case
    tokenizer, source = GreedyTokenizer(Vocabulary(target)), Vocabulary(draft)

    def program(coin):
        drafted = ()
        while True:
            drafted = (*drafted, coin.draw(model(drafted)))
            text = source.decode(drafted)
            if not any(word != text and word.startswith(text) for word in target):
                return tokenizer.first(text)

    emitted = law(program)
    found = first_token(tokenizer.vocabulary, source, model)
    assert found.law.tolist() == [emitted.get(token, 0) for token in range(len(target))]
    assert found.untokenisable == emitted.get(None, 0)


@given(vocabularies(), vocabularies(most=4))
def test_unreachable_tokens_have_no_mass_under_any_drafter(target, draft):
    even = exact([Fraction(1, len(draft))] * len(draft))
    found = first_token(Vocabulary(target), Vocabulary(draft), even)
    assert unreachable(Vocabulary(target), Vocabulary(draft)) == found.unreachable
    assert found.law.sum() + found.untokenisable == 1


@given(settings())
def test_floating_psi_differs_by_roundings_alone(case):
    # Every mass of the result is a sum of products of drafted masses, all >= 0, so that a relative error of 2^-53 in
    # each conversion, product and sum on its way multiplies it by at most (1 + u)^N, u = 2^-53, where N counts the
    # roundings on a way: at most n_max conversions and n_max products, and no more sums than are made at all: two for
    # each pair of nodes that are walked together, and four for each node of the draft trie beforehand.
    # Underflow: masses are >= (2^-60 / 24e9)^3.
    target, draft, masses = case
    first, second = Vocabulary(target), Vocabulary(draft)
    n_max = longest_lookahead(first, second)
    roundings = 2 * n_max + 2 * len(first.trie) * len(second.trie) + 4 * len(second.trie)
    bound = (1 + Fraction(1, 2**53)) ** roundings - 1
    floats = masses.astype(float)
    for draft_law in (floats, lambda _: floats):
        found = psi(first, second, draft_law)
        for approximate, true in zip(found.tolist(), psi(first, second, masses), strict=True):
            assert abs(Fraction(approximate) - true) <= bound * true


# Ends, texts that no token begins, repeats, and bad input.


def test_text_without_a_first_token_leaves_a_sub_probability():
    found = first_token(Vocabulary(["a"]), Vocabulary(["a", "b", "ba"]), ["1/2", "1/3", "1/6"])
    assert (found.law.tolist(), found.untokenisable) == ([HALF], HALF)
    # Only the first token is read: bba begins with bb, whatever becomes of the a.
    assert psi(Vocabulary(["b", "ba", "bb"]), Vocabulary(["bba"]), [1]).tolist() == [0, 0, 1]


def test_an_end_stops_the_drafted_text():
    rows = {(): ["1/2", "1/2", 0], (0,): ["1/4", "1/4", "1/2"], (0, 0): [0, 0, 1]}
    model = Table(rows, end=2)
    draft = Vocabulary(["a", "b", "<end>"], special=[2])
    # a | a: aa; a | b: ab, read as a; a | end: a, read as it stands; b: b.
    found = first_token(Vocabulary(["a", "b", "aa"]), draft, model)
    assert found.law.tolist() == [Fraction(3, 8), HALF, Fraction(1, 8)]
    silent = Table({(): [0, 0, 1]}, end=2)
    assert first_token(Vocabulary(["a"]), draft, silent).untokenisable == 1
    # An end with a text of its own is drafted with its text.
    assert psi(Vocabulary(["a", "ab", "b"]), Vocabulary(["a", "b"]), Table({(): [1, 0]}, end=0)).tolist() == [1, 0, 0]


def test_tokens_with_the_same_bytes_add_up_in_the_draft_and_go_to_the_last_in_the_target():
    twice = Vocabulary(["a", "b", "a"], repeats=True)
    found = first_token(twice, twice, ["1/4", "1/2", "1/4"])
    assert (found.law.tolist(), found.unreachable) == ([0, HALF, HALF], (0,))
    assert first_token(twice, twice, lambda _: ["1/4", "1/2", "1/4"]).law.tolist() == found.law.tolist()


def test_bad_drafters_are_named():
    one, two = Vocabulary(["a"]), Vocabulary(["a", "<pad>"], special=[1])
    with pytest.raises(ValueError, match=r"special token 1 \('<pad>'\) has mass 1/3 and adds no text"):
        psi(one, two, ["2/3", "1/3"])
    with pytest.raises(ValueError, match="draft vocabulary has 2 tokens; got shape"):
        psi(one, two, [1])
    with pytest.raises(ValueError, match=r"draft after \(\): masses must sum to exactly 1"):
        psi(one, two, lambda _: ["1/2", 0])
    with pytest.raises(ValueError, match=r"^draft: masses must sum to exactly 1"):
        psi(one, two, ["1/2", 0])
    with pytest.raises(ValueError, match="lookahead must be at least 1; got 0"):
        psi(one, two, [1, 0], lookahead=0)
    with pytest.raises(TypeError, match="lookahead must be a whole number"):
        psi(one, two, [1, 0], lookahead=2.0)
    with pytest.raises(TypeError, match="pass a NumPy array or a list, not Tensor"):
        psi(one, two, torch.tensor([1.0, 0.0]))
    worlds = {(): [1, 0], (0,): [1.0, 0.0]}
    with pytest.raises(TypeError, match=r"of one number type; after \(0,\) it changes"):
        psi(Vocabulary(["a", "aa", "aaa"]), two, worlds.__getitem__)
    ends = Table({(): [1, 0]})
    ends.end = 7
    with pytest.raises(ValueError, match="end must be one of its 2 tokens; got 7"):
        psi(one, two, ends)


def test_wrong_variants_are_rejected():
    """Controls: the exact-segmentation sum and the unstopped lengths both differ from the definition somewhere."""
    target, draft, masses = ["a", "b", "ab"], ["a", "b", "ba"], exact(["1/2", "1/4", "1/4"])
    expected = by_definition(target, draft, lambda _: masses, most_draws(target, draft))[0]
    segmentations = [
        sum(
            np.prod([masses[draft.index(word)] for word in drafted])
            for length in (1, 2)
            for drafted in product(draft, repeat=length)
            if "".join(drafted) == text
        )
        for text in target
    ]
    assert psi(Vocabulary(target), Vocabulary(draft), masses).tolist() == expected
    assert segmentations != expected


@given(vocabularies(), vocabularies(most=4))
def test_the_laws_asked_of_a_drafter_that_may_say_anything(target, draft):
    uniform = [Fraction(1, len(draft))] * len(draft)
    both = Vocabulary(target), Vocabulary(draft)
    assert most_calls(*both) == first_token(*both, lambda _: uniform).calls


@given(vocabularies(), vocabularies())
def test_the_most_draft_tokens_that_spell_a_node_are_those_of_all_segmentations(target, draft):
    target_trie, draft_trie = Vocabulary(target).trie, Vocabulary(draft).trie

    def most(text):
        if not text:
            return 0
        counts = [most(text[: -len(token)]) for token in map(str.encode, draft) if token and text.endswith(token)]
        return max([count + 1 for count in counts if count >= 0], default=-1)

    texts = {token.encode()[:end] for token in target for end in range(len(token.encode()) + 1)}
    found = most_tokens(target_trie, draft_trie).tolist()
    assert sorted(found) == sorted(map(most, texts))
