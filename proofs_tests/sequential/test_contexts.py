"""Draws that have their own laws: false alarms at most alpha, bugs that are found, logs that add up."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from proofs_tests.sequential.sequences import most_alarms
from proofs_tests.sequential.token_features import centred, likelihood_ratios
from spec_math.arrays import proportional_to
from spec_math.audit import ZOO, NotRejected, contexts_test, product_of_evidence
from spec_math.chance import law as law_of
from spec_math.chance import sample
from spec_math.sequential import bets
from spec_math.sequential.bank import BUGS
from spec_math.sequential.contexts import ContextsTest, Game, context_stopping_times, every_bet, play_many
from spec_math.zoo import toy

REDRAWN = next(bug for bug in BUGS if bug.name == "M11")


# The wealth of every bet.


def test_log_wealths_are_the_exact_ones() -> None:
    rng = np.random.default_rng(1)
    test = contexts_test(1e-9)
    wealth = [Fraction(1)] * len(test.names)
    for _ in range(30):
        t, d = (proportional_to(rng.integers(1, 9, size=4).tolist()) for _ in range(2))
        x = int(rng.integers(0, 4))
        test.update(x, t, d)
        gaps, ratios = centred(t, d)[:, x], likelihood_ratios(t, d)[:, x]
        factors = [bets.bet(Fraction(stake), sign, gap, 0) for gap in gaps for sign in (1, -1) for stake in bets.STAKES]
        wealth = [w * factor for w, factor in zip(wealth, [*factors, *ratios], strict=True)]
    exactly = np.array([math.log(w) if w else -math.inf for w in wealth])
    assert (np.isinf(exactly) == np.isinf(test.log_wealths)).all()
    kept = np.isfinite(exactly)
    # A factor 1 ± λ·gap may be as small as 1/36² here, and is off by 2^-48 at most (above); 30 of them.
    assert np.abs(exactly[kept] - test.log_wealths[kept]).max() <= 30 * 36**2 * 2.0**-48
    assert len(test.names) == len(wealth)


# Validity and power by simulation.


def softmax(rows: Any) -> Any:
    masses = np.exp(rows - rows.max(axis=-1, keepdims=True))
    return masses / masses.sum(axis=-1, keepdims=True)


def contexts(number: int, size: int, seed: int) -> tuple[Any, Any]:
    """Contexts as the corpus has them: softmax(1.5·randn) for target and draft."""
    rng = np.random.default_rng(seed)
    return softmax(1.5 * rng.standard_normal((number, size))), softmax(1.5 * rng.standard_normal((number, size)))


TARGETS, DRAFTS = contexts(200, 5, 0)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_false_alarms_are_at_most_alpha_whenever_one_looks(alpha: float) -> None:
    """100,000 nulls, each of 128 draws in contexts of their own; benchmarks/sequential.py goes further."""
    alarms = (
        context_stopping_times(contexts_test(alpha), (TARGETS, DRAFTS), TARGETS, 100_000, 128, np.random.default_rng(0))
        > 0
    ).sum()
    assert most_alarms(100_000, alpha) / 10 <= alarms <= most_alarms(100_000, alpha)


def test_the_same_harness_finds_bets_on_the_wrong_mean() -> None:
    """Control: features less their means under the draft alarm on the target itself."""
    gaps, ratios = every_bet(TARGETS, DRAFTS)
    wrong = gaps + np.einsum("cv,cvf->cf", TARGETS - DRAFTS, gaps)[:, None, :]
    times, sums = np.zeros(2_000, dtype=np.int64), np.cumsum(TARGETS, axis=-1)
    game = Game(np.clip(wrong, -1, 1), ratios, np.array(bets.STAKES), 0.0, bets.log_weights(True))
    play_many(np.random.default_rng(2), sums / sums[:, -1:], game, math.log(100), 256, times)
    assert (times > 0).sum() > 3 * most_alarms(2_000, 0.01)


@pytest.mark.parametrize("size", [5, 32])
def test_redrawing_from_the_target_is_found_within_1000_draws(size: int) -> None:
    """M11 at alpha = 1e-6. The mean of 400 runs, plus 5 standard errors: one chance in 3 million to fail by luck."""
    targets, drafts = contexts(200, size, size)
    redrawn = np.array([REDRAWN.emitted(t, d) for t, d in zip(targets, drafts, strict=True)])
    times = context_stopping_times(
        contexts_test(1e-6), (targets, drafts), redrawn, 400, 20_000, np.random.default_rng(0)
    )
    assert (times > 0).all()
    assert times.mean() + 5 * times.std() / 20 <= 1_000


# The test as its users have it.


def test_no_control_is_rejected_token_by_token() -> None:
    """C1 to C7 run as programs: every token with the row of its own prefix, at alpha = 1e-6."""
    rng = np.random.default_rng(4)
    for specimen in (one for one in ZOO if one.name.startswith("C")):
        test = contexts_test(1e-6)
        tokens: list[int] = []
        targets: list[Any] = []
        drafts: list[Any] = []
        while len(tokens) < 1_500:
            text = sample(lambda coin, run=specimen.generate: run(coin, ()), rng)  # type: ignore[misc]
            for place, token in enumerate(text):
                tokens.append(token)
                targets.append(specimen.target(text[:place]).astype(float))
                drafts.append(toy.draft(text[:place]).astype(float) if place < toy.LOOKAHEAD else targets[-1])
        test.update_many(tokens, np.array(targets), np.array(drafts))
        assert isinstance(test.verdict, NotRejected), specimen.name


def test_bugs_of_the_zoo_are_found_token_by_token() -> None:
    """The same, for bugs of the verifier: the law of a token after what came before it in the block."""
    rng = np.random.default_rng(4)
    for name in ("M7", "M13", "M22", "M48, constant"):
        specimen = next(one for one in ZOO if one.name == name)
        test = contexts_test(1e-6)
        while test.verdict and test.samples < 6_000:
            text = sample(lambda coin, run=specimen.generate: run(coin, ()), rng)  # type: ignore[misc]
            for place, token in enumerate(text):
                draft = toy.draft(text[:place]) if place < toy.LOOKAHEAD else None
                test.update(token, specimen.target(text[:place]), draft)
        assert not test.verdict, name


def test_a_step_of_block_verification_is_lawful_at_every_position_it_reaches() -> None:
    """Given that a block got as far as a position, its token there has the target's law: bets may go block by block."""
    specimen = next(one for one in ZOO if one.name == "C6")
    laws: dict[tuple[int, ...], dict[int, Fraction]] = {}
    for text, mass in law_of(lambda coin: specimen.generate(coin, ())).items():  # type: ignore[misc]
        for place, token in enumerate(text):
            row = laws.setdefault(text[:place], {})
            row[token] = row.get(token, Fraction(0)) + mass
    for prefix, row in laws.items():
        reached = sum(row.values())
        assert [row.get(token, 0) / reached for token in range(5)] == toy.target(prefix).tolist()


