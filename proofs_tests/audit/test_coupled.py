"""The same uniforms into reference and kernel: what differs is found and placed; broken streams need the other leg."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from proofs_tests.block_level.column_coin import replay_row
from spec_math.arrays import Array
from spec_math.audit import ZOO, coupled_sample_size, coupled_test, identity_test
from spec_math.audit.coupled import watch
from spec_math.block_level.lossless import emitted_law, target_law
from spec_math.chance import Coin
from spec_math.zoo import toy
from spec_math.zoo.toy import by_ratio, ratio

TARGETS = [row.astype(float) for row in toy.TARGET]
DRAFTS = [row.astype(float) for row in toy.DRAFT]
RIGHT = by_ratio()


def reference(coin: Coin, tokens: tuple[int, ...]) -> tuple[int, ...]:
    return RIGHT(coin, tokens, TARGETS[: len(tokens) + 1], DRAFTS)


def kernel_of(verify: Any) -> Any:
    """A kernel on injected uniforms [L + 1]: column i the coin of position i, the last the draw."""

    def kernel(uniforms: Sequence[float], tokens: tuple[int, ...]) -> tuple[int, ...]:
        return replay_row(lambda coin: verify(coin, tokens, TARGETS[: len(tokens) + 1], DRAFTS), uniforms)

    return kernel


def drafts(rng: Any) -> tuple[int, ...]:
    return tuple(int(rng.choice(5, p=row / row.sum())) for row in DRAFTS)


def runs_until_found(verify: Any, rng: Any, most: int = 20_000) -> int:
    test = coupled_test(reference, kernel_of(verify), slack=1e-9, columns=True)
    while test.first is None and test.samples < most:
        test.update(rng.random(3).tolist(), drafts(rng))
    return test.samples


def one_percent_more(t: Array, d: Array, x: int) -> Any:
    return min(1.0, ratio(t, d, x) + 0.01)


def one_percent_of_it_more(t: Array, d: Array, x: int) -> Any:
    return min(1.0, 1.01 * ratio(t, d, x))


@pytest.mark.parametrize("chance", [one_percent_more, one_percent_of_it_more], ids=["+ 0.01", "x 1.01"])
def test_an_acceptance_one_percent_too_high_is_found_within_1000_draws(chance: Any) -> None:
    """The mean of 60 searches, plus 5 standard errors of a geometric law, whose deviation is at most its mean."""
    rng = np.random.default_rng(0)
    found = [runs_until_found(by_ratio(chance), rng) for _ in range(60)]
    assert np.mean(found) * (1 + 5 / math.sqrt(60)) <= 1_000


def test_a_right_kernel_never_differs_and_the_first_difference_is_placed() -> None:
    rng = np.random.default_rng(1)
    test = coupled_test(reference, kernel_of(RIGHT), columns=True)
    for _ in range(2_000):
        test.update(rng.random(3).tolist(), drafts(rng))
    assert test.verdict
    assert (test.differences, test.roundings, test.samples) == (0, 0, 2_000)
    assert 0 < test.nearest < 0.01

    wrong = coupled_test(reference, kernel_of(by_ratio(one_percent_more)), columns=True)
    share = ratio(TARGETS[0], DRAFTS[0], 2)
    wrong.update([share + 0.005, 0.9, 0.5], (2, 1))
    assert not wrong.verdict
    assert wrong.first is not None
    assert (wrong.first.decision, wrong.first.uniform) == (0, share + 0.005)
    assert wrong.first.distance == pytest.approx(0.005, abs=2**-50)
    assert "as if flip(" in wrong.verdict.reason  # type: ignore[union-attr]


def test_a_wrong_residual_is_placed_at_the_draw() -> None:
    def from_the_target(t: Array, _d: Array, _x: int) -> Array:
        return t

    test = coupled_test(reference, kernel_of(by_ratio(rest=from_the_target)), columns=True)
    # Token 2 is rejected; the residual has no mass on it, and the target's running sums are others.
    test.update([0.9, 0.5, 0.9], (2, 1))
    test.update([0.9, 0.5, 0.8], (2, 1))
    assert test.first is not None
    assert test.first.decision == 1
    assert str(test.first.asked).startswith("draw of 5")


def test_what_rounding_explains_is_counted_and_forgiven() -> None:
    """A kernel whose ratio is float32, on uniforms put at the threshold."""

    def rounded(t: Array, d: Array, x: int) -> float:
        return float(np.float32(ratio(t, d, x)))

    share = ratio(TARGETS[0], DRAFTS[0], 2)
    between = (share + rounded(TARGETS[0], DRAFTS[0], 2)) / 2
    lenient = coupled_test(reference, kernel_of(by_ratio(rounded)), slack=2.0**-24, columns=True)
    strict = coupled_test(reference, kernel_of(by_ratio(rounded)), columns=True)
    for test in (lenient, strict):
        test.update([between, 0.9, 0.5], (2, 1))
    assert (lenient.roundings, lenient.differences) == (1, 0)
    assert lenient.verdict
    assert not strict.verdict


def test_a_kernel_that_breaks_differs() -> None:
    def broken(_uniforms: Any, _tokens: Any) -> Any:
        raise IndexError("token 7")

    test = coupled_test(reference, broken, columns=True)
    test.update([0.1, 0.1, 0.1], (0, 1))
    assert test.first is not None
    assert test.first.kernel == "IndexError: token 7"
    assert test.first.decision is None


def test_exact_uniforms_give_exact_distances() -> None:
    third = Fraction(1, 3)
    outcome, decisions = watch(
        lambda coin: (coin.flip(third), coin.draw([third, Fraction(0), 2 * third])), [Fraction(1, 4), Fraction(1, 2)]
    )
    assert outcome == (True, 2)
    assert [decision.distance() for decision in decisions] == [Fraction(1, 12), Fraction(1, 6)]
    assert decisions[1].neighbours() == [0]
    assert decisions[1].distance(0) == Fraction(1, 6)
    forced, _ = watch(lambda coin: coin.draw([third, 2 * third]), [Fraction(1, 4)], forced={0: 1})
    assert forced == 1


def test_runs_for_a_power() -> None:
    """(1 − p)^n is below 1 − power at n and not at n − 1; a chance per run found in n runs needs no more than n."""
    for chance, power in ((0.01, 0.99), (1e-4, 0.99), (0.3, 0.5)):
        n = coupled_sample_size(chance, power)
        assert (1 - chance) ** n <= 1 - power < (1 - chance) ** (n - 1)
        promised = coupled_test(reference, kernel_of(RIGHT)).promise(n, power).detectable
        assert promised is not None
        assert promised <= chance * (1 + 1e-12)
    assert coupled_sample_size(0.01, 0.99) == 459


# Shared streams of random numbers.


STREAMS = [specimen for specimen in ZOO if specimen.contract == "replay" and specimen.modelled]


@pytest.mark.parametrize("specimen", STREAMS, ids=lambda specimen: specimen.name)
def test_a_broken_stream_is_found_by_what_it_emits(specimen: Any) -> None:
    """With injected uniforms the code is the reference (`fresh` has its law), so coupling sees nothing; draws do.

    The black-box leg: texts of three tokens from the exact law of the code with its own stream, at alpha = 1e-6.
    """
    wanted = target_law(specimen.target, toy.HORIZON)
    assert emitted_law(specimen.fresh, specimen.target, toy.HORIZON, specimen.rounds) == wanted
    emitted = emitted_law(specimen.generate, specimen.target, toy.HORIZON, specimen.rounds)
    texts = list(product(range(5), repeat=toy.HORIZON))
    test = identity_test([wanted.get(text, Fraction(0)) for text in texts], 1e-6)
    masses = np.array([float(emitted.get(text, 0)) for text in texts])
    rng = np.random.default_rng(0)
    while test.verdict and test.samples < 3_000_000:
        test.update_many(rng.choice(len(texts), size=20_000, p=masses / masses.sum()))
    assert not test.verdict


class Engine:
    """A verifier that is right on the uniforms it is given, beside a generator that it seeds anew at every step."""

    def __init__(self) -> None:
        self.stream = np.random.default_rng(7)

    def kernel(self, uniforms: Sequence[float], tokens: tuple[int, ...]) -> tuple[int, ...]:
        return kernel_of(RIGHT)(uniforms, tokens)

    def emit(self) -> tuple[int, ...]:
        """As it runs by itself: the numbers that draw the drafts verify them as well."""
        same = self.stream.random(3).tolist()
        tokens = tuple(int(np.searchsorted(np.cumsum(row), u)) for row, u in zip(DRAFTS, same, strict=False))
        return self.kernel(same, tokens)


def test_coupling_is_blind_to_a_shared_stream_and_the_black_box_leg_is_not() -> None:
    engine, rng = Engine(), np.random.default_rng(2)
    coupled = coupled_test(reference, engine.kernel, columns=True)
    for _ in range(1_000):
        coupled.update(rng.random(3).tolist(), drafts(rng))
    assert coupled.verdict
    assert "a kernel's own stream" in str(coupled)
    black_box = identity_test(toy.TARGET[0], 1e-6, toy.DRAFT[0])
    while black_box.verdict and black_box.samples < 2_000:
        black_box.update(engine.emit()[0])
    assert not black_box.verdict
