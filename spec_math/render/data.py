"""Cells and tables as text: a cell for people, a table as CSV or LaTeX, a whole result as JSON."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, astuple
from fractions import Fraction
from math import isfinite
from typing import Any, cast

from spec_math.mean import Mean, number
from spec_math.result import Cell, Column, Note, Picture, Result, Table, Tree

PARTS = ("standard error", "samples", "low", "high", "confidence")
"""A mean takes six places: its value under the column's name, and these behind it; no ends where none are promised."""


def as_csv(table: Table) -> str:
    """Return a table as CSV: true and false, numbers with all their digits, fractions such as 3/4, nothing for none."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    names, rows = _values(table)
    writer.writerow(names)
    for row in rows:
        writer.writerow([str(value).lower() if isinstance(value, bool) else value for value in row])
    return stream.getvalue()


# A bracket or a star after the end of a line would be its argument.
SIGNS = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{sign: f"{{{sign}}}" for sign in "[*"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "✓": r"$\surd$",
    "␣": r"\textvisiblespace{}",
    "₀": "$_0$",
    "₁": "$_1$",
    "²": "$^2$",
}
MATHEMATICS = {
    "±": "pm",
    "×": "times",
    "·": "cdot",
    "−": "-",
    "≤": "le",
    "≥": "ge",
    "≠": "ne",
    "→": "to",
    "∞": "infty",
    "‖": "Vert",
    "⏎": "hookleftarrow",
    **{sign: sign for sign in "<>|"},
}
"""The signs that LaTeX does not print as they are, in text and as mathematics, to which Greek letters are added."""


def as_latex(table: Table) -> str:
    """Return the columns that are shown as a table of LaTeX, for its package booktabs: caption, label, a row a line.

    >>> from spec_math.result import Row
    >>> print(as_latex(Table("t", "50 %", (Column("a"), Column("K", "count")), (Row(("x_1", 2)),))), end="")
    \\begin{table}
    \\centering
    \\caption{50 \\%}
    \\label{tab:t}
    \\begin{tabular}{lr}
    \\toprule
    a & K \\\\
    \\midrule
    x\\_1 & 2 \\\\
    \\bottomrule
    \\end{tabular}
    \\end{table}
    """
    places = [place for place, column in enumerate(table.columns) if column.shown]
    columns = [table.columns[place] for place in places]
    sides = "".join("l" if column.kind in ("text", "flag") else "r" for column in columns)
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{_tex(table.title)}}}", rf"\label{{tab:{table.name}}}"]
    lines += [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", _line(column.heading or column.name for column in columns)]
    lines.append(r"\midrule")
    group = ""
    for row in table.filled:
        if row.group != group:
            lines += [r"\midrule"] * bool(group)
            group = row.group
            lines.append(rf"\multicolumn{{{len(columns)}}}{{l}}{{{_tex(group)}}} \\")
        lines.append(_line(shown(row.cells[place], table.columns[place]) for place in places))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _line(cells: Iterable[str]) -> str:
    return rf"{' & '.join(map(_tex, cells))} \\"


def _tex(text: str) -> str:
    return "".join(SIGNS.get(sign) or _mathematics(sign) for sign in text.replace("\n", " "))


def _mathematics(sign: str) -> str:
    greek, _, letter = unicodedata.name(sign, "").partition(" LETTER ")
    known = {"GREEK SMALL": letter.lower(), "GREEK CAPITAL": letter.capitalize()}.get(greek, MATHEMATICS.get(sign, ""))
    return f"${chr(92) * (len(known) > 1)}{known}$" if known else sign


def as_json(result: Result) -> str:
    """Return a result as JSON; rows are objects by the names that the CSV has.

    Infinite numbers are the texts "Infinity" and "-Infinity", a share of nothing is "NaN": JSON has none of them.
    """
    content = {
        "title": result.title,
        "setting": result.setting,
        "finding": result.finding,
        "exit code": result.exit_code,
        "tables": [_table(table) for table in result.tables],
        "notes": [_note(note) for note in result.notes],
        "meanings": [_note(note) for note in result.meanings],
        "pictures": [_picture(picture) for picture in result.pictures],
        "name": result.name,
    }
    return json.dumps(_written(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def names_of(column: Column) -> list[str]:
    """Return the names under which a column stands in CSV and JSON."""
    return [column.name, *(f"{column.name} {part}" for part in PARTS if column.kind == "mean")]


def _values(table: Table) -> tuple[list[str], list[list[Any]]]:
    """Return the names and the rows of a table as CSV and JSON have them."""
    names = [name for column in table.columns for name in names_of(column)]
    cells = (zip(table.columns, row.cells, strict=True) for row in table.filled)
    return names, [[value for column, cell in row for value in _flat(column, cell)] for row in cells]


def _flat(column: Column, cell: Cell) -> list[Any]:
    if column.kind == "mean":
        return list(astuple(cell)) if isinstance(cell, Mean) else [None] * (1 + len(PARTS))
    if column.kind == "number" and isinstance(cell, (int, float, Fraction)):
        return [float(cell)]
    return [str(cell) if isinstance(cell, Fraction) else cell]


def _written(value: Any) -> Any:
    """Replace what JSON has no word for."""
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {name: _written(one) for name, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_written(one) for one in cast("list[Any] | tuple[Any, ...]", value)]
    return value


def _table(table: Table) -> dict[str, Any]:
    names, rows = _values(table)
    return {
        "name": table.name,
        "title": table.title,
        "columns": [asdict(column) for column in table.columns],
        "rows": [dict(zip(names, row, strict=True)) for row in rows],
        "marks": [[row.mark, row.group] for row in table.filled],
    }


def _note(note: Note) -> dict[str, Any]:
    return note._asdict() | {"words": [list(word) for word in note.words]}


def _picture(picture: Picture) -> dict[str, Any]:
    named = {"name": picture.name, "title": picture.title, "caption": picture.caption}
    if isinstance(picture.panels, Tree):
        return named | {"tree": [list(node) for node in picture.panels.nodes]}
    return named | {"across": picture.across, "panels": [asdict(panel) for panel in picture.panels]}


MISSING = "—"
LONGEST_FRACTION = 24


def shown(cell: Cell, column: Column) -> str:
    """Write a cell as its column says.

    A mean is written with its interval, or with its standard error where it promises none, to the second significant
    digit of that error or of half the interval; without an error, and for other numbers, with the column's digits.
    """
    if cell is None:
        return MISSING
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Mean):
        return cell.written(column.digits)
    if column.kind == "fraction" and len(str(cell)) <= LONGEST_FRACTION:
        return str(cell)
    if isinstance(cell, str):
        return cell
    return number(cell, 0 if column.kind == "count" else column.digits)
