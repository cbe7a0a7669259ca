"""Tokens per call along the target's own text: sums over all texts are the exact expectations, text by text below U."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math.arrays import exact
from spec_math.block_level import optimum
from spec_math.block_level.lengths import target_text
from spec_math.block_level.lengths.target_text import Text, accepted, as_block, bound, every_text, start_weights
from spec_math.block_level.methods import DISTINCT, METHODS, named
from spec_math.chance import Coin, law
from spec_math.scheme import Tokens

ALONG: list[Any] = [method for method in METHODS if method.along]
CASES = [(2, 1, 3), (2, 2, 3), (2, 3, 2), (3, 1, 3), (3, 2, 2)]
"""Tokens, lookahead and the largest k: what enumerated walks answer in milliseconds."""


def tokens_per_call(along: Any, text: Text, masses: Any, k: int) -> Any:
    return 1 + (masses[:, None] * accepted(along, text, k)).sum()


def test_every_method_on_chains_has_a_function_of_the_text() -> None:
    assert [method for method in METHODS if (method.along is None) != (method.drafts is DISTINCT)] == []


@pytest.mark.parametrize("method", ALONG, ids=lambda method: method.name)
@given(data=st.data(), case=st.sampled_from(CASES))
@settings(max_examples=30)
def test_the_sum_over_the_targets_texts_is_the_exact_expectation(method: Any, data: st.DataObject, case: Any) -> None:
    size, lookahead, most = case
    models, k = data.draw(model_pairs(size, small=True)), data.draw(st.integers(1, most))
    found = target_text.exact(method.along, models[0], models[1], (), lookahead, k)
    assert isinstance(found, Fraction)
    assert found == method.expected(models[0], models[1], (), lookahead, k)


@given(models=model_pairs(3, small=True), k=st.integers(1, 4), lookahead=st.integers(1, 3))
@settings(max_examples=40)
def test_the_bound_is_the_sum_of_the_levels_and_no_verifier_exceeds_it(models: Any, k: int, lookahead: int) -> None:
    """The levels by enumeration of all texts; for one chain the bound is the optimum, block verification."""
    found = target_text.exact(bound, models[0], models[1], (), lookahead, k)
    if k == 1:
        assert found == named("as a block").expected(models[0], models[1], (), lookahead, 1)
        return
    total, end = Fraction(1), models[0].end
    for size in range(1, lookahead + 1):
        for text in product(range(3), repeat=size):
            if end is None or end not in text:
                t, d = (prod(model(text[:place])[text[place]] for place in range(size)) for model in models)
                total += min(t, 1 - (1 - d) ** k)
    assert found == total >= optimum.level_bound(models[0], models[1], (), lookahead, k)


@pytest.mark.parametrize("method", ALONG, ids=lambda method: method.name)
@given(data=st.data(), case=st.sampled_from(CASES))
@settings(max_examples=15)
def test_no_method_exceeds_the_bound_on_any_text(method: Any, data: st.DataObject, case: Any) -> None:
    """Start by start and level by level, and what is accepted never grows with the level."""
    size, lookahead, most = case
    models, k = data.draw(model_pairs(size, small=True)), data.draw(st.integers(1, most))
    text, _ = every_text(models[0], models[1], (), lookahead)
    found, most_accepted = method.along(text, k), bound(text, k)
    assert (found <= most_accepted).all() or method.one_chain
    assert (found[:, 1:] <= found[:, :-1]).all() and (found >= 0).all() and (found <= 1).all()


def test_a_method_may_exceed_the_optimum_on_one_text() -> None:
    """Both accept 3/4 of all texts; on token 1 greedy multi-path accepts 39/49 of them and the optimal plan 36/49."""
    models = Rows((exact(["15/64", "49/64", 0]),)), Rows((exact(["1/8", "3/8", "1/2"]),))
    text, masses = every_text(models[0], models[1], (), 1)
    methods: list[Any] = [named(name) for name in ("greedy multi-path", "plan at")]
    ranked, planned = (method.along(text, 2) for method in methods)
    assert [(masses[:, None] * found).sum() for found in (ranked, planned)] == [Fraction(3, 4)] * 2
    assert text.tokens.tolist() == [0, 1]
    assert (ranked[1, 0], planned[1, 0]) == (Fraction(39, 49), Fraction(36, 49))
    assert ranked[1, 0] <= bound(text, 2)[1, 0]


@pytest.mark.parametrize("end", [None, 2])
def test_texts_of_the_draft_give_another_value_unless_they_are_weighted(end: int | None) -> None:
    """The control: M/T over texts that the draft wrote. With M over the draft's mass all methods are exact again."""
    target, draft = (
        Rows(tuple(exact(row) for row in rows), end)
        for rows in (
            (["1/2", "1/3", "1/6"], ["1/6", "1/6", "2/3"], ["1/5", "2/5", "2/5"]),
            (["1/4", "1/4", "1/2"], ["2/3", "1/6", "1/6"], ["3/5", "1/5", "1/5"]),
        )
    )
    weighted, masses = every_text(target, draft, (), 2, writer=draft)
    ends = [weighted.tokens[position] == end for position in range(len(weighted.tokens))]
    plain = Text(weighted.targets, weighted.drafts, weighted.tokens, weighted.windows, ends)
    for method in ALONG:
        wanted = method.expected(target, draft, (), 2, 2)
        assert tokens_per_call(method.along, weighted, masses, 2) == wanted
        assert abs(tokens_per_call(method.along, plain, masses, 2) - wanted) > Fraction(1, 50)


