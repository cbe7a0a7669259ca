"""The numbers of SpecTr's figures: the closed forms of Appendix B.2 and D.1, and the gap that Figure 5 shows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.gallery.spectr_figures import (
    bernoulli,
    compressed,
    documentation_laws,
    figure_1,
    figure_2,
    figure_3,
    figure_5,
)
from proofs_tests.oracles import independent_drafts, optimum
from proofs_tests.strategies import pairs
from spec_math import exact, overlap, proportional_to
from spec_math.token_level import k_sequential, optimal


def test_figure_1_is_the_closed_form_and_k_sequential_reaches_it() -> None:
    """α_k(U(d), U(d/r)) = 1 − (1 − 1/r)^k (B.2), and so is what K-SEQ accepts (D.1)."""
    ratios = (1, 2, 3, 4, 6, 8, 10)
    best, sequential = figure_1(), figure_1(acceptance=k_sequential.acceptance)
    for curve, other, ratio in zip(best, sequential, ratios, strict=True):
        assert curve.label == f"U({120 // ratio})"
        assert curve.places == tuple(range(1, 21))
        assert curve.values == other.values == tuple(1 - Fraction(ratio - 1, ratio) ** k for k in range(1, 21))


def test_figure_1_against_all_cuts_and_tuples() -> None:
    for ratio, curve in zip((1, 2, 4), figure_1(4, (1, 2, 4), (1, 2, 3)), strict=True):
        target = exact([Fraction(ratio, 4)] * (4 // ratio) + [0] * (4 - 4 // ratio))
        draft = exact([Fraction(1, 4)] * 4)
        assert list(curve.values) == [optimum(target, independent_drafts(draft, k)) for k in (1, 2, 3)]


def bernoulli_optimum(b: Fraction, k: int, draft: Fraction = Fraction(1, 4)) -> Fraction:
    return min(b, 1 - (1 - draft) ** k) + min(1 - b, 1 - draft**k)


def test_figures_2_and_3_are_the_closed_form() -> None:
    for curve in figure_2():
        b = Fraction(curve.label.removeprefix("Ber(").removesuffix(")"))
        assert curve.values == tuple(bernoulli_optimum(b, k) for k in curve.places)
        assert list(curve.values) == sorted(curve.values)
    for curve in figure_3():
        k = int(curve.label.removeprefix("k = "))
        assert len(curve.places) == 41
        assert curve.values == tuple(bernoulli_optimum(b, k) for b in curve.places)


@given(b=st.fractions(0, 1, max_denominator=12), draft=st.fractions(0, 1, max_denominator=12), k=st.integers(1, 4))
@settings(max_examples=60)
def test_the_bernoulli_formula_is_the_optimum(b: Fraction, draft: Fraction, k: int) -> None:
    best = optimum(bernoulli(b), independent_drafts(bernoulli(draft), k))
    assert best == bernoulli_optimum(b, k, draft) == optimal.acceptance(bernoulli(b), bernoulli(draft), k)


def test_text_of_section_5_holds_of_figures_2_and_3() -> None:
    """p = q is accepted always; with k = 8 most targets are, with few drafts nearness decides."""
    (equal,) = figure_2(("1/4",), range(1, 6))
    assert set(equal.values) == {1}
    one, eight = figure_3((1, 8))
    assert sum(value == 1 for value in eight.values) == 35  # of 41: 1/40 ≤ b ≤ 35/40 < 1 − (3/4)^8
    assert [b for b, value in zip(one.places, one.values, strict=True) if value == 1] == [Fraction(1, 4)]


@given(pair=pairs(), kept=st.integers(1, 5))
def test_compression_keeps_the_union_of_both_tops(pair: Any, kept: int) -> None:
    target, draft = pair
    order = [sorted(range(len(law)), key=lambda y, law=law: (-law[y], y))[:kept] for law in pair]
    union = sorted({*order[0], *order[1]})
    small = compressed(target, draft, kept)
    for found, law in zip(small, pair, strict=True):
        inside = sum(law[y] for y in union)
        assert found.tolist() == [law[y] / inside for y in union]


def check_figure_5(target: Any, draft: Any) -> None:
    small = compressed(target, draft)
    best, sequential = figure_5(target, draft, range(1, 7))
    assert (best.label, sequential.label) == ("optimum", "K-SEQ")
    assert best.values[0] == sequential.values[0] == overlap(*small)
    for curve in (best, sequential):
        assert list(curve.values) == sorted(curve.values)
    assert all(upper >= lower for upper, lower in zip(best.values, sequential.values, strict=True))
    assert all(upper > lower for upper, lower in zip(best.values[1:], sequential.values[1:], strict=True))


def test_figure_5_shows_a_gap_between_the_optimum_and_k_sequential() -> None:
    """Two laws of a language model: equal at one draft, both rising, and apart from two drafts on (Appendix D.2)."""
    target, draft = documentation_laws()
    assert 10 <= len(compressed(target, draft)[0]) <= 20
    check_figure_5(target, draft)


def test_figure_5_on_two_laws_by_zipf() -> None:
    size = 60
    ranks = [pow(7, i, 61) for i in range(size)]  # a permutation of 1..60
    check_figure_5(
        proportional_to([Fraction(1, i + 1) for i in range(size)]), proportional_to([Fraction(1, r) for r in ranks])
    )


def test_figures_refuse() -> None:
    with pytest.raises(ValueError, match="U\\(d/r\\) needs r to divide d; got d = 120, r = 7"):
        figure_1(ratios=(7,))
    with pytest.raises(ValueError, match="kept must be at least 1"):
        compressed([1], [1], 0)
    with pytest.raises(ValueError, match=r"\['speculatif'\] are not among them"):
        documentation_laws(("a", "speculatif"))
