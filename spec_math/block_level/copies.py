"""How many of n i.i.d. drafts carry the token that is emitted: what a walk down a drafted tree goes on with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.chance import Coin
from spec_math.chance import law as law_of
from spec_math.scheme import Tokens, draw_independent
from spec_math.token_level import k_sequential

Verifier = Callable[[Coin, Tokens, Array, Array], int]
"""A verifier of one position on any number of i.i.d. drafts: verify(coin, tokens, target, draft) -> token."""


def law(verifier: Verifier, target: Array, draft: Array, n: int) -> dict[tuple[int, int], Any]:
    """Compute the law of (token emitted, how many of n i.i.d. drafts carry it), {(token, copies): mass}, copies ≥ 1.

    K-SEQ at γ* has a closed form; any other verifier is enumerated on V^n drafts. Laws [V].

    >>> from spec_math.arrays import exact
    >>> law(k_sequential.verify, exact([1, 0]), exact(["1/2", "1/2"]), 2)
    {(0, 1): Fraction(1, 2), (0, 2): Fraction(1, 4)}
    """
    if verifier is k_sequential.verify:
        return of_k_sequential(target, draft, n)

    def program(coin: Coin) -> tuple[int, int]:
        drafts = draw_independent(coin, draft, n)
        token = verifier(coin, drafts, target, draft)
        return token, drafts.count(token)

    return {met: mass for met, mass in law_of(program).items() if met[1] > 0}


def of_k_sequential(target: Array, draft: Array, n: int) -> dict[tuple[int, int], Any]:
    """Compute that law for K-SEQ at γ* in O(V n²), by a count of copies over the n drafts.

    A draft is y and passes its test with mass a = min(d, t/γ), is y and fails with d − a, and is another and fails with
    1 − β − (d − a). After the first pass each draft is y with mass d(y). Where all fail, y comes from the residual.
    Source: SpecTr, Alg. 2.

    >>> from spec_math.arrays import exact
    >>> of_k_sequential(exact(["1/2", "1/2"]), exact(["1/2", "1/2"]), 1)
    {(0, 1): Fraction(1, 2), (1, 1): Fraction(1, 2)}
    """
    gamma = k_sequential.gamma_star(target, draft, n)
    passed = np.minimum(draft, target / gamma)
    missed = 1 - passed.sum()
    left = target - passed * sum(missed**j for j in range(n))
    result: dict[tuple[int, int], Any] = {}
    for token, (d, a) in enumerate(zip(draft, passed, strict=True)):
        if d == 0:
            continue
        failing, passing = [missed * 0 + 1], [missed * 0]
        for _ in range(n):
            passing = _plus(_times(passing, 1 - d, d), [missed * 0, *(a * mass for mass in failing)])
            failing = _times(failing, missed - (d - a), d - a)
        total = sum(failing)
        for copies in range(1, n + 1):
            mass = passing[copies] + (left[token] * failing[copies] / total if total else 0)
            if mass:
                result[token, copies] = mass
    return result


def _times(polynomial: list[Any], constant: Any, slope: Any) -> list[Any]:
    """Multiply a polynomial by constant + slope · z."""
    return _plus([constant * mass for mass in polynomial], [constant * 0, *(slope * mass for mass in polynomial)])


def _plus(first: list[Any], second: list[Any]) -> list[Any]:
    longer, shorter = (first, second) if len(first) > len(second) else (second, first)
    return [mass + (shorter[at] if at < len(shorter) else 0) for at, mass in enumerate(longer)]
