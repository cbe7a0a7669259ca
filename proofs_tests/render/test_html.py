"""One document: nothing is fetched, everything is escaped, and all of the result stands in it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import unquote

from hypothesis import given, settings

from proofs_tests.render.results_strategies import TREE, results
from spec_math.mean import Mean
from spec_math.render.data import shown
from spec_math.render.figure import svg_of
from spec_math.render.html import front, page
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
        self.pictures: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")
        for name, value in attrs:
            if name in ("src", "href") and not (value or "").startswith("data:image/svg+xml,<svg "):
                self.fetched.append(value or "")
            if name == "src":
                address = unquote((value or "").partition(",<svg")[2])
                self.pictures.append(address)
            if name == "alt":
                self.alts.append(value or "")
        assert {name for name, _ in attrs} <= {
            "lang",
            "charset",
            "name",
            "content",
            "class",
            "alt",
            "src",
            "href",
            "colspan",
        }

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
    found = read(page(result))
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
    result = Result("r", evil, evil, (table,), (picture,), (Note(evil, evil), Note(evil, code=True)))
    text = page(result)
    assert "<script" not in text + front([result], evil, ["r.html"])
    assert "alert(&#39;&#34;&amp;&#39;)" in text
    assert read(text).cells == [evil]


def test_several_results_have_a_first_page_with_the_answer_on_top_and_links() -> None:
    picture = Picture("p", "P", "c", TREE)
    one, other = Result("a", "First", "One.", pictures=(picture, picture)), Result("b", "Second", "Other.", setting="S")
    text = front([one, other], "Both", ["a.html", "b.html"], "<aside>ours</aside>")
    assert text.index("One.") < text.index("<img") < text.index("a.html") < text.index("Second") < text.index("b.html")
    assert text.index("b.html") < text.index("<aside>ours</aside>")
    assert (text.count('class="finding'), text.count("<img"), "<table" in text) == (1, 1, False)
    assert read(text).fetched == ["a.html", "b.html"]
    # What is not right is the answer, wherever it stands.
    wrong = Result("c", "Third", "It is lossy.", exit_code=1)
    lossy = front([one, wrong], "Both", ["a.html", "c.html"])
    assert lossy.index('class="finding code1"') < lossy.index("It is lossy.") < lossy.index("One.")


def test_a_page_leads_back_to_the_first() -> None:
    table = Table("t", "T", (Column("a", "mean"),), (Row((Mean(0.5, 0.1, 9),)),))
    result = Result("a", "A", "x", (table,), (Picture("p", "P", "c", TREE),))
    text = page(result, "report.html")
    assert read(text).fetched == ["report.html"]
    assert text.index("<img") < text.index("<table")
    assert page(result) == page(result) != text


def test_a_picture_in_a_page_is_the_picture() -> None:
    """Its address is decoded as a browser does it; comments are left out."""
    picture = Picture("p", "P & Q", "c", TREE)
    reader = read(page(Result("a", "A", "x", pictures=(picture,))))
    expected = re.sub(r"<!--.*?-->\n?", "", svg_of(picture), flags=re.DOTALL).partition("<svg")[2]
    assert reader.pictures == [expected.replace('"', "'").replace("\n", " ")]
