"""The pooled-priority plan on Fractions: lossless, optimal, and made of the parts that its theorem page names."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proofs_tests.oracles import independent_drafts, optimum, successive_drafts
from proofs_tests.strategies import counts, pairs
from proofs_tests.token_level.pools_oracle import (
    corners_of_u,
    hull,
    prefix_masses,
    selected_by_merging,
    selected_by_pools,
    slope_between,
)
from spec_math import Lossless, Lossy, check_lossless, exact, law, proportional_to
from spec_math.coupling import Coupling, joint
from spec_math.distribution import overlap, residual
from spec_math.scheme import Emission, draw_independent
from spec_math.token_level import hull as hull_form
from spec_math.token_level import optimal, prefix_law, without_replacement
from spec_math.token_level.knot_mixture import KnotMixture
from spec_math.token_level.plan import Plan, emit, plan, plan_without_replacement, verify
from spec_math.token_level.pooled_priority import INDEPENDENT, WITHOUT_REPLACEMENT
from spec_math.token_level.ratio_order import ratio_order
from spec_math.token_level.selection import deficit, selection_ratios

both_ways = pytest.mark.parametrize("replaced", [True, False], ids=["iid", "without replacement"])
FOUR, TWO = exact(["1/10", "1/5", "3/10", "2/5"]), exact(["2/5", "3/10", "1/5", "1/10"])


def made(target: Any, draft: Any, k: int, replaced: bool) -> Plan:
    return (plan if replaced else plan_without_replacement)(target, draft, k)


def coupling(prepared: Plan, draft: Any, k: int, emitter: Any = emit) -> Coupling:
    draw = draw_independent if prepared.independent else without_replacement.draw
    return joint(lambda coin: draw(coin, draft, k), lambda coin, tokens: emitter(coin, tokens, prepared))


def as_law(masses: Any) -> dict[int, Any]:
    return {token: mass for token, mass in enumerate(masses) if mass != 0}


def parts(target: Any, draft: Any, k: int, replaced: bool) -> tuple[Any, Any, list[Any], list[Any]]:
    """The ratio order, the library's c/d in it, and its points (P_i, g_i) by adding up tuples."""
    order = ratio_order(target, draft)
    ratios = selection_ratios(order, library_law(order, k, replaced))
    return order, ratios, running(order.draft), prefix_masses(order.draft, k, replaced)


def library_law(order: Any, k: int, replaced: bool) -> prefix_law.PrefixLaw:
    return (prefix_law.independent if replaced else prefix_law.without_replacement)(order, k)


def running(masses: Any) -> list[Any]:
    return [sum(masses[:i], Fraction(0)) for i in range(len(masses) + 1)]


def assert_optimal(target: Any, draft: Any, k: int, replaced: bool) -> None:
    prepared = made(target, draft, k, replaced)
    found = coupling(prepared, draft, k)
    drafts = independent_drafts(draft, k) if replaced else successive_drafts(draft, k)
    assert found.drafts() == drafts
    assert found.emitted() == as_law(target)
    best = optimum(target, drafts)
    value = optimal.acceptance if replaced else optimal.acceptance_without_replacement
    assert found.acceptance() == found.membership() == prepared.acceptance == best == value(target, draft, k)
    assert {type(mass) for mass in (*prepared.selection, *prepared.kept, prepared.acceptance)} == {Fraction}


# The theorem


@both_ways
@given(pair=pairs(4), k=counts(3))
@example(pair=(exact(["1/2", "1/2"]), exact(["1/2", "1/2"])), k=2)
@example(pair=(exact([0, 0, 1]), exact(["1/3", "2/3", 0])), k=3)
@example(pair=(exact([1]), exact([1])), k=3)
@settings(max_examples=200)
def test_plan_is_lossless_and_accepts_with_the_optimum(replaced: bool, pair: Any, k: int) -> None:
    assert_optimal(*pair, k, replaced)


