"""The pages hold together: links resolve, named tests and symbols exist; code, theorem page and test share a stem."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from proofs_tests.docs.book import DOCS, GENERATED, ROOT, SYMBOL, TEST, TESTS, code, has_symbol, has_test, pages

LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
SECTIONS = ["Statement", "Needs", "Proof", "Evidence", "Source"]

# A verifier is a module with one of these at its top; it needs a theorem page and a test file of its name.
VERIFIES = {"verify", "emit", "generate"}
FLOORS = ("token_level", "block_level", "string_level", "drafting")

# Parts of a subject whose page has the subject's name.
PAGE_OF = {"plan": "pooled_priority", "timing_repaired": "timing", "merged": "intersection"}
TEST_OF = {"pooled_priority": "plan"}


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The names that headings can be linked by."""
    titles = (re.sub(r"[^\w\s-]", "", title.lower()).strip() for title in HEADING.findall(prose(page)))
    return {re.sub(r"\s+", "-", title) for title in titles}


def dead_links(page: Path, text: str) -> list[str]:
    """Links of a text that lead nowhere within the project; what lies outside it is not looked at."""
    found: list[str] = []
    for link in LINK.findall(text):
        if re.match(r"(https?|mailto):", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if GENERATED in target.parents:
            continue
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            found.append(link)
    return found


def dead_names(text: str) -> list[str]:
    """Tests and full names between backticks that are not there."""
    return [
        name
        for name in code(text)
        if (TEST.fullmatch(name) and not has_test(name)) or (SYMBOL.fullmatch(name) and not has_symbol(name))
    ]


def of_pages(listed: Iterable[Path], lacking: Callable[[Path], Sequence[str]]) -> dict[str, Sequence[str]]:
    """What pages lack, by their paths; pages that lack nothing are left out."""
    return {str(page.relative_to(ROOT)): found for page in listed if (found := lacking(page))}


def test_no_link_is_dead() -> None:
    assert of_pages(pages(), lambda page: dead_links(page, prose(page))) == {}


def test_every_test_and_symbol_that_a_page_names_is_there() -> None:
    assert of_pages(pages(), lambda page: dead_names(prose(page))) == {}


def theorem_pages() -> list[Path]:
    return [page for page in sorted((DOCS / "theorems").glob("*.md")) if page.stem != "index"]


def unshown(text: str) -> list[str]:
    """What a page of a theorem lacks: its sections, each once and in order, and a test that it names."""
    listed = [title for title in HEADING.findall(text) if title in SECTIONS]
    return ["sections"] * (listed != SECTIONS) + ["a test"] * (not any(map(TEST.fullmatch, code(text))))


def test_a_theorem_page_states_proves_and_shows() -> None:
    assert of_pages(theorem_pages(), lambda page: unshown(prose(page))) == {}


# Pages of theorems that no verifier runs by itself.
NO_ALGORITHM = {"budget", "every_law", "formal", "frontier", "optimum", "pool_lemma", "prefix_law"}
HEAD = re.compile(r"> \*\*Proved:\*\* (.+?)> \*\*Measured:\*\* (.+?)> \*\*Open:\*\* (.+?)\n\n", re.DOTALL)


def wanting(text: str) -> list[str]:
    """What the page of an algorithm lacks: pseudocode, an example that runs, what is proved, measured and open."""
    head = HEAD.search(text)
    parts = {title: text.partition(f"\n## {title}\n")[2].partition("\n## ")[0] for title in ("Pseudocode", "Example")}
    found = [title for title, body in parts.items() if "```" not in body]
    found += ["an example that runs"] * (">>> " not in parts["Example"])
    found += ["proved, measured, open"] * (head is None)
    return found + ["a test of what is proved"] * (head is not None and not any(map(has_test, code(head[1]))))


def test_the_page_of_an_algorithm_has_pseudocode_an_example_and_what_is_proved() -> None:
    algorithms = [page for page in theorem_pages() if page.stem not in NO_ALGORITHM]
    assert of_pages(algorithms, lambda page: wanting(page.read_text(encoding="utf-8"))) == {}


def test_a_page_without_them_is_found() -> None:
    """The control."""
    text = (DOCS / "theorems" / "single.md").read_text(encoding="utf-8")
    assert wanting(text.replace("## Pseudocode", "## Code")) == ["Pseudocode"]
    assert wanting(text.replace(">>> ", "> ")) == ["an example that runs"]
    assert wanting(text.replace("**Open:**", "**Left:**")) == ["proved, measured, open"]
    assert wanting(re.sub(r"\(`symbolic/test_\w+\.py[^`]*`\)", "", text)) == ["a test of what is proved"]


def test_the_index_lists_every_theorem_page_once() -> None:
    listed = LINK.findall((DOCS / "theorems" / "index.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(page.name for page in theorem_pages())


def stems_of_code() -> set[str]:
    return {path.stem for folder in ("spec_math", "torch_bridge") for path in (ROOT / folder).rglob("*.py")}


def stems_of_tests() -> set[str]:
    return {path.stem.removeprefix("test_") for path in TESTS.rglob("test_*.py")}


def test_a_theorem_page_shares_its_stem_with_code_or_test() -> None:
    assert {page.stem for page in theorem_pages()} - (stems_of_code() | stems_of_tests()) == set()


def verifiers() -> list[Path]:
    """Modules of the floors of verifiers that verify or generate."""
    return [
        path
        for floor in FLOORS
        for path in sorted((ROOT / "spec_math" / floor).glob("*.py"))
        if {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}
        & VERIFIES
    ]


def alone(path: Path) -> list[str]:
    """What is missing beside a verifier: the page of its theorem, and its test."""
    page, test = PAGE_OF.get(path.stem, path.stem), TEST_OF.get(path.stem, path.stem)
    wanted = DOCS / "theorems" / f"{page}.md", TESTS / path.parent.name / f"test_{test}.py"
    return [file.name for file in wanted if not file.is_file()]


def test_a_verifier_shares_its_stem_with_theorem_page_and_test() -> None:
    assert of_pages(verifiers(), alone) == {}


def test_dead_links_names_and_sections_are_found() -> None:
    """The controls."""
    page = DOCS / "notation.md"
    assert dead_links(page, "[a](nouns.md) [b](theorems/single.md#proof) [c](https://example.org/x)") == []
    assert dead_links(page, "[a](noun.md) [b](theorems/single.md#proofs) [c](#nothing)") == [
        "noun.md",
        "theorems/single.md#proofs",
        "#nothing",
    ]
    assert dead_names("`test_gone` `spec_math.gone` `test_single.py::test_gone` `spec_math.overlap` `x`") == [
        "test_gone",
        "spec_math.gone",
        "test_single.py::test_gone",
    ]
    text = prose(DOCS / "theorems" / "single.md")
    assert unshown(text.replace("## Needs", "## Needed")) == ["sections"]
    assert unshown(re.sub(r"[\w./:]*test_\w+(\.py)?", "x", text)) == ["a test"]
    assert alone(ROOT / "spec_math" / "token_level" / "nobody.py") == ["nobody.md", "test_nobody.py"]
    assert of_pages([page], lambda page: [page.stem]) == {"docs/notation.md": ["notation"]}
    assert len(verifiers()) >= 20
    assert len(theorem_pages()) >= 25
