"""The law of emitted tokens against one flat program that runs the rounds and lets the target go on."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math import law
from spec_math.arrays import exact
from spec_math.block_level import chain, emitted_law, target_law
from spec_math.block_level.lossless import EmissionError

Text = tuple[int, ...]
COIN = Rows((exact(["1/4", "3/4"]),))


def flat(generate: Any, target: Rows, horizon: int, rounds: int, prefix: Text) -> dict[Text, Fraction]:
    def program(coin: Any) -> Text:
        text: Text = ()
        for _ in range(rounds):
            if len(text) >= horizon or (text and text[-1] == target.end):
                break
            text += generate(coin, prefix + text)
        text = text[:horizon]
        while len(text) < horizon and not (text and text[-1] == target.end):
            text += (coin.draw(target(prefix + text)),)
        return text

    return law(program)


@pytest.mark.parametrize("wrong", [False, True])
@settings(max_examples=25)
@given(st.data(), st.sampled_from([(1, 1), (2, 1), (3, 1), (4, 1), (2, 2), (3, 2)]), st.sampled_from([(), (0,)]))
def test_emitted_law_equals_the_flat_program(
    wrong: bool, data: st.DataObject, reach: tuple[int, int], prefix: Text
) -> None:
    horizon, rounds = reach
    target, draft = data.draw(model_pairs(2))

    def generate(coin: Any, prefix: Text) -> Text:
        return chain.generate(coin, draft if wrong else target, draft, prefix, 1)

    assert emitted_law(generate, target, horizon, rounds, prefix) == flat(generate, target, horizon, rounds, prefix)


@settings(max_examples=25)
@given(model_pairs(3), st.integers(1, 3))
def test_target_law_is_a_product_of_conditionals(models: tuple[Rows, Rows], horizon: int) -> None:
    target, _ = models
    masses = target_law(target, horizon, (0,))
    assert sum(masses.values()) == 1
    for text, mass in masses.items():
        product = Fraction(1)
        for place, token in enumerate(text):
            product *= target((0, *text[:place]))[token]
        assert mass == product
        assert len(text) == horizon or text[-1] == target.end


def test_a_block_beyond_the_horizon_is_cut_off() -> None:
    assert emitted_law(lambda *_: (1, 1, 0), COIN, 2) == {(1, 1): 1}


def test_a_block_after_the_end_is_an_error_that_names_its_path() -> None:
    with pytest.raises(EmissionError, match=r"emitted \(1, 0\): tokens follow the end token 1") as caught:
        emitted_law(lambda coin, _: (1, coin.draw([Fraction(1)])), Rows(COIN.rows, end=1), 2)
    assert caught.value.__notes__ == ["on the path: draw(1) = 0"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0,), ValueError, "horizon must be at least 1"),
        ((2.0,), TypeError, "horizon must be a whole number"),
        ((2, 0), ValueError, "rounds must be at least 1"),
        ((2, 1, (2,)), ValueError, r"prefix \(2,\): token 0 must be an index in \[0, 2\); got 2"),
    ],
)
def test_emitted_law_refuses(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        emitted_law(lambda *_: (0,), COIN, *arguments)
