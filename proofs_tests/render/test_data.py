"""A result goes through JSON and comes back the same; CSV says true, false, numbers and nothing."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from hypothesis import given

import spec_math
from proofs_tests.render.read_results import from_json
from proofs_tests.render.results_strategies import exact, results, tables
from spec_math.mean import Mean
from spec_math.render.data import as_csv, as_json, as_latex
from spec_math.result import Column, Result, Row, Table

ROOT = Path(spec_math.__file__).parent

KNOWN = set("━─├└│█▁") | set("—–“”…")
"""Bars and trees for terminals, and signs that LaTeX prints as they are."""


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


def test_a_table_for_a_paper_has_a_line_a_row_and_a_rule_a_group() -> None:
    columns = Column("method"), Column("acceptance", "mean", heading="α_k"), Column("page", shown=False)
    lines = (
        Row(("K-SEQ at γ*", Mean(0.5, 0.01, 9), "p"), "", "K = 1"),
        Row(("a & b", Mean(1.0, 0.0, 0), "p"), "", "K = 2"),
    )
    assert as_latex(Table("t", "50 % ≤ 1", columns, lines)).splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\caption{50 \% $\le$ 1}",
        r"\label{tab:t}",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"method & $\alpha$\_k \\",
        r"\midrule",
        r"\multicolumn{2}{l}{K = 1} \\",
        r"K-SEQ at $\gamma${*} & 0.500 $\pm$ 0.010 \\",
        r"\midrule",
        r"\multicolumn{2}{l}{K = 2} \\",
        r"a \& b & 1.0000 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


@given(table=tables())
def test_any_table_for_a_paper_balances_its_braces_and_dollars(table: Table) -> None:
    text = re.sub(r"\\text(backslash|ascii\w+)\{\}|\\[&%$#_{}]|\\\\", "", as_latex(table))
    assert (text.count("{"), text.count("$") % 2) == (text.count("}"), 0)
    rows = [line for line in text.split("\n") if " & " in line]
    assert {line.count(" & ") for line in rows} <= {sum(column.shown for column in table.columns) - 1}


def test_every_sign_that_the_product_says_is_known_to_latex() -> None:
    """All strings but docstrings of what makes tables and of the rules that are named there."""
    said = "".join(
        string
        for folder in ("studies", "block_level", "token_level", "lossy", "drafting", "string_level", "symbolic")
        for path in (ROOT / folder).rglob("*.py")
        for string in strings(ast.parse(path.read_text(encoding="utf-8")))
    )
    written = as_latex(Table("t", "".join(sorted(set(said))), (Column("a"),), ()))
    assert {sign for sign in written if ord(sign) > 255} <= KNOWN
    assert "γ" in said, "the control: a sign beyond Latin 1 is met"
    assert "♛" in as_latex(Table("t", "♛", (Column("a"),), ())), "the control: an unknown sign is seen"


def strings(tree: ast.Module) -> list[str]:
    """The strings of a file that are no docstrings."""
    told = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in told]
    return [node.value for node in nodes if isinstance(node.value, str)]
