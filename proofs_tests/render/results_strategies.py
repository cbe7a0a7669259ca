"""Results of every shape: all kinds of cells, with gaps, signs of HTML and CSV in every word."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from spec_math.mean import Mean
from spec_math.result import Column, Curve, Node, Note, Panel, Picture, Result, Row, Table, Tree

WORDS = st.text("aK-γ*<>&\"',;\n é0=[]", max_size=12)
FLOATS = st.floats(allow_nan=False)
MEANS = st.builds(Mean, FLOATS, st.floats(0, 10), st.integers(0, 9)) | st.builds(
    Mean, FLOATS, st.floats(0, 10), st.integers(2, 9), FLOATS, FLOATS, st.floats(0, 1)
)
CELLS: dict[Any, Any] = {
    "text": WORDS,
    "count": st.integers(),
    "number": FLOATS,
    "mean": MEANS,
    "flag": st.booleans(),
    "fraction": st.fractions(),
}


@st.composite
def tables(draw: Any) -> Table:
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=5))
    columns = tuple(
        Column(f"{kind} {place}", kind, draw(WORDS), draw(st.sampled_from([None, 0, 4])))
        for place, kind in enumerate(kinds)
    )
    rows = st.tuples(*(st.none() | CELLS[kind] for kind in kinds))
    marks = st.sampled_from(["", "wrong", "best", "faint"])
    listed = draw(st.lists(st.builds(Row, rows, marks, WORDS), max_size=4))
    return Table(draw(st.sampled_from(["lines", "others"])), draw(WORDS), columns, tuple(listed))


POINTS = st.lists(st.floats(-9, 9), min_size=1, max_size=4)


@st.composite
def curves(draw: Any) -> Curve:
    x = tuple(draw(POINTS))
    banded = draw(st.booleans())
    style = draw(st.sampled_from(["line", "points", "bound", "ceiling", "guide"]))
    return Curve(draw(st.text("abc", max_size=5)), x, x, x if banded else (), x if banded else (), style)


PANELS = st.builds(Panel, st.tuples(curves(), curves()), st.just("x"), st.just("y"), st.just("t"))
TREE = Tree((Node("start", None, False), Node("a", 0, False), Node("b", 1, True), Node("ab", 0, True)))
DRAWN = st.builds(Picture, st.just("p"), st.just("P"), WORDS, st.tuples(PANELS), st.integers(0, 2))
PICTURES = DRAWN | st.builds(Picture, st.just("p"), st.just("P"), WORDS, st.just(TREE))
NOTES = st.builds(Note, WORDS, WORDS, st.booleans())


def results() -> Any:
    return st.builds(
        Result,
        st.just("found"),
        WORDS,
        WORDS,
        st.tuples(tables()),
        st.lists(PICTURES, max_size=1).map(tuple),
        st.lists(NOTES, max_size=3).map(tuple),
        st.lists(NOTES, max_size=2).map(tuple),
        st.integers(0, 3),
    )


def exact(cell: Any) -> Any:
    """A number as the float that a file holds of it."""
    return float(cell) if isinstance(cell, Fraction) else cell
