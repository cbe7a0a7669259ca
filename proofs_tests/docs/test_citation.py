"""One version everywhere: in the package, in how to cite it, and at the top of the changes."""

from __future__ import annotations

import re
import tomllib

from proofs_tests.docs.book import ROOT


def first(pattern: str, name: str) -> str:
    found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_version_is_one() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert first(r"^version: (\S+)$", "CITATION.cff") == version
    assert first(r"^## (\S+)", "CHANGELOG.md") == version
    assert first(r"^  version = \{(\S+)\}", "docs/how_to/cite.md") == version


def test_the_citation_has_what_the_format_asks_for() -> None:
    """Citation File Format 1.2.0: cff-version, message, title and authors."""
    keys = re.findall(r"^([a-z-]+):", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"cff-version", "message", "title", "authors", "license"} <= set(keys)
    assert len(keys) == len(set(keys))


def test_the_page_on_citing_has_the_title_and_licence_of_the_citation() -> None:
    title = first(r'^title: "(.*)"$', "CITATION.cff").replace("_", r"\_")
    assert first(r"^  title   = \{(.*)\},$", "docs/how_to/cite.md") == title
    assert first(r"^  license = \{(.*)\}$", "docs/how_to/cite.md") == first(r"^license: (\S+)$", "CITATION.cff")
