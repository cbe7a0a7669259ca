"""Trees whose siblings are drawn once a position: lossless from the root down, lossy from the leaves up."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math import check_lossless_block
from spec_math.arrays import exact
from spec_math.block_level import block, length, planned_tree, traversal, univer
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.selected_chain import in_numpy
from spec_math.chance import Coin
from spec_math.papers import position_tree
from spec_math.token_level import pooled_priority, without_replacement
from spec_math.verdict import Lossy

SHAPES = [(2, (2, 1)), (2, (1, 2)), (2, (2, 1, 1)), (3, (2, 1)), (3, (2, 2))]
RULES = [pooled_priority.emit_without_replacement, without_replacement.emit]


def rows_of(draft: Rows, levels: int) -> list[Any]:
    """Return a law a position: what the draft says after as many tokens that do not end the text."""
    token = 0 if draft.end != 0 else 1
    return [draft((token,) * level) for level in range(levels)]


@pytest.mark.parametrize("emit", RULES)
@settings(max_examples=15)
@given(data=st.data(), shape=st.sampled_from(SHAPES))
def test_from_the_root_down_it_is_lossless(data: st.DataObject, shape: tuple[int, tuple[int, ...]], emit: Any) -> None:
    size, widths = shape
    target, draft = data.draw(model_pairs(size, small=True))
    rows = rows_of(draft, len(widths))
    verdict = check_lossless_block(
        lambda coin, prefix: position_tree.generate(coin, target, rows, prefix, widths, emit), target, len(widths) + 1
    )
    assert verdict, str(verdict)


@settings(max_examples=6)
@given(model_pairs(2, small=True))
def test_it_is_lossless_over_two_rounds(models: tuple[Rows, Rows]) -> None:
    target, draft = models
    rows = rows_of(draft, 2)
    verdict = check_lossless_block(
        lambda coin, prefix: position_tree.generate(coin, target, rows, prefix, (2, 1)), target, 5, 2
    )
    assert verdict, str(verdict)


@settings(max_examples=15)
@given(st.data(), st.sampled_from(SHAPES))
def test_the_closed_form_equals_enumeration(data: st.DataObject, shape: tuple[int, tuple[int, ...]]) -> None:
    size, widths = shape
    target, draft = data.draw(model_pairs(size, small=True))
    rows = rows_of(draft, len(widths))
    walked = length.expected(
        lambda coin, prefix: position_tree.generate(coin, target, rows, prefix, widths, without_replacement.emit), ()
    )
    assert position_tree.expected(target, rows, (), widths) == walked


@settings(max_examples=10)
@given(st.data(), st.sampled_from([(2, (2, 1)), (3, (2, 1))]))
def test_a_path_selected_from_the_root_down_is_lossless_too(
    data: st.DataObject, shape: tuple[int, tuple[int, ...]]
) -> None:
    """A planned tree: each child is put forward by the drafts of its own position."""
    size, widths = shape
    target, draft = data.draw(model_pairs(size, end=False, small=True))
    rows = rows_of(draft, len(widths))

    def generate(coin: Coin, prefix: tuple[int, ...]) -> tuple[int, ...]:
        laws = Conditionals(target, position_tree.ByPosition(rows, len(prefix)), prefix)
        plans = planned_tree.Plans(laws, widths)
        tokens = plans.select(coin, position_tree.grow(coin, rows, widths))
        targets = [in_numpy(laws.target(tokens[:place])) for place in range(len(tokens) + 1)]
        return block.verify(coin, tokens, targets, [plans.law(tokens[:place]) for place in range(len(tokens))])

    verdict = check_lossless_block(generate, target, len(widths) + 1)
    assert verdict, str(verdict)


@pytest.mark.parametrize(("verify", "emitted"), [(traversal.verify, Fraction(1, 8)), (univer.verify, Fraction(1, 16))])
def test_from_the_leaves_up_it_is_lossy(verify: Any, emitted: Fraction) -> None:
    """Two first tokens, one second one below both: what becomes of it below 0 says what it is below 1.

    After 0 the target is certain of 0, so that a second draft of 1 is rejected there; 1 is tried with that draft.
    """
    half, rows = exact(["1/2", "1/2"]), [exact(["3/4", "1/4"]), exact(["1/2", "1/2"])]

    def target(prefix: tuple[int, ...]) -> Any:
        return exact([1, 0]) if prefix == (0,) else half

    def generate(coin: Coin, prefix: tuple[int, ...]) -> tuple[int, ...]:
        laws = Conditionals(target, position_tree.ByPosition(rows), prefix)
        return verify(coin, position_tree.grow(coin, rows, (2, 1)), laws)

    verdict = check_lossless_block(generate, target, 2)
    assert isinstance(verdict, Lossy)
    assert (verdict.tokens, verdict.emitted, verdict.target) == ((1, 0), emitted, Fraction(1, 4))
    assert check_lossless_block(
        lambda coin, prefix: position_tree.generate(coin, target, rows, prefix, (2, 1)), target, 2
    )


def test_places_beyond_the_last_have_its_law() -> None:
    drafter = position_tree.ByPosition(["first", "second"], start=2)
    assert [drafter((7,) * size) for size in (2, 3, 4, 9)] == ["first", "second", "second", "second"]


def test_laws_that_do_not_fit_the_widths_are_refused() -> None:
    with pytest.raises(ValueError, match="one distribution a level: got 1 for the 2 levels"):
        position_tree.expected(lambda _: [1], [[1]], (), (1, 1))
