"""Expected lengths of all methods against enumeration, and drafts against the first part of what is generated."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math.arrays import exact, proportional_to
from spec_math.block_level import length, traversal
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.methods import METHODS, Method, named, paths, traversal_expected
from spec_math.chance import Coin, law, replay
from spec_math.scheme import Tokens


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@given(models=model_pairs(2, small=True), lookahead=st.integers(1, 2), k=st.integers(1, 2))
@settings(max_examples=12)
def test_the_expected_length_is_that_of_the_generator(method: Method, models: Any, lookahead: int, k: int) -> None:
    enumerated = length.expected(lambda coin, prefix: method.generate(coin, *models, prefix, lookahead, k), ())
    assert method.expected(*models, (), lookahead, k) == enumerated


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@given(models=model_pairs(3, small=True))
@settings(max_examples=10)
def test_on_one_path_a_method_is_one_of_the_two_for_one_chain(method: Method, models: Any) -> None:
    alone = method.alone or method
    assert alone.one_chain
    assert method.expected(*models, (), 2, 1) == alone.expected(*models, (), 2, 1)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_drafting_is_the_first_part_of_generating(method: Method) -> None:
    """On the same uniforms: what is emitted, less its last token, is on a drafted path."""
    random = Random(3)
    target, draft = (
        Rows(tuple(proportional_to([random.randint(1, 5) for _ in range(4)]) for _ in range(3))) for _ in "td"
    )
    laws, kept = Conditionals(target, draft, ()), 0
    for _ in range(60):
        uniforms = [Fraction(random.randrange(997), 997) for _ in range(60)]
        chains = replay(lambda coin: method.draft(coin, laws, 3, 3), uniforms)
        emitted = replay(lambda coin: method.generate(coin, target, draft, (), 3, 3), uniforms)
        assert len(chains) == (1 if method.one_chain else 3)
        assert emitted[:-1] in {chain_[: len(emitted) - 1] for chain_ in chains}
        kept += len(emitted) - 1
    assert kept > 30


@given(models=model_pairs(3), k=st.integers(1, 3))
@settings(max_examples=30)
def test_traversal_of_k_paths_has_a_closed_form(models: Any, k: int) -> None:
    def generate(coin: Coin, prefix: Tokens) -> Tokens:
        return traversal.generate(coin, *models, prefix, paths(2, k))

    assert traversal_expected(*models, (), 2, k) == length.expected(generate, ())


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_of_a_vocabulary_of_one_token_every_draft_is_accepted(method: Method) -> None:
    models = Rows((exact([1]),)), Rows((exact([1]),))
    assert [method.expected(*models, (), lookahead, 2) for lookahead in (1, 2)] == [2, 3]
    assert law(lambda coin: method.generate(coin, *models, (), 2, 2)) == {(0, 0, 0): 1}


def test_a_method_that_does_not_exist_is_told_with_those_that_do() -> None:
    with pytest.raises(ValueError, match="no method is named 'beam search'; there are: one chain, token by token"):
        named("beam search")
