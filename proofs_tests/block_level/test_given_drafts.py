"""What drafts say of each method: over all drafts it is the exact expected length that the enumeration finds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
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
from spec_math.block_level.lengths.given_drafts import Nodes
from spec_math.block_level.methods import METHODS, Method, named, paths, traversal_expected
from spec_math.chance import Coin, law, replay
from spec_math.chance import paths as paths_of
from spec_math.scheme import Emission, Tokens
from spec_math.token_level import k_sequential, plan, recursive

Chains = tuple[Tokens, ...]

LUCK = Fraction(1, 2**54)
"""γ* is the upper end of a bracket of width 2^-64, so that f(γ*) ≥ −(2k + 1)·2^-64 and what the residual draws of the
drafts after all is at most that over Σ min(t, d) at each node, Σ min ≥ 1/18 for the weights of these models. Over L = 2
levels, each losing at most L tokens, with k ≤ 3: 4 · 18 · 7 · 2^-64 < 2^-54."""


def mean_tokens(method: Method, models: Any, lookahead: int, k: int) -> list[Any]:
    """Tokens per call for lookaheads 1..L, from the numbers that drafts give, over all drafts."""
    laws = Conditionals(*models, ())
    prepared = method.prepare(Nodes(laws), k)
    sums = [Fraction(1)] * lookahead
    for path in paths_of(lambda coin: method.draft(coin, laws, lookahead, k)):
        accepted = prepared(path.outcome, lookahead)
        for place in range(lookahead):
            sums[place] += path.mass * sum(accepted[: place + 1])
    return sums


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@given(data=st.data(), size=st.integers(2, 3))
@settings(max_examples=25)
def test_drafts_give_the_exact_expected_length(method: Method, data: st.DataObject, size: int) -> None:
    """At every lookahead, from one set of drafts."""
    models = data.draw(model_pairs(size, small=True))
    k = data.draw(st.integers(2, 3 if size == 2 else 2))
    found = mean_tokens(method, models, 2, k)
    exact = [method.expected(*models, (), lookahead, k) for lookahead in (1, 2)]
    if "K-SEQ" in method.name:
        assert all(0 <= theirs - ours <= LUCK for ours, theirs in zip(found, exact, strict=True))
    else:
        assert found == exact


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


@given(data=st.data(), size=st.integers(2, 4), k=st.integers(2, 3))
def test_a_node_accepts_each_draft_with_the_chance_of_its_program(data: st.DataObject, size: int, k: int) -> None:
    laws = Conditionals(*data.draw(model_pairs(size)), ())
    target, draft = laws.target(), laws.draft()
    support = np.flatnonzero(draft > 0).tolist()
    drafts = tuple(data.draw(st.lists(st.sampled_from(support), min_size=k, max_size=k)))
    nodes, prepared = Nodes(laws), plan.plan(target, draft, k)
    programs: dict[Any, Callable[[Coin], Emission]] = {
        nodes.recursive: lambda coin: recursive.emit(coin, drafts, target, draft),
        nodes.k_sequential: lambda coin: k_sequential.emit(coin, drafts, target, draft),
        nodes.plan: lambda coin: plan.emit(coin, drafts, prepared),
    }
    for at_node, program in programs.items():
        emitted = law(program)
        assert at_node((), drafts) == {token: emitted.get(Emission(token, accepted=True), 0) for token in drafts}


@given(models=model_pairs(3), k=st.integers(1, 3))
@settings(max_examples=30)
def test_traversal_of_k_paths_has_a_closed_form(models: Any, k: int) -> None:
    def generate(coin: Coin, prefix: Tokens) -> Tokens:
        return traversal.generate(coin, *models, prefix, paths(2, k))

    assert traversal_expected(*models, (), 2, k) == length.expected(generate, ())


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_of_a_vocabulary_of_one_token_every_draft_is_accepted(method: Method) -> None:
    models = Rows((exact([1]),)), Rows((exact([1]),))
    assert mean_tokens(method, models, 2, 2) == [2, 3]
    assert [method.expected(*models, (), lookahead, 2) for lookahead in (1, 2)] == [2, 3]
    assert law(lambda coin: method.generate(coin, *models, (), 2, 2)) == {(0, 0, 0): 1}


# Controls.


@pytest.mark.parametrize("chances", [given_drafts.token_by_token, given_drafts.as_block], ids=["tokens", "block"])
def test_no_law_is_asked_for_after_a_token_that_the_target_never_emits(chances: Callable[..., list[Any]]) -> None:
    def target(prefix: Tokens) -> Any:
        assert 1 not in prefix
        return exact(["1/4", 0, "3/4"])

    laws = Conditionals(target, lambda _prefix: exact(["1/2", "1/4", "1/4"]), ())
    assert chances(laws, (0, 1, 0, 2), 4) == [Fraction(1, 2), 0, 0, 0]


def test_a_shorter_lookahead_takes_the_same_drafts_cut() -> None:
    laws = Conditionals(lambda _prefix: exact(["1/4", "3/4"]), lambda _prefix: exact(["1/2", "1/2"]), ())
    at_node = Nodes(laws).recursive
    for chains in [((0, 1, 0),), ((0, 1, 0), (1, 0, 0))]:
        whole = given_drafts.at_nodes(laws, chains, 3, at_node)
        assert given_drafts.at_nodes(laws, chains, 2, at_node) == whole[:2]


def without_copies(method: Method, models: Any, k: int) -> list[Any]:
    """The walk with a set in place of a multiset: drafts that agree are taken once."""
    laws = Conditionals(*models, ())
    nodes = Nodes(laws)
    sums = [Fraction(1)] * 2
    for path in paths_of(lambda coin: method.draft(coin, laws, 2, k)):
        accepted = given_drafts.at_nodes(laws, tuple(dict.fromkeys(path.outcome)), 2, nodes.plan)
        for place in range(2):
            sums[place] += path.mass * sum(accepted[: place + 1])
    return sums


def test_wrong_readings_of_drafts_are_rejected() -> None:
    models = (
        Rows((np.array([Fraction(1, 4), Fraction(3, 4)]), np.array([Fraction(2, 3), Fraction(1, 3)]))),
        Rows((np.array([Fraction(1, 2), Fraction(1, 2)]), np.array([Fraction(1, 5), Fraction(4, 5)]))),
    )
    walk = named("plan at")
    exact = [walk.expected(*models, (), lookahead, 2) for lookahead in (1, 2)]
    assert mean_tokens(walk, models, 2, 2) == exact
    assert without_copies(walk, models, 2) != exact
    for one, other in (
        ("block", "token by token"),
        ("plan at", "recursive rejection at"),
        ("traversal", "rejection, d"),
    ):
        assert mean_tokens(named(one), models, 2, 2) != mean_tokens(named(other), models, 2, 2)


def test_a_method_that_does_not_exist_is_told_with_those_that_do() -> None:
    with pytest.raises(ValueError, match="no method is named 'beam search'; there are: one chain, token by token"):
        named("beam search")
