"""Every generator refuses bad models, bad prefixes and bad sizes, and says at which prefix."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from proofs_tests.block_level.models import Rows
from spec_math import law
from spec_math.arrays import exact
from spec_math.block_level import Conditionals, block, chain, spectr, without_replacement

Text = tuple[int, ...]
HALF = Rows((exact(["1/2", "1/2"]),))

GENERATORS: list[tuple[Callable[..., Any], Any]] = [
    (chain.generate, 2),
    (block.generate, 2),
    (spectr.generate, (2, 1)),
    (without_replacement.generate, (2, 1)),
]
CLOSED_FORMS: list[tuple[Callable[..., Any], Any]] = [
    (chain.expected, 2),
    (block.expected, 2),
    (spectr.expected, (2, 1)),
    (without_replacement.expected, (2, 1)),
]


def run(function: Callable[..., Any], *arguments: Any) -> None:
    if (function, arguments[-1]) in CLOSED_FORMS or function in [form for form, _ in CLOSED_FORMS]:
        function(*arguments)
    else:
        law(lambda coin: function(coin, *arguments))


def after_one(row: Any) -> Callable[[Text], Any]:
    return lambda prefix: row if prefix == (0, 1) else ["1/2", "1/2"]


@pytest.mark.parametrize(("function", "shape"), GENERATORS + CLOSED_FORMS)
@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        (["1/2", "1/4"], ValueError, "masses must sum to exactly 1; these 2 sum to 3/4"),
        (["1/2", "1/4", "1/4"], ValueError, "but the target's distribution at the start of the block has 2"),
        (["3/2", "-1/2"], ValueError, "masses must be >= 0"),
        ([], ValueError, "needs at least one token"),
        ([["1/2", "1/2"]], ValueError, r"one distribution \[V\] is needed; got the shape \(1, 2\)"),
        ([0.5, 0.5], TypeError, "all distributions of a call must be of one number type"),
        (None, TypeError, "masses must be int, Fraction, float or str; got None"),
    ],
)
@pytest.mark.parametrize("role", ["target", "draft"])
def test_a_bad_law_is_named_by_its_prefix(
    function: Callable[..., Any], shape: Any, row: Any, error: type[Exception], message: str, role: str
) -> None:
    models = (after_one(row), HALF) if role == "target" else (HALF, after_one(row))
    with pytest.raises(error, match=message) as caught:
        run(function, *models, (0,), shape)
    assert f"{role} distribution after the prefix (0, 1)" in str(caught.value)


@pytest.mark.parametrize(("function", "shape"), GENERATORS + CLOSED_FORMS)
def test_what_a_model_raises_is_noted_with_its_prefix(function: Callable[..., Any], shape: Any) -> None:
    def broken(prefix: Text) -> Any:
        if len(prefix) > 1:
            raise LookupError("no row")
        return ["1/2", "1/2"]

    with pytest.raises(LookupError, match="no row") as caught:
        run(function, HALF, broken, (0,), shape)
    said = "raised by the draft model when asked for the distribution after the prefix (0, 0)"
    assert caught.value.__notes__[0] == said


@pytest.mark.parametrize(("function", "shape"), GENERATORS + CLOSED_FORMS)
@pytest.mark.parametrize(
    ("prefix", "error", "message"),
    [
        ((0, 2), ValueError, r"prefix \(0, 2\): token 1 must be an index in \[0, 2\); got 2"),
        ((-1,), ValueError, r"prefix \(-1,\): token 0 must be an index"),
        ((True,), TypeError, r"prefix \(True,\): token 0 must be an index"),
        ((0.0,), TypeError, r"prefix \(0.0,\): token 0 must be an index"),
        ((0, 1), ValueError, r"prefix \(0, 1\) ends with the end token 1, after which nothing follows"),
    ],
)
def test_a_bad_prefix_is_named(
    function: Callable[..., Any], shape: Any, prefix: Any, error: type[Exception], message: str
) -> None:
    ending = Rows(HALF.rows, end=1)
    with pytest.raises(error, match=message):
        run(function, ending, ending, prefix, shape)


@pytest.mark.parametrize("function", [chain.generate, block.generate, chain.expected, block.expected])
@pytest.mark.parametrize("lookahead", [0, -1, 1.0, True, "2", None])
def test_a_lookahead_is_a_count(function: Callable[..., Any], lookahead: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="lookahead must be"):
        run(function, HALF, HALF, (), lookahead)


@pytest.mark.parametrize(
    "function", [spectr.generate, without_replacement.generate, spectr.expected, without_replacement.expected]
)
@pytest.mark.parametrize(
    ("widths", "error", "message"),
    [
        ((), ValueError, "widths must name at least one level"),
        ((2, 0), ValueError, r"width 1 of \(2, 0\) must be at least 1"),
        ((2, 1.0), TypeError, r"width 1 of \(2, 1.0\) must be a whole number"),
        (2, TypeError, "widths must be a tuple of positive integers"),
    ],
)
def test_widths_are_counts(function: Callable[..., Any], widths: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        run(function, HALF, HALF, (), widths)


def test_models_agree_about_the_end() -> None:
    with pytest.raises(ValueError, match="agree on the token that ends a text; the target's is None, the draft's 1"):
        Conditionals(HALF, Rows(HALF.rows, end=1), ())


def test_a_draft_without_an_end_follows_the_target() -> None:
    ending = Rows(HALF.rows, end=1)
    assert all(1 not in block[:-1] for block in law(lambda coin: chain.generate(coin, ending, HALF, (), 3)))


@pytest.mark.parametrize(("function", "shape"), GENERATORS)
def test_each_law_is_asked_for_once_in_a_block(function: Callable[..., Any], shape: Any) -> None:
    asked: list[tuple[str, Text]] = []

    def model(role: str) -> Callable[[Text], Any]:
        def after(prefix: Text) -> Any:
            asked.append((role, prefix))
            return ["1/2", "1/2"]

        return after

    def program(coin: Any) -> Any:
        asked.clear()
        result = function(coin, model("target"), model("draft"), (), shape)
        assert len(asked) == len(set(asked))
        return result

    law(program)


@pytest.mark.parametrize(("function", "shape"), GENERATORS)
def test_floats_and_lists_are_models_too(function: Callable[..., Any], shape: Any) -> None:
    def exact_model(prefix: Text) -> Any:
        return ["1/4", "3/4"] if len(prefix) % 2 else ["5/8", "3/8"]

    def float_model(prefix: Text) -> Any:
        return np.array([0.25, 0.75] if len(prefix) % 2 else [0.625, 0.375])

    exactly = law(lambda coin: function(coin, exact_model, HALF, (), shape))
    floats = law(lambda coin: function(coin, float_model, lambda _: [0.5, 0.5], (), shape))
    assert exactly.keys() == floats.keys()
