"""K-SEQ: Lemma 3, Theorem 2 and its exact condition, the two acceptances, and γ* as a number."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from proofs_tests.oracles import independent_drafts, optimum
from proofs_tests.strategies import counts, pairs
from spec_math import check_lossless, exact, proportional_to
from spec_math.coupling import joint
from spec_math.scheme import draw_independent
from spec_math.token_level import k_sequential
from spec_math.token_level.excess import none_of
from spec_math.token_level.k_sequential import acceptance, beta, f, gamma_star
from spec_math.token_level.k_sequential import test_acceptance as p_acc

WIDTH = Fraction(1, 2**64)
HALF = exact(["1/2", "1/2"])


def passes(target: Any, draft: Any, gamma: Fraction) -> Fraction:
    """The chance that one test accepts, from its definition: Σ d(x)·min(1, t(x)/(γ d(x)))."""
    return sum((d * min(1, t / (gamma * d)) for t, d in zip(target, draft, strict=True) if d), Fraction(0))


def f_as_printed(target: Any, draft: Any, k: int, gamma: Fraction) -> Fraction:
    once = passes(target, draft, gamma)
    return 1 - (1 - once) ** k - gamma * once


scales = st.fractions(1, 6, max_denominator=20)


@given(pair=pairs(), k=counts(4), gamma=scales)
def test_beta_and_f_are_what_they_are_defined_to_be(pair: Any, k: int, gamma: Fraction) -> None:
    assert beta(*pair, gamma) == passes(*pair, gamma)
    assert f(*pair, k, gamma) == f_as_printed(*pair, k, gamma)


@given(pair=pairs(), k=counts(4), ends=st.tuples(scales, scales))
def test_f_decreases_strictly_where_anything_can_be_accepted(pair: Any, k: int, ends: Any) -> None:
    """Lemma 3, and erratum c: Section 6 has f increasing. Where nothing can be accepted, f is 0 throughout."""
    low, high = sorted(ends)
    assume(low < high)
    below, above = (f_as_printed(*pair, k, gamma) for gamma in (low, high))
    if passes(*pair, 1) > 0:
        assert below > above
    else:
        assert below == above == 0


@given(pair=pairs(), k=counts(4))
@example(pair=(HALF, HALF), k=4)
def test_gamma_star_lies_where_lemma_3_puts_it(pair: Any, k: int) -> None:
    target, draft = pair
    found = gamma_star(target, draft, k)
    ratios = [t / d for t, d in zip(target, draft, strict=True) if d]
    unbounded = any(t > 0 == d for t, d in zip(target, draft, strict=True))
    assert 1 <= found <= (k if unbounded else min(k, max(*ratios, Fraction(1))))
    assert f_as_printed(target, draft, k, found) <= 0
    if found > 1:
        assert f_as_printed(target, draft, k, found - WIDTH) > 0


@given(pair=pairs(), k=st.integers(2, 3))
def test_gamma_star_is_exact_where_it_is_rational_with_a_small_denominator(pair: Any, k: int) -> None:
    """A root n/m with m < 2^30 is the only such fraction near the certified bracket: if f is 0 there, γ* is it."""
    found = gamma_star(*pair, k)
    near = found.limit_denominator(2**30)
    if f_as_printed(*pair, k, near) == 0 and abs(near - found) <= WIDTH and passes(*pair, 1) > 0:
        assert found == near


@pytest.mark.parametrize("r", [2, 3, 5])
@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_gamma_star_of_uniform_laws_is_the_papers(r: int, k: int) -> None:
    """SpecTr D.1: U(d) and U(d/r) have β = 1/max(r, γ) and γ* = r(1 − (1 − 1/r)^k), where K-SEQ is optimal."""
    draft = exact([Fraction(1, 2 * r)] * (2 * r))
    target = exact([Fraction(1, 2)] * 2 + [0] * (2 * r - 2))
    best = 1 - Fraction(r - 1, r) ** k
    assert gamma_star(target, draft, k) == r * best
    assert beta(target, draft, r * best) == Fraction(1, r)
    assert p_acc(target, draft, k) == best


def test_gamma_star_of_equal_laws_is_one_and_of_disjoint_ones_too() -> None:
    for target, draft in ((HALF, HALF), (exact([1, 0]), exact([0, 1]))):
        for k in (1, 2, 5):
            assert gamma_star(target, draft, k) == 1


def test_gamma_star_of_many_drafts_and_long_fractions_is_found() -> None:
    """Denominators of 60 bits and 40 drafts: a polynomial of degree 40 with coefficients of 2,000 bits."""
    rng = np.random.default_rng(0)
    target, draft = (proportional_to(exact(rng.random(12).tolist())) for _ in range(2))
    for k in (16, 40):
        found = gamma_star(target, draft, k)
        assert f_as_printed(target, draft, k, found) <= 0 < f_as_printed(target, draft, k, found - WIDTH)


@given(pair=pairs(3), k=st.integers(2, 3), share=st.fractions(0, 1, max_denominator=4), beyond=st.booleans())
@settings(max_examples=80)
def test_every_gamma_from_gamma_star_up_is_lossless(pair: Any, k: int, share: Fraction, beyond: bool) -> None:
    """Theorem 2, for γ ∈ [γ*, k] and beyond k."""
    least = gamma_star(*pair, k)
    gamma = least + share * (k - least) + 2 * beyond

    def verify(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        return k_sequential.verify(coin, tokens, target, draft, gamma)

    assert check_lossless(verify, *pair, k)


def printed(gamma: Fraction) -> Any:
    """Alg. 2 as printed, with the residual of Eq. 5 at any γ."""

    def verify(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        for x in tokens:
            if coin.flip(min(1, target[x] / (gamma * draft[x]))):
                return x
        once = passes(target, draft, gamma)
        accepted = 1 - (1 - once) ** len(tokens)
        if once == 0:
            return coin.draw(target)
        left = [(t - min(d, t / gamma) * accepted / once) / (1 - accepted) for t, d in zip(target, draft, strict=True)]
        return coin.draw(left)

    return verify


@given(pair=pairs(3), k=st.integers(2, 3), gamma=st.fractions(Fraction(1, 2), 3, max_denominator=8))
@example(pair=(exact([1, 0]), HALF), k=2, gamma=Fraction(1))
@example(pair=(exact(["1/4", "3/4"]), HALF), k=2, gamma=Fraction(1))
@settings(max_examples=120)
def test_the_exact_condition_is_when_algorithm_2_is_lossless(pair: Any, k: int, gamma: Fraction) -> None:
    """max over t > 0 of min(d/t, 1/γ)·p_acc ≤ β, against the judge; f(γ) ≤ 0 implies it and is not implied."""
    target, draft = pair
    once = passes(target, draft, gamma)
    accepted = 1 - (1 - once) ** k
    condition = once == 0 or all(
        min(d / t, 1 / gamma) * accepted <= once for t, d in zip(target, draft, strict=True) if t
    )
    assert bool(check_lossless(printed(gamma), target, draft, k)) == condition
    if f_as_printed(target, draft, k, gamma) <= 0:
        assert condition
    elif condition and gamma >= 1:
        # Where f(γ) > 0 and K-SEQ is valid all the same, it accepts what it accepts at γ*: nothing is gained.
        assert accepted == p_acc(target, draft, k)


def test_valid_without_f_below_zero() -> None:
    target = exact([1, 0])
    assert f(target, HALF, 2, 1) == Fraction(1, 4)
    assert check_lossless(printed(Fraction(1)), target, HALF, 2)
    assert p_acc(target, HALF, 2) == Fraction(3, 4)


@given(pair=pairs(3), k=st.integers(1, 3), share=st.fractions(0, 1, max_denominator=4))
@example(pair=(HALF, HALF), k=2, share=Fraction(1))
@settings(max_examples=100)
def test_the_ratio_of_theorem_2_holds_up_to_k(pair: Any, k: int, share: Fraction) -> None:
    """p_acc ≥ (1 − (1 − 1/k)^k)·α* for γ ∈ [γ*, k]; the optimum by all 2^V cuts."""
    target, draft = pair
    least = gamma_star(target, draft, k)
    gamma = least + share * (k - least)
    ratio = 1 - (1 - Fraction(1, k)) ** k
    best = optimum(target, independent_drafts(draft, k))
    accepted = p_acc(target, draft, k, gamma)
    assert ratio * best <= accepted <= acceptance(target, draft, k, gamma) <= best


def test_the_ratio_of_theorem_2_fails_beyond_k() -> None:
    accepted = p_acc(HALF, HALF, 2, 4)
    assert accepted == Fraction(7, 16)
    assert optimum(HALF, independent_drafts(HALF, 2)) == 1
    assert accepted < 1 - Fraction(1, 4)  # 3/4 at γ = k = 2, where it holds with equality
    assert p_acc(HALF, HALF, 2, 2) == Fraction(3, 4)


@given(pair=pairs(), k=counts())
def test_only_tests_accept_where_f_is_zero(pair: Any, k: int) -> None:
    """Erratum g: at γ* Theorem 2's ≥ is =. With γ* rounded up by less than 2^-64, to within k·2^-64.

    What is accepted by no test is at most −f(γ), and f changes by at most k + 1 for a change of 1 in γ.
    """
    gamma = gamma_star(*pair, k)
    added = acceptance(*pair, k) - p_acc(*pair, k)
    assert 0 <= added <= -f_as_printed(*pair, k, gamma) <= (k + 1) * WIDTH or gamma == 1
    if f_as_printed(*pair, k, gamma) == 0:
        assert added == 0


@given(pair=pairs(3), k=st.integers(1, 3), more=st.fractions(0, 3, max_denominator=4))
@settings(max_examples=60)
def test_closed_forms_are_the_enumeration_at_every_gamma(pair: Any, k: int, more: Fraction) -> None:
    target, draft = pair
    gamma = gamma_star(target, draft, k) + more
    coupling = joint(
        lambda coin: draw_independent(coin, draft, k), lambda coin, x: k_sequential.emit(coin, x, target, draft, gamma)
    )
    assert coupling.test_acceptance() == p_acc(target, draft, k, gamma)
    assert coupling.acceptance() == acceptance(target, draft, k, gamma)


def test_above_gamma_star_more_is_accepted_than_tests_accept() -> None:
    assert gamma_star(HALF, HALF, 2) == 1
    assert p_acc(HALF, HALF, 2) == acceptance(HALF, HALF, 2) == 1
    assert p_acc(HALF, HALF, 2, 2) == Fraction(3, 4)
    assert acceptance(HALF, HALF, 2, 2) == Fraction(15, 16)


@pytest.mark.parametrize("gamma", [1, "5/4", 1.25, Fraction(1, 2), 0.5])
def test_a_gamma_below_gamma_star_is_refused_with_its_f(gamma: Any) -> None:
    target, draft = exact(["1/2", "1/2", 0, 0]), exact([Fraction(1, 4)] * 4)  # γ* = 3/2
    value = f(target, draft, 2, gamma)
    said = rf"K-SEQ needs γ ≥ 1 with f\(γ\) ≤ 0; γ = {Fraction(gamma)} has f\(γ\) = {value}; take gamma_star"
    with pytest.raises(ValueError, match=said):
        k_sequential.verify(None, (0, 1), target, draft, gamma)  # type: ignore[arg-type]
    for form in (acceptance, p_acc):
        with pytest.raises(ValueError, match=said):
            form(target, draft, 2, gamma)


def test_floats_take_their_own_gamma_star_back() -> None:
    """f as floats compute it is ≤ 0 at the γ* that floats return: no caller is refused for a rounding."""
    rng = np.random.default_rng(1)
    for k in (2, 3, 8):
        targets, drafts = (proportional_to(rng.random((200, 6)) ** 3) for _ in range(2))
        gammas = gamma_star(targets, drafts, k)
        assert p_acc(targets, drafts, k, gammas).tolist() == p_acc(targets, drafts, k).tolist()
        assert acceptance(targets, drafts, k, k).shape == (200,)
        assert (f(targets, drafts, k, gammas) <= 0).all()
        # 2^-46 below, f is above 0 by more than its rounding.
        assert ((f(targets, drafts, k, gammas * (1 - 2.0**-46)) > 0) | (gammas == 1)).all()
        for target, draft, gamma in zip(targets, drafts, gammas, strict=True):
            # A row alone may be summed in another order than in its batch. Both γ have |f| ≤ k(V + 4)·2^-52, and p_acc
            # is within |f| of its value at the root.
            own = p_acc(target, draft, k)
            assert p_acc(target, draft, k, gamma_star(target, draft, k)) == own
            assert abs(p_acc(target, draft, k, gamma) - own) <= 2 * k * (6 + 4) * 2.0**-52
        with pytest.raises(ValueError, match="K-SEQ needs γ ≥ 1"):
            p_acc(targets, drafts, k, 1 + (gammas - 1) * (1 - 1e-9))


def test_a_gamma_star_from_another_order_of_summation_is_taken() -> None:
    """The same two laws with their tokens permuted: f at the other's γ* may come out a rounding above 0."""
    rng = np.random.default_rng(2)
    refused_without_slack = 0
    for _ in range(100):
        target, draft = (proportional_to(rng.random(30) ** 3) for _ in range(2))
        order = rng.permutation(30)
        gamma = gamma_star(target[order], draft[order], 4)
        refused_without_slack += bool(f(target, draft, 4, gamma) > 0)
        assert abs(p_acc(target, draft, 4, gamma) - p_acc(target, draft, 4)) <= 2 * 4 * (30 + 4) * 2.0**-52
    assert refused_without_slack > 0


