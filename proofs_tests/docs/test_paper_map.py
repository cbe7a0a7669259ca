"""The paper map is alive: no numbered item of a paper is without its row, no row names what is not there.

The numbered items were listed by reading the five papers from their first page to their last.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs_tests.docs.book import DOCS, SYMBOL, TEST, code, has_symbol, has_test, rows


def numbered(kind: str, numbers: str | int) -> set[str]:
    """Items 1 to n of a kind, or those listed."""
    listed = [str(n) for n in range(1, numbers + 1)] if isinstance(numbers, int) else numbers.split()
    return {f"{kind} {number}" for number in listed}


ITEMS = {
    "spectr": numbered("Algorithm", 5)
    | numbered("Definition", 2)
    | numbered("Lemma", 3)
    | numbered("Theorem", 3)
    | numbered("Equation", 8)
    | {"Equations 9–13"}
    | numbered("Table", 4)
    | numbered("Figure", 5),
    "timor": numbered("Algorithm", 5)
    | numbered("Theorem", "3.1 3.2 4.1")
    | numbered("Lemma", "3.1")
    | numbered("Table", 11)
    | numbered("Figure", 3),
    "token_timing": numbered("Algorithm", 5) | numbered("Lemma", 1) | numbered("Table", 6) | numbered("Figure", 10),
    "specvocab": numbered("Step", 3) | numbered("Table", 16) | numbered("Figure", 5),
    "blog": numbered("Table", "1 2 3 8") | numbered("Figure", 2),
    "trees": {
        "Medusa, tree attention",
        "EAGLE-2, expansion and reranking",
        "OPT-Tree",
        "Sequoia, tree construction",
        "SGLang, target-only sampling",
        "RSD-S",
        "Delayed tree expansion, drafts",
        "Delayed tree expansion, claim",
        "Delayed tree expansion, selector",
        "HSD, capped ratios",
        "HSD, scripts",
        "Daliri et al. 2024, the bound",
        "Daliri et al. 2024, drafter invariance",
        "Rowan et al. 2025, list matching lemma",
        "Rowan et al. 2025, invariance",
        "UniVer, one position",
        "UniVer, trees",
        "UniVer, the claim",
        "SpecTr-GBV, the rule",
        "SpecTr-GBV, the claim",
        "SpecTr-GBV, the stated length",
        "Tree Monte Carlo, ASpS",
        "Tree Monte Carlo, claim",
        "SJD (Teng et al. 2024)",
        "SJD-PAC, adaptive continuation",
        "SJD-PAC, proactive drafting",
    },
    "lossy": {
        "Leviathan et al. 2023, A.5",
        "Medusa, 2.3.1",
        "DIVERSED, static ensemble",
        "DIVERSED, learnt weights",
        "Cactus",
        "Mentored decoding",
        "Fuzzy decoding",
        "Speculative cascades",
        "TensorRT-LLM, relaxed acceptance",
        "SGLang, two thresholds",
        "FLy",
        "MTAD",
        "MARS",
        "Judges",
        "Zhang et al. 2026, both laws",
        "Zhang et al. 2026, the gap",
        "Hu and Huang 2024, no-go theorem",
        "2602.01428, keyed acceptance",
    },
}

papers = pytest.mark.parametrize("paper", ITEMS)


def page(paper: str) -> Path:
    return DOCS / "paper_map" / f"{paper}.md"


def dead(row: list[str]) -> list[str]:
    """What is wrong with a row: a symbol that does not import, a test that is not there, or nothing said at all."""
    if len(row) != 4:
        return [f"a row has an item, what it is, a symbol and a test or a reason; got {row}"]
    item, what, symbols, shown = row
    found = [f"{item}: {name} does not import" for name in code(symbols) if not has_symbol(name)]
    found += [f"{item}: {name} is no full name" for name in code(symbols) if not SYMBOL.fullmatch(name)]
    found += [f"{item}: there is no test {name}" for name in code(shown) if not has_test(name)]
    if not what or not (code(shown) or "not reproducible: " in shown):
        found.append(f"{item}: neither a test nor a reason")
    if not code(symbols) and "not reproducible: " not in shown:
        found.append(f"{item}: no symbol, and not said to be out of reach")
    return found


@papers
def test_no_row_is_dead(paper: str) -> None:
    assert [fault for row in rows(page(paper)) for fault in dead(row)] == []


@papers
def test_every_numbered_item_has_one_row(paper: str) -> None:
    listed = [row[0] for row in rows(page(paper))]
    assert sorted(listed) == sorted(ITEMS[paper])


def test_every_page_of_the_map_is_a_paper() -> None:
    pages = {path.stem for path in (DOCS / "paper_map").glob("*.md")} - {"index"}
    assert pages == set(ITEMS)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (["Table 1", "x", "`spec_math.overlaps`", "not reproducible: y"], "spec_math.overlaps does not import"),
        (["Table 1", "x", "`spec_math.token_level.single.emitted`", "not reproducible: y"], "does not import"),
        (["Table 1", "x", "`spec_math.nothing.at_all`", "not reproducible: y"], "does not import"),
        (["Table 1", "x", "`spec_math.overlap`", "`token_level/test_single.py::test_gone`"], "there is no test"),
        (["Table 1", "x", "`spec_math.overlap`", "`block_level/test_single.py`"], "there is no test"),
        (["Table 1", "x", "`spec_math.overlap`", "later"], "neither a test nor a reason"),
        (["Table 1", "x", "–", "`test_arrays.py`"], "no symbol"),
        (["Table 1", "x"], "a row has an item"),
    ],
)
def test_a_dead_row_is_found(row: list[str], fault: str) -> None:
    """The controls."""
    assert any(fault in found for found in dead(row))


def test_names_of_tests_are_read() -> None:
    assert has_test("test_arrays.py")
    assert has_test("test_no_row_is_dead")
    assert has_test("proofs_tests/docs/test_paper_map.py::test_no_row_is_dead")
    assert has_test("../docs/test_paper_map.py::test_no_row_is_dead")
    assert not has_test("test_paper_map.py::test_arrays")
    assert not has_test("map.py::test_no_row_is_dead")
    assert TEST.fullmatch("docs/test_paper_map.py::test_no_row_is_dead")
