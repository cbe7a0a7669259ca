"""What the build of the book does to formulas and docstrings leaves their content alone."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from proofs_tests.docs.book import DOCS, pages

FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?(?:\n[^$\n]+?)?)\$", re.DOTALL)
EXTENSIONS = DOCS / "_extensions"


@pytest.fixture(scope="module")
def mathml() -> dict[str, Any]:
    pytest.importorskip("latex2mathml", reason="formulas need latex2mathml: pip install '.[docs]'")
    return run_path(str(EXTENSIONS / "mathml.py"))


def formulas() -> list[str]:
    found = [FORMULA.findall(page.read_text(encoding="utf-8")) for page in pages() if page.parent != DOCS.parent]
    return sorted({(displayed or inline).strip() for page in found for displayed, inline in page})


def said(mathml: str) -> str:
    """The text of a formula, without its marks."""
    return "".join("".join(ElementTree.fromstring(piece).itertext()) for piece in mathml.split("<wbr>"))


@pytest.mark.skipif(find_spec("latex2mathml") is None, reason="formulas need latex2mathml: pip install '.[docs]'")
def test_a_formula_cut_into_pieces_says_the_same(mathml: dict[str, Any]) -> None:
    cut = 0
    for latex in formulas():
        whole = mathml["convert"](mathml["spelled"](latex), display="inline")
        pieces = mathml["pieces"](whole)
        assert said("<wbr>".join(pieces)) == said(whole)
        cut += len(pieces) > 1
    assert len(formulas()) > 500
    assert cut > 100


def missing(font: Any, mathml: str) -> set[str]:
    """The characters of a formula that a font has no glyph for, as browsers ask for them: a lone letter is slanted."""
    wanted: set[int] = set()
    for part in ElementTree.fromstring(mathml).iter():
        text = (part.text or "").strip()
        wanted.update(map(ord, text))
        if part.tag.endswith("}mi") and len(text) == 1 and part.get("mathvariant") != "normal":
            wanted.add(SLANTED.get(text, ord(text)))
    return {chr(code) for code in wanted if code not in font.getBestCmap()}


SLANTED = {
    **{chr(97 + i): 0x210E if i == 7 else 0x1D44E + i for i in range(26)},
    **{chr(65 + i): 0x1D434 + i for i in range(26)},
    **{chr(0x3B1 + i): 0x1D6FC + i for i in range(25)},
    **{chr(0x391 + i): 0x1D6E2 + i for i in range(25) if i != 17},
}


@pytest.mark.skipif(find_spec("latex2mathml") is None, reason="formulas need latex2mathml: pip install '.[docs]'")
def test_the_font_that_is_shipped_sets_every_formula(mathml: dict[str, Any]) -> None:
    ttlib = pytest.importorskip("fontTools.ttLib", reason="the font is read by fonttools, which comes with matplotlib")
    style = DOCS / "_static" / "book.css"
    (path,) = re.findall(r'url\("([^"]+)"\)', style.read_text(encoding="utf-8"))
    font = ttlib.TTFont(style.parent / path)
    assert "MATH" in font
    assert (style.parent / "fonts" / "OFL.txt").is_file()
    wanting = {
        latex: missing(font, mathml["convert"](mathml["spelled"](latex), display="inline")) for latex in formulas()
    }
    assert {latex: found for latex, found in wanting.items() if found} == {}
    assert missing(font, f'<m xmlns="{mathml["NAMESPACE"]}"><mi>漢</mi></m>') == {"漢"}


def test_tests_are_found_by_file_by_name_and_near_the_page() -> None:
    behind = run_path(str(EXTENSIONS / "tests_behind_links.py"))
    files = {
        "a/test_chain.py": frozenset({"test_x"}),
        "a/test_block.py": frozenset({"test_x", "test_y"}),
        "b/test_chain.py": frozenset({"test_z"}),
    }
    assert behind["place"]("test_block.py::test_y", files) == "tests/a/test_block.html#test_y"
    assert behind["place"]("b/test_chain.py", files) == "tests/b/test_chain.html"
    assert behind["place"]("test_x", files, "test_chain") == "tests/a/test_chain.html#test_x"
    assert behind["place"]("test_x", files, "test_block") == "tests/a/test_block.html#test_x"
    assert [behind["place"](name, files) for name in ("test_block.py::test_z", "test_gone", "x", "")] == [None] * 4


def test_script_letters_and_words_are_spelled(mathml: dict[str, Any]) -> None:
    assert mathml["spelled"](r"\mathcal T_{vs} + \mathcal{H}_{root}") == r"𝒯 _{vs} + ℋ _{\text{root}}"


def test_docstrings_keep_their_signs_examples_and_formulas() -> None:
    rewritten = run_path(str(EXTENSIONS / "plain_docstrings.py"))["rewritten"]
    docstring = [
        "Return a*b*c of `x_`, |x|.",
        "    s = a_b*c",
        "and more.",
        "",
        "Raises:",
        "    ValueError: a_ is",
        "        too small.",
        "Source: a paper.",
        "",
        ">>> f(2)*1",
        "4",
    ]
    assert rewritten(docstring) == [
        "",
        r"Return a\*b\*c of ``x_``, \|x\|.",
        "",
        "::",
        "",
        "    s = a_b*c",
        "",
        "and more.",
        "",
        "",
        "",
        "**Raises**",
        "",
        "",
        r"* ValueError: a\_ is",
        "  too small.",
        "",
        "**Source:** a paper.",
        "",
        "",
        "",
        ">>> f(2)*1",
        "4",
    ]


def test_a_script_of_the_gallery_runs_where_it_has_changed_or_an_empty_picture_stands(tmp_path: Path) -> None:
    gallery = run_path(str(EXTENSIONS / "gallery.py"))
    script = tmp_path / "one.py"
    assert script.write_text("import sys; open(sys.argv[1] + '/one.svg', 'a').write('drawn ')", encoding="utf-8")
    page = f"![one](reference/gallery/one.svg)\n{{download}}`one.py <../{script}>`\n"
    assert (tmp_path / "gallery.md").write_text(page, encoding="utf-8")
    picture = tmp_path / "reference" / "gallery" / "one.svg"

    def build(drawn: bool = True) -> str:
        gallery["draw"](SimpleNamespace(srcdir=tmp_path, config=SimpleNamespace(gallery_drawn=drawn)))
        return picture.read_text(encoding="utf-8")

    assert build(drawn=False) == gallery["EMPTY"]
    assert build().count("drawn") == 1
    assert build().count("drawn") == 1
    assert build(drawn=False).count("drawn") == 1
    picture.unlink()
    assert build(drawn=False) == gallery["EMPTY"]
    assert build().count("drawn") == 1
    os.utime(script, (2e9, 2e9))
    assert build().count("drawn") == 2


def test_every_picture_of_the_gallery_is_drawn_by_a_script_that_it_links_to() -> None:
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    gallery = run_path(str(EXTENSIONS / "gallery.py"))
    scripts = gallery["scripts"](page)
    shown = re.findall(r"\(reference/gallery/(\w+)\.svg\)", page)
    assert gallery["SHOWN"].findall(page) == [f"{name}.svg" for name in shown]
    stems = [script.stem.removesuffix("s") for script in scripts]
    assert all(script.is_file() for script in scripts)
    assert [name for name in shown if not name.startswith(tuple(stems))] == []
    assert [stem for stem in stems if not any(name.startswith(stem) for name in shown)] == []
    assert len(shown) >= 11
