"""Results read back from the JSON that `render.data` writes: nothing is lost on the way."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from spec_math.mean import Mean
from spec_math.render.data import names_of
from spec_math.result import Cell, Column, Curve, Node, Note, Panel, Picture, Result, Row, Table, Tree, Word


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


def _read_table(held: dict[str, Any]) -> Table:
    columns = tuple(Column(**column) for column in held["columns"])
    rows = tuple(
        Row(tuple(_read_cell(column, row) for column in columns), *mark)
        for row, mark in zip(held["rows"], held["marks"], strict=True)
    )
    return Table(held["name"], held["title"], columns, rows)


def _read_cell(column: Column, row: dict[str, Any]) -> Cell:
    values = [row[name] for name in names_of(column)]
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


def _read_note(held: dict[str, Any]) -> Note:
    return Note(held["text"], held["head"], held["code"], tuple(Word(*word) for word in held["words"]))


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
