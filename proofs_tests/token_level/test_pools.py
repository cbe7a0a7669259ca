"""What the plan is made of, on Fractions: its selection law, the pool rule, the hulls and their nested pools."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.strategies import counts, pairs
from proofs_tests.token_level.plans import as_law, both_ways, coupling, made, parts, running
from proofs_tests.token_level.pools_oracle import (
    corners_of_u,
    hull,
    selected_by_merging,
    selected_by_pools,
    slope_between,
)
from spec_math import exact, proportional_to
from spec_math.distribution import residual
from spec_math.token_level.optimum import prefix_law
from spec_math.token_level.optimum.pools import KnotMixture, gains
from spec_math.token_level.optimum.pools import _pool as pool_around
from spec_math.token_level.optimum.ratio_order import ratio_order
from spec_math.token_level.plan import Plan


@both_ways
@given(pair=pairs(6), k=counts(4))
@settings(max_examples=150)
def test_selection_law_gains_and_loses_the_deficit(replaced: bool, pair: Any, k: int) -> None:
    target, draft = pair
    order, ratios, _, inside = parts(target, draft, k, replaced)
    c = dict(zip(order.tokens.tolist(), (ratios * order.draft).tolist(), strict=True))
    best = max(g - t for g, t in zip(inside, running(order.target), strict=True))
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
    mixture = made(*pair, k, replaced).pools
    starts = [sum(mixture.weights[:j], Fraction(0)) for j in range(len(mixture.weights) + 1)]
    between = slope_between(order.draft, inside)
    total = [Fraction(0)] * len(order)
    last: set[int] = set(range(len(order) + 1))
    for low, high in pairwise(corners_of_u(convex, inside, below)):
        u = (low + high) / 2
        knots = hull([(p, c - u * g) for p, c, g in zip(below, convex, inside, strict=True)])
        assert set(knots) <= last
        last = set(knots)
        component = next(j for j, start in enumerate(starts) if start > u) - 1
        assert knots == [i for i, death in enumerate(mixture.dies) if death > component]
        for a, b in pairwise(knots):
            for place in range(a, b):
                assert mixture.pool(component, place) == (a, b)
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


def test_a_pool_among_thousands_of_dead_knots_is_that_of_the_nearest_living_ones() -> None:
    rng, size = np.random.default_rng(0), 3_000
    for living in (0.0, 1 / 1_000, 1 / 50, 1 / 2):
        dies = np.where(rng.random(size + 1) < living, rng.integers(1, 3, size + 1), 0)
        dies[[0, -1]] = 3
        mixture = KnotMixture(np.full(3, 1 / 3), dies, np.full(size, 1 / size))
        for component, place in zip(rng.integers(0, 3, 200), rng.integers(0, size, 200), strict=True):
            alive = np.flatnonzero(dies > component)
            wanted = alive[alive <= place].max(), alive[alive > place].min()
            assert mixture.pool(int(component), int(place)) == wanted


def test_the_gains_of_a_slope_that_overflows_are_differences() -> None:
    """Of two drafts without replacement the second is the rare token: its slope is beyond 2^1023."""
    target, draft = np.array([0.25, 0.75]), np.array([2.0**-1060, 1.0])
    order = ratio_order(target, draft)
    with np.errstate(over="ignore"):
        law = prefix_law.without_replacement(order, 2)
    assert not np.isfinite(law.slopes).all()
    assert gains(order, law).tolist() == np.diff(law.inside).tolist()


def test_the_living_knots_around_a_token_are_the_nearest() -> None:
    """Knots die at random, 256 of them passed at once: the answer is that of a search one by one."""
    rng = np.random.default_rng(0)
    for alive in (0.5, 0.004, 0.002):
        dies = np.where(rng.random(2000) < alive, 9, 1)
        dies[[0, -1]] = 9
        for place in rng.integers(0, 1999, 300).tolist():
            low, high = pool_around(dies, 4, place)
            assert low == max(i for i in range(place + 1) if dies[i] > 4)
            assert high == min(i for i in range(place + 1, 2000) if dies[i] > 4)
    for gap in (255, 256, 257, 511, 512, 513):
        dies = np.ones(2000, dtype=np.int64)
        dies[[0, 900 - gap, 901 + gap, -1]] = 9
        assert pool_around(dies, 4, 900) == (900 - gap, 901 + gap)
