"""SpecTr, one position: what does not hold as printed, each with an exact counterexample; letters as in the errata."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings

from examples.gallery.spectr_figures import bernoulli, figure_1, figure_2
from proofs_tests import controls
from proofs_tests.oracles import forked, independent_drafts, optimum
from proofs_tests.strategies import pairs
from spec_math import Lossy, check_lossless, exact, overlap, total_variation
from spec_math.distribution import residual
from spec_math.token_level import k_sequential, optimal, single
from spec_math.token_level.bounds import theorem_1
from spec_math.token_level.k_sequential import acceptance, beta, f, gamma_star
from spec_math.token_level.k_sequential import test_acceptance as p_acc

TARGET, DRAFT = exact(["1/4", "3/4"]), exact(["1/2", "1/2"])
HALF = exact(["1/2", "1/2"])


def test_a_the_cost_of_equation_1_is_one_minus_the_overlap() -> None:
    """Eq. 1 prints min P(Y ≠ X) = Σ min(P, Q): that is the largest P(Y = X)."""
    emitted = forked(lambda coin: (x := coin.draw(DRAFT), single.verify(coin, x, TARGET, DRAFT)))
    cost = sum(mass for (x, y), mass in emitted.items() if x != y)
    assert cost == 1 - overlap(TARGET, DRAFT) == Fraction(1, 4)
    assert cost == 1 - optimum(TARGET, independent_drafts(DRAFT, 1))
    assert cost != overlap(TARGET, DRAFT) == Fraction(3, 4)


def test_b_algorithm_1_returns_the_residual_draw_after_an_acceptance_too() -> None:
    """Line 7 has no else: the law of what is returned is p_res, whatever the target."""
    verdict = check_lossless(controls.returns_the_residual_draw_always, TARGET, DRAFT)
    assert isinstance(verdict, Lossy)
    assert residual(TARGET, DRAFT).tolist() == [0, 1]
    assert (verdict.token, verdict.emitted, verdict.target) == (0, 0, Fraction(1, 4))


def test_c_f_decreases_where_section_6_has_it_increasing() -> None:
    values = [f(TARGET, DRAFT, 2, gamma) for gamma in (Fraction(1), Fraction(3, 2), Fraction(2))]
    assert values == [Fraction(3, 16), Fraction(-1, 9), Fraction(-1, 4)]


def test_d_k_sequential_is_not_optimal_on_the_papers_examples() -> None:
    """Ber(1/4) and Ber(6/10), two drafts: a pair of Figures 2 and 3."""
    target, draft = bernoulli("6/10"), bernoulli("1/4")
    best = optimum(target, independent_drafts(draft, 2))
    assert best == optimal.acceptance(target, draft, 2) == Fraction(67, 80)
    reached = p_acc(target, draft, 2)
    assert Fraction(769917, 10**6) < reached < Fraction(769918, 10**6) < best
    # It is on those of Figure 1, and on Ber(b) with b ≤ 1/4 there is nothing to gain by either.
    for curve, sequential in zip(
        figure_1(12, (2, 3), (1, 2, 3)), figure_1(12, (2, 3), (1, 2, 3), acceptance), strict=True
    ):
        assert curve.values == sequential.values


@given(pair=pairs(3))
@settings(max_examples=60)
def test_f_theorem_1_is_an_equality(pair: Any) -> None:
    """Printed as a bound; the minimum over all Ω0, the empty and the full one included, is the optimum."""
    target, draft = pair
    for k in (1, 2, 3):
        assert theorem_1(target, draft, k) == optimum(target, independent_drafts(draft, k))


def test_g_theorem_2_is_an_equality_at_gamma_star_and_nowhere_above() -> None:
    """At γ* of U(4) and U(2), 3/2, α(π) ≥ p_acc is α(π) = p_acc; above γ* the emitted token may be a rejected draft."""
    target, draft = exact(["1/2", "1/2", 0, 0]), exact([Fraction(1, 4)] * 4)
    least = gamma_star(target, draft, 2)
    assert least == Fraction(3, 2)
    assert f(target, draft, 2, least) == 0
    assert p_acc(target, draft, 2) == acceptance(target, draft, 2) == Fraction(3, 4)
    assert p_acc(HALF, HALF, 2, 2) == Fraction(3, 4) < acceptance(HALF, HALF, 2, 2) == Fraction(15, 16)


def test_u_the_inequality_of_c_1_points_the_other_way() -> None:
    """C.1 has 1 − (1 − β)^k ≥ γβ for γ ≥ γ*; it is ≤, and the step it serves needs ≤."""
    gamma = Fraction(2)
    assert gamma > gamma_star(TARGET, DRAFT, 2)
    once = beta(TARGET, DRAFT, gamma)
    assert 1 - (1 - once) ** 2 == Fraction(3, 4) < gamma * once == 1


def test_u_the_sums_over_x_are_missing_in_the_optimality_guarantee() -> None:
    """C.1 has p_acc at γ = k equal to c_k·min(k p(x), q(x)): that is so of the sum over x, and of no x here."""
    k = 2
    once = beta(TARGET, DRAFT, k)
    factor = (1 - (1 - once) ** k) / (k * once)
    terms = [factor * min(k * d, t) for t, d in zip(TARGET, DRAFT, strict=True)]
    assert p_acc(TARGET, DRAFT, k, k) == sum(terms) == Fraction(3, 4)
    assert p_acc(TARGET, DRAFT, k, k) not in terms


def test_u_k_x_exceeds_1_minus_a_power_on_the_unit_interval_only() -> None:
    """C.1 has kx ≥ 1 − (1 − x)^k for all x ≥ 0: false at k = 3, x = 4; true for 0 ≤ x ≤ 1, where it is used."""
    assert 3 * 4 < 1 - (1 - 4) ** 3 == 28
    for k, step in product(range(1, 6), range(21)):
        x = Fraction(step, 20)
        assert k * x >= 1 - (1 - x) ** k


def test_u_the_factor_of_one_draft_is_one() -> None:
    """C.1 has c_k in [1 − (1 − 1/k)^k, 1): for k = 1 that interval is empty, and c_1 = 1."""
    once = beta(TARGET, DRAFT, 1)
    assert (1 - (1 - once)) / once == 1 == 1 - (1 - Fraction(1, 1)) ** 1


def test_u_the_last_display_of_c_1_divides_by_the_acceptance() -> None:
    """It writes the residual over 1 − (1 − β)^k, which is p_acc; Eq. 5 divides by 1 − p_acc, and only that is a law."""
    gamma, k = Fraction(2), 2
    once = beta(TARGET, DRAFT, gamma)
    accepted = 1 - (1 - once) ** k
    left = [t - min(d, t / gamma) * accepted / once for t, d in zip(TARGET, DRAFT, strict=True)]
    assert sum(left) / (1 - accepted) == 1
    assert sum(left) / accepted == Fraction(1, 3)


def test_u_acceptance_at_the_largest_ratio_is_more_than_b_1_says() -> None:
    """B.1 has α(π) = 1 − (1 − β)^k at γ = max q/p, which lies above γ* here: it is ≥, by more than nothing."""
    largest = Fraction(3, 2)
    assert largest == max(t / d for t, d in zip(TARGET, DRAFT, strict=True)) > gamma_star(TARGET, DRAFT, 2)
    assert p_acc(TARGET, DRAFT, 2, largest) == Fraction(8, 9)
    assert acceptance(TARGET, DRAFT, 2, largest) == Fraction(11, 12)


def test_v_the_indicator_of_b_2_is_reversed() -> None:
    """B.2 has 1{y ∉ S(x^k)} < 1 just where x^k is constant.

    A mixed tuple has it at 0 for every y; it can be 1 only where the tuple is constant.
    """
    for drafts in product((0, 1), repeat=3):
        indicators = [int(y not in drafts) for y in (0, 1)]
        constant = len(set(drafts)) == 1
        assert (max(indicators) == 1) == constant
        always_below_one = all(indicator < 1 for indicator in indicators)
        assert always_below_one != constant


@pytest.mark.parametrize("bits", [1, 3, 6])
def test_w_less_or_equal_on_a_grid_with_zero_emits_what_the_target_never_does(bits: int) -> None:
    """Algorithms 1 and 2 accept for η ≤ ratio. Real uniforms are k/2^b, 0 among them: with ratio 0 that accepts."""
    cells = 2**bits
    target, draft = exact([1, 0]), HALF

    def printed(coin: Any, tokens: Any, t: Any, d: Any) -> int:
        eta = Fraction(coin.draw([Fraction(1, cells)] * cells), cells)
        x = tokens[0]
        return x if eta <= min(1, t[x] / d[x]) else coin.draw(residual(t, d))

    verdict = check_lossless(printed, target, draft)
    assert isinstance(verdict, Lossy)
    emitted = forked(lambda coin: printed(coin, (coin.draw(draft),), target, draft))
    assert emitted[1] == Fraction(1, 2 * cells)

    def strict(coin: Any, tokens: Any, t: Any, d: Any) -> int:
        eta = Fraction(coin.draw([Fraction(1, cells)] * cells), cells)
        x = tokens[0]
        return x if eta < min(1, t[x] / d[x]) else coin.draw(residual(t, d))

    assert check_lossless(strict, target, draft)


def test_section_5_the_order_at_one_draft_turns_in_figure_2_and_not_in_figure_1() -> None:
    """Section 5 says beside Figure 1 that α_1(p, q) > α_1(p, q') need not mean α_k(p, q) > α_k(p, q').

    The curves there, 1 − (1 − 1/r)^k, keep their order for every k. In Figure 2 they do not: b = 0 is ahead of
    b = 51/100, then behind.
    """
    for first, second in zip(curves := figure_1(12, (1, 2, 3, 4), range(1, 9)), curves[1:], strict=False):
        assert all(a > b for a, b in zip(first.values, second.values, strict=True))
    zero, half = figure_2((0, "51/100"), (1, 3))
    assert zero.values == (Fraction(3, 4), Fraction(63, 64))
    assert half.values == (Fraction(74, 100), 1)


def test_the_step_from_the_optimum_to_total_variation() -> None:
    """What holds of section 4: the least cost is the total variation."""
    assert total_variation(TARGET, DRAFT) == 1 - optimal.acceptance(TARGET, DRAFT, 1)
    assert k_sequential.acceptance(TARGET, DRAFT, 1) == single.acceptance(TARGET, DRAFT)
