"""Erratum of a public implementation of SpecTr-GBV (arXiv 2604.25925): two chains of one token each are lossy.

With one token a chain its block test is left alone: a draft x is accepted with chance
t(x) (1 − (1 − min(1, d/t))^K) / (1 − (1 − d(x))^K), in turn, and where none is a token is drawn in proportion to
t (1 − min(1, d/t)^K). Read as printed there; for blocks the whole rule stands in `spectr_gbv`, from the authors' public
code. The paper's own text could not be had.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod
from random import Random
from typing import Any

import pytest

from proofs_tests.errata import spectr_gbv
from spec_math import check_lossless, check_lossless_block, law
from spec_math.arrays import exact, proportional_to
from spec_math.block_level.optimum import OptimalLength, tokens_per_call
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.token_level import optimal
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
    """With the power of the test in the residual too; one chain is lossless, and so are laws that are both uniform."""
    verdict = check_lossless(rule(same_power), target=TARGET, draft=DRAFT, k=2)
    assert isinstance(verdict, Lossy)
    assert (verdict.token, verdict.emitted) == (0, Fraction(25, 108))
    assert check_lossless(rule(same_power), target=TARGET, draft=DRAFT, k=1)
    assert check_lossless(rule(same_power), target=DRAFT, draft=DRAFT, k=2)


def stated(target: Any, draft: Any, k: int, lookahead: int) -> Fraction:
    """Return 1 + Σ t(s) (1 − (1 − min(1, d(s)/t(s)))^K), as a public note gives the paper's theorem; constant laws."""
    total = Fraction(1)
    for text in (text for n in range(1, lookahead + 1) for text in product(range(len(target)), repeat=n)):
        t, d = (prod((law[token] for token in text), start=Fraction(1)) for law in (target, draft))
        total += t * (1 - (1 - min(Fraction(1), d / t)) ** k)
    return total


def test_the_stated_length_of_spectr_gbv_is_not_the_optimum() -> None:
    """Two chains of one token: below what the optimal coupling accepts. One chain of two: above every block verifier.

    The second is the length of a game in which what was rejected changes the target of the tokens that follow.
    """
    t, d = exact(TARGET), exact(DRAFT)
    assert stated(t, d, 2, 1) == 1 + Fraction(11, 12)
    assert 1 + optimal.acceptance(t, d, 2) == 2
    t, d = exact(["1/3", "2/3"]), exact(["2/3", "1/3"])
    assert stated(t, d, 1, 2) == Fraction(7, 3)
    verdict = tokens_per_call(lambda _: t, lambda _: d, (), 2, 1)
    assert isinstance(verdict, OptimalLength)
    assert verdict.tokens_per_call == Fraction(20, 9)


def test_the_stated_length_of_one_position_is_never_above_the_optimum_and_below_it_on_299_of_300() -> None:
    random, below = Random(0), 0
    for _ in range(300):
        t, d = (proportional_to([random.randint(1, 9) for _ in range(3)]) for _ in range(2))
        best = 1 + optimal.acceptance(t, d, 2)
        assert stated(t, d, 2, 1) <= best
        below += stated(t, d, 2, 1) < best
    assert below == 299


def constant(law: Any) -> Model:
    return lambda _: law


def after_the_last(rows: Sequence[Any]) -> Model:
    """A model whose law depends on the last token; the last row is that of the empty text."""
    return lambda prefix: rows[prefix[-1]] if prefix else rows[-1]


def test_one_chain_of_two_tokens_is_lossy_as_later_targets_are_left_as_they_are() -> None:
    """It keeps Σ min(M_t, M_d), the length of a game that changes later targets; the public code changes none."""
    target, draft = constant(exact(["1/3", "2/3"])), constant(exact(["2/3", "1/3"]))
    emitted = law(lambda coin: spectr_gbv.generate(coin, target, draft, (), 2, 1))
    verdict = check_lossless_block(
        lambda coin, prefix: spectr_gbv.generate(coin, target, draft, prefix, 2, 1), target, 3
    )
    assert isinstance(verdict, Lossy)
    assert (verdict.tokens, verdict.emitted, verdict.target) == ((1, 0, 1), Fraction(2, 9), Fraction(4, 27))
    assert sum(mass * len(text) for text, mass in emitted.items()) == Fraction(7, 3)


@pytest.mark.parametrize("lookahead", [1, 2, 3])
def test_with_later_targets_changed_one_chain_is_lossless(lookahead: int) -> None:
    """Mended, it is lossless, whatever the laws after each token: so the missing change is what makes it lossy."""
    random = Random(3)
    for _ in range(10):
        rows = [[proportional_to([random.randint(0, 3) + 1 for _ in range(2)]) for _ in range(3)] for _ in range(2)]
        target, draft = (after_the_last(listed) for listed in rows)
        found = law(lambda coin: spectr_gbv.later_targets_changed(coin, target, draft, (), lookahead))  # noqa: B023
        first: dict[tuple[int, ...], Fraction] = {}
        for text, mass in found.items():
            first[text[:lookahead]] = first.get(text[:lookahead], Fraction(0)) + mass
        masses = spectr_gbv.Masses(target, draft, ())
        texts = product(range(2), repeat=lookahead)
        assert first == {text: masses.of(text)[0] for text in texts if masses.of(text)[0]}


def test_two_chains_of_two_tokens_are_lossy_in_the_first_token_already() -> None:
    """Two chains of one token as above. A draft that is the target is no better, unless all texts weigh the same."""
    target, draft = (constant(exact(row)) for row in (TARGET, DRAFT))

    def first(model: Model, own: Model, lookahead: int) -> Fraction:
        found = law(lambda coin: spectr_gbv.generate(coin, model, own, (), lookahead, 2))
        return sum((mass for text, mass in found.items() if text[0] == 0), Fraction(0))

    assert first(target, draft, 1) == Fraction(25, 108)
    assert first(target, draft, 2) == Fraction(55, 252)
    assert first(target, target, 1) == Fraction(961, 4900)
    assert first(draft, draft, 2) == Fraction(1, 2)
