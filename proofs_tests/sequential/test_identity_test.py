"""The identity test: mean 1 exactly, false alarms at most alpha under continuous looking, counts that may be merged."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from fractions import Fraction
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests import strategies
from proofs_tests.sequential.identity_cases import DRAFT, SKEWED
from proofs_tests.sequential.sequences import mean, sequences
from spec_math.arrays import exact
from spec_math.audit import bank, identity_test
from spec_math.sequential.dirichlet import KAPPAS, evidence, log_evidences
from spec_math.verdict import Lossy


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_mean_of_the_dirichlet_evidence_is_one(length: int) -> None:
    for law in (SKEWED, DRAFT, exact(["1/3", "2/3", 0])):
        assert mean(law, length, lambda tokens, law=law: evidence(law, tokens)) == 1


@given(strategies.laws(3))
@settings(max_examples=25)
def test_mean_of_the_dirichlet_evidence_is_one_for_any_law(law: object) -> None:
    assert mean(list(law), 3, lambda tokens: evidence(law, tokens, kappas=(1, 7))) == 1  # type: ignore[call-overload]


def test_evidence_after_any_draws_has_its_own_value_as_mean() -> None:
    """A martingale: one draw more does not move the mean, whatever was drawn before."""
    for past, _ in sequences(SKEWED, 3):
        now = evidence(SKEWED, past)
        assert sum(SKEWED[x] * evidence(SKEWED, (*past, x)) for x in range(4)) == now


def test_mean_of_the_banks_likelihood_ratios_is_one() -> None:
    for law in bank(SKEWED, DRAFT).values():
        ratios = [law[x] / SKEWED[x] for x in range(4)]
        assert mean(SKEWED, 3, lambda tokens, ratios=ratios: prod(ratios[x] for x in tokens)) == 1


def stopped(tokens: tuple[int, ...], goal: Fraction) -> Fraction:
    """The evidence where it first reaches a goal, or at the end."""
    values = [evidence(SKEWED, tokens[:n], kappas=(1, 10)) for n in range(len(tokens) + 1)]
    return next((value for value in values if value >= goal), values[-1])


@pytest.mark.parametrize("goal", [Fraction(11, 10), Fraction(3, 2), Fraction(3)])
def test_stopping_where_one_likes_keeps_the_mean_and_ville_holds_exactly(goal: Fraction) -> None:
    assert mean(SKEWED, 4, lambda tokens: stopped(tokens, goal)) == 1
    ever = mean(SKEWED, 4, lambda tokens: Fraction(stopped(tokens, goal) >= goal))
    assert 0 < ever <= 1 / goal


def test_products_of_shards_have_mean_one_and_the_larger_of_two_does_not() -> None:
    """Two independent shards of two draws; the larger evidence of both is the control."""

    def both(tokens: tuple[int, ...]) -> tuple[Fraction, Fraction]:
        return evidence(SKEWED, tokens[:2], kappas=(1,)), evidence(SKEWED, tokens[2:], kappas=(1,))

    assert mean(SKEWED, 4, lambda tokens: prod(both(tokens))) == 1
    assert mean(SKEWED, 4, lambda tokens: evidence(SKEWED, tokens, kappas=(1,))) == 1
    assert mean(SKEWED, 4, lambda tokens: max(both(tokens))) > Fraction(4, 3)


def test_with_the_multinomial_coefficient_the_mean_is_no_longer_one() -> None:
    """Control: the form for counts in place of the form for sequences counts every order of the same draws."""

    def coefficient(tokens: tuple[int, ...]) -> int:
        return factorial(len(tokens)) // prod(factorial(c) for c in Counter(tokens).values())

    assert mean(SKEWED, 3, lambda tokens: coefficient(tokens) * evidence(SKEWED, tokens)) > 2


def exact_log_evidence(target: object, alternatives: dict[str, object], tokens: tuple[int, ...]) -> float:
    """The library's mixture in Fractions, from the definition: gamma functions as products, no step formula."""

    def rising(start: Fraction, steps: int) -> Fraction:
        return prod((start + j for j in range(steps)), start=Fraction(1))

    counts = Counter(tokens)
    by_target = prod((target[x] for x in tokens), start=Fraction(1))  # type: ignore[index]
    priors = [
        prod((rising(k * target[x], c) for x, c in counts.items()), start=Fraction(1))
        / rising(Fraction(k), len(tokens))  # type: ignore[index]
        for k in KAPPAS
    ]
    mixture = sum(priors) / by_target / len(priors)
    if not alternatives:
        return math.log(mixture)
    ratios = [prod((law[x] for x in tokens), start=Fraction(1)) / by_target for law in alternatives.values()]  # type: ignore[index]
    return math.log((mixture + sum(ratios) / len(ratios)) / 2)


