"""Cuts found from a guess are those found by asking every number, whatever the guess, and few questions find them."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

from spec_math.field.chain_kernel import cuts, cuts_by_guess, cuts_by_kind

SIZE = 97


@given(st.lists(st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)), min_size=1, max_size=6))
def test_the_cut_does_not_depend_on_the_guess(pairs: list[tuple[int, int]]) -> None:
    true, guesses = np.array(pairs).T
    assert cuts(lambda rows, k: k < true[rows], guesses, SIZE).tolist() == true.tolist()


def test_a_right_guess_costs_two_questions_and_a_wrong_one_few() -> None:
    size, asked = 2**53, 0

    def below(rows: Any, k: Any) -> Any:
        nonlocal asked
        asked += len(rows)
        return k < 2**40 + 1

    assert cuts(below, np.array([2**40 + 1]), size).tolist() == [2**40 + 1]
    assert asked == 2
    assert cuts(below, np.array([0]), size).tolist() == [2**40 + 1]
    assert asked <= 2 + 53 + 7


@given(st.integers(2, 2**53 - 1), st.booleans(), st.integers(0, 2**53))
def test_a_guess_that_is_off_by_little_costs_few_questions(off: int, up: bool, true: int) -> None:
    size, asked = 2**53, 0
    guess = min(max(true + (off if up else -off), 0), size)

    def below(rows: Any, k: Any) -> Any:
        nonlocal asked
        asked += len(rows)
        return k < true

    assert cuts(below, np.array([guess]), size).tolist() == [true]
    assert asked <= min(53 + 7, max(2, 2 * log2(max(abs(true - guess), 2)) + 6))


def test_no_number_outside_the_range_is_asked() -> None:
    def below(_rows: Any, k: Any) -> Any:
        assert ((k >= 0) & (k < 5)).all()
        return k < 9

    assert cuts(below, np.array([0, 3, 5]), 5).tolist() == [5, 5, 5]


@given(st.lists(st.tuples(st.integers(0, SIZE), st.integers(0, SIZE), st.integers(0, 2)), min_size=1, max_size=8))
def test_kinds_change_the_guesses_alone(rows: list[tuple[int, int, int]]) -> None:
    true, guesses, kinds = np.array(rows).T
    for found in (cuts_by_kind, cuts_by_guess):
        assert found(lambda rows, k: k < true[rows], guesses, SIZE, kinds).tolist() == true.tolist()


def test_one_wrong_guess_of_a_kind_is_enough() -> None:
    asked = 0

    def below(rows: Any, k: Any) -> Any:
        nonlocal asked
        asked += len(rows)
        return k < 2**40

    many = 100
    found = cuts_by_kind(below, np.full(many, 7), 2**53, np.zeros(many, dtype=np.int64))
    assert (found == 2**40).all()
    assert asked <= 2 * many + 62


@pytest.mark.parametrize("cuts_of", [cuts_by_kind, cuts_by_guess])
def test_rows_of_one_guess_are_bisected_once(cuts_of: Any) -> None:
    """The first row of a kind is right; of the others, those that share a guess have one cut, far from it."""
    guesses = np.array([3, *[7] * 50, *[9] * 50])
    true, asked = guesses * 2**40 + 1, 0
    true[0] = 3

    def below(rows: Any, k: Any) -> Any:
        nonlocal asked
        asked += len(rows)
        return k < true[rows]

    found = cuts_of(below, guesses, 2**53, np.zeros(101, dtype=np.int64))
    assert (found == true).all()
    assert asked <= 2 * 101 + 2 * (53 + 7)
