"""Kernels in NumPy that verify drafted chains as the rules of the library do, their coins being arguments."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.field.chain_kernel import Kernel, Requests, Rule

GRID = 2**40


def decided(rule: Rule, requests: Requests, coins: Any, grid: int) -> Any:
    uniforms = np.concatenate([coins / grid, np.zeros((len(coins), 1))], axis=1)
    return rule.decide(*requests, uniforms)


def numpy_kernel(rule: Rule, grid: int = GRID, decide: Any = decided) -> Kernel:
    def emit(requests: Requests, coins: Any) -> list[tuple[int, ...]]:
        numbers = decide(rule, requests, coins, grid).accepted
        return [(*row[:n], 0) for row, n in zip(requests.tokens.tolist(), numbers.tolist(), strict=True)]

    def following(requests: Requests, coins: Any, _number: Any) -> list[list[Fraction]]:
        masses = decide(rule, requests, coins, grid).masses.tolist()
        return [[Fraction(mass) for mass in row] for row in masses]

    return Kernel(rule, grid, emit, following)
