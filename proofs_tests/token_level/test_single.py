"""Maximal coupling: the law given each draft, and that no coupling accepts more."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from proofs_tests.oracles import forked, independent_drafts, optimum
from proofs_tests.strategies import pairs
from spec_math import Emission, exact, law
from spec_math.chance import paths
from spec_math.token_level import single


@given(pair=pairs())
def test_no_coupling_accepts_more_than_maximal_coupling(pair: Any) -> None:
    target, draft = pair
    assert single.acceptance(target, draft) == optimum(target, independent_drafts(draft, 1))


@given(pair=pairs())
def test_given_its_draft_maximal_coupling_emits_it_or_the_residual(pair: Any) -> None:
    target, draft = pair
    wanting = sum(max(t - d, 0) for t, d in zip(target, draft, strict=True))
    for x, mass in enumerate(draft):
        if mass == 0:
            continue
        kept = min(Fraction(1), target[x] / mass)
        wanted = {Emission(x, accepted=True): kept}
        for y, (t, d) in enumerate(zip(target, draft, strict=True)):
            if t > d and kept < 1:
                wanted[Emission(y, accepted=False)] = (1 - kept) * (t - d) / wanting
        found = forked(lambda coin, x=x: single.emit(coin, x, target, draft))
        assert found == {emission: chance for emission, chance in wanted.items() if chance}


@given(pair=pairs())
def test_equal_laws_never_reach_the_residual(pair: Any) -> None:
    target, _ = pair
    for path in paths(lambda coin: single.emit(coin, single.draw(coin, target), target, target)):
        assert path.outcome.accepted
        assert len(path.choices) == 2


def test_a_draft_may_come_alone_or_in_a_tuple() -> None:
    laws = exact(["1/4", "3/4"]), exact(["1/2", "1/2"])
    assert law(lambda coin: single.verify(coin, 0, *laws)) == law(lambda coin: single.verify(coin, (0,), *laws))
    with pytest.raises(ValueError, match="this verifier takes one draft; got 2"):
        single.verify(None, (0, 1), *laws)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("token", "error", "said"),
    [
        (1, ValueError, "the draft puts no mass on the drafted token 1; report the distribution they were drawn from"),
        (2, ValueError, r"a drafted token must lie in 0\.\.1; got 2"),
        (-1, ValueError, r"a drafted token must lie in 0\.\.1; got -1"),
        (False, TypeError, "a drafted token is an index; got False of type bool"),
        ("0", TypeError, "a drafted token is an index; got '0' of type str"),
    ],
)
def test_what_the_draft_cannot_draw_is_refused(token: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        single.verify(None, token, ["1/2", "1/2"], [1, 0])  # type: ignore[arg-type]