def test_an_accepted_end_token_brings_no_further_token() -> None:
    """The control: counting it as any other is wrong."""
    models = Rows((exact(["1/2", "1/2"]),), 1), Rows((exact(["1/4", "3/4"]),), 1)
    text, masses = every_text(models[0], models[1], (), 2)
    wanted = named("as a block").expected(models[0], models[1], (), 2, 1)
    assert tokens_per_call(as_block, text, masses, 1) == wanted
    assert 1 + (masses[:, None] * as_block(text, 1)).sum() != wanted


def test_a_writer_that_cannot_write_the_targets_tokens_is_refused() -> None:
    target, writer = Rows((exact(["1/2", "1/4", "1/4"]),)), Rows((exact(["1/2", "1/2", 0]),))
    with pytest.raises(ValueError, match="position 0: the target draws token 2 with chance"):
        every_text(target, target, (), 2, writer=writer)
    # Tokens that the target never writes are no fault: their weight is 0.
    text, masses = every_text(writer, target, (), 2, writer=target)
    assert tokens_per_call(as_block, text, masses, 1) == named("as a block").expected(writer, target, (), 2, 1)


ROUNDS = [("token by token", 1), ("as a block", 1), ("greedy multi-path", 2), ("recursive", 2), ("chain prior", 2)]


@pytest.mark.parametrize(("name", "k"), ROUNDS)
def test_start_weights_are_the_chances_that_a_round_begins_there(name: str, k: int) -> None:
    """Against all runs of rounds until 4 tokens are there, text by text."""
    method: Any = named(name)
    models = Rows((exact(["2/3", "1/3"]), exact(["1/6", "5/6"]))), Rows((exact(["1/4", "3/4"]), exact(["2/3", "1/3"])))
    lookahead, length = 2, 4

    def run(coin: Coin) -> tuple[Tokens, tuple[int, ...]]:
        text, starts = (), list[int]()
        while len(text) <= length - lookahead:
            starts.append(len(text))
            text = (*text, *method.generate(coin, *models, text, lookahead, k))
        while len(text) < length:
            text = (*text, coin.draw(models[0](text)))
        return text[:length], tuple(starts)

    begun: dict[tuple[Tokens, int], Any] = {}
    written: dict[Tokens, Any] = {}
    for (tokens, starts), mass in law(run).items():
        written[tokens] = written.get(tokens, 0) + mass
        for start in starts:
            begun[tokens, start] = begun.get((tokens, start), 0) + mass
    for tokens, mass in written.items():
        rows = [np.stack([model(tokens[:place]) for place in range(length)]) for model in models]
        windows = np.arange(length - lookahead + 1)[:, None] + np.arange(lookahead)
        text = Text(rows[0], rows[1], tokens, windows)
        found = start_weights(accepted(method.along, text, k))
        assert found.tolist() == [begun.get((tokens, start), 0) / mass for start in range(len(windows))]


@given(models=model_pairs(3, small=True), k=st.integers(1, 3))
@settings(max_examples=20)
def test_floats_are_fractions_but_for_roundings(models: Any, k: int) -> None:
    """Sums of a few positive terms, and γ* of K-SEQ to 2^-50 of itself; tied tokens are one class in floats."""
    text, masses = every_text(models[0], models[1], (), 2)
    ends = [models[0].end == token for token in text.tokens]
    floats = Text(text.targets.astype(float), text.drafts.astype(float), text.tokens, text.windows, ends)
    for method in ALONG:
        wanted = tokens_per_call(method.along, text, masses, k)
        found = tokens_per_call(method.along, floats, masses.astype(float), k)
        assert abs(found - float(wanted)) < 1e-9, method.name
    assert start_weights(accepted(as_block, floats, 1)).dtype == np.float64
