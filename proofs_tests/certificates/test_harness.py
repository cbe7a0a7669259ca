"""The controls of the harness: a check that forgets a condition is found, and forgeries differ in one place."""

from __future__ import annotations

import ast
import sys
from itertools import islice
from pathlib import Path
from types import ModuleType

from proofs_tests.certificates.checker_mutants import Case, mutants, survivors
from proofs_tests.certificates.forgeries import forged
from proofs_tests.size import kinds
from spec_math import certificates

TOY = '''
"""A checker of masses."""
from fractions import Fraction

def check(document):
    """Check masses."""
    masses = [Fraction(mass) for mass in document["masses"]]
    if sum(masses) != 1 or not all(mass >= 0 for mass in masses):
        raise ValueError("no distribution")
    return f"{len(masses)} masses sum to 1"
'''


def asked(*masses: str) -> Case:
    def case(module: ModuleType) -> str:
        return module.check({"masses": list(masses)})

    return case


CASES = {"right": asked("1/2", "1/2", "0"), "too little": asked("1/2"), "negative": asked("-1", "2")}


def test_each_change_of_a_toy_checker_is_noticed(tmp_path: Path) -> None:
    place = tmp_path / "toy.py"
    _ = place.write_text(TOY, encoding="utf-8")
    assert len(mutants(TOY)) > 15
    assert survivors(place, CASES) == []


def test_changes_live_where_no_forgery_needs_a_condition(tmp_path: Path) -> None:
    """The control: without the negative mass nothing needs the second condition."""
    place = tmp_path / "toy.py"
    _ = place.write_text(TOY, encoding="utf-8")
    living = survivors(place, {name: case for name, case in CASES.items() if name != "negative"})
    assert any(">= -1" in mutant.after for mutant in living)


def test_a_checker_that_never_ends_is_noticed(tmp_path: Path) -> None:
    place = tmp_path / "toy.py"
    loop = "    while n > 0:\n        n, steps = n - 1, steps + 1\n"
    _ = place.write_text(f"def check(document):\n    n, steps = 3, 0\n{loop}    return steps\n", encoding="utf-8")
    assert survivors(place, {"one": lambda module: module.check({})}) == []


def test_forgeries_differ_in_one_place() -> None:
    document = {"format": "toy", "masses": ["1/2", "1/2"], "tree": [[1, None, "emit"], [2, True]]}
    found = list(islice(forged(document, 5), 300))
    assert all(changed != document and changed["format"] == "toy" for _, changed in found)
    assert {len(changed) for _, changed in found} == {2, 3}
    assert document == {"format": "toy", "masses": ["1/2", "1/2"], "tree": [[1, None, "emit"], [2, True]]}


def test_the_checkers_are_short_and_need_the_standard_library_alone() -> None:
    """At most 250 lines of code each and 600 together; numpy and torch are loaded only by functions that use them."""
    files = sorted(Path(certificates.__file__).parent.glob("check_*.py"))
    lines = [kinds(file.read_text(encoding="utf-8"))["code"] for file in files]
    assert [file.stem for file in files] == ["check_followed", "check_paths", "check_proof"]
    assert max(lines) <= 250
    assert sum(lines) <= 600
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        names = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
        names += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert {name.partition(".")[0] for name in names} <= {*sys.stdlib_module_names, "numpy", "torch"}
