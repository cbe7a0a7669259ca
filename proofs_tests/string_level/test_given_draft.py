"""Tokens of a block for a given draft: averaged over drafts they are the tokens of the program."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows
from proofs_tests.tokenized_models import speaker, speaker_pairs
from spec_math import exact, law
from spec_math.block_level import length
from spec_math.language import GreedyTokenizer, TokenizedModel, Vocabulary
from spec_math.string_level import methods
from spec_math.string_level.methods import SLEM, TOKEN_TIMING, Draft, Method
from spec_math.string_level.reading import opened

METHODS = (SLEM, TOKEN_TIMING)


def of_given(method: Method, draft: Draft):
    """The expected tokens of a block for a given draft."""
    assert method.retokenised is not None
    return methods.emitted(draft.laws, *method.retokenised(draft))


def averaged(target, drafter, lookahead, method, prefix=()):
    """The mean over all drafts of what a given draft is worth."""
    laws, reading = opened(target, drafter, prefix)
    drafts = law(lambda coin: reading.draw(coin, lookahead))
    return sum(mass * of_given(method, Draft(target, laws, reading, said)) for said, mass in drafts.items())


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@given(speaker_pairs(), st.integers(1, 3))
def test_the_mean_over_drafts_is_the_program_s(method, pair, lookahead):
    target, drafter = pair
    tokens = length.expected(lambda coin, prefix: method.generate(coin, target, drafter, prefix, lookahead), ())
    assert averaged(target, drafter, lookahead, method) == tokens


def stripped(text):
    """A tokeniser that drops blanks at the start of a text, as some normalisers do."""
    return GreedyTokenizer(STRIPPING).encode(text.lstrip())


STRIPPING = Vocabulary(["a", " a", "b", " b"])
ROWS = (exact(["1/8", "1/4", "1/8", "1/2"]), exact(["1/4", "1/8", "1/2", "1/8"]), exact(["1/2", "1/8", "1/4", "1/8"]))


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("prefix", [(), (0,), (2, 1, 0)])
def test_the_mean_is_the_program_s_where_the_tokeniser_loses_text(method, prefix):
    """SLEM aligns such a draft with the tokens before it, TokenTiming as printed does not."""
    target, drafter = TokenizedModel(Rows(ROWS), STRIPPING, stripped), speaker([" b", "a", " "], ["1/2", "1/4", "1/4"])
    for lookahead in (1, 2):
        tokens = length.expected(
            lambda coin, given, size=lookahead: method.generate(coin, target, drafter, given, size), prefix
        )
        assert averaged(target, drafter, lookahead, method, prefix) == tokens


def test_a_token_more_after_the_end_is_found():
    # The target ends with b, which the drafter says: nothing follows it.
    target, drafter = speaker(["a", "b"], ["1/4", "3/4"], end=1), speaker(["b"], [1])
    laws, reading = opened(target, drafter, ())
    assert of_given(SLEM, Draft(target, laws, reading, (0,))) == 1
    assert 1 + laws.target(())[1] != 1  # what a count of accepted drafts plus one would say
