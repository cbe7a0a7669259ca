"""A deterministic draft: lossless however it is chosen, as long as the choice does not see the verifier's coins."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_tests.oracles import forked, optimum
from proofs_tests.strategies import laws, pairs
from spec_math import exact, law
from spec_math.token_level import one_hot, single


def as_law(target: Any) -> dict[int, Any]:
    return {token: mass for token, mass in enumerate(target) if mass != 0}


@given(target=laws(4))
def test_every_drafted_token_leaves_the_law_alone(target: Any) -> None:
    for x in range(4):
        assert forked(lambda coin, x=x: one_hot.verify(coin, x, target)) == as_law(target)


@given(target=laws(4), chooser=laws(4), other=st.integers(0, 3))
def test_any_way_of_choosing_the_draft_is_lossless(target: Any, chooser: Any, other: int) -> None:
    """A random choice, one that looks at the target, and a constant."""
    for choose in (lambda coin: coin.draw(chooser), lambda _: max(range(4), key=target.__getitem__), lambda _: other):
        assert law(lambda coin, choose=choose: one_hot.verify(coin, choose(coin), target)) == as_law(target)


@given(target=laws(4), x=st.integers(0, 3))
def test_a_one_hot_draft_is_maximal_coupling_with_its_one_hot_law(target: Any, x: int) -> None:
    hot = exact([int(y == x) for y in range(4)])
    assert law(lambda coin: one_hot.emit(coin, x, target)) == law(lambda coin: single.emit(coin, x, target, hot))
    assert one_hot.acceptance(target, hot) == optimum(target, {(x,): Fraction(1)}) == target[x]


@given(pair=pairs())
def test_the_draft_is_the_first_maximum(pair: Any) -> None:
    target, draft = pair
    listed = draft.tolist()
    (x,) = one_hot.draw(None, draft)  # type: ignore[arg-type]
    assert x == listed.index(max(listed))
    assert one_hot.acceptance(target, draft) == target[x]


@pytest.mark.parametrize("token", [-1, 2, True, 0.0, None])
def test_what_is_no_token_is_refused(token: Any) -> None:
    with pytest.raises(ValueError, match=r"a drafted token must be an index in 0\.\.1; got"):
        one_hot.verify(None, token, ["1/2", "1/2"])  # type: ignore[arg-type]


def test_a_draft_that_is_no_law_is_named() -> None:
    with pytest.raises(ValueError, match=r"^draft: masses must sum"):
        one_hot.draw(None, ["1/2", "1/4"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^target: masses must sum"):
        one_hot.verify(None, 0, ["1/2", "1/4"])  # type: ignore[arg-type]
