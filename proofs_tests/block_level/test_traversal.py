"""Traversal verification: lossless as a joint law and over rounds, block verification on a chain, and its controls."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math import check_lossless_block
from spec_math.arrays import exact
from spec_math.block_level import block, length, traversal
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import grow
from spec_math.chance import replay
from spec_math.distribution import residual
from spec_math.scheme import draw_independent

SHAPES = [(2, (2,)), (2, (1, 2)), (2, (2, 1)), (2, (2, 2)), (2, (1, 1, 2)), (2, (2, 1, 1))]
SHAPES += [(3, (2,)), (3, (3,)), (3, (2, 1)), (3, (1, 2)), (3, (3, 1))]


@settings(max_examples=80)
@given(st.data(), st.sampled_from(SHAPES))
def test_traversal_is_lossless(data: st.DataObject, shape: tuple[int, tuple[int, ...]]) -> None:
    size, widths = shape
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(
        lambda coin, prefix: traversal.generate(coin, target, draft, prefix, widths), target, len(widths) + 1
    )
    assert verdict, str(verdict)


@settings(max_examples=5)
@given(model_pairs(3))
def test_traversal_is_lossless_on_a_wide_tree(models: tuple[Rows, Rows]) -> None:
    target, draft = models
    verdict = check_lossless_block(
        lambda coin, prefix: traversal.generate(coin, target, draft, prefix, (2, 2)), target, 3
    )
    assert verdict, str(verdict)


@settings(max_examples=15)
@given(model_pairs(2), st.sampled_from([(2,), (2, 1), (1, 2)]))
def test_traversal_is_lossless_over_two_rounds(models: tuple[Rows, Rows], widths: tuple[int, ...]) -> None:
    target, draft = models
    verdict = check_lossless_block(
        lambda coin, prefix: traversal.generate(coin, target, draft, prefix, widths), target, 2 * len(widths) + 2, 2
    )
    assert verdict, str(verdict)


@settings(max_examples=40)
@given(st.data(), st.sampled_from([(2, 1), (2, 3), (3, 1), (3, 2)]))
def test_traversal_of_a_chain_equals_block_verification(data: st.DataObject, shape: tuple[int, int]) -> None:
    size, lookahead = shape
    target, draft = data.draw(model_pairs(size))
    ours = length.law(lambda coin, prefix: traversal.generate(coin, target, draft, prefix, (1,) * lookahead), ())
    theirs = length.law(lambda coin, prefix: block.generate(coin, target, draft, prefix, lookahead), ())
    assert ours == theirs


def test_traversal_of_the_whole_vocabulary_accepts_every_level() -> None:
    target = Rows((exact(["1/4", "3/4"]), exact(["1/2", "1/2"]), exact([1, 0])))
    draft = Rows((exact(["2/3", "1/3"]), exact(["1/5", "4/5"]), exact(["1/2", "1/2"])))
    assert length.expected(lambda coin, prefix: traversal.generate(coin, target, draft, prefix, (2, 2)), ()) == 3


def test_traversal_tosses_no_coin_at_the_root() -> None:
    """A draft, its rejection and the token added: three uniforms, and no test of what cannot be rejected."""
    target, draft = Rows((exact(["1/4", "3/4"]),)), Rows((exact(["1/2", "1/2"]),))
    assert replay(lambda coin: traversal.generate(coin, target, draft, (), (1,)), [0.0, 0.9, 0.0]) == (1,)


# Controls: one step of the program is wrong, on two unequal models of three tokens with full support.
TARGET = Rows((exact(["1/4", "1/3", "5/12"]), exact(["1/6", "1/3", "1/2"]), exact(["1/5", "2/5", "2/5"])))
DRAFT = Rows((exact(["1/2", "1/4", "1/4"]), exact(["4/5", "1/10", "1/10"]), exact(["3/5", "1/5", "1/5"])))


def judged(horizon: int = 3) -> Any:
    return check_lossless_block(
        lambda coin, prefix: traversal.generate(coin, TARGET, DRAFT, prefix, (2, 1)), TARGET, horizon
    )


def stale_residual(target: Any, draft: Any, weight: Any) -> Any:
    return target, traversal_step(target, draft, weight)[1]


def stale_weight(target: Any, draft: Any, weight: Any) -> Any:
    return traversal_step(target, draft, weight)[0], weight


def token_residual(target: Any, draft: Any, weight: Any) -> Any:
    return residual(target, draft), traversal_step(target, draft, weight)[1]


def plain_weight(target: Any, draft: Any, weight: Any) -> Any:
    return traversal_step(target, draft, weight)[0], abs(weight * target - draft).sum() / 2


traversal_step = traversal.after_rejection


def test_the_models_of_the_controls_are_fit() -> None:
    assert judged()


@pytest.mark.parametrize("wrong", [stale_residual, stale_weight, token_residual, plain_weight])
def test_traversal_with_a_wrong_step_is_lossy(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traversal, "after_rejection", wrong)
    assert not judged()


def test_traversal_with_a_stale_draft_is_lossy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traversal, "without", lambda draft, _: draft)
    assert not judged()


def test_traversal_of_drafts_with_replacement_is_lossy() -> None:
    def generate(coin: Any, prefix: Any) -> Any:
        laws = Conditionals(TARGET, DRAFT, prefix)
        return traversal.verify(coin, grow(coin, laws, (2, 1), draw_independent), laws)

    assert not check_lossless_block(generate, TARGET, 3)
