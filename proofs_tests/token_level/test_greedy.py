"""Greedy drafts: the top k − 1 and one draw, verified at the optimum of those drafts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.oracles import forked, optimum
from proofs_tests.strategies import counts, pairs
from spec_math import exact
from spec_math.token_level import greedy, single


def drafts(draft: Any, k: int) -> dict[tuple[int, ...], Fraction]:
    """The law of greedy drafts from its definition."""
    order = sorted((y for y in range(len(draft)) if draft[y] > 0), key=lambda y: (-draft[y], y))
    top, rest = tuple(order[: k - 1]), order[k - 1 :]
    if not rest:
        top, rest = tuple(order[:-1]), order[-1:]
    left = sum(draft[y] for y in rest)
    return {(*top, y): draft[y] / left for y in rest}


@given(pair=pairs(), k=counts(5))
def test_drafts_are_the_top_and_a_draw_from_the_rest(pair: Any, k: int) -> None:
    _, draft = pair
    assert forked(lambda coin: greedy.draw(coin, draft, k)) == drafts(draft, k)


@given(pair=pairs(), k=counts(5))
def test_greedy_drafts_are_verified_at_their_optimum(pair: Any, k: int) -> None:
    target, draft = pair
    assert greedy.acceptance(target, draft, k) == optimum(target, drafts(draft, k))


@given(pair=pairs())
def test_one_greedy_draft_is_maximal_coupling(pair: Any) -> None:
    assert greedy.acceptance(*pair, 1) == greedy.test_acceptance(*pair, 1) == single.acceptance(*pair)


def test_ties_are_broken_by_the_lowest_index_in_every_world() -> None:
    draft = exact(["1/4", "1/4", "1/4", "1/4"])
    assert {tokens[:2] for tokens in drafts(draft, 3)} == {(0, 1)}
    for laws in (draft, draft.astype(float)):
        assert {tokens[:2] for tokens in forked(lambda coin, laws=laws: greedy.draw(coin, laws, 3))} == {(0, 1)}
    rows = np.stack([draft, draft])
    assert greedy.acceptance(rows, rows, 2).tolist() == [1, 1]


@given(weights=st.lists(st.integers(0, 3), min_size=1, max_size=9).filter(any), k=counts(5))
def test_floats_fix_the_drafts_that_fractions_fix(weights: list[int], k: int) -> None:
    """Ties and zeros abound; each target that is all on one token tells whether that one is fixed."""
    size = len(weights)
    draft = exact([Fraction(weight, sum(weights)) for weight in weights])
    fixed = set(next(iter(drafts(draft, k)))[:-1])
    for token in range(size):
        target = np.eye(size)[token]
        tested = greedy.test_acceptance(target, draft.astype(float), k)
        assert (greedy.acceptance(target, draft.astype(float), k) - tested == 1) == (token in fixed)


def test_a_drawn_draft_among_the_fixed_ones_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the drawn draft is never one of the fixed ones; got 1 after \(1,\)"):
        greedy.verify(None, (1, 1), ["1/4", "3/4"], ["1/2", "1/2"])  # type: ignore[arg-type]
