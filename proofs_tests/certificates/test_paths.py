"""Certificates with paths: each verdict's passes the checker in another Python, and no forgery does."""

from __future__ import annotations

import ast
import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from proofs_tests.certificates import attacks_on_paths, path_cases, path_certificates, path_conditions
from proofs_tests.certificates.every_verdict import checked_elsewhere, written
from proofs_tests.certificates.path_oracle import confirms
from proofs_tests.certificates.path_study import PATH, living, random_changes
from proofs_tests.size import kinds
from spec_math import check_lossless
from spec_math.certificates import check_paths, read
from spec_math.certificates.paths import MOST
from spec_math.token_level import k_sequential, recursive
from spec_math.verdict import Lossless

STANDARD = {
    "argparse",
    "collections",
    "functools",
    "fractions",
    "gzip",
    "importlib.util",
    "json",
    "pathlib",
    "re",
    "runpy",
    "sys",
}


def test_the_checker_is_short_and_imports_the_standard_library_alone() -> None:
    source = PATH.read_text(encoding="utf-8")
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    assert names | {node.module for node in nodes if isinstance(node, ast.ImportFrom)} == STANDARD
    assert kinds(source)["code"] <= 250


def test_verdicts_pass_the_checker_where_nothing_of_ours_is(tmp_path: Path) -> None:
    """Schemes of two sizes, methods and known bugs; `every_verdict` has the large ones too."""
    found = written(tmp_path, large=False)
    verdicts = [verdict for verdict, _ in found.values()]
    assert len(verdicts) >= 55
    assert min(sum(map(bool, verdicts)), sum(not verdict for verdict in verdicts)) >= 18
    ran = checked_elsewhere(tmp_path, [file for _, file in found.values()])
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count("Checked: ") == len(verdicts)
    said = [line for line in ran.stdout.splitlines() if not line.startswith("Checked: ")]
    assert [": lossless" in line for line in said] == [bool(verdict) for verdict in verdicts]


def test_the_checker_elsewhere_rejects(tmp_path: Path) -> None:
    """The control."""
    place = tmp_path / "forged.json"
    _ = place.write_text(json.dumps(path_cases.by_hand()["another flip"]), encoding="utf-8")
    ran = checked_elsewhere(tmp_path, [place])
    assert (ran.returncode, "Rejected" in ran.stdout) == (1, True)


@pytest.mark.parametrize("name", path_certificates.right())
def test_right_certificates_hold_and_say_what_an_oracle_finds(name: str) -> None:
    document = path_certificates.right()[name]
    assert confirms(document, check_paths.check(document))


@pytest.mark.parametrize("name", path_certificates.REPLAYED)
def test_programs_are_replayed_on_each_path(name: str, tmp_path: Path) -> None:
    place = tmp_path / "programs_replayed.py"
    _ = place.write_text(path_certificates.PROGRAMS, encoding="utf-8")
    said = check_paths.check(path_certificates.right()[name], function=f"{place}:{path_certificates.REPLAYED[name]}")
    assert f"those of {place}" in said


@pytest.mark.parametrize("name", path_certificates.WRONG)
def test_other_programs_are_rejected(name: str, tmp_path: Path) -> None:
    place = tmp_path / "other_programs.py"
    _ = place.write_text(path_certificates.PROGRAMS, encoding="utf-8")
    with pytest.raises(ValueError, match=r"the function|cannot be read"):
        _ = check_paths.check(path_certificates.right()["one draft"], function=f"{place}:{name}")