def test_a_batch_takes_one_gamma_for_each_row() -> None:
    targets, drafts = exact([["1/2", "1/2"], [1, 0]]), np.stack([HALF, HALF])
    gammas = gamma_star(targets, drafts, 2)
    assert gammas.tolist() == [1, Fraction(3, 2)]
    assert f(targets, drafts, 2, gammas).tolist() == [0, 0]
    assert beta(targets, drafts, gammas).tolist() == [1, Fraction(1, 2)]
    assert p_acc(targets, drafts, 2, gammas).tolist() == [1, Fraction(3, 4)]
    with pytest.raises(ValueError, match="K-SEQ needs γ ≥ 1"):
        p_acc(targets, drafts, 2, Fraction(5, 4))


@pytest.mark.parametrize(
    ("tokens", "error", "said"),
    [
        ((), ValueError, r"at least 1 drafted token\(s\) are needed; got 0"),
        ((2,), ValueError, "must lie in 0..1; got 2"),
        ((-1,), ValueError, "must lie in 0..1; got -1"),
        ((0, 1), ValueError, "the draft puts no mass on the drafted token 1; report the distribution they were drawn"),
        ((True,), TypeError, "a drafted token is an index; got True of type bool"),
        ((0.0,), TypeError, "a drafted token is an index; got 0.0 of type float"),
    ],
)
def test_what_is_no_draft_is_refused(tokens: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        k_sequential.verify(None, tokens, ["1/2", "1/2"], [1, 0])  # type: ignore[arg-type]


@pytest.mark.parametrize("gamma", ["4/3", "3/2", 2])
def test_floats_emit_at_a_given_gamma_as_fractions_do(gamma: Any) -> None:
    """A mass is a sum over at most 16 paths, fewer than 32 roundings, and γ moves by 2^-50 at most."""
    target, draft = exact(["1/2", "1/4", "1/4"]), exact(["1/2", "1/8", "3/8"])

    def laws_of(t: Any, d: Any, at: Any) -> Any:
        return joint(lambda coin: draw_independent(coin, d, 2), lambda coin, x: k_sequential.emit(coin, x, t, d, at))

    exactly, rounded = (
        laws_of(target, draft, gamma),
        laws_of(*(x.astype(float) for x in (target, draft)), float(Fraction(gamma))),
    )
    assert exactly.test_acceptance() == p_acc(target, draft, 2, gamma)
    assert abs(rounded.test_acceptance() - exactly.test_acceptance()) <= 2.0**-46
    for token, mass in exactly.emitted().items():
        assert abs(rounded.emitted()[token] - mass) <= 2.0**-46


@pytest.mark.parametrize("k", [1, 3, 32, 33, 1_000])
def test_that_no_test_accepts_is_the_same_in_every_number_type(k: int) -> None:
    """To a few roundings of the chance, also where 1 − chance rounds to 1. Control: its power as it is written."""
    chances = [Fraction(1, 2**60), Fraction(0.0003), Fraction(3, 4), Fraction(1)]
    true = [(1 - chance) ** k for chance in chances]
    assert [none_of(chance, k) for chance in chances] == true == none_of(exact(chances), k).tolist()
    rounded = np.array([float(value) for value in true])
    floats = np.array(chances, dtype=float)
    for found in (none_of(floats, k), np.array([none_of(chance, k) for chance in floats.tolist()])):
        assert np.abs(found - rounded).max() <= (8 if k > 32 else k) * 2.0**-53
    written = np.abs((1 - floats) ** 1_000 - [float((1 - chance) ** 1_000) for chance in chances]).max()
    assert written > 8 * 2.0**-53
    torch = pytest.importorskip("torch")
    assert np.abs(none_of(torch.from_numpy(floats), k).numpy() - rounded).max() <= (8 if k > 32 else k) * 2.0**-53


def test_gammas_from_the_root_of_f_on_are_feasible() -> None:
    """f(γ) = 1 − γ/2 − (1/2)^k for the first k drafts of this pair: the roots are 1 and 3/2."""
    pair = exact([1, 0]), exact(["1/2", "1/2"])
    gammas = [Fraction(1), Fraction(149, 100), Fraction(3, 2), Fraction(2)]
    assert [f(*pair, 2, gamma) <= 0 for gamma in gammas] == [False, False, True, True]
    assert f(*pair, 1, Fraction(1)) <= 0
