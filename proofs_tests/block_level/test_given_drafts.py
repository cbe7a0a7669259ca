"""Expected lengths of all methods against enumeration, and what given drafts with distinct first tokens say of them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math.arrays import exact, proportional_to
from spec_math.block_level import length, traversal
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lengths import given_drafts
from spec_math.block_level.methods import METHODS, Method, named, paths, traversal_expected
from spec_math.chance import Coin, law, replay
from spec_math.chance import paths as paths_of
from spec_math.scheme import Tokens

AVERAGED = {
    "recursive rejection, distinct": given_drafts.distinct_roots,
    "traversal, distinct": partial(given_drafts.distinct_roots, as_block=True),
}


def mean_tokens(name: str, models: Any, lookahead: int, k: int) -> list[Any]:
    """Tokens per call for lookaheads 1..L, from the numbers that drafts give, over all drafts."""
    laws, method = Conditionals(*models, ()), named(name)
    sums = [Fraction(1)] * lookahead
    for path in paths_of(lambda coin: method.draft(coin, laws, lookahead, k)):
        accepted = AVERAGED[name](laws, path.outcome, lookahead)
        for place in range(lookahead):
            sums[place] += path.mass * sum(accepted[: place + 1])
    return sums


@pytest.mark.parametrize("name", AVERAGED)
@given(data=st.data(), size=st.integers(2, 3))
@settings(max_examples=25)
def test_drafts_give_the_exact_expected_length(name: str, data: st.DataObject, size: int) -> None:
    """At every lookahead, from one set of drafts."""
    models = data.draw(model_pairs(size, small=True))
    k = data.draw(st.integers(2, 3 if size == 2 else 2))
    assert mean_tokens(name, models, 2, k) == [named(name).expected(*models, (), lookahead, k) for lookahead in (1, 2)]


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


# Controls.


@pytest.mark.parametrize("chances", AVERAGED.values(), ids=list(AVERAGED))
def test_no_law_is_asked_for_after_a_token_that_the_target_never_emits(chances: Callable[..., list[Any]]) -> None:
    def target(prefix: Tokens) -> Any:
        assert 1 not in prefix
        return exact(["1/4", 0, "3/4"])

    laws = Conditionals(target, lambda _prefix: exact(["1/2", "1/4", "1/4"]), ())
    assert chances(laws, ((0, 1, 0, 2),), 4) == [Fraction(1, 2), 0, 0, 0]


def test_wrong_readings_of_drafts_are_rejected() -> None:
    models = (
        Rows((np.array([Fraction(1, 4), Fraction(3, 4)]), np.array([Fraction(2, 3), Fraction(1, 3)]))),
        Rows((np.array([Fraction(1, 2), Fraction(1, 2)]), np.array([Fraction(1, 5), Fraction(4, 5)]))),
    )
    one, other = (mean_tokens(name, models, 2, 2) for name in AVERAGED)
    assert one != other


def test_a_method_that_does_not_exist_is_told_with_those_that_do() -> None:
    with pytest.raises(ValueError, match="no method is named 'beam search'; there are: one chain, token by token"):
        named("beam search")