@both_ways
@pytest.mark.parametrize(
    ("size", "k", "instances"), [(5, 3, 12), (6, 2, 25), (6, 3, 4), (4, 4, 8), (5, 4, 2), (6, 4, 1)]
)
def test_plan_is_optimal_on_larger_random_instances(size: int, k: int, instances: int, replaced: bool) -> None:
    rng = np.random.default_rng([size, k, replaced])
    for _ in range(instances):
        weights = [rng.integers(0, 9, size).tolist() for _ in range(2)]
        weights[1][0] += 1
        weights[0][-1] += 1
        assert_optimal(proportional_to(weights[0]), proportional_to(weights[1]), k, replaced)


@given(pair=pairs(4), k=counts(3))
@settings(max_examples=50)
def test_both_plans_are_judged_lossless(pair: Any, k: int) -> None:
    for scheme in (INDEPENDENT, WITHOUT_REPLACEMENT):
        verdict = check_lossless(scheme, *pair, k)
        assert isinstance(verdict, Lossless), str(verdict)
        assert verdict.bound == 0


@given(pair=pairs(5), k=counts(4))
def test_plan_without_replacement_is_never_below_the_iid_one(pair: Any, k: int) -> None:
    assert plan_without_replacement(*pair, k).acceptance >= plan(*pair, k).acceptance


@both_ways
@given(pair=pairs(5))
def test_one_draft_is_maximal_coupling(replaced: bool, pair: Any) -> None:
    target, draft = pair
    prepared = made(target, draft, 1, replaced)
    assert prepared.acceptance == overlap(target, draft)
    assert prepared.selection.tolist() == draft.tolist()
    if prepared.acceptance < 1:
        assert prepared.residual.masses == residual(target, draft).tolist()


@both_ways
@given(pair=pairs(5), k=counts(4))
def test_equal_laws_accept_always(replaced: bool, pair: Any, k: int) -> None:
    draft = pair[1]
    prepared = made(draft, draft, k, replaced)
    assert prepared.acceptance == 1
    assert prepared.selection.tolist() == draft.tolist()


def test_spectr_leaves_its_own_example_short_of_the_plan() -> None:
    """Ber(1/4) drafts for Ber(6/10), k = 2: K-SEQ accepts 0.769917, the plan 67/80 (erratum d)."""
    assert plan(["4/10", "6/10"], ["3/4", "1/4"], 2).acceptance == Fraction(67, 80)


# The selection law


@both_ways
@given(pair=pairs(6), k=counts(4))
@settings(max_examples=150)
def test_selection_law_gains_and_loses_the_deficit(replaced: bool, pair: Any, k: int) -> None:
    target, draft = pair
    order, ratios, _, inside = parts(target, draft, k, replaced)
    c = dict(zip(order.tokens.tolist(), (ratios * order.draft).tolist(), strict=True))
    best = max(g - t for g, t in zip(inside, running(order.target), strict=True))
    assert deficit(order, library_law(order, k, replaced)) == best
    assert sum(c.values()) == 1
    assert sum(max(mass - c.get(token, 0), 0) for token, mass in enumerate(target)) == best
    assert all(a <= b for a, b in pairwise(ratios))


@both_ways
@given(pair=pairs(6), k=counts(4))
@settings(max_examples=150)
def test_cumulative_selection_is_convex_and_never_below_the_prefix_law(replaced: bool, pair: Any, k: int) -> None:
    """It touches g at 0, at a best prefix and at 1."""
    order, ratios, below, inside = parts(*pair, k, replaced)
    convex = running(ratios * order.draft)
    assert all(c >= g for c, g in zip(convex, inside, strict=True))
    gaps = [g - t for g, t in zip(inside, running(order.target), strict=True)]
    touched = [i for i, gap in enumerate(gaps) if gap == max(gaps)]
    assert all(convex[i] == inside[i] for i in (0, *touched, len(below) - 1))


@both_ways
@given(pair=pairs(6), k=counts(4))
@settings(max_examples=150)
def test_cumulative_selection_is_the_greatest_convex_minorant(replaced: bool, pair: Any, k: int) -> None:
    """Of (0, 0), the points (P_i, T_i + D) between and (1, 1)."""
    order, ratios, below, inside = parts(*pair, k, replaced)
    covered = running(order.target)
    best = max(g - t for g, t in zip(inside, covered, strict=True))
    points = [(p, t + best) for p, t in zip(below, covered, strict=True)]
    points[0], points[-1] = (Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))
    corners = hull(points)
    expected = [
        (points[b][1] - points[a][1]) / (points[b][0] - points[a][0]) for a, b in pairwise(corners) for _ in range(a, b)
    ]
    assert ratios.tolist() == expected


