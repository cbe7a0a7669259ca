"""Speculative Jacobi decoding: the target's joint law for any window, with the continuation and without; its calls."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings

from proofs_tests.block_level.models import Rows, model_pairs
from spec_math.arrays import Array, exact, proportional_to
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin, law
from spec_math.language import Table
from spec_math.papers import jacobi

Text = tuple[int, ...]


def wanted(target: Any, length: int, size: int = 2) -> dict[Text, Fraction]:
    """The target's own law of texts, by multiplication; one that ends earlier stops there."""
    end = getattr(target, "end", None)
    texts = [
        text
        for most in range(1, length + 1)
        for text in product(range(size), repeat=most)
        if end not in text[:-1] and (most == length or text[-1] == end)
    ]
    found = {
        text: prod((target(text[:at])[token] for at, token in enumerate(text)), start=Fraction(1)) for text in texts
    }
    return {text: mass for text, mass in found.items() if mass > 0}


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(("length", "lookahead"), [(2, 1), (3, 2), (2, 3)])
@settings(max_examples=5)
@given(models=model_pairs(2, small=True))
def test_jacobi_decoding_is_lossless(keep: bool, length: int, lookahead: int, models: tuple[Rows, Rows]) -> None:
    target, _ = models
    emitted = law(lambda coin: jacobi.generate(coin, target, (), length, lookahead, keep)[0])
    assert emitted == wanted(target, length)


def random_target(seed: int) -> Rows:
    random = Random(seed)
    return Rows(tuple(proportional_to([random.randint(1, 9), random.randint(1, 9)]) for _ in range(5)))


def mean_calls(target: Any, keep: bool) -> Fraction:
    found = law(lambda coin: jacobi.generate(coin, target, (), 3, 2, keep)[1])
    return sum((calls * mass for calls, mass in found.items()), Fraction(0))


def test_with_a_window_of_two_the_continuation_saves_no_call() -> None:
    """SJD-PAC's continuation alone, three tokens: a draft behind a rejection has one law either way."""
    for seed in range(8):
        target = random_target(seed)
        assert mean_calls(target, keep=False) == mean_calls(target, keep=True) < 3


def test_only_with_keep_a_draft_behind_a_rejection_stays() -> None:
    """The second draft has the law of its place already: it is kept for certain, or drawn anew."""
    laws = Conditionals(lambda _: ["1/4", "3/4"], lambda _: ["1/4", "3/4"], ())
    window = (0, exact([1, 0])), (1, laws.target())

    def behind(keep: bool) -> dict[Text, Fraction]:
        return law(lambda coin: tuple(token for token, _ in jacobi.verify(coin, laws, (), window, keep)[1]))

    assert behind(keep=True) == {(): Fraction(1, 4), (1,): Fraction(3, 4)}
    assert behind(keep=False) == {(): Fraction(1, 4), (0,): Fraction(3, 16), (1,): Fraction(9, 16)}


def test_a_kept_draft_that_is_not_tested_is_lossy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: what stands behind a rejection goes on as it is, under the new law."""
    target = Table({(0,): ["1/5", "4/5"], (1,): ["3/4", "1/4"]}, context=1, default=["1/3", "2/3"])

    def untested(coin: Coin, draft: tuple[int, Array], after: Array, keep: bool) -> int:  # noqa: ARG001
        return draft[0]

    def emitted() -> dict[Text, Fraction]:
        return law(lambda coin: jacobi.generate(coin, target, (), 3, 2, True)[0])

    assert emitted() == wanted(target, 3)
    monkeypatch.setattr(jacobi, "_continued", untested)
    assert emitted() != wanted(target, 3)


@pytest.mark.parametrize("keep", [False, True])
def test_texts_that_end_are_lossless_and_nothing_follows_their_end(keep: bool) -> None:
    target = Rows((exact(["1/2", "1/2"]), exact(["1/4", "3/4"])), end=1)
    emitted = law(lambda coin: jacobi.generate(coin, target, (), 3, 3, keep)[0])
    assert emitted == wanted(target, 3)
    assert {len(text) for text in emitted} == {1, 2, 3}


def test_drafts_that_are_dropped_for_what_they_are_would_be_lossy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a drafted end that is left out, with what is behind it, is not emitted as often as it should."""
    target = Rows((exact(["1/2", "1/2"]), exact(["1/4", "3/4"])), end=1)

    def before_the_end(laws: Any, window: Any) -> Any:
        ending = [place for place, (token, _) in enumerate(window) if token == laws.end]
        return window[: ending[0]] if ending else window

    monkeypatch.setattr(jacobi, "_to_the_end", before_the_end)
    assert law(lambda coin: jacobi.generate(coin, target, (), 2, 2)[0]) != wanted(target, 2)
