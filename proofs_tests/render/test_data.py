"""A result goes through JSON and comes back the same; CSV says true, false, numbers and nothing."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import given

from proofs_tests.render.read_results import from_json
from proofs_tests.render.results_strategies import exact, results, tables
from spec_math.mean import Mean
from spec_math.render.data import as_csv, as_json
from spec_math.result import Result, Table


def as_files_hold(result: Result) -> Result:
    """What files hold of a result: rows with a value, numbers as floats; fractions stay exact in their own columns."""

    def held(table: Table) -> Table:
        rows = tuple(
            row._replace(
                cells=tuple(
                    exact(cell) if column.kind == "number" else cell
                    for column, cell in zip(table.columns, row.cells, strict=True)
                )
            )
            for row in table.filled
        )
        return replace(table, rows=rows)

    return replace(result, tables=tuple(held(table) for table in result.tables))


@given(result=results())
def test_json_comes_back_the_same(result: Result) -> None:
    text = as_json(result)
    assert from_json(text) == as_files_hold(result)
    assert as_json(from_json(text)) == text


def test_a_changed_result_is_not_the_same_json() -> None:
    """The control: what is read back is read from the text."""
    one = Result("a", "A", "Nothing.")
    assert from_json(as_json(one).replace("Nothing", "Something")) != one


@given(table=tables())
def test_csv_holds_every_cell_by_its_type(table: Table) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(table))))
    assert len(rows) == len(table.filled)
    for read, record in zip(rows, table.records(), strict=True):
        for column in table.columns:
            cell, text = record[column.name], read[column.name]
            if cell is None:
                assert text == ""
            elif isinstance(cell, Mean):
                told = text, read[f"{column.name} standard error"], read[f"{column.name} samples"]
                assert (float(told[0]), float(told[1]), int(told[2])) == (cell.value, cell.error, cell.samples)
                ends = [read[f"{column.name} {part}"] for part in ("low", "high")]
                assert [float(end) if end else None for end in ends] == [cell.low, cell.high]
                assert float(read[f"{column.name} confidence"]) == cell.confidence
            else:
                reading: dict[str, Any] = {
                    "text": str,
                    "count": int,
                    "number": float,
                    "flag": {"true": True, "false": False}.__getitem__,
                    "fraction": Fraction,
                }
                assert reading[column.kind](text) == (exact(cell) if column.kind == "number" else cell)


def test_infinite_numbers_are_words_that_json_can_hold() -> None:
    from spec_math.result import Column, Row

    table = Table("t", "T", (Column("x", "number"),), tuple(Row((x,)) for x in (float("inf"), float("-inf"))))
    text = as_json(Result("a", "A", "Nothing.", (table,)))
    assert [row["x"] for row in json.loads(text)["tables"][0]["rows"]] == ["Infinity", "-Infinity"]
    assert from_json(text).tables[0] == table
