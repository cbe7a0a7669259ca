"""Recursive rejection of i.i.d. drafts: the product of its rejections telescopes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given

from proofs_tests.oracles import forked, independent_drafts, optimum
from proofs_tests.strategies import counts, pairs
from spec_math import Emission, exact
from spec_math.token_level import k_sequential, recursive, single
from spec_math.token_level.excess import Excess


def rejections(target: Any, draft: Any, k: int) -> list[Fraction]:
    """The chances that the first 1, …, k tests reject, residual by residual."""
    r, kept, found = list(target), Fraction(1), []
    for _ in range(k):
        left = [max(a - b, 0) for a, b in zip(r, draft, strict=True)]
        kept *= sum(left)
        found.append(kept)
        if kept == 0:
            return found + [Fraction(0)] * (k - len(found))
        r = [mass / sum(left) for mass in left]
    return found


@given(pair=pairs(), k=counts(4))
def test_acceptance_is_one_minus_the_product_of_rejections(pair: Any, k: int) -> None:
    wanted = rejections(*pair, k)
    assert recursive.acceptance(*pair, k) == 1 - wanted[-1]
    assert Excess.of_laws(*pair).rejections(range(1, k + 1)) == wanted


@given(pair=pairs(3), k=counts())
def test_given_its_drafts_each_is_tested_against_what_the_earlier_ones_left(pair: Any, k: int) -> None:
    target, draft = pair
    for tokens in independent_drafts(draft, k):
        wanted: dict[Emission, Fraction] = {}
        r, reached = list(target), Fraction(1)
        for x in tokens:
            kept = min(Fraction(1), r[x] / draft[x])
            _add(wanted, Emission(x, accepted=True), reached * kept)
            reached *= 1 - kept
            left = [max(a - b, 0) for a, b in zip(r, draft, strict=True)]
            r = [mass / sum(left) for mass in left] if sum(left) else r
        for y, mass in enumerate(r):
            _add(wanted, Emission(y, accepted=False), reached * mass)
        assert forked(lambda coin, x=tokens: recursive.emit(coin, x, target, draft)) == wanted


def _add(law: dict[Emission, Fraction], emission: Emission, mass: Fraction) -> None:
    if mass:
        law[emission] = law.get(emission, Fraction(0)) + mass


@given(pair=pairs(), k=counts())
def test_more_drafts_are_accepted_more_often_and_never_beyond_the_optimum(pair: Any, k: int) -> None:
    now, more = recursive.acceptance(*pair, k), recursive.acceptance(*pair, k + 1)
    assert single.acceptance(*pair) == recursive.acceptance(*pair, 1)
    assert now <= more
    assert now <= optimum(pair[0], independent_drafts(pair[1], k))


@given(pair=pairs(), k=counts(4))
def test_recursive_rejection_never_accepts_more_than_k_sequential(pair: Any, k: int) -> None:
    """Proof. The scales of the recursion are λ_1 = 0, λ_{i+1} = λ_i + E_i, E_i = E(λ_i), E_1 = 1, and it rejects with
    e = E_{k+1}. E is convex, so E_{i+1}/E_i rises with i: the E_i are log-convex, and lie below the geometric sequence
    with the same ends, E_i ≤ e^((i−1)/k). Hence λ_{k+1} = Σ E_i ≤ (1 − e)/(1 − e^(1/k)), which is f(λ_{k+1}) ≥ 0. As f
    decreases, λ_{k+1} ≤ γ*, and E(γ*) ≤ e. ∎  γβ(γ) = 1 − E(γ) is p_acc at γ*, rounded up by less than 2^-64.
    """
    target, draft = pair
    kept = [Fraction(1), *rejections(target, draft, k)]
    scale = sum(kept[:-1])
    assert all(a * c >= b * b for a, b, c in zip(kept, kept[1:], kept[2:], strict=False))
    assert k_sequential.f(target, draft, k, scale) >= 0
    gamma = k_sequential.gamma_star(target, draft, k)
    assert scale <= gamma or k_sequential.beta(target, draft, 1) == 0
    assert recursive.acceptance(target, draft, k) <= gamma * k_sequential.beta(target, draft, gamma)
    rounding = -k_sequential.f(target, draft, k, gamma)
    assert recursive.acceptance(target, draft, k) <= k_sequential.acceptance(target, draft, k) + rounding


def test_recursive_rejection_falls_short_of_k_sequential() -> None:
    target, draft = exact(["1/5", "4/5"]), exact(["2/5", "3/5"])
    assert recursive.acceptance(target, draft, 2) == Fraction(23, 25)
    assert k_sequential.acceptance(target, draft, 2) > Fraction(94, 100)
