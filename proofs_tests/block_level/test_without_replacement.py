"""Trees whose siblings are drawn without replacement: lossless, with their length node by node."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math import check_lossless_block
from spec_math.arrays import exact
from spec_math.block_level import chain, length, without_replacement
from spec_math.token_level import optimal, pooled_priority
from spec_math.token_level.pooled_priority import emit_without_replacement

TREES = [(2, (1,)), (2, (2,)), (2, (2, 1)), (2, (2, 2)), (2, (1, 2, 1)), (3, (2,)), (3, (3,)), (3, (2, 1)), (3, (2, 2))]


@pytest.mark.parametrize(("size", "widths"), TREES)
@settings(max_examples=10)
@given(st.data())
def test_without_replacement_is_lossless(size: int, widths: tuple[int, ...], data: st.DataObject) -> None:
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(
        lambda coin, prefix: without_replacement.generate(coin, target, draft, prefix, widths), target, len(widths) + 1
    )
    assert verdict, str(verdict)


@pytest.mark.parametrize(("size", "widths"), [(2, (2,)), (2, (2, 1)), (3, (2,))])
@settings(max_examples=5)
@given(st.data())
def test_without_replacement_is_lossless_over_two_rounds(
    size: int, widths: tuple[int, ...], data: st.DataObject
) -> None:
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(
        lambda coin, prefix: without_replacement.generate(coin, target, draft, prefix, widths),
        target,
        2 * (len(widths) + 1),
        2,
    )
    assert verdict, str(verdict)


@pytest.mark.parametrize(("size", "widths"), TREES)
@settings(max_examples=8)
@given(st.data())
def test_without_replacement_expected_equals_enumeration(
    size: int, widths: tuple[int, ...], data: st.DataObject
) -> None:
    target, draft = data.draw(model_pairs(size))
    enumerated = length.expected(
        lambda coin, prefix: without_replacement.generate(coin, target, draft, prefix, widths), (0,)
    )
    assert without_replacement.expected(target, draft, (0,), widths) == enumerated


@settings(max_examples=15)
@given(st.data(), st.sampled_from([(1,), (1, 1), (1, 1, 1)]))
def test_without_replacement_on_one_path_equals_the_chain(data: st.DataObject, widths: tuple[int, ...]) -> None:
    target, draft = data.draw(model_pairs(2))
    walked = length.law(lambda coin, prefix: without_replacement.generate(coin, target, draft, prefix, widths), (0,))
    assert walked == length.law(lambda coin, prefix: chain.generate(coin, target, draft, prefix, len(widths)), (0,))


def test_without_replacement_drafts_the_whole_support_where_it_is_small() -> None:
    target, draft = Rows((exact(["1/2", "1/4", "1/4"]),)), Rows((exact(["1/2", "1/2", 0]),))
    # Both tokens of the support are drafted at each node: three tokens unless the target takes the third.
    assert without_replacement.expected(target, draft, (), (3, 3)) == 1 + Fraction(3, 4) + Fraction(9, 16)


@pytest.mark.parametrize(("size", "widths"), [(2, (2,)), (2, (2, 2)), (2, (1, 2)), (3, (2,)), (3, (3,)), (3, (2, 1))])
@settings(max_examples=8)
@given(st.data())
def test_the_plan_at_the_nodes_of_distinct_drafts_is_lossless(
    size: int, widths: tuple[int, ...], data: st.DataObject
) -> None:
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(
        lambda coin, prefix: without_replacement.generate(
            coin, target, draft, prefix, widths, emit_without_replacement
        ),
        target,
        len(widths) + 1,
    )
    assert verdict, str(verdict)


@settings(max_examples=8)
@given(st.data(), st.sampled_from([1, 2, 3]))
def test_the_plan_at_one_node_of_distinct_drafts_is_the_optimum(data: st.DataObject, k: int) -> None:
    """Two tokens are emitted exactly where the first is a draft, as no token ends the text; rejection emits no more."""
    target, draft = (Rows(model.rows) for model in data.draw(model_pairs(3)))

    def tokens(*rule: Any) -> Fraction:
        return length.expected(
            lambda coin, prefix: without_replacement.generate(coin, target, draft, prefix, (k,), *rule), (0,)
        )

    best = 1 + optimal.acceptance_without_replacement(target((0,)), draft((0,)), k)
    assert tokens() <= tokens(emit_without_replacement) == best


@settings(max_examples=5)
@given(st.data())
def test_the_plan_of_drafts_with_replacement_is_lossy_at_distinct_ones(data: st.DataObject) -> None:
    """The control: independent drafts are another law."""
    target, draft = Rows((exact(["1/6", "1/3", "1/2"]),)), Rows((exact(["1/2", "1/6", "1/3"]),))
    order = data.draw(st.permutations(range(3)))
    target, draft = (Rows(tuple(row[list(order)] for row in model.rows)) for model in (target, draft))
    assert not check_lossless_block(
        lambda coin, prefix: without_replacement.generate(coin, target, draft, prefix, (2,), pooled_priority.emit),
        target,
        2,
    )
