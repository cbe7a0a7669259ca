"""UniVer's walk over a tree of greedy drafts: lossless, its length, its ends, what decides it, controls."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math import check_lossless_block
from spec_math.arrays import exact
from spec_math.block_level import block, length, optimum, univer
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.optimum import OptimalLength
from spec_math.block_level.tree import grow
from spec_math.token_level import greedy, without_replacement

SHAPES = [
    (2, (2,)),
    (2, (2, 1)),
    (2, (2, 2)),
    (2, (1, 2)),
    (2, (2, 1, 1)),
    (3, (2,)),
    (3, (3,)),
    (3, (2, 2)),
    (4, (3,)),
]


@settings(max_examples=40)
@given(st.data(), st.sampled_from(SHAPES))
def test_univer_is_lossless(data: st.DataObject, shape: tuple[int, tuple[int, ...]]) -> None:
    size, widths = shape
    target, draft = data.draw(model_pairs(size, small=True))
    verdict = check_lossless_block(
        lambda coin, prefix: univer.generate(coin, target, draft, prefix, widths), target, len(widths) + 1
    )
    assert verdict, str(verdict)


def test_no_favourite_comes_of_what_is_left() -> None:
    """Two favourites, and a token that is no draft and has mass left where all three are rejected."""
    target, draft = exact(["3/10", "3/10", "1/5", "1/5"]), exact(["2/5", "2/5", "9/50", "1/50"])
    verdict = check_lossless_block(
        lambda coin, prefix: univer.generate(coin, lambda _: target, lambda _: draft, prefix, (3,)), lambda _: target, 2
    )
    assert verdict, str(verdict)


@settings(max_examples=10)
@given(st.data(), st.sampled_from([(2, (2, 1)), (2, (1, 2)), (3, (2,))]))
def test_univer_is_lossless_over_two_rounds(data: st.DataObject, shape: tuple[int, tuple[int, ...]]) -> None:
    size, widths = shape
    target, draft = data.draw(model_pairs(size, small=True))
    verdict = check_lossless_block(
        lambda coin, prefix: univer.generate(coin, target, draft, prefix, widths), target, 2 * len(widths) + 1, 2
    )
    assert verdict, str(verdict)


@settings(max_examples=20)
@given(st.data(), st.sampled_from([(2, (2, 1)), (2, (2, 2)), (3, (2,)), (3, (2, 1)), (3, (2, 2))]))
def test_the_closed_form_equals_enumeration(data: st.DataObject, shape: tuple[int, tuple[int, ...]]) -> None:
    size, widths = shape
    target, draft = data.draw(model_pairs(size, small=True))
    walked = length.expected(lambda coin, prefix: univer.generate(coin, target, draft, prefix, widths), ())
    assert univer.expected(target, draft, (), widths) == walked


@settings(max_examples=20)
@given(st.data(), st.sampled_from([(2, 3), (3, 1), (3, 2), (3, 3), (4, 3)]))
def test_one_level_is_the_optimum_of_greedy_drafts(data: st.DataObject, shape: tuple[int, int]) -> None:
    size, k = shape
    target, draft = data.draw(model_pairs(size, end=False, small=True))
    assert univer.expected(target, draft, (), (k,)) == 1 + greedy.acceptance(target(()), draft(()), k)


@settings(max_examples=20)
@given(model_pairs(2, small=True), st.sampled_from([1, 2, 3]))
def test_a_chain_is_block_verification(models: tuple[Rows, Rows], lookahead: int) -> None:
    target, draft = models
    ours = length.law(lambda coin, prefix: univer.generate(coin, target, draft, prefix, (1,) * lookahead), ())
    assert ours == length.law(lambda coin, prefix: block.generate(coin, target, draft, prefix, lookahead), ())


def walked_over(draw: Any, target: Any, draft: Any, widths: tuple[int, ...]) -> Any:
    """Judge the walk on trees whose siblings are drawn another way."""

    def generate(coin: Any, prefix: tuple[int, ...]) -> tuple[int, ...]:
        laws = Conditionals(target, draft, prefix)
        return univer.verify(coin, grow(coin, laws, widths, draw), laws)

    return check_lossless_block(generate, target, len(widths) + 1)


@settings(max_examples=20)
@given(st.data(), st.sampled_from([(2, (2, 1)), (2, (2, 2)), (3, (2,)), (3, (3,)), (3, (2, 1))]))
def test_any_choice_of_the_favourites_is_lossless(data: st.DataObject, shape: tuple[int, tuple[int, ...]]) -> None:
    """So is a tree drawn without replacement: all siblings but the last stand for the chosen ones."""
    size, widths = shape
    verdict = walked_over(without_replacement.draw, *data.draw(model_pairs(size, small=True)), widths)
    assert verdict, str(verdict)


def test_the_least_instance_where_univer_is_not_the_optimum_of_its_own_drafts() -> None:
    """Both first tokens are drafted, and the target goes on with 0: the draft does after 0, and half the time after 1.

    The optimum looks at what follows 1 before it chooses a first token, and keeps both tokens always; UniVer has
    settled for half of 0 by then.
    """
    half, zero = exact(["1/2", "1/2"]), exact([1, 0])

    def target(prefix: tuple[int, ...]) -> Any:
        return zero if prefix else half

    def draft(prefix: tuple[int, ...]) -> Any:
        return zero if prefix == (0,) else half

    assert univer.expected(target, draft, (), (2, 1)) == Fraction(11, 4)
    verdict = optimum.tokens_per_call_of_tree(target, draft, (), (2, 1), greedy.draw)
    assert isinstance(verdict, OptimalLength)
    assert verdict.tokens_per_call == 3
    assert verdict.certificate.check()


def test_a_favourite_is_tried_before_the_drawn_token() -> None:
    """The order decides how much is kept, not the law: in the other order the same drafts of the instance yield 3.

    Not counted is the share of a child, but what follows it, which is kept the better the more it is tried.
    """
    half, zero = exact(["1/2", "1/2"]), exact([1, 0])

    def target(prefix: tuple[int, ...]) -> Any:
        return zero if prefix else half

    def other(prefix: tuple[int, ...]) -> Any:
        """Tokens 0 and 1 change places: the favourite is followed by an even draw."""
        return zero if prefix == (1,) else half

    assert univer.expected(target, other, (), (2, 1)) == 3


@pytest.mark.parametrize("equal", [False, True])
def test_floats_are_those_of_the_fractions(equal: bool) -> None:
    """Sums of some hundred products of numbers below 1, each off by a few roundings: within 2^-40. Equal models too."""
    models = (TARGET, TARGET) if equal else (TARGET, DRAFT)
    rounded = [Rows(tuple(row.astype(float) for row in model.rows)) for model in models]
    wanted = univer.expected(*models, (), (2, 2))
    assert abs(univer.expected(*rounded, (), (2, 2)) - float(wanted)) < 2.0**-40
    assert (wanted == 3) == equal


# Controls, on two unequal models of three tokens with full support.
TARGET = Rows((exact(["1/4", "1/4", "1/2"]), exact(["1/6", "1/2", "1/3"]), exact(["3/5", "1/5", "1/5"])))
DRAFT = Rows((exact(["1/2", "1/3", "1/6"]), exact(["1/5", "3/5", "1/5"]), exact(["1/5", "1/5", "3/5"])))


def judged() -> Any:
    return check_lossless_block(lambda coin, prefix: univer.generate(coin, TARGET, DRAFT, prefix, (2, 2)), TARGET, 3)


def of_all(share: Any, before: Any) -> Any:  # noqa: ARG001
    """Each child tried with its share of the whole, not of what those before it left."""
    return share


def flat(tokens: Any, target: Any, draft: Any, weight: Any) -> list[Any]:  # noqa: ARG001
    """One position after the other: the weight of the path is forgotten."""
    return SHARES(tokens, target, draft, 1)


def whole(tokens: Any, target: Any, draft: Any, weight: Any) -> Any:  # noqa: ARG001
    """After the favourites the whole target is drawn from, less nothing."""
    return weight * target


SHARES = univer.shares


@pytest.mark.parametrize(("name", "wrong"), [("_of_the_rest", of_all), ("shares", flat), ("_beyond", whole)])
def test_a_wrong_walk_is_lossy(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged()
    monkeypatch.setattr(univer, name, wrong)
    assert not judged()


def test_the_drawn_token_first_among_its_siblings_is_lossy() -> None:
    """The last of the siblings is taken for the drawn one: a favourite there is certain, and no draw."""

    def turned(coin: Any, draft: Any, k: int) -> tuple[int, ...]:
        return greedy.draw(coin, draft, k)[::-1]

    assert walked_over(greedy.draw, TARGET, DRAFT, (2,))
    assert not walked_over(turned, TARGET, DRAFT, (2,))
