"""Erratum of a public implementation of SpecTr-GBV (arXiv 2604.25925): two chains of one token each are lossy.

With one token a chain its block test is left alone: a draft x is accepted with chance
t(x) (1 − (1 − min(1, d/t))^K) / (1 − (1 − d(x))^K), in turn, and where none is a token is drawn in proportion to
t (1 − min(1, d/t)^K). Read as printed there; the paper's own text could not be had.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from spec_math import check_lossless
from spec_math.chance import Coin
from spec_math.verdict import Lossy

TARGET, DRAFT = ["1/4", "3/4"], ["1/2", "1/2"]


def rule(same_power: bool) -> Any:
    """The rule for chains of one token; `same_power` takes the residual with the power of the test."""

    def verify(coin: Coin, tokens: tuple[int, ...], target: Any, draft: Any) -> int:
        k = len(tokens)
        ratios = [min(Fraction(1), d / t) if t else Fraction(1) for t, d in zip(target, draft, strict=True)]
        for token in tokens:
            chance = target[token] * (1 - (1 - ratios[token]) ** k) / (1 - (1 - draft[token]) ** k)
            if coin.flip(chance):
                return token
        left = [t * ((1 - ratio) ** k if same_power else 1 - ratio**k) for t, ratio in zip(target, ratios, strict=True)]
        return coin.draw([mass / sum(left) for mass in left] if sum(left) else list(target))

    return verify


@pytest.mark.parametrize("same_power", [False, True])
def test_spectr_gbv_as_published_in_code_is_lossy_for_two_chains_of_one_token(same_power: bool) -> None:
    """With the power of the test in the residual too; one chain, and a draft that is the target, are lossless."""
    verdict = check_lossless(rule(same_power), target=TARGET, draft=DRAFT, k=2)
    assert isinstance(verdict, Lossy)
    assert (verdict.token, verdict.emitted) == (0, Fraction(25, 108))
    assert check_lossless(rule(same_power), target=TARGET, draft=DRAFT, k=1)
    assert check_lossless(rule(same_power), target=DRAFT, draft=DRAFT, k=2)