def test_workers_logs_add_up() -> None:
    rng = np.random.default_rng(0)
    whole, parts = contexts_test(0.01), [contexts_test(0.01) for _ in range(3)]
    for part in parts:
        rows = softmax(rng.standard_normal((2, 50, 8)))
        tokens = rng.integers(0, 8, size=50)
        whole.update_many(tokens, *rows)
        part.update_many(tokens, *rows)
    merged = contexts_test(0.01)
    for part in reversed(parts):
        merged.merge(part)
    assert merged.samples == whole.samples == 150
    # Sums in another order: 150 logs of factors, each below 10 in size where finite.
    kept = np.isfinite(whole.log_wealths)
    assert np.abs(merged.log_wealths[kept] - whole.log_wealths[kept]).max() <= 150 * 10 * 2.0**-52
    assert product_of_evidence([part.log_evidence for part in parts]) == sum(part.log_evidence for part in parts)
    with pytest.raises(ValueError, match="same tolerance"):
        merged.merge(contexts_test(0.01, 0.1))
    with pytest.raises(ValueError, match="beside"):
        product_of_evidence([math.inf, -math.inf])


def test_a_token_without_mass_refutes_the_target_and_not_the_tolerance() -> None:
    strict, lenient = contexts_test(1e-9), contexts_test(1e-9, 0.01)
    for test in (strict, lenient):
        test.update(1, [1, 0], [0, 1])
    assert strict.evidence == math.inf
    assert not strict.verdict
    assert "no mass" in strict.verdict.reason  # type: ignore[union-attr]
    assert lenient.verdict


def refused(test: ContextsTest, call: Any, error: type[Exception], match: str) -> None:
    before = test.log_wealths.copy()
    with pytest.raises(error, match=match):
        call(test)
    assert (test.log_wealths == before).all()
    assert test.samples == 0


def test_the_entrance_refuses_and_takes_nothing_in() -> None:
    half, nan = np.full((2, 2), 0.5), np.array([[0.5, 0.5], [0.5, np.nan]])
    for call, error, match in (
        (lambda test: test.update(2, ["1/2", "1/2"]), ValueError, r"tokens must lie in 0\.\.1"),
        (lambda test: test.update("a", ["1/2", "1/2"]), TypeError, "a token is an index"),
        (lambda test: test.update(0, ["1/2", "1/3"]), ValueError, "sum to exactly 1"),
        (
            lambda test: test.take([0, 0], half, nan),
            ValueError,
            "row 1 of 2 has a mass that is negative, NaN or infinite",
        ),
        (lambda test: test.take([0, 0], -half, half), ValueError, "row 0 of 2 has a mass that is negative"),
        (lambda test: test.take([0, 0], 0 * half, half), ValueError, "row 0 of 2 has no mass at all"),
        (lambda test: test.take([0], half, half), ValueError, r"draws \[n\] need targets and drafts"),
    ):
        refused(contexts_test(0.01), call, error, match)
    with pytest.raises(ValueError, match=r"tolerance in total variation lies in \[0, 1\)"):
        contexts_test(0.01, 1)
