"""Docstrings are plain text: what reStructuredText would read as markup in them is shown as it was written."""

from __future__ import annotations

import re
from typing import Any

MARKUP = re.compile(r"([\\*_|])")
CODE = re.compile(r"(`[^`]+`)")
LISTS = ("Raises:", "Args:")


def escaped(text: str) -> str:
    """Return a line in which only `code` between backticks is markup."""
    parts = CODE.split(text)
    return "".join(f"``{part[1:-1]}``" if CODE.fullmatch(part) else MARKUP.sub(r"\\\1", part) for part in parts)


def kind_of(line: str, before: str) -> str:
    """Say what a line is, given what the one before it was: blank, example, list, item, formula, source or text."""
    text = line.strip()
    if not text:
        return "blank"
    if text.startswith(">>>") or before == "example":
        return "example"
    if text in LISTS:
        return "list"
    if line.startswith("    "):
        return "item" if before in ("list", "item") else "formula"
    return "source" if text.startswith("Source:") else "text"


def rewritten(lines: list[str]) -> list[str]:
    """Return a docstring in reStructuredText: examples and formulas as they are, Raises as a list, Source in bold."""
    result: list[str] = []
    before = "blank"
    for line in lines:
        kind, text = kind_of(line, before), line.strip()
        if kind != before:
            result.append("")
        if kind == "list":
            result += [f"**{text.removesuffix(':')}**", ""]
        elif kind == "item":
            result.append(f"  {escaped(text)}" if line.startswith("        ") else f"* {escaped(text)}")
        elif kind == "formula":
            result += [line] if before == "formula" else ["::", "", line]
        elif kind == "source":
            result.append(f"**Source:** {escaped(text.removeprefix('Source:').strip())}")
        else:
            result.append(line if kind == "example" else escaped(line))
        before = "text" if kind == "source" else kind
    return result


def setup(app: Any) -> dict[str, bool]:
    """Rewrite each docstring on its way from the code to a page."""
    app.connect("autodoc-process-docstring", lambda *event: event[-1].__setitem__(slice(None), rewritten(event[-1])))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
