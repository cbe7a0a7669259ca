"""What the drafter is conditioned on: the draft tokenisation of the text so far, without tokens that add no text."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from proofs_tests.tokenized_models import speaker
from spec_math import Lossless, Lossy, check_lossless_block, law
from spec_math.arrays import exact
from spec_math.chance import replay
from spec_math.language import NGram, Table, TokenizedModel, Vocabulary
from spec_math.string_level import rejection
from spec_math.string_level.methods import METHODS
from spec_math.string_level.reading import Reading, opened

HALF = Fraction(1, 2)


def echo(tokens, special=(), end=None):
    """A drafter that notes each context it is asked about."""
    asked = []

    def model(prefix):
        asked.append(prefix)
        return exact([Fraction(1, len(tokens))] * len(tokens))

    model.end = end
    return TokenizedModel(model, Vocabulary(tokens, special)), asked


def test_the_drafter_hears_its_own_tokenisation_and_then_its_own_tokens():
    drafter, asked = echo(["a", "b", "aa"])
    reading = Reading(drafter, b"aab")
    assert reading.context_tokens == (2, 1)
    # Its own a, a stay two tokens, where the text would be read as aa.
    reading((0, 0))
    assert asked == [(2, 1, 0, 0)]


def test_a_context_is_asked_about_once():
    drafter, asked = echo(["a", "b"])
    reading = Reading(drafter, b"a")
    assert len(law(lambda coin: reading.draw(coin, 2))) == 4
    assert sorted(asked) == [(0,), (0, 0), (0, 1)]


def test_what_the_drafter_cannot_spell_is_left_out_from_the_left():
    drafter, _ = echo(["a", "ab"])
    assert Reading(drafter, b"acab").context_tokens == (1,)
    assert Reading(drafter, b"abc").context_tokens == ()


def test_tokens_without_text_are_excluded_from_drafting_but_for_the_end():
    tokens = ["a", "b", "<pad>", "<end>"]
    open_, _ = echo(tokens, special=[2, 3])
    assert Reading(open_, b"")(()).tolist() == [HALF, HALF, 0, 0]
    ending, _ = echo(tokens, special=[2, 3], end=3)
    assert Reading(ending, b"")(()).tolist() == [Fraction(1, 3), Fraction(1, 3), 0, Fraction(1, 3)]
    drawn = law(lambda coin: Reading(ending, b"").draw(coin, 2))
    assert drawn[3,] == Fraction(1, 3)
    assert all(3 not in said[:-1] for said in drawn)
    silent = speaker(["a", "<pad>"], [0, 1], special=[1])
    with pytest.raises(ValueError, match=r"after the prefix \(\): all its mass lies on tokens that add no text"):
        Reading(silent, b"")(())


def test_wrong_openings_are_named():
    target, drafter = speaker(["a", "b"], ["1/2", "1/2"]), speaker(["a"], [1])
    with pytest.raises(ValueError, match=r"prefix \(2,\): token 0 must be an index in \[0, 2\); got 2"):
        opened(target, drafter, (2,))
    with pytest.raises(ValueError, match="the vocabulary has 1 tokens; the distribution has 2"):
        opened(TokenizedModel(target.model, Vocabulary(["a"])), drafter, ())
    with pytest.raises(TypeError, match="one number type"):
        opened(target, TokenizedModel(lambda _: [1.0], Vocabulary(["a"])), ())
    with pytest.raises(ValueError, match="lookahead must be at least 1"):
        law(lambda coin: opened(target, drafter, ())[1].draw(coin, 0))


def deaf(_):
    """A way of hearing that hears nothing."""
    return ()


def backwards(text):
    """A way of hearing letters that turns the text around: not what anybody would do, and still a rule."""
    return tuple("ab".index(letter) for letter in reversed(text.decode()))


@pytest.mark.parametrize("hears", [deaf, backwards])
@pytest.mark.parametrize("method", [method for method in METHODS if method.lossless], ids=lambda method: method.name)
def test_whatever_the_drafter_hears_the_method_is_lossless(method, hears):
    """The law told to the verifier is the one drawn from, under any rule; the rule decides what is accepted."""
    target = speaker(["a", "b", "ab"], ["1/2", "1/3", "1/6"], ["1/6", "1/6", "2/3"], ["1/3", "1/2", "1/6"])
    usual = speaker(["a", "b", "ba"], ["1/4", "1/2", "1/4"], ["1/2", "1/4", "1/4"], [HALF, HALF, 0])
    drafter = TokenizedModel(usual.model, usual.vocabulary, hears)
    verdict = check_lossless_block(
        lambda coin, prefix: method.generate(coin, target, drafter, prefix, 2), target.model, 2, rounds=2
    )
    assert isinstance(verdict, Lossless)


def by_last(first, after_a, after_b):
    """A model of the letters a and b that looks at the last one."""
    return Table({(): first, (0,): after_a, (1,): after_b}, context=1)


LETTERS = Vocabulary(["a", "b"])
TARGET = TokenizedModel(by_last(["1/2", "1/2"], ["1/4", "3/4"], ["1/6", "5/6"]), LETTERS)


def test_what_the_drafter_hears_changes_what_it_says():
    drafters = [TokenizedModel(TARGET.model, LETTERS, hears) for hears in (None, deaf)]
    said = [opened(TARGET, drafter, (1,))[1](()).tolist() for drafter in drafters]
    assert said == [TARGET.law((1,)).tolist(), TARGET.law(()).tolist()]


def test_a_law_after_another_text_than_the_one_drawn_after_is_lossy():
    # The control: drawn after one text, verified with the law after another.
    drafter = TokenizedModel(by_last(["1/4", "3/4"], ["3/4", "1/4"], ["1/3", "2/3"]), LETTERS)

    def wrong(coin, prefix):
        laws, reading = opened(TARGET, drafter, prefix)
        token = coin.draw(reading(()))
        return (rejection.emit(coin, token, laws.target(), drafter.law((*reading.context_tokens, 0))).token,)

    assert isinstance(check_lossless_block(wrong, TARGET.model, 2), Lossy)


@pytest.mark.parametrize(("order", "special"), [(1, []), (2, [2]), (3, [1])])
def test_texts_drawn_side_by_side_are_those_of_coins(order, special):
    """An n-gram drafter is asked in batches, coins ask one law after another: the same tokens."""
    rng = np.random.default_rng(order)
    model = NGram.learn(rng.integers(0, 4, 60), order, 4)
    drafter = TokenizedModel(model, Vocabulary(["a", "b", "c", "d"], special=special))
    uniforms = rng.random((50, 5))
    together = Reading(drafter, b"ada").draw_all(uniforms)
    assert together == [replay(lambda coin: Reading(drafter, b"ada").draw(coin, 5), row) for row in uniforms]
    assert len(set(together)) > 20
    assert not {token for path in together for token in path} & set(special)


def test_texts_drawn_side_by_side_end_as_those_of_coins_do():
    drafter, asked = echo(["a", "b", "<end>"], special=[2], end=2)
    uniforms = np.array([[Fraction(2, 3), 0], [0, Fraction(5, 6)], [0, Fraction(1, 3)]])
    assert Reading(drafter, b"").draw_all(uniforms) == [(2,), (0, 2), (0, 1)]
    assert asked == [(), (0,)]
