"""In which order UniVer's walk tries the children of a node: lossless by laws alone, what it keeps, counts, control."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import model_pairs, weighted
from spec_math import check_lossless_block
from spec_math.arrays import exact
from spec_math.block_level import length, optimum, univer
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.methods import traversal_expected
from spec_math.block_level.tree import grow
from spec_math.block_level.univer import Order, as_drafted
from spec_math.chance import Coin
from spec_math.papers.sibling_order import by_what_follows
from spec_math.token_level import greedy
from spec_math.verdict import Bracket

SHAPES = [(2, (2, 1)), (2, (2, 2)), (3, (2, 1)), (3, (3, 1)), (2, (2, 1, 1))]


def reversed_order(laws: Any, paths: Sequence[Any], shares: Any, widths: Any) -> Sequence[int]:  # noqa: ARG001
    return range(len(paths))[::-1]


def one_order(places: Sequence[int]) -> Order:
    """Every node with so many children in this order, any other as it was drafted."""

    def order(laws: Any, paths: Sequence[Any], shares: Any, widths: Any) -> Sequence[int]:
        return places if len(paths) == len(places) else as_drafted(laws, paths, shares, widths)

    return order


@pytest.mark.parametrize("order", [by_what_follows, reversed_order])
@settings(max_examples=15)
@given(data=st.data(), shape=st.sampled_from(SHAPES))
def test_any_order_by_laws_is_lossless(data: st.DataObject, shape: tuple[int, tuple[int, ...]], order: Any) -> None:
    size, widths = shape
    target, draft = data.draw(model_pairs(size, small=True))
    verdict = check_lossless_block(
        lambda coin, prefix: univer.generate(coin, target, draft, prefix, widths, order), target, len(widths) + 1
    )
    assert verdict, str(verdict)


@settings(max_examples=6)
@given(model_pairs(2, small=True))
def test_it_is_lossless_over_two_rounds(models: Any) -> None:
    target, draft = models
    verdict = check_lossless_block(
        lambda coin, prefix: univer.generate(coin, target, draft, prefix, (2, 1), by_what_follows), target, 5, 2
    )
    assert verdict, str(verdict)


@settings(max_examples=12)
@given(st.data(), st.sampled_from(SHAPES))
def test_the_closed_form_of_any_order_equals_enumeration(
    data: st.DataObject, shape: tuple[int, tuple[int, ...]]
) -> None:
    size, widths = shape
    target, draft = data.draw(model_pairs(size, small=True))
    found = univer.expected(target, draft, (), widths, by_what_follows)
    walked = length.expected(
        lambda coin, prefix: univer.generate(coin, target, draft, prefix, widths, by_what_follows), ()
    )
    assert found == walked


def test_an_order_that_sees_the_drafts_behind_the_children_is_lossy() -> None:
    """The control: where the first child is followed by a 0 the other one goes first."""
    target, draft = weighted("t1"), weighted("d1")

    def generate(coin: Coin, prefix: tuple[int, ...]) -> tuple[int, ...]:
        laws = Conditionals(target, draft, prefix)
        tree = grow(coin, laws, (2, 1), greedy.draw)
        seen = range(2)[::-1] if tree[0].children[0].token == 0 else range(2)
        return univer.verify(coin, tree, laws, one_order(seen))

    assert not check_lossless_block(generate, target, 3)


def test_no_order_by_the_laws_of_the_node_alone_is_best_for_all_models() -> None:
    """Two models with the same even laws at the root: of the two orders each is the only best one of one of them."""
    half, zero = exact(["1/2", "1/2"]), exact([1, 0])
    orders = (as_drafted, reversed_order)
    for settled, best in ((0, 1), (1, 0)):

        def target(prefix: tuple[int, ...]) -> Any:
            return zero if prefix else half

        def draft(prefix: tuple[int, ...], settled: int = settled) -> Any:
            return zero if prefix == (settled,) else half

        pair = target, draft
        found = [univer.expected(*pair, (), (2, 1), order) for order in orders]
        assert (found[best], found[1 - best]) == (3, Fraction(11, 4))
        assert univer.expected(*pair, (), (2, 1), by_what_follows) == 3


def test_it_is_the_best_order_of_two_children_and_never_behind_traversal_on_300_pairs() -> None:
    """Widths (2, 1), both first tokens drafted, against both orders, traversal and the optimum of the same drafts."""
    below: Counter[str] = Counter()
    for number in range(300):
        pair = weighted(f"t{number}"), weighted(f"d{number}")
        best = optimum.tokens_per_call_of_tree(*pair, (), (2, 1))
        ours, drafted = (univer.expected(*pair, (), (2, 1), order) for order in (by_what_follows, as_drafted))
        walked = traversal_expected(*pair, (), 2, 2)
        assert ours == max(drafted, univer.expected(*pair, (), (2, 1), reversed_order))
        below["the optimum"] += ours < (best.upper if isinstance(best, Bracket) else best.tokens_per_call)
        below["traversal"] += ours < walked
        below["the drafted order, ahead of it"] += drafted < ours
    assert below == {"the optimum": 138, "traversal": 0, "the drafted order, ahead of it": 111}


def test_exchanges_of_neighbours_may_miss_the_best_order_of_three_children() -> None:
    found: Counter[str] = Counter()
    for number in range(30):
        pair = weighted(f"t{number}", 3), weighted(f"d{number}", 3)
        if 0 in pair[1](()).tolist():
            continue
        # The root's children are all three tokens, so that one order is one permutation.
        best = max(univer.expected(*pair, (), (3, 1), one_order(places)) for places in permutations(range(3)))
        ours, drafted = (univer.expected(*pair, (), (3, 1), order) for order in (by_what_follows, as_drafted))
        assert drafted <= ours <= best
        found["pairs"] += 1
        found["missed"] += ours < best
    assert found == {"pairs": 24, "missed": 5}
