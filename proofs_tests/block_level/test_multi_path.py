"""Greedy multi-path block verification: lossless, its selected law, and the controls that must be caught."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math import check_lossless_block
from spec_math.arrays import exact
from spec_math.block_level import block, length, multi_path, selected_chain
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.multi_path import HighestRank
from spec_math.token_level.optimum.prefix_law import mixed_powers

Path = tuple[int, ...]
UNIT = 2.0**-53
SHAPES = [(2, 1, 2), (2, 1, 3), (2, 2, 2), (2, 2, 3), (2, 3, 2), (3, 1, 3), (3, 2, 2)]
"""V tokens, lookahead, k chains."""


@settings(max_examples=50)
@given(st.data(), st.sampled_from(SHAPES))
def test_multi_path_is_lossless(data: st.DataObject, shape: tuple[int, int, int]) -> None:
    size, lookahead, k = shape
    target, draft = data.draw(model_pairs(size))
    verdict = check_lossless_block(
        lambda coin, prefix: multi_path.generate(coin, target, draft, prefix, lookahead, k), target, lookahead + 1
    )
    assert verdict, str(verdict)


@settings(max_examples=10)
@given(model_pairs(2))
def test_multi_path_is_lossless_over_two_rounds(models: tuple[Rows, Rows]) -> None:
    target, draft = models
    verdict = check_lossless_block(
        lambda coin, prefix: multi_path.generate(coin, target, draft, prefix, 2, 2), target, 6, rounds=2
    )
    assert verdict, str(verdict)


@settings(max_examples=30)
@given(st.data(), st.sampled_from([(2, 1), (2, 3), (3, 2)]))
def test_multi_path_of_one_chain_equals_block_verification(data: st.DataObject, shape: tuple[int, int]) -> None:
    size, lookahead = shape
    target, draft = data.draw(model_pairs(size))
    ours = length.law(lambda coin, prefix: multi_path.generate(coin, target, draft, prefix, lookahead, 1), ())
    theirs = length.law(lambda coin, prefix: block.generate(coin, target, draft, prefix, lookahead), ())
    assert ours == theirs
    assert multi_path.expected(target, draft, (), lookahead, 1) == block.expected(target, draft, (), lookahead)


@settings(max_examples=30)
@given(st.data(), st.sampled_from(SHAPES))
def test_multi_path_expects_the_mean_of_its_law(data: st.DataObject, shape: tuple[int, int, int]) -> None:
    size, lookahead, k = shape
    target, draft = data.draw(model_pairs(size))
    walked = length.expected(lambda coin, prefix: multi_path.generate(coin, target, draft, prefix, lookahead, k), ())
    assert multi_path.expected(target, draft, (), lookahead, k) == walked


@settings(max_examples=50)
@given(st.data(), st.sampled_from([(2, 3, 2), (3, 2, 3), (3, 3, 2), (2, 2, 7)]))
def test_multi_path_selects_by_differences_of_powers(data: st.DataObject, shape: tuple[int, int, int]) -> None:
    size, lookahead, k = shape
    target, draft = data.draw(model_pairs(size))
    chosen = HighestRank(Conditionals(target, draft, ()), k)
    law = by_differences(target, draft, lookahead, k)
    for leaf, mass in law.items():
        assert prod((chosen.law(leaf[:at])[leaf[at]] for at in range(len(leaf))), start=Fraction(1)) == mass


def by_differences(target: Any, draft: Any, lookahead: int, k: int) -> dict[Path, Fraction]:
    """The law of the highest chain from the law of the maximum: F(x)^k − F(x−)^k along the sorted chains."""
    chains: dict[Path, tuple[list[Any], Fraction]] = {(): ([], Fraction(1))}
    for _ in range(lookahead):
        longer: dict[Path, tuple[list[Any], Fraction]] = {}
        for path, (ranks, mass) in chains.items():
            if draft.end is not None and path[-1:] == (draft.end,):
                longer[path] = ranks, mass
                continue
            t, d = target(path), draft(path)
            for token in range(len(t)):
                if d[token] > 0:
                    longer[(*path, token)] = [*ranks, (t[token] / d[token], token)], mass * d[token]
        chains = longer
    result: dict[Path, Fraction] = {}
    below = Fraction(0)
    for path, (_, mass) in sorted(chains.items(), key=lambda item: item[1][0]):
        result[path] = (below + mass) ** k - below**k
        below += mass
    return result


def softmax_model(seed: int, spread: float) -> Any:
    def model(prefix: Path) -> Any:
        weights = np.exp(spread * np.random.default_rng([seed, *prefix]).normal(size=6))
        return weights / weights.sum()

    return model


@pytest.mark.parametrize("k", [2, 8, 64])
@pytest.mark.parametrize("spread", [1.0, 10.0])
def test_multi_path_selects_in_floats_within_the_bound(k: int, spread: float) -> None:
    """Relative error: cumulative masses carry 6 units (ratio_order), a_x and b_x two more; x/(x + y) doubles at most
    what its terms carry and adds 3, so that depth l has (2^l)·11 units at most; h multiplies it by k − 1 on top and
    on bottom and adds 2 roundings a term, s another 8. Below 2^-1000 powers underflow."""
    target, draft = softmax_model(0, spread), softmax_model(1, spread)
    chosen = HighestRank(Conditionals(target, draft, ()), k)
    truth = HighestRank(Conditionals(exactly(target), exactly(draft), ()), k)
    # Short paths of every token, among them masses of 1e-15; a few longer ones.
    for path in [*product(range(6), repeat=2 if k < 64 else 1), (0, 1, 0), (5, 2, 1)]:
        allowed = (2 * k * (2 ** len(path) * 11 + 2) + 8) * UNIT
        for ours, true in zip(chosen.law(path), truth.law(path), strict=True):
            assert abs(Fraction(ours) - true) <= allowed * true + Fraction(1, 2**1000)


def test_differences_of_powers_lose_all_digits_in_floats() -> None:
    """The control of the bound: the printed formula, in floats, at a path of draft mass 2^-60."""
    below, mass, k = 0.5, 2.0**-60, 8
    assert (below + mass / 2) ** k - below**k == 0.0
    assert mixed_powers(np.array([below]), np.array([below + mass / 2]), k)[0] == pytest.approx(k * below ** (k - 1))


def exactly(model: Any) -> Any:
    def rational(prefix: Path) -> Any:
        row = exact(model(prefix))
        return row / row.sum()

    return rational


# Controls, on two models of three tokens; a rule that is lossless only at the first token is caught at the second.
TARGET = Rows((exact(["1/2", "1/3", "1/6"]), exact(["1/6", "1/6", "2/3"]), exact(["1/5", "2/5", "2/5"])))
DRAFT = Rows((exact(["1/4", "1/4", "1/2"]), exact(["2/3", "1/6", "1/6"]), exact(["3/5", "1/5", "1/5"])))


class WrongExponent(HighestRank):
    def __init__(self, laws: Conditionals, k: int) -> None:
        super().__init__(laws, k)
        self.exponent = HighestRank(laws, k + 1)

    def law(self, path: Path) -> Any:
        return self.exponent.law(path)


class FreshAtEveryNode(HighestRank):
    def _share(self, path: Path) -> Any:  # noqa: ARG002
        return super()._share(())


class UnitsOfTheDraft(HighestRank):
    def law(self, path: Path) -> Any:
        return self.laws.draft(path)


class OtherRanks(HighestRank):
    def select(self, coin: Any, chains: Sequence[Path]) -> Path:  # noqa: ARG002
        return max(chains)


@pytest.mark.parametrize("wrong", [WrongExponent, FreshAtEveryNode, UnitsOfTheDraft, OtherRanks])
def test_multi_path_with_a_wrong_law_is_lossy(wrong: Any) -> None:
    def generate(rule: Any) -> Any:
        return lambda coin, prefix: selected_chain.generate(coin, rule(Conditionals(TARGET, DRAFT, prefix), 2), 2)

    assert check_lossless_block(generate(HighestRank), TARGET, 3)
    assert not check_lossless_block(generate(wrong), TARGET, 3)
