"""Lossless in half precision was said of samplers that are not: float64 is asked before it is said."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from spec_math.samplers.counts import check_sampler
from spec_math.samplers.judgement import confirmed
from spec_math.verdict import Lossless, Lossy, Reason, Undecided

LAWS = ["3/8", "3/8", "1/8", "1/8"], ["1/8", "1/4", "1/4", "3/8"]
"""Exact in float16 and bfloat16."""


def in_torch(replaced: float) -> Callable[..., int]:
    torch = import_module("torch")

    def sample(tokens: Any, target: Any, draft: Any) -> int:
        x = int(tokens[0])
        if torch.rand((), dtype=torch.float64) < replaced:
            return 3
        if torch.rand((), dtype=torch.float64) < target[x].double() / draft[x].double():
            return x
        left = (target - draft).clamp(min=0)
        return int(torch.multinomial(left / left.sum(), 1))

    return sample


@pytest.mark.parametrize("numbers", ["torch.float32", "torch.float16", "torch.bfloat16"])
@pytest.mark.parametrize("replaced", [0.01, 0.0001])
def test_one_answer_in_a_hundred_replaced_is_lossy_in_every_type(replaced: float, numbers: str) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    judge = import_module("torch_bridge.subject").check_sampler
    verdict = judge(in_torch(replaced), *LAWS, k=1, numbers=numbers)
    assert isinstance(verdict, Lossy), verdict
    assert float(verdict.total_variation) == pytest.approx(replaced * 7 / 8)
    assert isinstance(judge(in_torch(0.0), *LAWS, k=1, numbers=numbers), Lossless)


def in_numpy(tokens: Any, target: Any, draft: Any) -> int:
    rng, x = np.random.default_rng(), tokens[0]
    if rng.random() < 0.01:
        return 3
    if rng.random() * float(draft[x]) < float(target[x]):
        return x
    left = np.maximum(target - draft, 0).astype(np.float64)
    return int(rng.choice(4, p=left / left.sum()))


def test_numpy_in_half_precision_is_asked_in_float64_too() -> None:
    assert isinstance(check_sampler(in_numpy, *LAWS, 1, numbers="float16"), Lossy)


def test_what_breaks_in_float64_is_undecided_above_what_every_type_is_forgiven() -> None:
    def half_only(tokens: Any, target: Any, draft: Any) -> int:
        if target.dtype != np.float16:
            raise ValueError("half precision only")
        return in_numpy(tokens, target, draft)

    verdict = check_sampler(half_only, *LAWS, 1, numbers="float16")
    assert isinstance(verdict, Undecided)
    assert verdict.reason is Reason.ROUNDING


def test_float64_decides_what_rounding_in_a_coarser_type_explains() -> None:
    lossless, lossy, open_one = Lossless(3, 0.01), Lossy("token 3"), Undecided(Reason.ROUNDING, "cast inside")
    assert confirmed(lossless, 0.005, lambda: Lossless(3)) is lossless
    assert isinstance(confirmed(lossless, 0.005, lambda: lossy), Lossy)
    assert isinstance(confirmed(lossless, 0.005, lambda: open_one), Undecided)
    assert confirmed(lossless, 1e-5, lambda: open_one) is lossless
    assert confirmed(lossless, 0, lambda: lossy) is lossless
    assert isinstance(confirmed(open_one, 0.02, lambda: lossy), Lossy)
    assert confirmed(open_one, 0.02, lambda: Lossless(3)) is open_one
