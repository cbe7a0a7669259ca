"""Hierarchical verification with every ratio capped is block verification: weights, coins, law; and so its length."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.chain_rules import assert_block_verification, assert_lossless
from proofs_tests.block_level.models import Rows, model_pairs
from spec_math import check_lossless_block
from spec_math.arrays import exact
from spec_math.block_level import block, chain, length
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import law
from spec_math.papers import hierarchical

shapes = st.sampled_from([(2, 1), (2, 2), (2, 3), (3, 1), (3, 2)])


@settings(max_examples=40)
@given(st.data(), shapes)
def test_hierarchical_verification_is_lossless(data: st.DataObject, shape: tuple[int, int]) -> None:
    size, lookahead = shape
    assert_lossless(hierarchical, data.draw(model_pairs(size)), lookahead)


@settings(max_examples=10)
@given(model_pairs(2))
def test_hierarchical_verification_is_lossless_over_two_rounds(models: tuple[Rows, Rows]) -> None:
    assert_lossless(hierarchical, models, 2, 2)


@settings(max_examples=40)
@given(st.data(), shapes)
def test_it_is_block_verification_of_every_chain(data: st.DataObject, shape: tuple[int, int]) -> None:
    """Given the chain: the same weights, and the same law of what is emitted."""
    size, lookahead = shape
    models = data.draw(model_pairs(size))
    assert_block_verification(hierarchical, models, lookahead)
    laws = Conditionals(*models, ())
    for tokens in law(lambda coin: chain.draw(coin, laws, lookahead)):
        t, d = ([of(tokens[:place]) for place in range(len(tokens))] for of in (laws.target, laws.draft))
        assert hierarchical.capped(tokens, t, d) == block.weighed(tokens, t, d)[0]


@settings(max_examples=20)
@given(model_pairs(2), st.sampled_from([1, 2, 3]))
def test_its_length_is_that_of_a_block(models: tuple[Rows, Rows], lookahead: int) -> None:
    target, draft = models
    walked = length.expected(lambda coin, prefix: hierarchical.generate(coin, target, draft, prefix, lookahead), ())
    assert walked == hierarchical.expected(target, draft, (), lookahead)


# Controls: a ratio that is not capped, or is capped by 1 alone, on two laws of three tokens.
TARGET, DRAFT = Rows((exact(["1/6", "1/3", "1/2"]),)), Rows((exact(["1/2", "1/4", "1/4"]),))


def judged(lookahead: int = 2) -> Any:
    return check_lossless_block(
        lambda coin, prefix: hierarchical.generate(coin, TARGET, DRAFT, prefix, lookahead), TARGET, lookahead + 1
    )


def bare(tokens: Any, targets: Any, drafts: Any) -> list[Any]:
    """Each ratio cut at 1 and not at its prefixes' largest."""
    ratio = targets[0].sum() * 0 + 1
    found = [ratio]
    for place, token in enumerate(tokens):
        ratio = ratio * targets[place][token] / drafts[place][token]
        found.append(min(found[0], ratio))
    return found


def test_a_ratio_capped_by_one_alone_is_lossy(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged()
    monkeypatch.setattr(hierarchical, "capped", bare)
    assert judged(1)
    assert not judged()
