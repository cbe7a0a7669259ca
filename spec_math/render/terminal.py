"""A result in the terminal: tables that fit the width, notes, and the finding last."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from spec_math.render.data import shown
from spec_math.result import Column, Note, Result, Row, Table

STYLES = {"": "", "wrong": "red", "best": "bold", "faint": "dim"}
COLOURS = {"": "", "kept": "green", "struck": "red strike", "added": "bold cyan", "faint": "dim"}
BRACKETS = {"": "{}", "kept": "{}", "struck": "-{}-", "added": "[{}]", "faint": "{}"}
GAP = 2
"""Blanks between two columns."""

NAMES = 24
"""How wide the first column is at least allowed to be, before its words are put one below the other."""


def show(result: Result, console: Console) -> None:
    """Print a result: its title, its tables, what they need said, and what was found."""
    console.print(Text(result.title, style="bold"))
    if result.setting:
        console.print(Text(f"\n{result.setting}"))
    for table in result.tables:
        for part in fitted(table, console.width) if table.filled else []:
            console.print()
            for drawn in part:
                # A title is as wide as the terminal, not as its table.
                title, drawn.title = drawn.title, None
                if title:
                    console.print(Text(str(title)))
                console.print(drawn)
    if result.tables:
        console.print()
    for note in result.notes:
        console.print(_note(note, console), soft_wrap=note.code or (bool(note.words) and not console.is_terminal))
    console.print(Text(result.finding, style={1: "bold red", 3: "bold yellow"}.get(result.exit_code, "bold")))


def fitted(table: Table, width: int) -> list[list[RichTable]]:
    """Return a table as parts that fit a width: columns that do not fit follow below, the first one repeated.

    A part is a rich table, or where rows stand in groups its head and one a group. No number and no word is ever cut;
    words are put one below the other.
    """
    places = [place for place, column in enumerate(table.columns) if column.shown]
    if not places:
        return []
    columns = [table.columns[place] for place in places]
    rows = [(row, [shown(row.cells[place], table.columns[place]) for place in places]) for row in table.filled]
    spans = [_span(column, [cells[place] for _, cells in rows]) for place, column in enumerate(columns)]
    return [
        _part(table, columns, rows, dict(zip(chosen, _widths([spans[place] for place in chosen], width), strict=True)))
        for chosen in _chosen(spans, width)
    ]


def _span(column: Column, cells: list[str]) -> tuple[int, int]:
    """Return the least and the natural width of a column: numbers are never broken, words only between each other."""
    told = [_heading(column), *cells]
    words = max(len(word) for text in told for word in (text.split() or [""]))
    if column.kind == "text":
        return words, max(map(len, told))
    least = max([*map(len, cells), *map(len, _heading(column).split()), 1])
    return least, least


def _chosen(spans: list[tuple[int, int]], width: int) -> list[list[int]]:
    """Return which columns stand side by side, the first among them each time."""
    least, natural = spans[0]
    room = width - max(least, min(natural, NAMES, width // 3))
    parts: list[list[int]] = [[0]]
    free = room
    for place, (needed, _) in enumerate(spans[1:], 1):
        if needed + GAP > free and len(parts[-1]) > 1:
            parts.append([0])
            free = room
        parts[-1].append(place)
        free -= needed + GAP
    return parts


def _widths(spans: list[tuple[int, int]], width: int) -> list[int]:
    """Return the widths of columns side by side: what is left over is given to words, from the first column on."""
    found = [least for least, _ in spans]
    left = width - sum(found) - GAP * (len(found) - 1)
    for place, (least, natural) in enumerate(spans):
        more = max(0, min(left, natural - least))
        found[place] += more
        left -= more
    return found


def _part(
    table: Table, columns: list[Column], rows: list[tuple[Row, list[str]]], widths: dict[int, int]
) -> list[RichTable]:
    first = 1 in widths or len(columns) == 1
    title = table.title if first else f"{table.title} (continued)"

    def drawn(title: str, head: bool) -> RichTable:
        style: dict[str, Any] = {"title_justify": "left", "box": None, "pad_edge": False, "padding": (0, GAP, 0, 0)}
        made = RichTable(title=Text(title), show_header=head, **style)
        for place, width in widths.items():
            numbers = columns[place].kind not in ("text", "flag")
            made.add_column(Text(_heading(columns[place])), justify="right" if numbers else "left", width=width)
        return made

    parts = [drawn(title, head=True)]
    group = ""
    for row, cells in rows:
        if row.group != group:
            group = row.group
            parts.append(drawn(group, head=False))
        parts[-1].add_row(*(Text(cells[place]) for place in widths), style=STYLES[row.mark])
    return parts


def _heading(column: Column) -> str:
    return column.heading or column.name


def _note(note: Note, console: Console) -> Text:
    text = Text().append(note.head, style="bold")
    if note.head:
        text.append("\n" if note.code else ": ")
    if not note.words:
        return text.append(note.text.rstrip("\n") + "\n" * note.code)
    colours = console.color_system is not None and not console.no_color
    for place, word in enumerate(note.words):
        text.append(" " if place else "")
        # Without colours (a pipe, NO_COLOR) the marks are brackets.
        text.append(word.text if colours else BRACKETS[word.mark].format(word.text), style=COLOURS[word.mark])
    return text
