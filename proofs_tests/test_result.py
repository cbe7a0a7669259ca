"""A result is checked when it is made: rows fit their columns, and names find their tables."""

from __future__ import annotations

import pytest

from spec_math.mean import Mean
from spec_math.result import Column, Result, Row, Table, curve


def table(kind: str, *cells: object) -> Table:
    return Table("t", "T", (Column("scheme"), Column("x", kind)), (Row(("A", *cells)),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "cell"),
    [("count", 0.5), ("count", True), ("number", "1"), ("mean", 0.5), ("flag", 1), ("text", 1), ("fraction", 0.5)],
)
def test_a_cell_of_another_kind_is_refused(kind: str, cell: object) -> None:
    with pytest.raises(TypeError, match=f"the column 'x' holds {kind}"):
        table(kind, cell)
    assert table(kind, None).rows[0].cells[1] is None


def test_rows_have_a_cell_a_column() -> None:
    with pytest.raises(ValueError, match="needs 2 cells"):
        table("count", 1, 2)
    with pytest.raises(ValueError, match="different names"):
        Table("t", "T", (Column("a"), Column("a")), ())


def test_tables_are_found_by_name() -> None:
    result = Result("r", "R", "Found.", (table("count", 1),))
    assert result.table("t").cells("x") == [1]
    with pytest.raises(LookupError, match=r"has the tables \['t'\]; not 'u'"):
        result.table("u")


def test_a_curve_of_exact_means_has_no_interval_and_one_of_estimates_has() -> None:
    assert curve("a", {2: Mean(0.5, 0.0, 0), 1: Mean(0.25, 0.0, 0)}).y == (0.25, 0.5)
    assert curve("a", {1: Mean(0.5, 0.1, 9)}).low == (0.3,)
