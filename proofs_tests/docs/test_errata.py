"""The errata page is alive: every letter has its failing instance, and no instance is missing from the page."""

from __future__ import annotations

from string import ascii_lowercase

from proofs_tests.docs.book import DOCS, code, has_test, names_of_tests, rows

PAGE = DOCS / "errata.md"

# Tests in the files of errata that show no erratum: a statement of the papers that holds.
HOLDS = {"test_the_step_from_the_optimum_to_total_variation", "test_erratum_s_a_multiset_of_survivors_is_lossless"}


def dead(row: list[str]) -> list[str]:
    """What is wrong with a row: no letter, an empty cell, no test, or one that is not there."""
    if len(row) != 5 or not all(row):
        return [f"a row has a letter, a place, what is printed, what holds and a test; got {row}"]
    letter, where, tests = row[0], row[1], code(row[4])
    found = [f"{letter} ({where}): there is no test {name}" for name in tests if not has_test(name)]
    if letter != "+" and letter not in set(ascii_lowercase):
        found.append(f"{letter} is neither a letter nor +")
    return found if tests else [*found, f"{letter} ({where}): no failing instance"]


def test_no_erratum_is_without_its_failing_instance() -> None:
    assert [fault for row in rows(PAGE) for fault in dead(row)] == []


def test_every_letter_has_a_row() -> None:
    assert {row[0] for row in rows(PAGE)} == {*ascii_lowercase, "+"}


def test_every_failing_instance_has_a_row() -> None:
    linked = {name.rpartition("::")[2] for row in rows(PAGE) for name in code(row[4])}
    written = {
        name
        for file, names in names_of_tests().items()
        for name in names
        if file.startswith("errata/") or name.startswith("test_erratum_")
    }
    # Two instances of one erratum that stand in test files of their subjects; the row links the one of errata.
    doubled = {"test_erratum_d_", "test_erratum_f_"}
    missing = {name for name in written - linked - HOLDS if not name.startswith(tuple(doubled))}
    assert sorted(missing) == []


def test_a_dead_row_is_found() -> None:
    """The controls."""
    good = ["a", "Eq. 1", "x", "y", "`errata/test_blog.py`"]
    assert dead(good) == []
    assert dead([*good[:4], "`errata/test_blog.py::test_gone`"]) == [
        "a (Eq. 1): there is no test errata/test_blog.py::test_gone"
    ]
    assert dead([*good[:4], "later"]) == ["a (Eq. 1): no failing instance"]
    assert dead(["ab", *good[1:]]) == ["ab is neither a letter nor +"]
    assert len(dead(good[:4])) == 1
