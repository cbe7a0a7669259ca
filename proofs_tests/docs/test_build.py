"""The book builds without a warning, holds every public name, and fetches nothing when it is read."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path

import pytest

from proofs_tests.docs.book import DOCS, ROOT

NEEDED = ("sphinx", "myst_parser", "furo", "latex2mathml")
missing = [name for name in NEEDED if find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(missing), reason=f"the book needs {', '.join(missing)}: pip install '.[docs]'")

FETCHES = re.compile(r"""(?:<(?:script|img|iframe|source)[^>]*\ssrc|<link[^>]*\shref)=["'](?:https?:)?//""")


def build(source: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", *options, str(source), str(out)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def importable(path: Path) -> bool:
    """Say whether all that a module imports at its top is installed; without it Sphinx sees a mock."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    named = [alias.name for node in body if isinstance(node, ast.Import) for alias in node.names]
    named += [node.module or "" for node in body if isinstance(node, ast.ImportFrom)]
    return all(find_spec(name.partition(".")[0]) for name in named)


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole book, in the theme that is twice as fast to write as the one that readers see.

    The scripts of its gallery run in `test_examples.py` of the examples, and are not run once more.
    """
    out = tmp_path_factory.mktemp("book")
    plain = ("html_theme=basic", "gallery_drawn=0", "smartquotes=0")
    options = [part for value in plain for part in ("-D", value)]
    built = build(DOCS, out, "-b", "html", *options, "-d", str(out / ".doctrees"))
    assert built.returncode == 0, built.stderr
    return out


def test_the_book_builds_without_a_warning(book: Path) -> None:
    assert (book / "index.html").is_file()
    assert (book / "theorems" / "pooled_priority.html").is_file()


def test_formulas_are_set_by_the_browser(book: Path) -> None:
    page = (book / "theorems" / "pooled_priority.html").read_text(encoding="utf-8")
    assert page.count("<math") > 100
    assert re.search(r"mathjax[^_]", page.lower()) is None


def test_names_in_the_paper_map_lead_to_the_reference(book: Path) -> None:
    page = (book / "paper_map" / "spectr.html").read_text(encoding="utf-8")
    led = re.findall(r'href="\.\./reference/([\w.]+)\.html#([\w.]+)"', page)
    assert ("spec_math.token_level.single", "spec_math.token_level.single.emit") in led
    assert len(led) > 25


def test_tests_stand_behind_links_that_lead_to_their_source(book: Path) -> None:
    page = (book / "theorems" / "single.html").read_text(encoding="utf-8")
    led = re.findall(r'<a class="[^"]*test[^"]*" href="\.\./(tests/[\w/]+\.html)#(test_\w+)"', page)
    assert len(led) >= 6
    assert all(f'id="{name}"' in (book / path).read_text(encoding="utf-8") for path, name in led)
    assert not re.search(r"<th[^>]*><p>test", page)


def test_every_public_name_is_in_the_reference(book: Path) -> None:
    from sphinx.util.inventory import InventoryFile

    with (book / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda _, path: path)
    listed = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    reference = run_path(str(DOCS / "_extensions" / "reference.py"))
    named = {
        f"{module}.{name}"
        for module in reference["modules"]()
        for name in reference["public"](reference["path_of"](module))
        if importable(reference["path_of"](module))
    }
    assert sorted(named - listed) == []
    assert len(named) > 400


def test_nothing_is_fetched_when_the_book_is_read(book: Path) -> None:
    pages = list(book.rglob("*.html"))
    assert len(pages) > 100
    assert [page.name for page in pages if FETCHES.search(page.read_text(encoding="utf-8"))] == []
    assert FETCHES.search('<script async="async" src="https://cdn.example.org/x.js"></script>')
    assert FETCHES.search("<link rel='stylesheet' href='//fonts.example.org/x.css'>")


def test_a_dead_link_and_a_broken_formula_are_no_clean_build(tmp_path: Path) -> None:
    """The control: -W turns what is wrong on a page into a failed build."""
    source = tmp_path / "docs"
    source.mkdir()
    conf = 'extensions = ["myst_parser"]\nmyst_enable_extensions = ["dollarmath"]\n'
    (source / "conf.py").write_text(conf, encoding="utf-8")
    (source / "index.md").write_text("# A page\n\n[nowhere](nowhere.md)\n", encoding="utf-8")
    built = build(source, tmp_path / "out", "-b", "html")
    assert built.returncode != 0
    assert "nowhere.md" in built.stderr