@pytest.mark.parametrize("name", path_cases.by_hand())
def test_forgeries_by_hand_are_rejected(name: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        _ = check_paths.check(path_cases.by_hand()[name])


def test_random_changes_that_are_accepted_are_confirmed() -> None:
    accepted, wrong = random_changes(300, seed=1)
    assert 0 < accepted < 150
    assert wrong == []


def test_the_oracle_does_not_confirm_what_is_wrong() -> None:
    """The control: sentences of another certificate."""
    lossless, lossy = path_certificates.right()["one draft"], path_cases.by_hand()["another flip"]
    assert not confirms(lossy, check_paths.check(lossless))


def test_changes_of_the_checker_are_noticed() -> None:
    """One change in 15; `path_study` tries all."""
    assert living(every=15) == []


def test_what_refutes_is_no_more_than_needed() -> None:
    """One path to the text that is too likely, and not all."""
    for name in ("too much", "too little", "raises", "negative"):
        claim = path_certificates.right()[name]["claims"][0]
        assert sum(node[0] != "draw" for node in claim["nodes"]) <= 2 + sum(
            child is not None for node in claim["nodes"] if node[0] == "draw" for child in node[2]
        )
    claim = path_certificates.right()["too much"]["claims"][0]
    assert claim["verdict"] == ["lossy", [[0]], "more"]
    assert claim["nodes"][-1] == ["draw", ["1/2", "1/2"], [1, None]]


def test_equal_subtrees_are_written_once() -> None:
    target = ["1/4", "1/4", "1/4", "1/4"]
    verdict = check_lossless(lambda coin, _, t, __: coin.draw(t), target, target, 3)
    (claim,) = verdict.certificate().document()["claims"]
    assert verdict.paths == 256
    assert len(claim["nodes"]) == 4 + 1 + 64 + 16 + 4 + 1


def test_large_certificates_are_refused_with_their_size(tmp_path: Path) -> None:
    verdict = check_lossless(recursive.verify, ["1/4", "3/4"], ["1/2", "1/2"], 1)
    certificate = verdict.certificate()
    object.__setattr__(certificate.claims[0], "paths", MOST + 1)
    with pytest.raises(ValueError, match="at most 100,000 paths; this one would have 100,001"):
        certificate.save(tmp_path / "large.json")
    assert list(tmp_path.iterdir()) == []


def test_zipped_files_hold_the_same(tmp_path: Path) -> None:
    certificate = check_lossless(k_sequential.verify, ["1/4", "3/4"], ["1/2", "1/2"], 2).certificate()
    certificate.save(tmp_path / "a.json")
    certificate.save(tmp_path / "a.json.gz")
    assert read(tmp_path / "a.json") == read(tmp_path / "a.json.gz") == certificate.document()
    assert (tmp_path / "a.json.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_verdicts_compare_print_and_pickle_as_before() -> None:
    verdict = check_lossless(recursive.verify, ["1/4", "3/4"], ["1/2", "1/2"], 1)
    assert (verdict, repr(verdict)) == (
        Lossless(verdict.paths, drafts=(1,)),
        f"Lossless(paths={verdict.paths}, bound=0.0, drafts=(1,))",
    )
    assert pickle.loads(pickle.dumps(verdict)) == copy.deepcopy(verdict) == verdict
    with pytest.raises(ValueError, match="no evidence"):
        pickle.loads(pickle.dumps(verdict)).certificate()


@pytest.mark.parametrize("name", path_conditions.conditions())
def test_each_condition_of_a_certificate_is_needed(name: str) -> None:
    holds, claim = path_conditions.conditions()[name]
    assert accepted(attacks_on_paths.document(claim)) == holds


@pytest.mark.parametrize("name", path_conditions.replayed())
def test_each_condition_of_a_replayed_function_is_needed(name: str, tmp_path: Path) -> None:
    place = tmp_path / "programs_of_conditions.py"
    _ = place.write_text(path_conditions.PROGRAMS, encoding="utf-8")
    holds, function, claim = path_conditions.replayed()[name]
    assert accepted(attacks_on_paths.document(claim), f"{place}:{function}") == holds


@pytest.mark.parametrize("name", path_conditions.optima())
def test_each_condition_of_an_optimum_is_needed(name: str) -> None:
    holds, claimed = path_conditions.optima()[name]
    assert accepted(claimed) == holds


def accepted(document: dict[str, Any], function: str | None = None) -> bool:
    """Say whether the checker accepts a certificate."""
    try:
        return bool(check_paths.check(document, function))
    except ValueError:
        return False