# Pools


@given(pair=pairs(5), k=counts(3), data=st.data())
@settings(max_examples=120)
def test_pool_rule_selects_with_the_slope_of_the_pool(pair: Any, k: int, data: st.DataObject) -> None:
    assert_pool_rule(pair, k, data, replaced=True)


@given(pair=pairs(5), k=counts(4), data=st.data())
@settings(max_examples=120)
def test_pool_lemma_selects_with_the_slope_of_the_pool(pair: Any, k: int, data: st.DataObject) -> None:
    assert_pool_rule(pair, k, data, replaced=False)


def assert_pool_rule(pair: Any, k: int, data: st.DataObject, replaced: bool) -> None:
    """For knots drawn at will: the token put forward has the law d·(slope of g across its pool)."""
    target, draft = pair
    order, _, _, inside = parts(target, draft, k, replaced)
    n = len(order)
    knots = sorted({0, n, *data.draw(st.sets(st.integers(0, n)))})
    dies = np.array([int(i in knots) for i in range(n + 1)])
    between = slope_between(order.draft, inside)
    expected = dict(
        zip(order.tokens.tolist(), selected_by_pools([Fraction(1)], dies, order.draft, between), strict=True)
    )
    found = coupling(always_keeping(target, draft, k, replaced, dies), draft, k)
    assert found.emitted() == {token: mass for token, mass in expected.items() if mass != 0}


def always_keeping(target: Any, draft: Any, k: int, replaced: bool, dies: Any) -> Plan:
    prepared = made(target, draft, k, replaced)
    ones = np.full(len(draft), Fraction(1), dtype=object)
    return replace(prepared, pools=KnotMixture(exact([1]), dies, prepared.pools.selection), kept=ones)


@both_ways
@given(pair=pairs(6), k=counts(4))
@settings(max_examples=120)
def test_mixture_selects_with_the_selection_law(replaced: bool, pair: Any, k: int) -> None:
    order, ratios, _, inside = parts(*pair, k, replaced)
    pools = made(*pair, k, replaced).pools
    between = slope_between(order.draft, inside)
    played = selected_by_pools(pools.weights, pools.dies, order.draft, between)
    assert played == pools.selection.tolist() == (ratios * order.draft).tolist()
    assert sum(pools.weights) == 1
    assert len(pools.weights) <= len(order)
    gains = exact([high - low for low, high in pairwise(inside)])
    assert selected_by_merging(pools.weights, pools.dies, order.draft, gains).tolist() == played


@both_ways
@given(pair=pairs(5), k=counts(4))
@settings(max_examples=80)
def test_hull_form_is_the_mixture_and_its_pools_are_nested(replaced: bool, pair: Any, k: int) -> None:
    """Between two u where three points lie on a line the hull is constant: its law integrates exactly to c."""
    order, ratios, below, inside = parts(*pair, k, replaced)
    convex = running(ratios * order.draft)
    prefixes = library_law(order, k, replaced)
    mixture = made(*pair, k, replaced).pools
    starts = [sum(mixture.weights[:j], Fraction(0)) for j in range(len(mixture.weights) + 1)]
    between = slope_between(order.draft, inside)
    total = [Fraction(0)] * len(order)
    last: set[int] = set(range(len(order) + 1))
    for low, high in pairwise(corners_of_u(convex, inside, below)):
        u = (low + high) / 2
        knots = hull_form.pools(order, prefixes, u).tolist()
        assert knots == hull([(p, c - u * g) for p, c, g in zip(below, convex, inside, strict=True)])
        assert set(knots) <= last
        last = set(knots)
        component = next(j for j, start in enumerate(starts) if start > u) - 1
        assert knots == [i for i, death in enumerate(mixture.dies) if death > component]
        for a, b in pairwise(knots):
            for place in range(a, b):
                assert mixture.pool(component, place) == hull_form.pool(order, prefixes, u, place) == (a, b)
                total[place] += (high - low) * order.draft[place] * between(a, b)
    assert total == (ratios * order.draft).tolist()


