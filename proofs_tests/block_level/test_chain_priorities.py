"""Chain priorities: lossless, their selected law, both of their limits, and the controls that must be caught."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.chain_generators import Path, generator, optimal_acceptance
from proofs_tests.block_level.models import Rows, model_pairs
from proofs_tests.block_level.node_prefixes import prefix_law
from proofs_tests.strategies import pairs
from spec_math import check_lossless_block
from spec_math.arrays import Array, exact
from spec_math.block_level import block, chain_priorities, length
from spec_math.block_level.chain_priorities import Priorities
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.priority_law import uniform, weighted
from spec_math.token_level.optimum.pools import knot_mixture, nested, selection_ratios
from spec_math.token_level.optimum.ratio_order import ratio_order

SHAPES = [(2, 1, 2), (2, 1, 3), (3, 1, 2), (2, 2, 2), (2, 2, 3), (3, 2, 2), (2, 3, 2)]
"""V tokens, lookahead, k chains."""


@settings(max_examples=60)
@given(st.data(), st.sampled_from(SHAPES))
def test_chain_priorities_are_lossless(data: st.DataObject, shape: tuple[int, int, int]) -> None:
    size, lookahead, k = shape
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(generator(target, draft, lookahead, k), target, lookahead + 1)
    assert verdict, str(verdict)


@settings(max_examples=10)
@given(model_pairs(2))
def test_chain_priorities_are_lossless_over_two_rounds(models: tuple[Rows, Rows]) -> None:
    verdict = check_lossless_block(generator(*models, 2, 2), models[0], 6, rounds=2)
    assert verdict, str(verdict)


@settings(max_examples=20)
@given(model_pairs(2))
def test_generate_is_the_generator_of_these_tests(models: tuple[Rows, Rows]) -> None:
    ours = length.law(lambda coin, prefix: chain_priorities.generate(coin, *models, prefix, 2, 2), (0, 0))
    assert ours == length.law(generator(*models, 2, 2), (0, 0))


@settings(max_examples=30)
@given(st.data(), st.sampled_from([(2, 1), (2, 3), (3, 2)]))
def test_chain_priorities_of_one_chain_equal_block_verification(data: st.DataObject, shape: tuple[int, int]) -> None:
    size, lookahead = shape
    target, draft = data.draw(model_pairs(size))
    theirs = length.law(lambda coin, prefix: block.generate(coin, target, draft, prefix, lookahead), ())
    assert length.law(generator(target, draft, lookahead, 1), ()) == theirs
    assert chain_priorities.expected(target, draft, (), lookahead, 1) == block.expected(target, draft, (), lookahead)


@settings(max_examples=100)
@given(pairs(4), st.integers(1, 5))
def test_chain_priorities_of_one_level_reach_the_optimal_coupling(pair: tuple[Array, Array], k: int) -> None:
    target, draft = pair
    reached = chain_priorities.expected(lambda _: target, lambda _: draft, (), 1, k)
    assert reached == 1 + optimal_acceptance(target, draft, k)


@settings(max_examples=40)
@given(st.data(), st.sampled_from(SHAPES))
def test_chain_priorities_expect_the_mean_of_their_law(data: st.DataObject, shape: tuple[int, int, int]) -> None:
    size, lookahead, k = shape
    target, draft = data.draw(model_pairs(size))
    walked = length.expected(generator(target, draft, lookahead, k), ())
    assert chain_priorities.expected(target, draft, (), lookahead, k) == walked


@given(pairs(), st.integers(1, 4))
def test_prefixes_are_inside_or_outside(pair: tuple[Array, Array], k: int) -> None:
    order = ratio_order(*pair)
    for priority in (uniform(order.draft), uniform(order.draft).given(exact([1]), exact(["1/4"]), exact(["3/4"]))):
        law = prefix_law(priority, order, k)
        assert (law.inside + law.outside).tolist() == [1] * (len(order) + 1)
        assert ((law.inside[1:] - law.inside[:-1]) == law.slopes * order.draft).all()


@settings(max_examples=60)
@given(st.data(), st.integers(2, 6), st.integers(1, 4))
def test_nested_pools_are_those_of_the_mixture(data: st.DataObject, size: int, k: int) -> None:
    target, draft = data.draw(model_pairs(size, end=False))
    pools = Priorities(Conditionals(target, draft, ()), k)._refinement(()).pools
    for place in range(len(pools.dies) - 1):
        wanted: dict[tuple[int, int], Fraction] = {}
        for component, weight in enumerate(pools.weights):
            pool = pools.pool(component, place)
            wanted[pool] = wanted.get(pool, Fraction(0)) + weight
        weights, low, high = nested(pools, place)
        assert dict(zip(zip(low.tolist(), high.tolist(), strict=True), weights.tolist(), strict=True)) == wanted


# Controls. Any pools are lossless if the law of THEIR selection is used; with the law intended they are not.
TARGET = Rows((exact(["1/2", "1/3", "1/6"]), exact(["1/6", "1/6", "2/3"]), exact(["1/5", "2/5", "2/5"])))
DRAFT = Rows((exact(["1/4", "1/4", "1/2"]), exact(["2/3", "1/6", "1/6"]), exact(["3/5", "1/5", "1/5"])))
SMALL_TARGET = Rows((exact(["2/3", "1/3"]), exact(["1/6", "5/6"])))
SMALL_DRAFT = Rows((exact(["1/4", "3/4"]), exact(["2/3", "1/3"])))


def judged(rule: Any, k: int = 2) -> Any:
    target, draft = (TARGET, DRAFT) if k == 2 else (SMALL_TARGET, SMALL_DRAFT)
    return check_lossless_block(generator(target, draft, 2, k, rule), target, 3)


class PoolsForAnotherLaw(Priorities):
    """Pools whose selection law is half the plan's and half the draft's, which is convex and above Φ too."""

    def _refinement(self, path: Path) -> Any:
        made = super()._refinement(path)
        convex = prefix_law(self.priority(path), made.order, self.k)
        ratios = (selection_ratios(weighted(made.order, self._weight(path)), convex.inside) + 1) / 2
        pools = knot_mixture(made.order.draft, ratios, convex.slopes * made.order.draft)
        return replace(made, pools=pools)


class LawIntended(PoolsForAnotherLaw):
    @cached_property
    def intended(self) -> Priorities:
        return Priorities(self.laws, self.k)

    def law(self, path: Path) -> Any:
        return self.intended.law(path)


class PowersAtEveryNode(Priorities):
    """Takes x^k below every node, as if the selected chain had all k chains below it."""

    @cached_property
    def known(self) -> dict[Path, Any]:
        return {}

    def law(self, path: Path) -> Any:
        if path not in self.known:
            here = Conditionals(self.laws.target, self.laws.draft, path)
            self.known[path] = Priorities(here, self.k).law(())
        return self.known[path]


class UniformAmongDistinctChains(Priorities):
    def select(self, coin: Any, chains: Sequence[Path]) -> Path:
        distinct = sorted(set(chains))
        return distinct[coin.draw([Fraction(1, len(distinct))] * len(distinct))]


class CopiesCountOnce(Priorities):
    def select(self, coin: Any, chains: Sequence[Path]) -> Path:
        return super().select(coin, sorted(set(chains)))


class InnermostPoolAlone(Priorities):
    def priority(self, path: Path) -> Any:
        if path and path not in self._priorities:
            above = self._refinement(path[:-1])
            place = int(np.flatnonzero(above.order.tokens == path[-1])[0])
            _, low, high = nested(above.pools, place)
            ends = above.order.draft_below
            self._priorities[path] = self.priority(path[:-1]).given(exact([1]), ends[low[:1]], ends[high[:1]])
        return super().priority(path)


@pytest.mark.parametrize("k", [2, 3])
def test_chain_priorities_with_any_pools_are_lossless_against_their_own_law(k: int) -> None:
    assert judged(Priorities, k)
    assert judged(PoolsForAnotherLaw, k)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("wrong", [LawIntended, PowersAtEveryNode, UniformAmongDistinctChains, InnermostPoolAlone])
def test_chain_priorities_with_a_wrong_law_are_lossy(wrong: Any, k: int) -> None:
    assert not judged(wrong, k)


def test_copies_of_a_chain_may_count_once_among_two_chains_but_not_among_three() -> None:
    assert judged(CopiesCountOnce, 2)
    assert not judged(CopiesCountOnce, 3)
