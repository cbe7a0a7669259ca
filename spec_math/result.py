"""A result is one value: what was found in a sentence, tables, pictures as numbers, notes and an exit code.

Studies compute it, renderers show it; it holds no numbers that a renderer would have to compute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from spec_math.mean import Mean

Cell = str | bool | int | float | Fraction | Mean | None
"""What a table holds; None where there is no value."""

Kind = Literal["text", "count", "number", "mean", "flag", "fraction"]
"""Of a column: words, whole numbers, floats, values ± standard errors, yes or no, exact fractions."""

Mark = Literal["", "wrong", "best", "faint"]
"""How a row stands out: what is not lossless, what cannot be exceeded, what belongs to the row above."""

_HOLDS: dict[Kind, tuple[type, ...]] = {
    "text": (str,),
    "count": (int,),
    "number": (int, float, Fraction),
    "mean": (Mean,),
    "flag": (bool,),
    "fraction": (int, Fraction),
}


@dataclass(frozen=True)
class Column:
    """A column: its name, the kind of its cells, their unit, and how people see it.

    `digits` after the point are shown of numbers without an error, None for six significant ones; `heading` stands
    above the column where the name is long; a column that is not `shown` is in CSV and JSON alone.

    >>> Column("acceptance", "mean", "probability").digits
    4
    """

    name: str
    kind: Kind = "text"
    unit: str = ""
    digits: int | None = 4
    heading: str = ""
    shown: bool = True


def columns(
    names: Iterable[str], kind: Kind = "text", unit: str = "", digits: int | None = 4, shown: bool = True
) -> tuple[Column, ...]:
    """Return columns of the same kind and unit.

    >>> [column.name for column in columns(("emitted", "target"), "number", "probability")]
    ['emitted', 'target']
    """
    return tuple(Column(name, kind, unit, digits, shown=shown) for name in names)


class Row(NamedTuple):
    """The cells of a row, how it stands out, and the group that it stands in: a line divides groups."""

    cells: tuple[Cell, ...]
    mark: Mark = ""
    group: str = ""


@dataclass(frozen=True)
class Table:
    """A table: a name for files, a title for people, columns and rows.

    Raises:
        ValueError: a row has more or fewer cells than there are columns, or two columns have one name.
        TypeError: a cell is not of its column's kind.

    >>> table = Table("lines", "Two lines", (Column("scheme"), Column("k", "count")), (Row(("A", 1)), Row(("B", None))))
    >>> [row.cells[0] for row in table.filled]
    ['A']
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names):
            raise ValueError(f"columns of one table need different names; got {names}")
        for row in self.rows:
            if len(row.cells) != len(names):
                raise ValueError(f"a row of {self.name!r} needs {len(names)} cells, as {names}; got {row.cells}")
            for column, cell in zip(self.columns, row.cells, strict=True):
                if not _fits(column.kind, cell):
                    raise TypeError(f"the column {column.name!r} holds {column.kind}; got {cell!r}")

    @property
    def filled(self) -> tuple[Row, ...]:
        """The rows that say something: a row whose every value is missing is left out, unless all columns are words."""
        places = [place for place, column in enumerate(self.columns) if column.kind not in ("text", "flag")]
        if not places:
            return self.rows
        return tuple(row for row in self.rows if any(row.cells[place] is not None for place in places))

    def cells(self, name: str) -> list[Cell]:
        """Return the cells of the column with this name, in the order of the rows that are shown."""
        place = [column.name for column in self.columns].index(name)
        return [row.cells[place] for row in self.filled]

    def records(self) -> list[dict[str, Cell]]:
        """Return the rows that are shown as {name of the column: cell}."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row.cells, strict=True)) for row in self.filled]


def _fits(kind: Kind, cell: Cell) -> bool:
    if cell is None:
        return True
    return isinstance(cell, _HOLDS[kind]) and (kind == "flag" or not isinstance(cell, bool))


Style = Literal["line", "points", "bound", "ceiling", "guide"]
"""Of a curve: joined points; points alone; what nothing exceeds; the same, shaded above; a thin line to read by."""


@dataclass(frozen=True)
class Curve:
    """Points (x, y) under one label, with an interval [low, high] at each where there is one.

    Lines get a colour, a marker and a dash of their own by their place in the panel.

    >>> curve("optimum", {1: Mean(0.5, 0.0, 9)}).high
    (0.5,)
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    style: Style = "line"


