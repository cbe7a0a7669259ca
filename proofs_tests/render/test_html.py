"""One document: nothing is fetched, everything is escaped, and all of the result stands in it."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given, settings

from proofs_tests.render.results_strategies import TREE, results
from spec_math.mean import Mean
from spec_math.render.data import shown
from spec_math.render.html import page
from spec_math.result import Column, Curve, Note, Panel, Picture, Result, Row, Table

VOID = {"meta", "img", "br"}


class Reader(HTMLParser):
    """Reads a document back: its text, what it would fetch, and whether every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.cells: list[str] = []
        self.fetched: list[str] = []
        self.alts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")
        for name, value in attrs:
            if name in ("src", "href") and not (value or "").startswith("data:image/svg+xml;base64,"):
                self.fetched.append(value or "")
            if name == "alt":
                self.alts.append(value or "")
        assert {name for name, _ in attrs} <= {"lang", "charset", "name", "content", "class", "alt", "src", "colspan"}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open:
            self.cells[-1] += data
        self.text.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader


@given(result=results())
@settings(max_examples=15, deadline=None)
def test_any_result_is_a_document_that_fetches_nothing(result: Result) -> None:
    found = read(page([result]))
    assert found.fetched == []
    said = "".join(found.text)
    for text in (result.title, result.finding):
        assert text.strip() in said
    for note in (*result.notes, *result.meanings):
        for text in [word.text for word in note.words] if note.words else [note.text]:
            assert text.strip() in said
    cells = [shown(c, k) for t in result.tables for r in t.filled for c, k in zip(r.cells, t.columns, strict=True)]
    assert found.cells == cells
    assert found.alts == [picture.caption for picture in result.pictures]


def test_signs_of_html_are_words() -> None:
    evil = "<script>alert('\"&')</script>"
    table = Table("t", evil, (Column(evil),), (Row((evil,)),))
    picture = Picture("p", evil, evil, (Panel((Curve("a", (0.0,), (1.0,)),), "x", "y"),))
    text = page([Result("r", evil, evil, (table,), (picture,), (Note(evil, evil), Note(evil, code=True)))])
    assert "<script" not in text
    assert "alert(&#39;&#34;&amp;&#39;)" in text
    assert read(text).cells == [evil]


def test_findings_of_several_results_open_the_document() -> None:
    table = Table("t", "T", (Column("a", "mean"),), (Row((Mean(0.5, 0.1, 9),)),))
    one, other = Result("a", "First", "One was found.", (table,)), Result("b", "Second", "Another.", exit_code=1)
    text = page([one, other], "Both", "<aside>ours</aside>")
    assert text.index("One was found.") < text.index("Another.") < text.index("<table")
    assert text.index("<table") < text.index("<aside>ours</aside>")
    assert 'class="finding code1"' in text
    assert page([one]) == page([one])
    assert len(read(page([Result("a", "A", "x", pictures=(Picture("p", "P", "c", TREE),))])).alts) == 1
