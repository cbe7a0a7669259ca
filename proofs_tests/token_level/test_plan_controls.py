"""Plans with one mistake each: judged lossy, or out of bound, where the right one is not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from proofs_tests.token_level.float_laws import float_pair, softmax
from proofs_tests.token_level.plan_stress import PROMISED, Case, Left, law_bound
from proofs_tests.token_level.plans import FOUR, TWO, as_law, both_ways, coupling, made
from proofs_tests.token_level.pools_oracle import selected_by_merging
from spec_math import Lossless, Lossy, check_lossless, exact, proportional_to
from spec_math.distribution import normalised
from spec_math.scheme import Emission
from spec_math.token_level.optimum import prefix_law
from spec_math.token_level.optimum.pools import gains, knot_mixture, selection_ratios
from spec_math.token_level.optimum.ratio_order import ratio_order
from spec_math.token_level.plan import Plan, emit, plan
from spec_math.token_level.pooled_priority import INDEPENDENT, WITHOUT_REPLACEMENT


def among_distinct_tokens(coin: Any, tokens: Any, prepared: Plan) -> Emission:
    """Wrong: a token drafted twice should count twice."""
    return emit_by(coin, tokens, prepared, lambda hits: tuple(dict.fromkeys(hits)))


def first_of_the_pool(coin: Any, tokens: Any, prepared: Plan) -> Emission:
    """Wrong without replacement: light tokens come first too often for the mass that they have."""
    return emit_by(coin, tokens, prepared, lambda hits: hits[:1])


def uniform_of_the_pool(coin: Any, tokens: Any, prepared: Plan) -> Emission:
    """Right for i.i.d. drafts, wrong without replacement."""
    return emit_by(coin, tokens, prepared, lambda hits: hits)


def emit_by(coin: Any, tokens: Any, prepared: Plan, chosen: Any) -> Emission:
    places = [int(prepared.places[token]) for token in tokens]
    low, _ = prepared.pools.pool(coin.draw(prepared.components), max(places))
    hits = chosen([token for token, place in zip(tokens, places, strict=True) if place >= low])
    token = hits[coin.draw([Fraction(1, len(hits))] * len(hits))]
    if coin.flip(prepared.kept[token]):
        return Emission(token, accepted=True)
    return Emission(coin.draw(prepared.residual), accepted=False)


def judged(emitter: Any, target: Any, draft: Any, k: int, replaced: bool) -> Lossless | Lossy:
    prepared = made(target, draft, k, replaced)
    scheme = replace(
        INDEPENDENT if replaced else WITHOUT_REPLACEMENT,
        verify=lambda coin, tokens, _t, _d: emitter(coin, tokens, prepared).token,
    )
    return check_lossless(scheme, target, draft, k)


def test_index_and_not_distinct_token_is_chosen() -> None:
    """With two drafts in the pool a token is as likely by either choice; from three on it is not."""
    target, draft = exact(["1/5", "2/5", "2/5"]), exact(["1/2", "3/10", "1/5"])
    assert judged(among_distinct_tokens, target, draft, 2, replaced=True)
    assert judged(uniform_of_the_pool, target, draft, 3, replaced=True)
    for k in (3, 4):
        found = judged(among_distinct_tokens, target, draft, k, replaced=True)
        assert isinstance(found, Lossy)
        assert found.emitted != found.target


@pytest.mark.parametrize("wrong", [first_of_the_pool, uniform_of_the_pool])
def test_first_or_uniform_draft_of_the_pool_is_lossy_without_replacement(wrong: Any) -> None:
    rng = np.random.default_rng(7)
    lossy = 0
    for _ in range(40):
        target, draft = (proportional_to(rng.integers(1, 9, 4).tolist()) for _ in range(2))
        assert judged(emit, target, draft, 2, replaced=False)
        lossy += not judged(wrong, target, draft, 2, replaced=False)
    assert lossy >= 25


@both_ways
def test_testing_against_another_law_than_the_pools_have_is_lossy(replaced: bool) -> None:
    """Two of its pool sets swapped, and the selection law left as it was."""
    prepared = made(FOUR, TWO, 2, replaced)
    pools = prepared.pools
    assert len(pools.weights) > 1
    swapped = replace(prepared, pools=replace(pools, weights=pools.weights[::-1].copy()))
    assert coupling(prepared, TWO, 2).emitted() == as_law(FOUR)
    assert coupling(swapped, TWO, 2).emitted() != as_law(FOUR)


# In floats


def naive(target: Any, draft: Any, k: int, kind: Any) -> tuple[Any, Any]:
    """A plan with slopes by differences of running sums: tested against the nominal law, and against its pools' own."""
    order = ratio_order(target, draft)
    law = prefix_law.independent(order, k)
    ratios = selection_ratios(order, law.inside)
    inside = np.concatenate([[0.0], np.cumsum(order.draft, dtype=kind).astype(float) ** k])
    pools = knot_mixture(order.draft, ratios, np.diff(inside))
    true = selected_by_merging(pools.weights, pools.dies, order.draft, gains(order, law))
    nominal = ratios * 2.0**100 * order.draft
    made = plan(target, draft, k)
    return against(made, target, pools, nominal), against(made, target, pools, true)


def against(made: Any, target: Any, pools: Any, chosen: Any) -> Any:
    selection, kept = np.zeros(len(target)), np.zeros(len(target))
    selection[made.order.tokens] = chosen
    np.divide(np.minimum(target, selection), selection, out=kept, where=selection > 0)
    residual = Left(normalised(np.maximum(target - selection, 0.0), target).tolist())
    return replace(made, pools=pools, selection=selection, kept=kept, residual=residual)


@pytest.mark.parametrize(("kind", "least"), [(np.float64, 5 * law_bound(2)), (np.float32, 1_000 * PROMISED)])
def test_nominal_selection_law_of_naive_slopes_is_out_of_bound(kind: Any, least: float) -> None:
    """A difference of sums near 1 has lost the digits of a mass of 1e-12, in single precision those of 1e-6.

    The same pools with the law that they really select by are lossless all the same, and lose acceptance alone.
    """
    rng = np.random.default_rng(4)
    logits = rng.normal(0, 3, 20_000)
    target, draft = softmax(logits), softmax(logits + rng.normal(0, 1, 20_000))
    case = Case(target, draft, 2, True)
    nominal, own = naive(target, draft, 2, kind)
    assert case.errors(nominal).law > least
    assert case.errors(own).law <= law_bound(2)
    assert case.errors().law <= law_bound(2)


def test_oracle_of_the_emitted_law_sees_a_wrong_weight() -> None:
    """The check has teeth: a component's mass moved by 1e-9 is seen."""
    case = Case(*float_pair("softmax", 300), 3, True)
    made = case.plan()
    weights = made.pools.weights.copy()
    weights[0] -= 1e-9
    weights[-1] += 1e-9
    assert case.errors(replace(made, pools=replace(made.pools, weights=weights))).law > 1_000 * law_bound(3)