@pytest.mark.parametrize("with_draft", [False, True])
def test_log_evidence_is_the_exact_one(with_draft: bool) -> None:
    """A step has a few roundings and a logarithm, 2^-53 each of numbers below 50 here; 40 draws give 2^-42 at most."""
    rng = np.random.default_rng(3)
    draft = DRAFT if with_draft else None
    test = identity_test(SKEWED, 0.01, draft)
    tokens: tuple[int, ...] = ()
    for token in rng.integers(0, 4, 40).tolist():
        test.update(token)
        tokens = (*tokens, token)
        wanted = exact_log_evidence(SKEWED, bank(SKEWED, draft), tokens)
        assert abs(test.log_evidence - wanted) <= 2**-42
    assert test.evidence == pytest.approx(math.exp(test.log_evidence), rel=2**-50)


@given(st.lists(st.integers(0, 3), max_size=200), st.integers(0, 2**30))
@settings(max_examples=30, deadline=None)
def test_evidence_depends_on_the_counts_alone(tokens: list[int], seed: int) -> None:
    """However the draws came in, one by one, at once, shuffled, or as counts, the evidence has the same bits."""
    together, single, shuffled, counted = (identity_test(SKEWED, 0.01, DRAFT) for _ in range(4))
    together.update_many(np.array(tokens, dtype=int))
    for token in tokens:
        single.update(token)
    shuffled.update_many(np.random.default_rng(seed).permutation(np.array(tokens, dtype=int)))
    counted.update_counts(np.bincount(np.array(tokens, dtype=int), minlength=4))
    assert single.log_evidence == together.log_evidence == shuffled.log_evidence == counted.log_evidence
    assert single.samples == together.samples == counted.samples == len(tokens)
    assert single.alarm == together.alarm


def test_log_evidences_of_many_draws_are_those_of_logarithms_of_gamma() -> None:
    """Both branches of the rising factorial, against 50 digits."""
    mpmath = pytest.importorskip("mpmath")
    mpmath.mp.dps = 50
    shares = np.array([1e-6, 0.1, 0.4, 0.5 - 1e-6])
    for counts in ([2, 33, 400, 1_000], [0, 1, 10**6, 10**6], [40, 0, 0, 3]):
        for kappa, found in zip(KAPPAS, log_evidences(shares, counts).tolist(), strict=True):
            wanted = mpmath.loggamma(kappa) - mpmath.loggamma(kappa + sum(counts))
            for share, c in zip(shares.tolist(), counts, strict=True):
                a = mpmath.mpf(kappa * share)
                wanted += mpmath.loggamma(a + c) - mpmath.loggamma(a) - c * (mpmath.log(a) - mpmath.log(kappa))
            # The largest term of the sum is about n·log(n/κ) < 3e7: 2^-53 of it, for a few terms each.
            assert abs(found - float(wanted)) <= 2.0**-50 * max(1.0, sum(counts) * 15)


def test_a_structural_zero_decides_at_once() -> None:
    test = identity_test(["1/2", "1/2", 0], 1e-9)
    test.update_many([0, 1, 1])
    assert test.verdict
    test.update(2)
    assert (test.alarm, test.log_evidence, test.evidence) == (4, math.inf, math.inf)
    assert isinstance(test.verdict, Lossy)
    assert test.verdict.token == 2
    assert "no mass" in test.verdict.reason
    test.update_many([0] * 10)
    assert test.evidence == math.inf
    counted = identity_test(["1/2", "1/2", 0], 1e-9)
    counted.update_counts([5, 5, 1])
    assert counted.evidence == math.inf


def test_an_alarm_stays() -> None:
    """The verdict is about the largest evidence at a look: what comes later does not take it back."""
    test = identity_test(["1/2", "1/2"], 0.01)
    test.update_many([0] * 60)
    assert not test.verdict
    test.update_many([1, 0] * 5_000)
    test.update_many([1] * 60)
    assert test.log_evidence < 0 < math.log(100) < test.log_peak
    assert not test.verdict


