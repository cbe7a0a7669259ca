"""Formulas over laws against their definitions in plain Python, and across the three number types."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_tests.oracles import subsets
from proofs_tests.strategies import dyadic_laws, dyadic_pairs, laws, pairs
from spec_math import exact, overlap, residual, total_variation
from spec_math.distribution import (
    descending_rank,
    excess,
    min_p,
    normalised,
    residual_of,
    restricted,
    temperature,
    top_k,
    top_p,
)

UNIT = 2.0**-53


@given(pair=pairs())
def test_total_variation_is_the_largest_difference_over_all_sets(pair: Any) -> None:
    target, draft = pair
    differences = [sum(target[y] - draft[y] for y in chosen) for chosen in subsets(len(target))]
    assert total_variation(target, draft) == max(differences) == -min(differences)


@given(pair=pairs())
def test_overlap_and_total_variation_share_the_whole(pair: Any) -> None:
    target, draft = pair
    shared = sum(min(t, d) for t, d in zip(target, draft, strict=True))
    assert overlap(target, draft) == overlap(draft, target) == shared
    assert overlap(target, draft) + total_variation(target, draft) == 1
    assert excess(target, draft, 1) == total_variation(target, draft)


@given(pair=pairs())
def test_the_target_is_the_shared_part_and_the_residual(pair: Any) -> None:
    target, draft = pair
    left, distance = residual(target, draft), total_variation(target, draft)
    assert left.sum() == 1
    assert all(mass >= 0 for mass in left)
    for t, d, r in zip(target, draft, left, strict=True):
        assert min(t, d) + distance * r == t
    if distance == 0:
        assert left.tolist() == target.tolist()
    assert residual_of(target, draft).tolist() == left.tolist()


@given(pair=pairs(), scales=st.lists(st.fractions(0, 5, max_denominator=12), min_size=3, max_size=3))
def test_excess_is_convex_and_falls(pair: Any, scales: list[Fraction]) -> None:
    target, draft = pair
    low, middle, high = sorted(scales)
    values = [excess(target, draft, scale) for scale in (low, middle, high)]
    assert values == [
        sum(max(t - scale * d, 0) for t, d in zip(target, draft, strict=True)) for scale in (low, middle, high)
    ]
    assert values[0] >= values[1] >= values[2] >= 0
    if high > low:
        chord = (values[0] * (high - middle) + values[2] * (middle - low)) / (high - low)
        assert values[1] <= chord
    batch = excess(np.stack([target] * 3), np.stack([draft] * 3), exact([low, middle, high]))
    assert batch.tolist() == values


@given(masses=laws(4), keep=st.lists(st.booleans(), min_size=4, max_size=4))
def test_restriction_divides_by_its_own_mass(masses: Any, keep: list[bool]) -> None:
    kept = sum(mass for mass, wanted in zip(masses, keep, strict=True) if wanted)
    if kept == 0:
        with pytest.raises(ValueError, match="the subset to restrict to has mass 0, so it has no distribution"):
            restricted(masses, np.array(keep))
        return
    found = restricted(masses, np.array(keep))
    assert found.tolist() == [mass / kept if wanted else 0 for mass, wanted in zip(masses, keep, strict=True)]


@given(masses=laws(4), inverse=st.integers(1, 4))
def test_exact_temperature_is_the_normalised_power(masses: Any, inverse: int) -> None:
    found = temperature(masses, Fraction(1, inverse))
    powers = [mass**inverse for mass in masses]
    assert found.tolist() == [power / sum(powers) for power in powers]


@given(masses=laws(4))
def test_temperature_zero_is_the_first_maximum(masses: Any) -> None:
    listed = masses.tolist()
    wanted = [Fraction(i == listed.index(max(listed))) for i in range(4)]
    assert temperature(masses, 0).tolist() == wanted
    assert temperature(masses.astype(float), 0).tolist() == wanted
    assert temperature(np.stack([masses, masses[::-1]]), 0)[0].tolist() == wanted


def test_low_temperature_does_not_underflow() -> None:
    with np.errstate(all="raise", under="ignore"):
        assert temperature(np.array([0.25, 0.5, 0.25]), 1e-3).tolist() == [2.0**-1000, 1.0, 2.0**-1000]
        assert temperature(np.array([1e-200, 1 - 1e-200]), 1e-3).tolist() == [0.0, 1.0]
        assert temperature(np.array([0.5, 0.5]), 1e-310).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("masses", "value", "said"),
    [
        (["1/2", "1/2"], Fraction(2), "an exact temperature needs 1/T to be a whole number; T = 2 gives 1/2"),
        (["1/2", "1/2"], Fraction(2, 3), "T = 2/3 gives 3/2"),
        (["1/2", "1/2"], -1, "a temperature must be finite and >= 0; got -1"),
        ([0.5, 0.5], float("nan"), "a temperature must be finite and >= 0; got nan"),
        ([0.5, 0.5], float("inf"), "a temperature must be finite and >= 0; got inf"),
    ],
)
def test_temperature_refuses(masses: Any, value: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        temperature(masses, value)


def by_rank(masses: Any) -> list[int]:
    """Tokens from the likeliest down, lowest index first among equals."""
    return sorted(range(len(masses)), key=lambda i: (-masses[i], i))


def kept_only(masses: Any, kept: list[int]) -> list[Any]:
    return [mass / sum(masses[j] for j in kept) if i in kept else 0 for i, mass in enumerate(masses)]


@given(masses=laws(4), k=st.integers(1, 4))
def test_top_k_keeps_exactly_k_and_the_lowest_index_among_equals(masses: Any, k: int) -> None:
    assert top_k(masses, k).tolist() == kept_only(masses, by_rank(masses)[:k])
    assert (top_k(masses.astype(float), k) > 0).tolist() == [mass > 0 for mass in top_k(masses, k)]


@given(masses=laws(4), p=st.fractions(0, 1, max_denominator=12).filter(bool))
def test_top_p_keeps_the_smallest_prefix_that_reaches_p(masses: Any, p: Fraction) -> None:
    kept: list[int] = []
    for token in by_rank(masses):
        if sum(masses[i] for i in kept) >= p:
            break
        kept.append(token)
    assert top_p(masses, p).tolist() == kept_only(masses, kept)


def test_a_float_threshold_is_taken_for_the_number_it_is() -> None:
    """0.1 is a little more than 1/10, and 0.1 times 1/2 in floats a little more than 1/20: neither is rounded here."""
    masses = exact(["1/2", "9/20", "1/20"])
    assert min_p(masses, Fraction(1, 10)).tolist() == masses.tolist()
    assert min_p(masses, 0.1)[2] == 0
    assert top_p(exact(["1/10", "9/10"]), 0.9)[0] > 0  # 0.9 is a little more than 9/10
    assert top_p(exact(["1/10", "9/10"]), Fraction(9, 10)).tolist() == [0, 1]


@given(masses=laws(4), p=st.fractions(0, 1, max_denominator=12))
def test_min_p_keeps_what_is_at_least_p_times_the_largest(masses: Any, p: Fraction) -> None:
    kept = [i for i in range(4) if masses[i] >= p * max(masses)]
    assert min_p(masses, p).tolist() == kept_only(masses, kept)


@given(masses=laws(5))
def test_rank_is_the_place_in_the_descending_order(masses: Any) -> None:
    assert [by_rank(masses)[rank] for rank in range(5)] == np.argsort(descending_rank(masses)).tolist()


@pytest.mark.parametrize(
    ("cut", "error", "said"),
    [
        (lambda x: top_k(x, 3), ValueError, "k must not exceed the vocabulary; k = 3, V = 2"),
        (lambda x: top_k(x, 0), ValueError, "k must be at least 1; got 0"),
        (lambda x: top_k(x, 1.0), TypeError, "got 1.0 of type float"),
        (lambda x: top_p(x, 0), ValueError, r"top_p needs a mass in \(0, 1\]; got 0"),
        (lambda x: top_p(x, 1.5), ValueError, r"top_p needs a mass in \(0, 1\]; got 1.5"),
        (lambda x: top_p(x, float("nan")), ValueError, "got nan"),
        (lambda x: min_p(x, -0.5), ValueError, r"min_p needs a fraction of the largest mass in \[0, 1\]; got -0.5"),
        (lambda x: restricted(x, np.array([False, False])), ValueError, "choose tokens with mass"),
    ],
)
def test_cuts_refuse(cut: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        cut(["1/2", "1/2"])


def test_a_row_of_zeros_takes_the_other_row() -> None:
    assert normalised(exact([[0, 0], [1, 3]]), exact([["1/2", "1/2"], [1, 0]])).tolist() == [
        [Fraction(1, 2), Fraction(1, 2)],
        [Fraction(1, 4), Fraction(3, 4)],
    ]


BATCHED = [
    overlap,
    total_variation,
    residual,
    lambda t, _: temperature(t, Fraction(1, 2)),
    lambda t, _: temperature(t, 0),
    lambda t, _: top_k(t, min(2, t.shape[-1])),
    lambda t, _: top_p(t, Fraction(3, 5)),
    lambda t, _: min_p(t, Fraction(1, 3)),
]


@pytest.mark.parametrize("formula", BATCHED)
@given(first=pairs(3), second=pairs(3))
@settings(max_examples=30)
def test_a_batch_is_its_rows(formula: Any, first: Any, second: Any) -> None:
    if len(first[0]) != len(second[0]):
        second = first[::-1]
    targets, drafts = (np.stack(sides) for sides in zip(first, second, strict=True))
    rows = [formula(*pair) for pair in (first, second)]
    batch = formula(targets, drafts)
    assert batch.tolist() == [row.tolist() if hasattr(row, "tolist") else row for row in rows]
    assert formula(targets[:, None], drafts[:, None]).shape[:2] == (2, 1)


# A mass of these results is a quotient of one mass, or one difference or power, by a sum of at most V of them: its
# relative error is at most (V + 2)u: V − 1 for the sum, 1 each for the difference or power (a square here), the
# division and the power's scaling. Masses are at most 1, so (V + 3)u bounds each.
FORMULAS = [
    ("overlap", overlap),
    ("total variation", total_variation),
    ("residual", residual),
    ("temperature", lambda t, _: temperature(t, Fraction(1, 2))),
    ("argmax", lambda t, _: temperature(t, 0)),
    ("top k", lambda t, _: top_k(t, min(2, t.shape[-1]))),
    ("min p", lambda t, _: min_p(t, Fraction(1, 4))),
]


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize(("name", "formula"), FORMULAS, ids=[name for name, _ in FORMULAS])
@given(pair=dyadic_pairs())
@settings(max_examples=60)
def test_the_three_worlds_agree(library: str, name: str, formula: Any, pair: Any) -> None:
    target, draft = pair
    if library == "torch":
        torch = pytest.importorskip("torch", reason="torch is not installed")
        floats = tuple(torch.tensor(side.astype(float), dtype=torch.float64) for side in pair)
    else:
        floats = tuple(side.astype(float) for side in pair)
    wanted, found = np.atleast_1d(formula(target, draft)), np.atleast_1d(np.asarray(formula(*floats)))
    assert found.dtype == np.float64
    for exact_mass, float_mass in zip(wanted, found, strict=True):
        assert abs(Fraction(float(float_mass)) - exact_mass) <= (len(target) + 3) * UNIT, name


@pytest.mark.parametrize("library", ["numpy", "torch"])
@given(masses=dyadic_laws(4, bits=20), p=st.integers(1, 2**10))
@settings(max_examples=60)
def test_top_p_decides_alike_in_every_world(library: str, masses: Any, p: int) -> None:
    """Masses of 20 bits and a threshold of 10 bits: no sum rounds, so the tokens kept are the same."""
    threshold = Fraction(p, 2**10)
    floats = masses.astype(float)
    if library == "torch":
        torch = pytest.importorskip("torch", reason="torch is not installed")
        floats = torch.tensor(floats, dtype=torch.float64)
    found = top_p(floats, float(threshold))
    assert [bool(mass > 0) for mass in found] == [mass > 0 for mass in top_p(masses, threshold)]
