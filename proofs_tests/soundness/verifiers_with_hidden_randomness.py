"""Right verifiers, and leaking ones, whose random numbers do not come from their coin."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np

from spec_math.token_level import single

_HELD, _SYSTEM = np.random.default_rng(3), random.SystemRandom()


def sampling(draw: Callable[[], float]) -> Callable[..., int]:
    """Maximal coupling, right, with uniforms of its own."""

    def verify(_coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        x = tokens[0]
        if draw() * draft[x] < target[x]:
            return x
        left = np.cumsum(np.maximum(target - draft, 0))
        return int(np.searchsorted(left, draw() * left[-1], side="right"))

    return verify


def leaking(draw: Callable[[], float]) -> Callable[..., int]:
    """Maximal coupling by its coin, which keeps its draft in one case of a million by another source."""

    def verify(coin: Any, tokens: Any, target: Any, draft: Any) -> int:
        kept = draw() < 1e-6
        return tokens[0] if kept else single.verify(coin, tokens[0], target, draft)

    return verify


def _of_bytes() -> float:
    return os.urandom(1)[0] / 256


python_sampler, python_leak = sampling(random.random), leaking(random.random)
numpy_sampler, numpy_leak = sampling(np.random.random), leaking(np.random.random)
held_sampler, held_leak = sampling(_HELD.random), leaking(_HELD.random)
fresh_sampler = sampling(lambda: np.random.default_rng().random())
fresh_leak = leaking(lambda: np.random.default_rng().random())
secret_leak = leaking(lambda: secrets.randbelow(10**9) / 10**9)
system_leak, byte_leak = leaking(_SYSTEM.random), leaking(_of_bytes)

NAMES = (
    *("python_sampler", "python_leak", "numpy_sampler", "numpy_leak", "held_sampler", "held_leak"),
    *("fresh_sampler", "fresh_leak", "secret_leak", "system_leak", "byte_leak"),
)
