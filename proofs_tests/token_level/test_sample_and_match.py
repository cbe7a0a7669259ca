"""Sample and match: the target's law whatever is drafted, accepted with Σ t·d."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from proofs_tests.oracles import forked
from proofs_tests.strategies import pairs
from spec_math.token_level import sample_and_match, single


@given(pair=pairs())
def test_whatever_is_drafted_the_target_is_emitted(pair: Any) -> None:
    target, _ = pair
    wanted = {token: mass for token, mass in enumerate(target) if mass != 0}
    for x in range(len(target)):
        assert forked(lambda coin, x=x: sample_and_match.verify(coin, x, target)) == wanted


@given(pair=pairs())
def test_a_match_has_the_chance_of_two_independent_draws_to_agree(pair: Any) -> None:
    target, draft = pair
    agree = forked(lambda coin: coin.draw(target) == coin.draw(draft))
    assert sample_and_match.acceptance(target, draft) == agree.get(True, 0)
    assert sample_and_match.acceptance(target, draft) <= single.acceptance(target, draft)
