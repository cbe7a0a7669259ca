"""Cells are written with as many digits as they deserve."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_math.mean import Mean
from spec_math.render.data import shown
from spec_math.result import Column

MEAN = Column("acceptance", "mean")


@given(value=st.floats(-1e6, 1e6), error=st.floats(1e-7, 1e3))
def test_a_mean_is_written_to_the_second_digit_of_its_error(value: float, error: float) -> None:
    said, _, told = shown(Mean(value, error, 9), MEAN).replace(",", "").partition(" ± ")
    digits = [len(part.partition(".")[2]) for part in (said, told)]
    assert digits[0] == digits[1]
    # Half a unit of the last digit is at most a twentieth of the error, so that no digit is made up and none is lost.
    unit = 10.0 ** -digits[0]
    assert digits[0] == 0 or error / 100 < unit <= error / 10 * (1 + 1e-9)
    assert abs(float(said) - value) <= unit / 2 * (1 + 1e-6)
    assert abs(float(told) - error) <= unit / 2 * (1 + 1e-6)


@pytest.mark.parametrize(
    ("cell", "column", "said"),
    [
        (Mean(0.86532, 0.0213, 40), MEAN, "0.865 ± 0.021"),
        (Mean(0.86532, 0.00213, 40), MEAN, "0.8653 ± 0.0021"),
        (Mean(3.0, 0.0, 40), MEAN, "3.0000 ± 0"),
        (Mean(0.5, 0.0, 0), MEAN, "0.5000"),
        (Mean(0.5, 1e-12, 40), MEAN, "0.5000"),
        (Mean(12345.6, 120.0, 40), MEAN, "12,346 ± 120"),
        (Mean(0.86532, 0.0213, 40, 0.79, 0.93, 0.99), MEAN, "0.865 (0.790 to 0.930)"),
        (Mean(3.0, 0.0, 40, 2.0, 3.0, 0.99), MEAN, "3.00 (2.00 to 3.00)"),
        (0.25, Column("gap", "number"), "0.2500"),
        (float("inf"), Column("evidence", "number"), "infinite"),
        (float("nan"), Column("share", "number"), "undefined"),
        (10**40, Column("calls", "count"), f"{10**40:,}"),
        (1, Column("k", "count"), "1"),
        (True, Column("lossless", "flag"), "yes"),
        (0, Column("k", "count"), "0"),
        (None, MEAN, "—"),
    ],
)
def test_every_kind_of_cell_is_written(cell: object, column: Column, said: str) -> None:
    assert shown(cell, column) == said  # type: ignore[arg-type]


def test_a_fraction_is_written_whole_while_it_is_short() -> None:
    from fractions import Fraction

    assert shown(Fraction(67, 80), Column("exact", "fraction")) == "67/80"
    assert shown(Fraction(1, 3**60), Column("exact", "fraction", digits=None)) == f"{3.0**-60:.6g}"
