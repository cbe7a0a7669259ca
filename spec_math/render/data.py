"""A result as data: each table as CSV with a header, everything as JSON that can be read back."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, astuple
from fractions import Fraction
from math import isfinite
from typing import Any

from spec_math.mean import Mean
from spec_math.result import Cell, Column, Curve, Node, Note, Panel, Picture, Result, Row, Table, Tree, Word

PARTS = ("standard error", "samples", "low", "high", "confidence")
"""A mean takes six places: its value under the column's name, and these behind it; no ends where none are promised."""


def as_csv(table: Table) -> str:
    """Return a table as CSV: true and false, numbers with all their digits, fractions such as 3/4, nothing for none."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([name for column in table.columns for name in _names(column)])
    for row in table.filled:
        values = [value for column, cell in zip(table.columns, row.cells, strict=True) for value in _flat(column, cell)]
        writer.writerow([str(value).lower() if isinstance(value, bool) else value for value in values])
    return stream.getvalue()


def as_json(result: Result) -> str:
    """Return a result as JSON; rows are objects by the names that the CSV has. `from_json` reads it back.

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


def from_json(text: str) -> Result:
    """Read a result that `as_json` wrote.

    Raises:
        ValueError, KeyError: the text is no such result.
    """
    held = json.loads(text)
    return Result(
        held["name"],
        held["title"],
        held["finding"],
        tuple(_read_table(table) for table in held["tables"]),
        tuple(_read_picture(picture) for picture in held["pictures"]),
        tuple(_read_note(note) for note in held["notes"]),
        tuple(_read_note(note) for note in held["meanings"]),
        held["exit code"],
        setting=held.get("setting", ""),
    )


def _names(column: Column) -> list[str]:
    return [column.name, *(f"{column.name} {part}" for part in PARTS if column.kind == "mean")]


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
        held: dict[str, Any] = value
        return {name: _written(one) for name, one in held.items()}
    if isinstance(value, (list, tuple)):
        listed: list[Any] = list(value)
        return [_written(one) for one in listed]
    return value


def _table(table: Table) -> dict[str, Any]:
    names = [name for column in table.columns for name in _names(column)]
    rows = [
        [value for column, cell in zip(table.columns, row.cells, strict=True) for value in _flat(column, cell)]
        for row in table.filled
    ]
    return {
        "name": table.name,
        "title": table.title,
        "columns": [asdict(column) for column in table.columns],
        "rows": [dict(zip(names, row, strict=True)) for row in rows],
        "marks": [[row.mark, row.group] for row in table.filled],
    }


def _read_table(held: dict[str, Any]) -> Table:
    columns = tuple(Column(**column) for column in held["columns"])
    rows = tuple(
        Row(tuple(_read_cell(column, row) for column in columns), *mark)
        for row, mark in zip(held["rows"], held["marks"], strict=True)
    )
    return Table(held["name"], held["title"], columns, rows)


def _read_cell(column: Column, row: dict[str, Any]) -> Cell:
    values = [row[name] for name in _names(column)]
    if values[0] is None:
        return None
    if column.kind == "mean":
        low, high = (None if end is None else float(end) for end in values[3:5])
        return Mean(float(values[0]), float(values[1]), values[2], low, high, float(values[5]))
    if column.kind == "number":
        return float(values[0])
    if column.kind == "fraction":
        return Fraction(values[0])
    return values[0]


def _note(note: Note) -> dict[str, Any]:
    return note._asdict() | {"words": [list(word) for word in note.words]}


def _read_note(held: dict[str, Any]) -> Note:
    return Note(held["text"], held["head"], held["code"], tuple(Word(*word) for word in held["words"]))


def _picture(picture: Picture) -> dict[str, Any]:
    named = {"name": picture.name, "title": picture.title, "caption": picture.caption}
    if isinstance(picture.panels, Tree):
        return named | {"tree": [list(node) for node in picture.panels.nodes]}
    return named | {"across": picture.across, "panels": [asdict(panel) for panel in picture.panels]}


def _read_picture(held: dict[str, Any]) -> Picture:
    named = held["name"], held["title"], held["caption"]
    if "tree" in held:
        return Picture(*named, Tree(tuple(Node(*node) for node in held["tree"])))
    return Picture(*named, tuple(_read_panel(panel) for panel in held["panels"]), held.get("across", 0))


def _read_panel(held: dict[str, Any]) -> Panel:
    curves = tuple(
        Curve(one["label"], *(tuple(map(float, one[name])) for name in ("x", "y", "low", "high")), style=one["style"])
        for one in held["curves"]
    )
    limits = None if held["limits"] is None else tuple(map(float, held["limits"]))
    given: dict[str, Any] = {**held, "curves": curves, "ticks": tuple(held["ticks"]), "limits": limits}
    return Panel(**given)