@both_ways
@given(pair=pairs(4), k=counts(3), data=st.data())
@settings(max_examples=60)
def test_any_nested_pools_are_lossless_with_their_own_law(
    replaced: bool, pair: Any, k: int, data: st.DataObject
) -> None:
    """Errors in the deaths or their times cost acceptance, never the target's law."""
    target, draft = pair
    order, _, _, inside = parts(target, draft, k, replaced)
    dies, weights = drawn_pools(len(order), data)
    chosen = exact(selected_by_pools(weights, dies, order.draft, slope_between(order.draft, inside)))
    found = coupling(with_pools(made(target, draft, k, replaced), target, KnotMixture(weights, dies, chosen)), draft, k)
    assert found.emitted() == as_law(target)
    assert found.acceptance() <= made(target, draft, k, replaced).acceptance


def drawn_pools(n: int, data: st.DataObject) -> tuple[Any, Any]:
    size = data.draw(st.integers(1, 3))
    inner = data.draw(st.lists(st.integers(0, size), min_size=n - 1, max_size=n - 1))
    weights = proportional_to(data.draw(st.lists(st.integers(1, 5), min_size=size, max_size=size)))
    return np.array([size, *inner, size]), weights


def with_pools(prepared: Plan, target: Any, pools: KnotMixture) -> Plan:
    """The plan that these pools and their own selection law make."""
    selection = np.full(len(target), Fraction(0), dtype=object)
    selection[prepared.order.tokens] = pools.selection
    kept = [min(Fraction(1), t / c) if c else Fraction(0) for t, c in zip(target, selection, strict=True)]
    return replace(
        prepared,
        pools=pools,
        selection=selection,
        kept=exact(kept),
        residual=type(prepared.residual)(residual(target, selection)),
    )


@given(pair=pairs(5), k=counts(4))
@settings(max_examples=60)
def test_fewer_tokens_than_drafts_are_drafted_all(pair: Any, k: int) -> None:
    target, draft = pair
    support = np.flatnonzero(draft > 0)
    prepared = plan_without_replacement(target, draft, len(support) + k)
    assert prepared.drafts == len(support)
    assert prepared.acceptance == target[support].sum()


# Controls


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


# Entrances


@pytest.mark.parametrize(
    ("prepared", "tokens", "said"),
    [
        (partial(plan, FOUR, TWO, 2), (0,), "this plan is for 2 i.i.d. drafts"),
        (partial(plan, FOUR, TWO, 2), (0, 4), "must lie in 0..3"),
        (partial(plan, [1, 0], [1, 0], 2), (0, 1), "no mass on the drafted token 1"),
        (partial(plan_without_replacement, FOUR, TWO, 2), (1, 1), "this plan is for 2 distinct drafts"),
        (partial(plan_without_replacement, [1, 0], [1, 0], 2), (0, 0), "this plan is for 1 distinct drafts"),
    ],
)
def test_drafts_that_the_plan_is_not_for_are_refused(prepared: Any, tokens: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        law(lambda coin: verify(coin, tokens, prepared()))


@pytest.mark.parametrize(("k", "error"), [(0, ValueError), (True, TypeError), (1.5, TypeError)])
def test_a_number_of_drafts_is_a_count(k: Any, error: type[Exception]) -> None:
    for make in (plan, plan_without_replacement):
        with pytest.raises(error):
            make(FOUR, TWO, k)


def test_a_plan_is_that_of_one_position() -> None:
    with pytest.raises(ValueError, match="one position"):
        plan([[1, 0]], [[1, 0]], 2)


def test_a_pool_needs_a_component_and_a_place() -> None:
    pools = plan(FOUR, TWO, 2).pools
    for component, place in ((-1, 0), (len(pools.weights), 0), (0, -1), (0, 4)):
        with pytest.raises(IndexError):
            pools.pool(component, place)


def test_making_a_plan_leaves_its_laws_as_they_were() -> None:
    target, draft = FOUR.copy(), TWO.copy()
    prepared = plan(target, draft, 2)
    target[0] = Fraction(5)
    assert prepared.residual.masses == plan(FOUR, TWO, 2).residual.masses
    assert all(a + b > 0 for a, b in combinations(prepared.selection, 2))
