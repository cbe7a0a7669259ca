"""The solver: only a proof counts as a no."""

from __future__ import annotations

from fractions import Fraction

import pytest

from spec_math.symbolic import polynomial as signs
from spec_math.symbolic.points import PARTS, Points, evaluated
from spec_math.symbolic.polynomial import Ring
from spec_math.symbolic.solver import Answer, Solver

pytest.importorskip("z3")

RING = Ring(["x", "y"])
X, Y = RING.variables
ONE = RING.number(1)
BELOW_ONE = RING.plus(RING.plus(X, Y), RING.number(-1))


def test_two_positive_numbers_below_one_half_each_do_not_sum_to_more_than_one() -> None:
    half = RING.plus(RING.scaled(X, 2), RING.number(-1))
    other = RING.plus(RING.scaled(Y, 2), RING.number(-1))
    asked = [(half, signs.NEGATIVE), (other, signs.NEGATIVE), (BELOW_ONE, signs.POSITIVE)]
    assert Solver(RING).ask(asked).impossible
    assert not Solver(RING).ask(asked[:2]).impossible


def test_a_product_of_two_masses_of_one_law_is_at_most_a_quarter() -> None:
    quarter = RING.plus(RING.scaled(RING.times(X, Y), 4), RING.number(-1))
    law = [(X, signs.NONNEGATIVE), (Y, signs.NONNEGATIVE), (BELOW_ONE, signs.NONPOSITIVE)]
    assert Solver(RING).ask([*law, (quarter, signs.POSITIVE)]).impossible
    found = Solver(RING).ask([*law, (quarter, signs.ZERO)])
    assert found == Answer(False, {0: Fraction(1, 2), 1: Fraction(1, 2)})


def test_a_point_satisfies_what_was_asked() -> None:
    asked = [(X, signs.POSITIVE), (RING.plus(RING.scaled(X, 3), RING.scaled(Y, -2)), signs.ZERO)]
    point = Solver(RING).ask(asked).point
    assert point is not None
    for polynomial, wanted in asked:
        assert signs.sign_of(evaluated(polynomial, [point[0], point[1]]).numerator) & wanted


def test_what_has_no_rational_point_is_possible_all_the_same() -> None:
    root = RING.plus(RING.times(X, X), RING.number(-2))
    assert Solver(RING).ask([(root, signs.ZERO)]) == Answer(False, None)


def test_running_out_of_patience_is_no_proof() -> None:
    """A control: the same question with hardly any patience."""
    powers = RING.plus(RING.power(X, 4), RING.plus(RING.power(Y, 4), ONE))
    asked = [(powers, signs.NEGATIVE), (RING.plus(RING.times(X, Y), RING.number(-3)), signs.ZERO)]
    assert Solver(RING).ask(asked).impossible
    assert Solver(RING).ask(asked, patience=1) == Answer(False, None)


def test_grid_points_are_laws_with_ties_and_zeros() -> None:
    points = Points([3, 3])
    rows = [points.at(place) for place in range(len(points))]
    assert all(mass >= 0 for row in rows for mass in row)
    assert all(sum(row[:2]) <= 1 and sum(row[2:]) <= 1 for row in rows)
    assert any(row[0] == row[2] and row[1] != row[3] for row in rows)
    assert any(row[0] == 0 for row in rows) and any(row[:2] == row[2:] for row in rows)
    assert len(set(rows)) == len(rows) > 1000


@pytest.mark.parametrize("power", [1, 3, 40])
def test_signs_at_grid_points_are_exact_beyond_64_bits(power: int) -> None:
    """4^40 has 80 bits: there Python's own ints are used."""
    points = Points([2, 2])
    ring = Ring(["t", "d"])
    t, d = ring.variables
    difference = ring.plus(ring.power(t, power), ring.scaled(ring.power(d, power), -(4**power)))
    found = points.signs(difference)
    for place in range(0, len(points), 7):
        own, other = points.at(place)
        assert found[place] == signs.sign_of((own**power - (4 * other) ** power).numerator)
    assert PARTS == 12


@pytest.mark.parametrize(("laws", "scalars"), [([2, 4], 0), ([4, 2], 0), ([2, 4], 2), ([2], 1)])
def test_grids_of_other_laws_and_scalars_are_their_own(laws: list[int], scalars: int) -> None:
    """Coordinates law by law, in their order, then scalars of 1 to 4; what grids share is not written to."""
    points = Points(laws, scalars)
    rows, place = points.columns, 0
    assert rows.shape[0] == sum(size - 1 for size in laws) + scalars
    for size in laws:
        own = rows[place : place + size - 1]
        assert bool((own >= 0).all())
        assert own.sum(axis=0).max() == PARTS
        place += size - 1
    assert {(int(row.min()), int(row.max())) for row in rows[place:]} <= {(PARTS, 4 * PARTS)}
    with pytest.raises(ValueError, match="read-only"):
        rows[0, 0] = 1
