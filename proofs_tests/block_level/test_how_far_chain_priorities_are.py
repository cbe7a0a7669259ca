"""How far chain priorities are from the optimum: what is guaranteed, and families of models where they fall behind.

After token 0 both models write 0 for good, after any other token they never agree: what is kept of the text 0 is kept
on every level below, so that one more level adds M(0), and the page's limits are differences of two lengths.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from spec_math import check_lossless_block
from spec_math.arrays import Array, exact, proportional_to
from spec_math.block_level import block, chain_priorities, multi_path, optimum
from spec_math.block_level.optimum import OptimalLength

Model = Callable[[tuple[int, ...]], Array]


def one_hot(token: int, size: int) -> Array:
    return exact([int(token == other) for other in range(size)])


def of_first_tokens(target: Array, draft: Array) -> tuple[Model, Model]:
    """Two models that agree for good after token 0, and never after another one."""
    size = len(target)

    def wanted(prefix: tuple[int, ...]) -> Array:
        return one_hot(0, size) if prefix else target

    def drafted(prefix: tuple[int, ...]) -> Array:
        return one_hot(int(prefix[0] != 0), size) if prefix else draft

    return wanted, drafted


def crowded(k: int, rare: Fraction, common: Fraction) -> tuple[Model, Model]:
    """The page's family: tokens 0 and 1 are drafted too seldom, the target never writes token 2."""
    seen = 1 - (1 - rare) ** k
    return of_first_tokens(exact([seen, 1 - seen, 0]), exact([rare, common, 1 - rare - common]))


FAMILY = [
    (2, Fraction(1, 100), Fraction(4, 5)),
    (2, Fraction(1, 1000), Fraction(9, 10)),
    (3, Fraction(1, 1000), Fraction(4, 5)),
    (4, Fraction(1, 1000), Fraction(3, 4)),
]


@pytest.mark.parametrize(("k", "rare", "common"), FAMILY)
def test_what_a_level_adds_may_be_little_more_than_a_kth_of_what_it_can(
    k: int, rare: Fraction, common: Fraction
) -> None:
    models = crowded(k, rare, common)
    ours = [chain_priorities.expected(*models, (), size, k) for size in (1, 2, 3)]
    other = [multi_path.expected(*models, (), size, k) for size in (1, 2, 3)]
    # The same first level, the best there is; then (1 − q^k)/(1 − q) of ε, q the mass of token 2, for 1 − (1 − ε)^k.
    left = 1 - rare - common
    assert ours[0] == other[0]
    assert ours[2] - ours[1] == ours[1] - ours[0] == rare * (1 - left**k) / (1 - left)
    assert other[2] - other[1] == other[1] - other[0] == 1 - (1 - rare) ** k


def test_the_share_goes_to_one_kth() -> None:
    """The two differences above in their limit, by their formulas: within 1 % of 1/k, and never below it."""
    for k in range(2, 9):
        left = Fraction(1, 10**3)
        rare = left**k / k
        share = rare * (1 - left**k) / (1 - left) / (1 - (1 - rare) ** k)
        assert Fraction(1, k) < share < Fraction(101, 100) / k
        # The models of the family are such: the target has enough of token 1, so that no mass of it is clipped.
        assert (1 - rare) ** k >= (1 - left**k) / (1 - left) * (1 - left - rare)


def test_the_other_rule_of_the_family_is_the_optimum() -> None:
    for k, rare, common in FAMILY[:2]:
        verdict = optimum.tokens_per_call(*crowded(k, rare, common), (), 2, k)
        assert isinstance(verdict, OptimalLength)
        assert verdict.tokens_per_call == multi_path.expected(*crowded(k, rare, common), (), 2, k)


def never_again() -> tuple[Model, Model]:
    """Token 0 is drafted too often, then half the time; the text 00 goes on for ever, and no other one."""
    half = exact(["1/2", "1/2"])

    def target(prefix: tuple[int, ...]) -> Array:
        return one_hot(0, 2) if prefix else exact(["1/4", "3/4"])

    def draft(prefix: tuple[int, ...]) -> Array:
        if prefix in ((), (0,)):
            return half
        return one_hot(int(prefix[:2] != (0, 0)), 2)

    return target, draft


def test_two_chains_may_accept_less_than_one_verified_as_a_block() -> None:
    target, draft = never_again()
    alone = [block.expected(target, draft, (), size) for size in range(1, 9)]
    ours = [chain_priorities.expected(target, draft, (), size, 2) for size in range(1, 9)]
    assert [two - one for one, two in zip(alone, ours, strict=True)] == [Fraction(5 - size, 16) for size in range(1, 9)]
    # Both are lossless, and one chain of two is among the drafts: no verifier is forced to accept less.
    assert check_lossless_block(
        lambda coin, start: chain_priorities.generate(coin, target, draft, start, 3, 2), target, 4
    )


def random_models(seed: int) -> tuple[Model, Model]:
    def model(name: str) -> Model:
        known: dict[tuple[int, ...], Array] = {}

        def after(prefix: tuple[int, ...]) -> Array:
            if prefix not in known:
                random = Random(f"{name}{seed} {prefix}")
                weights = [random.randint(0, 9) for _ in range(2)]
                known[prefix] = proportional_to(weights if any(weights) else [1, 1])
            return known[prefix]

        return after

    return model("t"), model("d")


def accepted(verdict: Any) -> Fraction:
    """The most that any verifier accepts, from above."""
    return (verdict.tokens_per_call if isinstance(verdict, OptimalLength) else verdict.upper) - 1


def test_k_chains_yield_at_most_k_times_one_and_the_guarantee_holds() -> None:
    """Both bounds of the page on random models; a bound of half of k would be wrong, and so would half of L."""
    broken = 0
    for seed in range(60):
        models = random_models(seed)
        most = accepted(optimum.tokens_per_call(*models, (), 2, 2))
        alone = block.expected(*models, (), 2) - 1
        assert alone <= most <= 2 * alone
        assert chain_priorities.expected(*models, (), 2, 2) - 1 >= most / 2
        broken += most > alone
    assert broken > 30
