"""What the build of the book does to formulas and docstrings leaves their content alone."""

from __future__ import annotations

import re
from importlib.util import find_spec
from runpy import run_path
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
