"""The joint law of drafts and emission: its marginals, and its two acceptances."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given, settings

from proofs_tests.oracles import independent_drafts, successive_drafts
from proofs_tests.strategies import counts, pairs
from spec_math import Emission, exact
from spec_math.coupling import Coupling, joint
from spec_math.scheme import draw_independent
from spec_math.token_level import k_sequential, recursive, without_replacement


@given(pair=pairs(), k=counts())
@settings(max_examples=60)
def test_the_drafts_of_a_coupling_have_their_own_law(pair: Any, k: int) -> None:
    target, draft = pair
    independent = joint(
        lambda coin: draw_independent(coin, draft, k), lambda coin, x: recursive.emit(coin, x, target, draft)
    )
    assert independent.drafts() == independent_drafts(draft, k)
    successive = joint(
        lambda coin: without_replacement.draw(coin, draft, k),
        lambda coin, x: without_replacement.emit(coin, x, target, draft),
    )
    assert successive.drafts() == successive_drafts(draft, k)


def test_more_is_accepted_than_by_tests() -> None:
    """t = d = (1/2, 1/2), two drafts, γ = 2: a test accepts in 3/4, the emitted token is drafted in 15/16."""
    half = exact(["1/2", "1/2"])
    coupling = joint(
        lambda coin: draw_independent(coin, half, 2), lambda coin, x: k_sequential.emit(coin, x, half, half, 2)
    )
    assert coupling.test_acceptance() == k_sequential.test_acceptance(half, half, 2, 2) == Fraction(3, 4)
    assert coupling.acceptance() == k_sequential.acceptance(half, half, 2, 2) == Fraction(15, 16)
    assert coupling.emitted() == {0: Fraction(1, 2), 1: Fraction(1, 2)}


def test_an_exact_acceptance_of_nothing_is_a_fraction() -> None:
    coupling = joint(
        lambda coin: draw_independent(coin, [1, 0], 1), lambda coin, x: recursive.emit(coin, x, [0, 1], [1, 0])
    )
    for mass in (coupling.acceptance(), coupling.test_acceptance()):
        assert mass == 0
        assert type(mass) is Fraction


def test_every_mass_counts_once() -> None:
    quarter = Fraction(1, 4)
    masses = {
        ((0, 1), Emission(0, accepted=True)): quarter,
        ((0, 1), Emission(1, accepted=False)): quarter,
        ((1, 1), Emission(0, accepted=False)): quarter,
        ((1, 1), Emission(1, accepted=True)): quarter,
    }
    coupling = Coupling(masses)
    assert coupling.drafts() == {(0, 1): 2 * quarter, (1, 1): 2 * quarter}
    assert coupling.emitted() == {0: 2 * quarter, 1: 2 * quarter}
    assert coupling.acceptance() == 3 * quarter
    assert coupling.test_acceptance() == 2 * quarter
