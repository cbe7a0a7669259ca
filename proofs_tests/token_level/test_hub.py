"""SpecHub: its draft law as printed, verified at the optimum of that law."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from proofs_tests.oracles import forked, optimum
from proofs_tests.strategies import pairs
from spec_math import exact
from spec_math.token_level import greedy, hub


def drafts(draft: Any) -> dict[tuple[int, ...], Fraction]:
    """(x, a) with mass d(x), (a, x) with mass d(a)·d(x)/(1 − d(a)), a the first maximum."""
    listed = list(draft)
    a = listed.index(max(listed))
    others = [x for x in range(len(listed)) if x != a and listed[x] > 0]
    if not others:
        return {(a,): Fraction(1)}
    return {(x, a): draft[x] for x in others} | {(a, x): draft[a] * draft[x] / (1 - draft[a]) for x in others}


@given(pair=pairs())
def test_drafts_have_the_printed_law(pair: Any) -> None:
    _, draft = pair
    wanted = drafts(draft)
    assert sum(wanted.values()) == 1
    assert forked(lambda coin: hub.draw(coin, draft)) == wanted


@given(pair=pairs())
def test_hub_is_verified_at_the_optimum_of_its_drafts(pair: Any) -> None:
    target, draft = pair
    assert hub.acceptance(target, draft) == optimum(target, drafts(draft))


@given(pair=pairs())
def test_hub_drafts_the_sets_of_greedy_drafts_with_two(pair: Any) -> None:
    target, draft = pair
    assert hub.acceptance(target, draft) == greedy.acceptance(target, draft, 2)


def test_a_favourite_half_of_the_mass_is_worth_more_than_two_equal_drafts() -> None:
    target, draft = exact(["1/2", "1/4", "1/4"]), exact(["1/2", "1/4", "1/4"])
    assert hub.acceptance(target, draft) == 1


@pytest.mark.parametrize("tokens", [(1, 2), (0,), (0, 0), (0, 1, 2), (1,)])
def test_what_hub_does_not_draft_is_refused(tokens: Any) -> None:
    with pytest.raises(ValueError, match="SpecHub drafts two tokens of which one is the draft's first maximum, 0; got"):
        hub.verify(None, tokens, ["1/4", "1/4", "1/2"], ["1/2", "1/4", "1/4"])  # type: ignore[arg-type]


def test_a_one_hot_draft_is_one_token() -> None:
    target, draft = exact(["1/4", "3/4"]), exact([1, 0])
    assert forked(lambda coin: hub.verify(coin, (0,), target, draft)) == {0: Fraction(1, 4), 1: Fraction(3, 4)}
    with pytest.raises(ValueError, match="the draft puts no mass on the drafted token 1"):
        hub.verify(None, (0, 1), target, draft)  # type: ignore[arg-type]
