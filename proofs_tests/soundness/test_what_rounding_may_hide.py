"""A verifier in bfloat16 that always emitted a token of mass 0 was Lossless(bound=2.5): the allowance had no cap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from spec_math import SCHEMES, Lossless, Lossy, Scheme, check_lossless, check_lossless_block
from spec_math.block_level import chain
from spec_math.distribution import residual
from spec_math.float_allowance import AT_MOST, AT_MOST_HALF, UNIT, Allowance, Level, cap, rounding
from spec_math.verdict import Reason, Undecided, judged

HALVES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


def first_draft(_coin: Any, tokens: Any, _target: Any, _draft: Any) -> int:
    return tokens[0]


def of_mass_zero(_coin: Any, _tokens: Any, target: Any, _draft: Any) -> int:
    return int(np.argmin(np.asarray([float(mass) for mass in target])))


def last_or_target(coin: Any, tokens: Any, target: Any, _draft: Any) -> int:
    """Keeps the last draft with chance 1/8, and draws from the target else."""
    return tokens[-1] if coin.flip(0.125) else coin.draw(target)


def redraws(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
    """The target where the residual belongs."""
    x = tokens[0]
    return x if coin.flip(min(1, target[x] / draft[x])) else coin.draw(target)


@pytest.mark.parametrize("stored", HALVES)
@pytest.mark.parametrize("verifier", [first_draft, of_mass_zero, last_or_target, redraws])
@pytest.mark.parametrize("k", [1, 8])
def test_no_allowance_covers_a_wrong_verifier(verifier: Callable[..., int], stored: str, k: int) -> None:
    target, draft = (np.array(law).astype(HALVES[stored]) for law in ([0.0, 0.75, 0.25], [0.0, 0.25, 0.75]))
    verdict = check_lossless(verifier, target, draft, k)
    assert isinstance(verdict, Lossy), str(verdict)


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_no_allowance_covers_one_on_tensors(kind: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    target, draft = (torch.tensor(law, dtype=getattr(torch, kind)) for law in ([0.5, 0.5, 0.0], [0.5, 0.5, 0.0]))
    assert isinstance(check_lossless(lambda *_: 2, target, draft, 8), Lossy)


def test_no_allowance_covers_a_block() -> None:
    rows = [np.array(law).astype(ml_dtypes.bfloat16) for law in ([0.5, 0.5], [0.25, 0.75])]

    def target(prefix: Any) -> Any:
        return rows[len(prefix) % 2]

    verdict = check_lossless_block(lambda *_: (0, 0, 0, 0), target, 4)
    assert not isinstance(verdict, Lossless)
    right = check_lossless_block(lambda coin, prefix: chain.generate(coin, target, target, prefix, 3), target, 4)
    assert isinstance(right, Lossless)
    assert right.bound <= AT_MOST_HALF


@pytest.mark.parametrize("stored", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_a_verdict_never_forgives_more_than_the_cap(scheme: Scheme, stored: str) -> None:
    dtype = HALVES.get(stored, stored)
    target, draft = (np.array(law).astype(dtype) for law in ([0.4, 0.6], [0.7, 0.3]))
    verdict = check_lossless(scheme, target, draft, 3 if "plan" in scheme.name else 8)
    assert isinstance(verdict, Lossless), str(verdict)
    assert 0 < verdict.bound <= (AT_MOST_HALF if stored in HALVES else AT_MOST)


def test_what_rounding_does_beyond_the_allowance_is_undecided() -> None:
    """(t + 8) − 8 is t, but in float16 the sum keeps no more than 7 bits of it: right, and off by more than that."""

    def verify(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        del tokens, draft
        shifted = (target + target.dtype.type(8)) - target.dtype.type(8)
        return coin.draw(shifted / shifted.sum())

    masses = np.array([0.0117, 0.0156, 0.0195, 0.4532, 0.5])
    target = (masses / masses.sum()).astype(np.float16)
    verdict = check_lossless(verify, target, target, 1)
    assert isinstance(verdict, Undecided), str(verdict)
    assert verdict.reason is Reason.ROUNDING
    assert check_lossless(verify, target.astype(np.float64) / target.astype(np.float64).sum(), _even(5), 1)


def test_a_caller_may_ask_for_less_and_not_for_more() -> None:
    target, draft = np.float32([0.3, 0.7]), np.float32([0.6, 0.4])

    def verify(coin: Any, tokens: Any, t: Any, d: Any) -> int:
        x = tokens[0]
        return x if coin.flip(min(np.float32(1), t[x] / d[x])) else coin.draw(residual(t, d))

    plain = check_lossless(verify, target, draft, 1)
    assert isinstance(plain, Lossless)
    assert 1e-8 < plain.bound < 1e-4
    strict = check_lossless(verify, target, draft, 1, at_most=1e-12)
    assert isinstance(strict, Undecided)
    assert strict.reason is Reason.ROUNDING
    with pytest.raises(ValueError, match=r"between 0 and 0\.0001"):
        check_lossless(verify, target, draft, 1, at_most=0.5)
    with pytest.raises(ValueError, match=r"between 0 and 0\.0001"):
        cap(["float32"], float("nan"))


@pytest.mark.parametrize("allowed", [1e-9, 1e-4, 0.5, 3.0])
def test_the_three_verdicts_meet_without_a_gap(allowed: float) -> None:
    """At most the allowance and the cap is forgiven, more than the allowance is lossy, and between nothing decided."""
    for off in (0.0, 1e-10, 1e-5, 2e-4, 0.1, 0.4):
        verdict = judged({0: 0.5 + off, 1: 0.5 - off}, {0: 0.5, 1: 0.5}, Allowance(allowed))
        distance = (abs(0.5 + off - 0.5) + abs(0.5 - off - 0.5)) / 2
        if distance > allowed:
            assert isinstance(verdict, Lossy)
        elif distance <= AT_MOST:
            assert verdict == Lossless(0, min(allowed, AT_MOST))
        else:
            assert isinstance(verdict, Undecided)


def test_the_allowance_of_many_coins_grows_no_faster_than_their_products_do() -> None:
    """Once in depth for the coins, once more for the ratios that a block multiplies; a coin never reached adds none."""
    one = [rounding([Level(UNIT["float64"])] * coins, 3) / UNIT["float64"] for coins in (1, 2, 4, 8)]
    assert one == pytest.approx([7, 16, 40, 112], rel=1e-9)
    assert rounding([Level(UNIT["bfloat16"]), Level(UNIT["bfloat16"], reach=0.0)], 3) == pytest.approx(7 / 249)
    assert rounding([Level(UNIT["bfloat16"], reach=2.0**-9)] * 3, 3) == 3 * 2.0**-9


def _even(size: int) -> Any:
    return np.full(size, 1 / size)
