"""A result in the terminal: what was found first and last, between them tables that fit the width, and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from spec_math.render.data import shown
from spec_math.result import Column, Note, Result, Row, Table
from spec_math.wording import listed

STYLES = {"": "", "wrong": "red", "best": "bold", "faint": "dim"}
COLOURS = {"": "", "kept": "green", "struck": "red strike", "added": "bold cyan", "faint": "dim"}
BRACKETS = {"": "{}", "kept": "{}", "struck": "-{}-", "added": "[{}]", "faint": "{}"}
GAP = 2
"""Blanks between two columns."""

NAMES = 30
"""The first column is at least allowed to be so wide, before its words are put one below the other."""

WORDS = 24
"""Cells of words in other columns are broken only beyond this width."""

MOST = 40
"""Lines of a result at most, where not all is asked for."""

LINES = (36, 30, 25, 21, 18, 15, 12, 9, 7, 5, 3)
"""The lines of a table that are tried, until all is short enough."""

FEW = 9
"""With as few lines, a table stands only if it is alone."""


class Cut(NamedTuple):
    """A table drawn in parts that fit a width, with the number of rows and the names of columns that were left out."""

    parts: list[RenderableType]
    rows: int = 0
    columns: tuple[str, ...] = ()


def show(result: Result, console: Console, most: int | None = None, written: Sequence[str] = ()) -> None:
    """Print a result: what was found, its title, tables, notes, the files `written`, and once more its first line.

    With `most`, no more lines than these: rows, columns, tables and notes that are left out are counted.
    """
    finding = Text(result.finding, style={1: "bold red", 3: "bold yellow"}.get(result.exit_code, "bold"))
    last = Text(result.finding.partition("\n")[0], style=finding.style)
    head = [finding, Text(), Text(result.title, style="bold")]
    head += [Text(), Text(result.setting)] * bool(result.setting)
    cuts = [cut(table, console.width) for table in result.tables if table.filled]
    notes, said = list(result.notes), list(written)
    if most is not None:
        room = most - _height([*head, Text(), last], console) - len(written)
        if sum(_height(one.parts, console) for one in cuts) + sum(_lines(note, console) for note in notes) > room:
            cuts, notes, left = _shortened(result, console, room - 3)
            said = [left] * bool(left) + said
    for thing in (*head, *(part for one in cuts for part in one.parts), Text()):
        console.print(thing)
    for note in notes:
        console.print(_note(note, console), soft_wrap=_soft(note, console))
    for line in said:
        console.print(Text(line), soft_wrap=line in written)
    console.print(last)


def _shortened(result: Result, console: Console, room: int) -> tuple[list[Cut], list[Note], str]:
    """Return tables and notes that take so many lines, and a sentence on what was left out."""
    tables = [table for table in result.tables if table.filled]
    cuts: list[Cut] = []
    for number, lines in ((number, lines) for number in range(len(tables), 0, -1) for lines in LINES):
        cuts = [cut(table, console.width, lines) for table in tables[:number]]
        height = sum(_height(one.parts, console) for one in cuts)
        if height <= (room * 2 // 3 if result.notes else room) and (lines > FEW or number == 1):
            room -= height
            break
    notes: list[Note] = []
    for note in result.notes:
        if _lines(note, console) <= room:
            notes.append(note)
            room -= _lines(note, console)
    rows, names = sum(one.rows for one in cuts), {name: None for one in cuts for name in one.columns}
    left = [f"{rows} row{'s' * (rows != 1)}"] * bool(rows)
    left += [f"the column{'s' * (len(names) > 1)} {listed(list(names))}"] * bool(names)
    left += [f"the table “{table.title}”" for table in tables[len(cuts) :]]
    if fewer := len(result.notes) - len(notes):
        left.append(f"{fewer} note{'s' * (fewer > 1)}")
    return cuts, notes, f"Left out here: {'; '.join(left)}. --all shows everything." if left else ""


def _height(things: Sequence[RenderableType], console: Console) -> int:
    return sum(len(console.render_lines(thing)) for thing in things)


def _soft(note: Note, console: Console) -> bool:
    return note.code or (bool(note.words) and not console.is_terminal)


def _lines(note: Note, console: Console) -> int:
    text = _note(note, console)
    return text.plain.count("\n") + 1 if _soft(note, console) else _height([text], console)


def cut(table: Table, width: int, most: int | None = None) -> Cut:
    """Return a table as parts that fit a width: columns that do not fit follow below, the first one repeated.

    With `most`, so many rows and heads of groups are shown, and the first columns alone. Words that are the same in
    every row stand below. No number and no word is ever cut.
    """
    places = [place for place, column in enumerate(table.columns) if column.shown]
    if not places:
        return Cut([])
    cells = [[shown(row.cells[place], table.columns[place]) for place in places] for row in table.filled]
    columns = [table.columns[place] for place in places]
    words = [n for n in range(1, len(places)) if columns[n].kind in ("text", "flag") and len(cells) > 2]
    same = [n for n in words if len({row[n] for row in cells}) == 1]
    kept = range(len(cells)) if most is None else _kept(table.filled, most)
    lines = [(table.filled[n], cells[n]) for n in kept]
    varying = [n for n in range(len(places)) if n not in same]
    spans = [_span(columns[n], [row[n] for row in cells]) for n in varying]
    chosen = _chosen(spans, width)[: None if most is None else 1]
    parts: list[RenderableType] = []
    for part in chosen:
        title = table.title if part is chosen[0] else f"{table.title} (continued)"
        widths = dict(zip((varying[n] for n in part), _widths([spans[n] for n in part], width), strict=True))
        parts += [Text(), Text(title), *_part(columns, lines, widths)]
    if said := [f"{_heading(columns[n])} {cells[0][n]}" for n in same if cells[0][n]]:
        parts.append(Text(f"The same in every row: {', '.join(said)}."))
    left = [_heading(columns[n]) for place, n in enumerate(varying) if not any(place in part for part in chosen)]
    return Cut(parts, len(cells) - len(lines), tuple(left))


def _kept(filled: Sequence[Row], most: int) -> list[int]:
    """Return the places of rows that take at most so many lines: as many of each group, wrong ones before others."""
    heads = {row.group for row in filled if row.group}
    each = max(1, most // max(1, len(heads)) - bool(heads))
    free, taken, found = most, Counter[str](), list[int]()
    for place in sorted(range(len(filled)), key=lambda place: filled[place].mark != "wrong"):
        group = filled[place].group
        lines = 1 + (group in heads and not taken[group])
        if taken[group] < each and lines <= free:
            taken[group] += 1
            free -= lines
            found.append(place)
    return sorted(found)


def _span(column: Column, cells: list[str]) -> tuple[int, int]:
    """Return the least and the natural width of a column: numbers are never broken, words only between each other."""
    told = [_heading(column), *cells]
    words = max(len(word) for text in told for word in (text.split() or [""]))
    if column.kind == "text":
        natural = max(map(len, cells), default=0)
        return max(words, min(natural, WORDS)), max(words, natural)
    least = max([*map(len, cells), *map(len, _heading(column).split()), 1])
    return least, least


def _chosen(spans: list[tuple[int, int]], width: int) -> list[list[int]]:
    """Return which columns stand side by side, the first among them each time."""
    parts: list[list[int]] = [[0]]
    # The first column takes so much before its words wrap.
    least, natural = spans[0]
    free = room = width - max(least, min(natural, NAMES, width * 2 // 5))
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


def _part(columns: list[Column], rows: list[tuple[Row, list[str]]], widths: dict[int, int]) -> list[RenderableType]:
    """Return rich tables of one width each: the first with the head, and one more for each group of rows."""

    def drawn(head: bool) -> RichTable:
        style: dict[str, Any] = {"box": None, "pad_edge": False, "padding": (0, GAP, 0, 0)}
        made = RichTable(show_header=head, **style)
        for place, width in widths.items():
            numbers = columns[place].kind not in ("text", "flag")
            made.add_column(Text(_heading(columns[place])), justify="right" if numbers else "left", width=width)
        return made

    table = drawn(head=True)
    parts: list[RenderableType] = [table]
    group = ""
    for row, cells in rows:
        if row.group != group:
            group, table = row.group, drawn(head=False)
            parts += [Text(group), table]
        table.add_row(*(Text(cells[place]) for place in widths), style=STYLES[row.mark])
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
