"""Readers of output, verdicts and errors see "distribution": no printed string of the library says "law"."""

import ast
import re
from pathlib import Path

LIBRARY = Path(__file__).parents[2] / "spec_math"
LAW = re.compile(r"(?<![\w.{\-])[Ll]aws?(?![\w.(=\-])")
NAMES = re.compile(
    r"[Ll]aws?|laws (asked|that psi).*|.*(\(laws, k\)|def table\(law\)|(count|index|token),law|or laws \(only).*"
)
"""Strings that are allowed: names in code and in JSON, values of options, and parameters."""


def said(source: str) -> list[str]:
    """Return the strings of a module that say "law": no docstring, and of an f-string the parts between its values."""
    tree = ast.parse(source)
    docs = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in docs]
    return [text for text in texts if isinstance(text, str) and LAW.search(text) and not NAMES.fullmatch(text.strip())]


def test_no_printed_string_says_law() -> None:
    """`field/engines` is left out: its strings are other people's code."""
    paths = [path for path in LIBRARY.rglob("*.py") if path.parent != LIBRARY / "field" / "engines"]
    assert len(paths) > 200
    assert {path.name: found for path in paths if (found := said(path.read_text("utf-8")))} == {}


def test_a_string_that_says_law_is_found() -> None:
    assert said('"""The law."""\nraise ValueError(f"{name}: a law is a row; got {law}")') == [": a law is a row; got "]
    assert said('print("the laws given", law(target), "emitted_law", "laws")') == ["the laws given"]
