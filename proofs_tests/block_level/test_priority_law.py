"""Laws of priorities: mixtures over stretches of quantiles, chords of their powers, and who is highest."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_math.arrays import Array, exact, proportional_to
from spec_math.block_level import priority_law
from spec_math.block_level.priority_law import PriorityLaw, uniform, winner
from spec_math.token_level.optimum.prefix_law import mixed_powers

UNIT = 2.0**-53
ONE = Fraction(1)


@st.composite
def priority_laws(draw: st.DrawFn) -> PriorityLaw:
    """Uniform pieces between some of the ends 0, 1/12, …, 1; gaps where a weight is 0."""
    ends = sorted(draw(st.sets(st.integers(0, 12), min_size=2, max_size=5)))
    weights = draw(st.lists(st.integers(0, 3), min_size=len(ends) - 1, max_size=len(ends) - 1).filter(any))
    pieces = [(w, low, high) for w, (low, high) in zip(weights, pairwise(ends), strict=True) if w]
    masses = proportional_to([w for w, _, _ in pieces])
    low, high = (exact([Fraction(piece[at], 12) for piece in pieces]) for at in (1, 2))
    return PriorityLaw(masses, low, high)


def quantile_pieces(law: PriorityLaw) -> list[tuple[Fraction, Fraction, Fraction, Fraction]]:
    """(quantile from, quantile to, priority from, priority to), each linear."""
    below, result = Fraction(0), []
    for mass, low, high in zip(law.masses, law.low, law.high, strict=True):
        result.append((below, below + mass, low, high))
        below += mass
    return result


def area(law: PriorityLaw, start: Fraction, stop: Fraction, k: int) -> Fraction:
    """∫ k U(q)^(k−1) dq from start to stop, by the antiderivative of a power."""
    total = Fraction(0)
    for below, above, low, high in quantile_pieces(law):
        left, right = max(below, start), min(above, stop)
        if left < right:
            pace = (high - low) / (above - below)
            total += ((low + (right - below) * pace) ** k - (low + (left - below) * pace) ** k) / pace
    return total


@settings(max_examples=100)
@given(priority_laws(), st.lists(st.integers(1, 5), min_size=1, max_size=5), st.integers(1, 5))
def test_slopes_are_chords_of_the_integrated_power(law: PriorityLaw, weights: list[int], k: int) -> None:
    ends = np.cumsum(proportional_to(weights))
    starts = [Fraction(0), *ends[:-1]]
    wanted = [area(law, start, stop, k) / (stop - start) for start, stop in zip(starts, ends, strict=True)]
    assert law.slopes(ends, k).tolist() == wanted
    assert law.mean_power(k) == area(law, Fraction(0), ONE, k)
    assert wanted == sorted(wanted)


@settings(max_examples=100)
@given(
    st.permutations([2.0**-1, 2.0**-2, 2.0**-3, 2.0**-3]),
    st.sets(st.integers(0, 16), min_size=5, max_size=5).map(sorted),
    st.sets(st.integers(1, 15), max_size=6).map(sorted),
    st.integers(1, 5),
)
def test_slopes_of_short_floats_are_the_exact_ones_rounded_once(
    masses: list[float], edges: list[int], cuts: list[int], k: int
) -> None:
    """All sums and products are of few enough bits to be exact: one division rounds."""
    law = PriorityLaw(np.array(masses), np.array(edges[:-1]) / 16, np.array(edges[1:]) / 16)
    ends = np.array([*cuts, 16]) / 16
    wanted = PriorityLaw(exact(law.masses), exact(law.low), exact(law.high)).slopes(exact(ends), k)
    assert law.slopes(ends, k).tolist() == [float(slope) for slope in wanted]


def test_stretch_that_is_a_point_has_the_slope_of_the_one_below_it_or_else_of_the_first_above() -> None:
    slopes = uniform(np.array([1.0])).slopes(np.array([0.0, 0.0, 0.25, 0.25, 1.0, 1.0]), 2)
    assert slopes.tolist() == [0.25, 0.25, 0.25, 0.25, 1.25, 1.25]


def test_piece_that_moves_no_running_sum_is_passed_over() -> None:
    law = PriorityLaw(np.array([0.5, 2.0**-80, 0.5]), np.array([0.0, 0.5, 0.75]), np.array([0.5, 0.75, 1.0]))
    assert law.slopes(np.array([0.5, 1.0]), 2).tolist() == [0.5, 1.75]


@settings(max_examples=100)
@given(priority_laws(), st.data(), st.integers(1, 4))
def test_given_mixes_the_law_over_nested_stretches(law: PriorityLaw, data: st.DataObject, k: int) -> None:
    ends = sorted(data.draw(st.sets(st.integers(0, 24), min_size=2, max_size=6)))
    ends = ends if len(ends) % 2 == 0 else ends[1:]
    half = len(ends) // 2
    starts, stops = exact([Fraction(e, 24) for e in ends[:half][::-1]]), exact([Fraction(e, 24) for e in ends[half:]])
    weights = proportional_to(data.draw(st.lists(st.integers(1, 4), min_size=half, max_size=half)))
    mixed = law.given(weights, starts, stops)
    assert mixed.masses.sum() == 1
    assert all(high <= low for high, low in zip(mixed.high[:-1], mixed.low[1:], strict=True))
    parts = [area(law, a, b, k) / (b - a) for a, b in zip(starts, stops, strict=True)]
    assert mixed.mean_power(k) == sum((w * part for w, part in zip(weights, parts, strict=True)), Fraction(0))


@settings(max_examples=60)
@given(st.lists(priority_laws(), min_size=1, max_size=4))
def test_winner_has_the_law_of_the_highest(laws: list[PriorityLaw]) -> None:
    assert winner(laws).tolist() == [by_pieces(laws, j) for j in range(len(laws))]


def by_pieces(laws: list[PriorityLaw], j: int) -> Fraction:
    """P(U_j highest) by one piece each: the chance of the pieces, times the chance given uniform priorities on them."""
    total = Fraction(0)
    for pieces in product(*(list(zip(law.masses, law.low, law.high, strict=True)) for law in laws)):
        mass = ONE
        for share, _, _ in pieces:
            mass *= share
        total += mass * highest([(low, high) for _, low, high in pieces], j)
    return total


def highest(intervals: list[tuple[Fraction, Fraction]], j: int) -> Fraction:
    """P(U_j highest) for uniform priorities on intervals: ∫ over interval j of Π F_i, by Lagrange on each cell."""
    low, high = intervals[j]
    cuts = sorted({low, high, *(end for pair in intervals for end in pair if low < end < high)})
    total = Fraction(0)
    for left, right in pairwise(cuts):
        nodes = [left + (right - left) * Fraction(i, len(intervals)) for i in range(len(intervals) + 1)]
        values = [below_all(intervals, j, node) for node in nodes]
        total += integral(nodes, values, left, right)
    return total / (high - low)


def below_all(intervals: list[tuple[Fraction, Fraction]], j: int, at: Fraction) -> Fraction:
    result = ONE
    for i, (low, high) in enumerate(intervals):
        if i != j:
            result *= min(max((at - low) / (high - low), Fraction(0)), ONE)
    return result


def integral(nodes: list[Fraction], values: list[Fraction], left: Fraction, right: Fraction) -> Fraction:
    """∫ of the polynomial through these points."""
    total = Fraction(0)
    for i, node in enumerate(nodes):
        basis, scale = [ONE], ONE
        for other in nodes:
            if other != node:
                basis = [a - other * b for a, b in zip([Fraction(0), *basis], [*basis, Fraction(0)], strict=True)]
                scale *= node - other
        power = sum((a * (right ** (n + 1) - left ** (n + 1)) / (n + 1) for n, a in enumerate(basis)), Fraction(0))
        total += values[i] * power / scale
    return total


@pytest.mark.parametrize("k", [1, 2, 5])
def test_chord_is_the_slope_of_a_power(k: int) -> None:
    low, high = Fraction(1, 3), Fraction(3, 4)
    assert mixed_powers(exact([low]), exact([high]), k)[0] == (high**k - low**k) / (high - low)
    assert mixed_powers(exact([low]), exact([low]), k)[0] == k * low ** (k - 1)


def furthest_from_fractions() -> float:
    """How far, relatively, compiled mixtures are from the same ones of Fractions, at most, over 200 random cases.

    Masses of pieces are powers of two and all ends multiples of 2^-6, so that only densities are rounded.
    """
    rng, worst = np.random.default_rng(5), 0.0
    for _ in range(200):
        edges = np.sort(rng.choice(65, 8, replace=False)) / 64
        law = PriorityLaw(rng.permutation([0.5, 0.25, 0.125, 0.125]), edges[::2].copy(), edges[1::2].copy())
        size, middle = int(rng.integers(1, 5)), int(rng.integers(32))
        starts = np.sort(rng.integers(0, middle + 1, size))[::-1] / 64
        stops = np.sort(rng.integers(middle + 1, 65, size)) / 64
        weights = rng.integers(1, 9, size) / 16
        found = law.given(weights, starts, stops)
        wanted = PriorityLaw(exact(law.masses), exact(law.low), exact(law.high))
        wanted = wanted.given(exact(weights), exact(starts), exact(stops))
        if found.low.tolist() != wanted.low.tolist() or found.high.tolist() != wanted.high.tolist():
            return 1.0
        worst = max(worst, float(max(abs(exact(found.masses) / wanted.masses - 1))))
    return worst


def test_mixtures_of_short_floats_are_the_exact_ones_to_the_roundings_of_their_densities() -> None:
    """At most 4 densities, each a quotient, are added; then there is one product."""
    assert furthest_from_fractions() <= 9 * UNIT


def innermost_alone(pieces: Any, above: Array, stretches: Any, least: Any, made: Array) -> int:
    return priority_law.mixture(pieces, above, tuple(part[:1] for part in stretches), least, made)


def outermost_first(pieces: Any, above: Array, stretches: Any, least: Any, made: Array) -> int:
    weights, starts, stops = stretches
    return priority_law.mixture(pieces, above, (weights[::-1], starts, stops), least, made)


def as_if_pieces_were_even(pieces: Any, above: Array, stretches: Any, least: Any, made: Array) -> int:
    masses = np.full(len(above), 1 / len(above))
    return priority_law.mixture((masses, *pieces[1:]), np.cumsum(masses), stretches, least, made)


@pytest.mark.parametrize("wrong", [innermost_alone, outermost_first, as_if_pieces_were_even])
def test_wrong_mixtures_of_floats_are_seen(monkeypatch: pytest.MonkeyPatch, wrong: Any) -> None:
    monkeypatch.setattr(priority_law, "fast_mixture", wrong)
    assert furthest_from_fractions() > 0.01


# In floats a stretch of quantiles, or a piece, may have no width; the law stays a law, near where it should be.


def floats(*values: float) -> Array:
    return np.array(values)


def judged(law: PriorityLaw) -> None:
    assert abs(law.masses.sum() - 1) <= 4 * len(law.masses) * UNIT
    assert (law.low < law.high).all()
    assert abs(winner([law, law]).sum() - 1) <= 16 * len(law.masses) * UNIT


@pytest.mark.parametrize("place", [1e-320, 0.3, 1.0])
def test_stretch_without_width_is_a_law_at_its_place(place: float) -> None:
    for own in (uniform(floats(1.0)), PriorityLaw(floats(0.5, 0.5 - UNIT), floats(0.0, 0.5), floats(0.5, 1.0))):
        law = own.given(floats(1.0), floats(place), floats(place))
        judged(law)
        assert abs(law.low[0] - place) + abs(law.high[-1] - place) <= 2.0**-48 * place + 2.0**-890


def test_stretch_without_width_leaves_its_weight_to_the_next_one() -> None:
    law = uniform(floats(1.0)).given(floats(0.25, 0.5, 0.25), floats(0.3, 0.3, 0.2), floats(0.3, 0.35, 0.4))
    judged(law)
    inside = law.masses[(law.low >= 0.3) & (law.high <= 0.35)].sum()
    assert abs(inside - (0.75 + 0.25 * 0.05 / 0.2)) <= 64 * UNIT
    outer = uniform(floats(1.0)).given(floats(0.5, 0.5), floats(0.3, 0.2), floats(0.4, 0.2))
    judged(outer)


def test_pieces_without_width_join_the_one_below() -> None:
    narrow = PriorityLaw(floats(1.0), floats(0.5), floats(np.nextafter(0.5, 1.0)))
    law = narrow.given(floats(0.5, 0.5), floats(0.25, 0.0), floats(0.5, 1.0))
    judged(law)
    assert law.low[0] >= 0.5 - 2.0**-49
    assert law.high[-1] <= narrow.high[0]


def test_fractions_tell_every_stretch_from_a_point() -> None:
    tiny = Fraction(1, 2**1000)
    law = uniform(exact([1])).given(exact(["1/2", "1/2"]), exact([0, 0]), exact([tiny, 1]))
    assert law.masses.tolist() == [Fraction(1, 2) + tiny / 2, Fraction(1, 2) - tiny / 2]
    assert law.high.tolist() == [tiny, 1]


def test_pieces_that_floats_cannot_tell_from_points_are_joined_to_the_one_below() -> None:
    """Widths of 2^-970 and 2^-980 are points; the first of a law, with none below, goes to the next above."""
    tiny = [0.0, 2.0**-980, 2.0**-970]
    point = priority_law.mixed([(1.0, PriorityLaw(np.array([0.25, 0.75]), np.array(tiny[:2]), np.array(tiny[1:])))])
    assert point.masses.tolist() == [1.0]
    assert point.high.tolist() == [2.0**-900]
    assert point.low.tolist() == [2.0**-900 * (1 - 2.0**-50)]
    ends = [*tiny[:2], 0.5, 0.75]
    law = priority_law.mixed([(1.0, PriorityLaw(np.array([0.25, 0.25, 0.5]), np.array(ends[:3]), np.array(ends[1:])))])
    assert (law.masses.tolist(), law.low.tolist(), law.high.tolist()) == ([0.5, 0.5], ends[1:3], ends[2:])
    ends = [0.0, 2.0**-500, 2.0**-500 * (1 + 2.0**-52), 1.0]
    assert (np.diff(ends) > 0).all()
    law = priority_law.mixed([(1.0, PriorityLaw(np.array([0.25, 0.25, 0.5]), np.array(ends[:3]), np.array(ends[1:])))])
    assert law.masses.tolist() == [0.25, 0.25, 0.5]


def test_fractions_tell_every_piece_from_a_point() -> None:
    least = Fraction(1, 2**1000)
    given_law = PriorityLaw(exact(["1/4", "3/4"]), exact([0, least]), exact([least, 1]))
    law = priority_law.mixed([(ONE, given_law)])
    assert (law.masses.tolist(), law.high.tolist()) == ([Fraction(1, 4), Fraction(3, 4)], [least, 1])
    inner = given_law.given(exact([1]), exact([0]), exact(["1/2"]))
    assert (inner.masses.tolist(), inner.high.tolist()) == ([Fraction(1, 2)] * 2, [least, least + (1 - least) / 3])