def test_merged_counts_are_one_test() -> None:
    rng = np.random.default_rng(0)
    shards = [rng.integers(0, 4, size=n) for n in (100, 0, 1_000, 37)]
    whole = identity_test(SKEWED, 0.01, DRAFT)
    for shard in shards:
        whole.update_many(shard)
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        merged = identity_test(SKEWED, 0.01, DRAFT)
        for place in order:
            worker = identity_test(SKEWED, 0.01, DRAFT)
            worker.update_many(shards[place])
            merged.merge(worker)
        assert merged.log_evidence == whole.log_evidence
        assert merged.samples == whole.samples
        assert (merged.counts == whole.counts).all()
    with pytest.raises(ValueError, match="only tests of the same target"):
        whole.merge(identity_test(DRAFT, 0.01, SKEWED))


def test_a_test_that_was_put_away_goes_on_as_if_nothing_had_happened() -> None:
    draws = np.random.default_rng(9).integers(0, 4, size=900)
    straight, paused = identity_test(SKEWED, 0.01, DRAFT), identity_test(SKEWED, 0.01, DRAFT)
    straight.update_many(draws)
    for part in np.split(draws, [100, 101, 700]):
        paused.update_many(part)
        paused = pickle.loads(pickle.dumps(paused))
    assert (paused.log_evidence, paused.samples, paused.alarm) == (straight.log_evidence, 900, straight.alarm)
    # The running logs are folded at other places: 900 factors, a few units of 2^-53 each of numbers below 100.
    assert abs(paused.log_peak - straight.log_peak) <= 900 * 4 * 100 * 2.0**-53


def test_a_workers_own_peak_is_not_merged() -> None:
    """Two lines of looking are two chances: the merged test keeps its own line and looks once after the batch."""
    worker = identity_test(["1/2", "1/2"], 0.01)
    worker.update_many([0] * 40 + [1] * 40)
    merged = identity_test(["1/2", "1/2"], 0.01)
    merged.merge(worker)
    assert worker.alarm is not None
    assert merged.alarm is None
    assert merged.log_evidence == worker.log_evidence


def test_pools_keep_the_mean_at_one_and_impossible_tokens_apart() -> None:
    target = exact(["1/2", "1/4", "1/4", 0])
    test = identity_test(target, 0.01, pools=[0, 1, 1, 1])
    test.update_many([0, 1, 2] * 5)
    assert test.verdict
    coarse = identity_test(["1/2", "1/2"], 0.01)
    coarse.update_many([0, 1, 1] * 5)
    # The bank's two laws are of the full law in one, of pools in the other: compare the mixtures alone.
    wanted = log_evidences([0.5, 0.5], [5, 10])
    assert (log_evidences(test._shares, test._running.pooled) == wanted).all()  # type: ignore[attr-defined]
    test.update(3)
    assert test.evidence == math.inf
    assert "pools" in str(test)


def test_a_float_law_is_tested_as_what_is_drawn_from_it() -> None:
    """float32 masses that sum to 1 + 2^-17: the coin divides by the sum, and so does the test."""
    masses = np.array([0.5, 0.25, 0.25 + 2.0**-17], dtype=np.float32)
    test = identity_test(masses, 0.01)
    assert test.target.sum() == 1
    assert test.target[2] == (0.25 + 2.0**-17) / (1 + 2.0**-17)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: identity_test(["1/2", "1/3"], 0.01), ValueError, "sum to exactly 1"),
        (
            lambda: identity_test(["1/2", "1/2"], 0),
            ValueError,
            r"alpha, the rate of false alarms, must lie in \(0, 1\)",
        ),
        (lambda: identity_test(["1/2", "1/2"], 1.0), ValueError, "alpha"),
        (lambda: identity_test([["1/2", "1/2"]], 0.01), ValueError, r"one distribution, of shape \[V\]"),
        (lambda: identity_test(["1/2", "1/2"], 0.01, pools=[0]), ValueError, "pools must be whole numbers"),
        (lambda: identity_test(["1/2", "1/2"], 0.01).update(2), ValueError, r"tokens must lie in 0\.\.1; got 2"),
        (lambda: identity_test(["1/2", "1/2"], 0.01).update(-1), ValueError, r"tokens must lie in 0\.\.1; got -1"),
        (lambda: identity_test(["1/2", "1/2"], 0.01).update(True), TypeError, "a token is an index; got True"),
        (lambda: identity_test(["1/2", "1/2"], 0.01).update_many([0.5]), TypeError, "tokens are indices"),
        (lambda: identity_test(["1/2", "1/2"], 0.01).update_counts([1, -1]), ValueError, "counts must be whole"),
    ],
)
def test_the_entrance_refuses(call: object, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        call()  # type: ignore[operator]
