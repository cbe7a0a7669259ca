"""Standard speculative decoding of one chain: lossless as a joint law, over rounds, and its length in closed form."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import SHAPES, Rows, model_pairs
from spec_math import check_lossless_block, law, overlap, replay
from spec_math.arrays import exact
from spec_math.block_level import chain, length


@pytest.mark.parametrize(("size", "lookahead"), SHAPES)
@settings(max_examples=15)
@given(st.data())
def test_chain_is_lossless(size: int, lookahead: int, data: st.DataObject) -> None:
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(
        lambda coin, prefix: chain.generate(coin, target, draft, prefix, lookahead), target, lookahead + 1
    )
    assert verdict, str(verdict)


@pytest.mark.parametrize(("size", "lookahead"), [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2)])
@settings(max_examples=8)
@given(st.data())
def test_chain_is_lossless_over_two_rounds(size: int, lookahead: int, data: st.DataObject) -> None:
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(
        lambda coin, prefix: chain.generate(coin, target, draft, prefix, lookahead), target, 2 * (lookahead + 1), 2
    )
    assert verdict, str(verdict)


@pytest.mark.parametrize(("size", "lookahead"), SHAPES)
@settings(max_examples=15)
@given(st.data())
def test_chain_expected_equals_enumeration(size: int, lookahead: int, data: st.DataObject) -> None:
    target, draft = data.draw(model_pairs(size))
    enumerated = length.expected(
        lambda coin, prefix: chain.generate(coin, target, draft, prefix, lookahead), (size - 2,) * (size - 1)
    )
    closed = chain.expected(target, draft, (size - 2,) * (size - 1), lookahead)
    assert closed == enumerated
    assert type(closed) is Fraction


@given(st.data(), st.integers(1, 4))
def test_chain_expected_without_context_is_a_geometric_sum_of_overlaps(data: st.DataObject, lookahead: int) -> None:
    target, draft = data.draw(model_pairs(3, end=False))
    t, d = target(()), draft(())
    rate = overlap(t, d)
    assert chain.expected(lambda _: t, lambda _: d, (), lookahead) == sum(rate**i for i in range(lookahead + 1))


def test_chain_accepts_ten_ninths_of_thirds() -> None:
    target, draft = Rows((exact(["1/3", "2/3"]),)), Rows((exact(["2/3", "1/3"]),))
    assert chain.expected(target, draft, (), 2) - 1 == Fraction(10, 9)


def test_chain_stops_with_the_end_token_and_adds_nothing() -> None:
    always = Rows((exact([0, 1]),), end=1)
    blocks = law(lambda coin: chain.generate(coin, always, always, (), 3))
    assert blocks == {(1,): 1}
    assert chain.expected(always, always, (), 3) == 1


def test_chain_replays_one_uniform_a_coin() -> None:
    target, draft = Rows((exact(["1/4", "3/4"]),)), Rows((exact(["1/2", "1/2"]),))
    # Two drafts 0 and 1, then the coin of 0 (accepted below 1/2), that of 1, and the last draw.
    assert replay(lambda coin: chain.generate(coin, target, draft, (), 2), [0.1, 0.6, 0.4, 0.9, 0.1]) == (0, 1, 0)
    assert replay(lambda coin: chain.generate(coin, target, draft, (), 2), [0.1, 0.6, 0.5, 0.9]) == (1,)


def test_chain_refuses_rows_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"2 drafted token\(s\) need 2 rows of the draft and 3 of the target"):
        law(lambda coin: chain.verify(coin, (0, 0), [[1, 0]] * 3, [[1, 0]]))
