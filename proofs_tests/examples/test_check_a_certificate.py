"""The checker of fifteen lines: it imports nothing of ours, accepts what is true, and is deceived by no forgery."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest

from proofs_tests import certificate_forgeries as cases

PATH = Path(__file__).parent.parent.parent / "examples" / "check_a_certificate.py"
CONDITIONS = 8
TREE = ast.parse(PATH.read_text(encoding="utf-8"))


def accepts(tree: ast.Module, claim: cases.Data, folder: Path) -> bool:
    """Run a checker in this process, as `python PATH FILE` would; an error is a rejection, as its exit code is 1."""
    place = folder / "claim.json"
    assert place.write_text(json.dumps(claim), encoding="utf-8") > 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(PATH), str(place)])
        try:
            exec(compile(tree, str(PATH), "exec"), {"__name__": "__main__"})
        except SystemExit as left:
            return not left.code
        except (ValueError, TypeError, LookupError, ArithmeticError):
            return False
    return True


def test_it_is_fifteen_lines_and_imports_nothing_of_ours() -> None:
    imports = [node for node in TREE.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    assert names | {node.module for node in imports if isinstance(node, ast.ImportFrom)} == {
        "fractions",
        "json",
        "pathlib",
        "sys",
    }
    code = [node for node in TREE.body if not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr)]
    code += [node for node in TREE.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    assert sum((node.end_lineno or 0) - node.lineno + 1 for node in code) <= 15


@pytest.mark.parametrize("name", cases.true())
def test_true_certificates_are_accepted(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim = cases.true()[name]
    assert accepts(TREE, claim, tmp_path)
    assert capsys.readouterr().out.strip().endswith(f"more often than {claim['acceptance']}")


def test_every_forgery_is_rejected(tmp_path: Path) -> None:
    listed = list(cases.forged())
    assert len(listed) > 200
    assert [name for name, claim in listed if accepts(TREE, claim, tmp_path)] == []


def without(place: int) -> ast.Module:
    """The checker without one of its conditions."""
    tree = ast.parse(PATH.read_text(encoding="utf-8"))
    (holds,) = (node.value for node in ast.walk(tree) if isinstance(node, ast.Assign) and "BoolOp" in ast.dump(node))
    assert isinstance(holds, ast.BoolOp)
    assert len(holds.values) == CONDITIONS
    assert holds.values.pop(place) is not None
    return tree


@pytest.mark.parametrize("place", range(CONDITIONS))
def test_each_condition_is_needed(place: int, tmp_path: Path) -> None:
    """The controls: without it some forgery passes."""
    assert [name for name, claim in cases.ONE_FAULT.items() if accepts(without(place), claim, tmp_path)] != []
