"""Tests stand behind links: a column of tests becomes a link at what each of them shows, which leads to its source."""

from __future__ import annotations

import ast
import html
import re
from pathlib import Path
from typing import Any

from docutils import nodes

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "proofs_tests"
NAME = re.compile(r"(?:proofs_tests/)?(?:\.\./)?([\w/]*test_\w+\.py)?(?:::)?(test_\w+)?")
PAGE = (
    '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>{title}</title><style>pre {{ font-size: 90%; }} :target {{ background: #fff3b0; color: #000; }}</style>"
    '<p><a href="{home}index.html">spec_math</a></p><h1>{title}</h1><pre>{body}</pre></html>\n'
)


def named() -> dict[str, frozenset[str]]:
    """Return {path below proofs_tests: names of the tests in it}."""
    found: dict[str, frozenset[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        tests = (node.name for node in tree if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"))
        found[path.relative_to(TESTS).as_posix()] = frozenset(tests)
    return found


def place(name: str, files: dict[str, frozenset[str]], near: str = "") -> str | None:
    """Return where a test's source will stand, tests/folder/test_file.html#test_name, or None for what is no test.

    A name without a file is looked for in the file called `near` first.
    """
    found = NAME.fullmatch(name)
    if not found or not any(found.groups()):
        return None
    file, test = found[1] or "", found[2] or ""
    ending = [path for path in files if f"/{path}".endswith(f"/{file}" if file else path)]
    fitting = [path for path in ending if not test or test in files[path]]
    fitting.sort(key=lambda path: not path.endswith(f"/{near}.py"))
    return f"tests/{fitting[0].removesuffix('.py')}.html{'#' * bool(test)}{test}" if fitting else None


def link(app: Any, doctree: Any, page: str) -> None:
    """Make links of all tests that a page names; those in a table's last column move to what they show."""
    files = app.env.tests_by_file
    up = "../" * page.count("/")
    for literal in list(doctree.findall(nodes.literal)):
        led = place(literal.astext(), files, f"test_{page.rpartition('/')[2]}")
        if led is None or isinstance(literal.parent, nodes.reference):
            continue
        short = _in_short(literal)
        said = nodes.Text("test") if short else literal.deepcopy()
        kept = nodes.reference(
            "", "", said, internal=True, refuri=up + led, reftitle=literal.astext(), classes=["test"]
        )
        literal.parent.replace(literal, kept)
    for table in list(doctree.findall(nodes.table)):
        if _last_head(table).startswith("test"):
            _fold(table)


def _last_head(table: Any) -> str:
    heads = list(table.findall(nodes.thead))
    return heads[0][-1][-1].astext() if heads and len(heads[0][-1]) > 1 else ""


def _in_short(literal: Any) -> bool:
    """Say whether a name stands in a table's column of tests, or in what is proved at the head of a page."""
    entry = literal.parent
    while entry is not None and not isinstance(entry, nodes.entry | nodes.block_quote):
        entry = entry.parent
    if isinstance(entry, nodes.block_quote):
        return True
    if entry is None or entry is not entry.parent[-1] or isinstance(entry.parent.parent, nodes.thead):
        return False
    return _last_head(entry.parent.parent.parent.parent).startswith("test")


def _fold(table: Any) -> None:
    """Move the last cell of each row into brackets at the end of the cell before it."""
    group = table[-1]
    for column in list(group.findall(nodes.colspec))[-1:]:
        group.remove(column)
    group["cols"] -= 1
    for row in list(table.findall(nodes.row)):
        last = row[-1]
        row.remove(last)
        if isinstance(row.parent, nodes.thead) or not last.astext():
            continue
        before = row[-1]
        if not len(before):
            before += nodes.paragraph()
        inline = nodes.inline("", "", classes=["shown"])
        inline += nodes.Text(" (")
        for paragraph in last:
            inline += [child.deepcopy() for child in paragraph]
        inline += nodes.Text(")")
        before[-1] += inline


def read(_app: Any, env: Any, _docnames: Any) -> None:
    """Look the tests up once, before pages are read."""
    env.tests_by_file = named()


def write(app: Any, error: Any) -> None:
    """Write the sources of all tests beside the pages, each test with its name as an anchor."""
    if error or app.builder.format != "html":
        return
    for path in sorted(TESTS.rglob("test_*.py")):
        short = path.relative_to(TESTS).with_suffix("")
        text = html.escape(path.read_text(encoding="utf-8"))
        body = re.sub(r"^( *)def (test_\w+)", r'\1<span id="\2">def \2</span>', text, flags=re.MULTILINE)
        out = Path(app.outdir) / "tests" / short.with_suffix(".html")
        out.parent.mkdir(parents=True, exist_ok=True)
        home = "../" * len(short.parts)
        out.write_text(PAGE.format(title=f"proofs_tests/{short}.py", home=home, body=body), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Link tests once all pages are read, and write their sources last."""
    app.connect("env-before-read-docs", read)
    app.connect("doctree-resolved", link)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
