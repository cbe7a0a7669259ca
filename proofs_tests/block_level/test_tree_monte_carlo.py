"""The neighbours of a drafted chain: lossless, and given the chain exactly what block verification emits."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.chain_rules import assert_block_verification, assert_lossless
from proofs_tests.block_level.models import Rows, model_pairs
from spec_math import check_lossless_block
from spec_math.arrays import Array, exact, positive_part
from spec_math.block_level import chain, length
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin, law
from spec_math.distribution import capped_ratio
from spec_math.papers import tree_monte_carlo

shapes = st.sampled_from([(2, 1), (2, 2), (2, 3), (3, 1), (3, 2)])


@settings(max_examples=25)
@given(st.data(), shapes)
def test_tree_monte_carlo_is_lossless(data: st.DataObject, shape: tuple[int, int]) -> None:
    size, lookahead = shape
    assert_lossless(tree_monte_carlo, data.draw(model_pairs(size)), lookahead)


@settings(max_examples=8)
@given(model_pairs(2))
def test_tree_monte_carlo_is_lossless_over_two_rounds(models: tuple[Rows, Rows]) -> None:
    assert_lossless(tree_monte_carlo, models, 2, 2)


@settings(max_examples=25)
@given(st.data(), shapes)
def test_it_is_block_verification_of_every_chain(data: st.DataObject, shape: tuple[int, int]) -> None:
    size, lookahead = shape
    models = data.draw(model_pairs(size))
    assert_block_verification(tree_monte_carlo, models, lookahead)
    laws = Conditionals(*models, ())
    for tokens in law(lambda coin: chain.draw(coin, laws, lookahead)):
        t, d = ([of(tokens[:place]) for place in range(len(tokens))] for of in (laws.target, laws.draft))
        rows, kept = tree_monte_carlo.neighbours(tokens, t, d)
        assert sum(row.sum() for row in rows) + kept == 1


def test_it_accepts_more_than_token_by_token_from_two_tokens_on() -> None:
    """The paper's claim against speculative sampling, which applies the coupling token by token."""
    t, d = exact(["1/3", "2/3"]), exact(["2/3", "1/3"])
    for lookahead, more in ((1, False), (2, True), (3, True)):
        ours = length.expected(
            lambda coin, prefix, size=lookahead: tree_monte_carlo.generate(
                coin, lambda _: t, lambda _: d, prefix, size
            ),
            (),
        )
        assert ours == tree_monte_carlo.expected(lambda _: t, lambda _: d, (), lookahead)
        assert (ours > chain.expected(lambda _: t, lambda _: d, (), lookahead)) == more


def test_rows_that_are_not_scaled_again_are_lossy() -> None:
    """The control: the first tokens keep what they had when the chain was shorter, as in token-by-token acceptance."""
    t, d = exact(["1/3", "2/3"]), exact(["2/3", "1/3"])

    def unscaled(coin: Coin, prefix: tuple[int, ...]) -> tuple[int, ...]:
        laws = Conditionals(lambda _: t, lambda _: d, prefix)
        tokens = chain.draw(coin, laws, 2)
        rows: list[Array] = []
        weight: Any = 1
        for token in tokens:
            row = positive_part(weight * t - d)
            after = capped_ratio(weight * t[token], d[token])
            rows.append(row / row.sum() * (weight - after) if after < weight else row * 0)
            weight = min(weight, after)
        place, token = divmod(coin.draw([mass for row in rows for mass in row] + [weight]), 2)
        return (*tokens[:place], token) if place < 2 else (*tokens, coin.draw(t))

    assert not check_lossless_block(unscaled, lambda _: t, 3)
    assert check_lossless_block(
        lambda c, p: tree_monte_carlo.generate(c, lambda _: t, lambda _: d, p, 2), lambda _: t, 3
    )