def curve(label: str, means: Mapping[int, Mean], style: Style = "line") -> Curve:
    """Return the curve of means {x: mean}, with their intervals where one of them is estimated.

    Where a mean promises none, two standard errors stand in its place (`Mean.bars`).

    >>> curve("exact", {1: Mean(0.5, 0.0, 0)}).low
    ()
    """
    xs = sorted(means)
    found = [means[x] for x in xs]
    intervals = [mean.bars for mean in found] if any(mean.samples for mean in found) else []
    return Curve(
        label,
        tuple(float(x) for x in xs),
        tuple(float(mean.value) for mean in found),
        tuple(low for low, _ in intervals),
        tuple(high for _, high in intervals),
        style,
    )


@dataclass(frozen=True)
class Panel:
    """Curves over common axes, which have these names; as bars they stand side by side at each x.

    `ticks` are the names of x = 0, 1, …, or with `log_x` the x that are labelled; `limits` of y, else what fits. Where
    the curves stand `apart`, each is drawn a little beside its x, so that intervals do not hide each other.

    >>> Panel((Curve("a", (0.0,), (1.0,)),), "drafter", "acceptance", bars=True, ticks=("bytes",)).log_x
    False
    """

    curves: tuple[Curve, ...]
    x: str
    y: str
    title: str = ""
    bars: bool = False
    log_x: bool = False
    log_y: bool = False
    ticks: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None
    apart: bool = False


class Node(NamedTuple):
    """A node of a tree: its label, the place of its parent in the list (None for the root), whether it ends there."""

    label: str
    parent: int | None
    leaf: bool


@dataclass(frozen=True)
class Tree:
    """Nodes, parents before children, drawn from left to right; leaves stand in their order from the top.

    >>> len(Tree((Node("start", None, False), Node("a", 0, True))).nodes)
    2
    """

    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Picture:
    """A picture as numbers: a name for files, a title, what to see in it, and its panels side by side, or a tree.

    Panels stand in one row, or `across` of them in each: then what they share of their axes is named once, y at the
    first of a row and x at the last of a column.

    >>> Picture("k", "Against k", "More drafts accept more.", (Panel((), "k", "acceptance"),)).name
    'k'
    """

    name: str
    title: str
    caption: str
    panels: tuple[Panel, ...] | Tree
    across: int = 0


class Word(NamedTuple):
    """A word of marked text: kept, struck out, added by somebody else, faint, or as it is."""

    text: str
    mark: Literal["", "kept", "struck", "added", "faint"] = ""


class Note(NamedTuple):
    """A sentence beside the tables, under a head where it has one; `code` is kept as it is.

    `words` are a text whose words have marks; it then stands for `text`.
    """

    text: str
    head: str = ""
    code: bool = False
    words: tuple[Word, ...] = ()


class Attachment(NamedTuple):
    """A file that goes with a result under a name of its own, such as a certificate, and its whole text.

    >>> Attachment("certificate.json", "{}").name
    'certificate.json'
    """

    name: str
    text: str


def sentences(texts: Iterable[str], head: str = "") -> tuple[Note, ...]:
    """Return sentences as notes, under one head.

    >>> sentences(["All is exact."])
    (Note(text='All is exact.', head='', code=False, words=()),)
    """
    return tuple(Note(text, head) for text in texts)


def under_heads(texts: Mapping[str, str]) -> tuple[Note, ...]:
    """Return texts as notes, each under its head.

    >>> under_heads({"Gain": "More than before."})[0].head
    'Gain'
    """
    return tuple(Note(text, head) for head, text in texts.items())


@dataclass(frozen=True)
class Result:
    """The finding of a study. `name` is the stem of its files, `finding` one sentence, `exit_code` that of its command.

    0 done or lossless, 1 lossy, 2 bad input, 3 undecided. `notes` stand under the tables, `meanings` say what each
    number means and stand on the page alone; `attachments` are written beside all other files. `setting` is one
    sentence on what was looked at, which stands before what was found.

    >>> Result("audit", "An audit", "Nothing was found.").exit_code
    0
    """

    name: str
    title: str
    finding: str
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    notes: tuple[Note, ...] = ()
    meanings: tuple[Note, ...] = ()
    exit_code: int = 0
    attachments: tuple[Attachment, ...] = ()
    setting: str = ""

    def table(self, name: str) -> Table:
        """Return the table of this name.

        Raises:
            LookupError: there is none.
        """
        found = next((table for table in self.tables if table.name == name), None)
        if found is None:
            raise LookupError(f"{self.name} has the tables {[table.name for table in self.tables]}; not {name!r}")
        return found


def rows(cells: Iterable[Sequence[Cell]], mark: Mark = "", group: str = "") -> tuple[Row, ...]:
    """Return rows of the same mark and group.

    >>> rows([["a", 1]])
    (Row(cells=('a', 1), mark='', group=''),)
    """
    return tuple(Row(tuple(row), mark, group) for row in cells)
