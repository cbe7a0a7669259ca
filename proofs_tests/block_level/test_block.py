"""Block verification: lossless as a joint law, its length in closed form, above the chain's, and beyond no verifier."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.linear_program import upper_bound
from proofs_tests.block_level.models import SHAPES, Rows, model_pairs
from spec_math import check_lossless_block, law
from spec_math.arrays import exact
from spec_math.block_level import block, chain, length
from spec_math.chance import paths

THIRDS = Rows((exact(["1/3", "2/3"]),)), Rows((exact(["2/3", "1/3"]),))


@pytest.mark.parametrize(("size", "lookahead"), SHAPES)
@settings(max_examples=15)
@given(st.data())
def test_block_is_lossless(size: int, lookahead: int, data: st.DataObject) -> None:
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(
        lambda coin, prefix: block.generate(coin, target, draft, prefix, lookahead), target, lookahead + 1
    )
    assert verdict, str(verdict)


@pytest.mark.parametrize(("size", "lookahead"), [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2)])
@settings(max_examples=8)
@given(st.data())
def test_block_is_lossless_over_two_rounds(size: int, lookahead: int, data: st.DataObject) -> None:
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(
        lambda coin, prefix: block.generate(coin, target, draft, prefix, lookahead), target, 2 * (lookahead + 1), 2
    )
    assert verdict, str(verdict)


@pytest.mark.parametrize(("size", "lookahead"), SHAPES)
@settings(max_examples=15)
@given(st.data())
def test_block_expected_equals_enumeration(size: int, lookahead: int, data: st.DataObject) -> None:
    target, draft = data.draw(model_pairs(size))
    enumerated = length.expected(
        lambda coin, prefix: block.generate(coin, target, draft, prefix, lookahead), (size - 2,)
    )
    closed = block.expected(target, draft, (size - 2,), lookahead)
    assert closed == enumerated
    assert type(closed) is Fraction


@settings(max_examples=30)
@given(st.data())
def test_block_keeps_each_drafted_text_with_chance_w(data: st.DataObject) -> None:
    # P(at least i kept | x_1..i) = w_i: the whole law of the length, and not its mean alone.
    target, draft = data.draw(model_pairs(2, end=False))
    tokens = data.draw(st.tuples(*[st.integers(0, 1)] * 3))
    if any(draft(tokens[:place])[token] == 0 for place, token in enumerate(tokens)):
        return
    for kept in range(1, 4):
        mass = drafted = Fraction(0)
        # Sum over what is drafted beyond the first `kept` tokens, as the coins of later positions depend on it.
        for rest in product(range(2), repeat=3 - kept):
            x = tokens[:kept] + rest
            weight = Fraction(1)
            for place in range(kept, 3):
                weight *= draft(x[:place])[x[place]]
            if weight == 0:
                continue
            drafted += weight
            rows = [target(x[:place]) for place in range(4)], [draft(x[:place]) for place in range(3)]
            for path in paths(lambda coin, x=x, rows=rows: block.verify(coin, x, *rows)):
                if len(path.outcome) > kept:
                    mass += weight * path.mass
        w = Fraction(1)
        for place in range(kept):
            w = min(Fraction(1), w * target(tokens[:place])[tokens[place]] / draft(tokens[:place])[tokens[place]])
        assert drafted == 1
        assert mass == w


@pytest.mark.parametrize(("size", "lookahead"), SHAPES)
@given(st.data())
def test_block_is_never_shorter_than_the_chain(size: int, lookahead: int, data: st.DataObject) -> None:
    target, draft = data.draw(model_pairs(size))
    assert block.expected(target, draft, (), lookahead) >= chain.expected(target, draft, (), lookahead)


@pytest.mark.parametrize(("size", "lookahead"), [(2, 1), (2, 2), (2, 3), (3, 2)])
@settings(max_examples=40)
@given(st.data())
def test_block_equals_the_optimum_of_all_verifiers_of_a_chain(size: int, lookahead: int, data: st.DataObject) -> None:
    # Small weights: the solver's own feasibility tolerance is 1e-7, and its prices of masses of 2^-60 mean nothing.
    target, draft = data.draw(model_pairs(size, end=False, small=True))
    assert block.expected(target, draft, (), lookahead) - 1 == upper_bound(target, draft, lookahead)


def test_the_sum_of_prefix_overlaps_is_above_that_optimum() -> None:
    # Two public documents take Σ_l Σ_x min(t(x^l), d(x^l)) for the optimum: no verifier of this class reaches it.
    target, draft = THIRDS
    overlaps = Fraction(0)
    for size in (1, 2):
        for text in product(range(2), repeat=size):
            masses = [Fraction(1), Fraction(1)]
            for token in text:
                masses = [masses[0] * target(())[token], masses[1] * draft(())[token]]
            overlaps += min(masses)
    assert overlaps == Fraction(4, 3)
    assert upper_bound(target, draft, 2) == Fraction(11, 9)


def test_the_chain_misses_that_optimum() -> None:
    assert chain.expected(*THIRDS, (), 2) - 1 == Fraction(10, 9) < upper_bound(*THIRDS, 2)


def test_block_keeps_eleven_ninths_of_thirds() -> None:
    assert block.expected(*THIRDS, (), 2) - 1 == Fraction(11, 9)


@given(st.data(), st.integers(1, 3))
def test_block_gains_nothing_at_a_one_hot_target(data: st.DataObject, lookahead: int) -> None:
    _, draft = data.draw(model_pairs(2, end=False))
    hot = data.draw(st.lists(st.sampled_from([exact([1, 0]), exact([0, 1])]), min_size=1, max_size=5))
    target = Rows(tuple(hot))
    assert block.expected(target, draft, (), lookahead) == chain.expected(target, draft, (), lookahead)


@given(st.data(), st.integers(2, 4))
def test_block_keeps_all_where_target_and_draft_agree(data: st.DataObject, lookahead: int) -> None:
    target, _ = data.draw(model_pairs(2, end=False))
    assert block.expected(target, target, (), lookahead) == lookahead + 1
    lengths = law(lambda coin: len(block.generate(coin, target, target, (), 2)))
    assert lengths == {3: 1}


def test_block_tosses_every_coin() -> None:
    # All L coins are consumed whatever they say, so that column i of an array of uniforms is the coin of position i.
    target, draft = THIRDS
    rows = [target(())] * 4, [draft(())] * 3
    for path in paths(lambda coin: block.verify(coin, (0, 0, 1), *rows)):
        assert sum(choice.startswith("flip") for choice in path.choices) == 3
        assert sum(choice.startswith("draw") for choice in path.choices) == 1


def test_block_refuses_a_token_that_its_draft_cannot_draw() -> None:
    with pytest.raises(ValueError, match="no mass on the drafted token 1"):
        law(lambda coin: block.verify(coin, (1,), [["1/2", "1/2"]] * 2, [[1, 0]]))
