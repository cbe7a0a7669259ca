"""Certificates of proofs: right ones pass a checker that stands alone, wrong ones do not."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from proofs_tests.certificates.every_proof import line
from proofs_tests.certificates.proof_forgeries import SMALL, accepted, certificate
from proofs_tests.certificates.proof_points import holds
from spec_math import check_lossless
from spec_math.certificates import check_proof
from spec_math.symbolic import Theorem, chosen
from spec_math.symbolic.certificate import certified, saved
from spec_math.symbolic.witness import witness

pytest.importorskip("z3")

CHECKER = Path(check_proof.__file__)
K_SEQ = "K-SEQ: lossless", "all distributions on 2 tokens, 3 drafts, every γ with f(γ) ≤ 0"
"""Its certificate has regions outside of the hypothesis, equalities of higher degree and products as witnesses."""


def alone(place: Path, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run a copy of the checker that sees the standard library alone."""
    copy = tmp_path / "copied.py"
    _ = copy.write_text(CHECKER.read_text(encoding="utf-8"), encoding="utf-8")
    asked = [sys.executable, "-I", "-S", str(copy), str(place)]
    return subprocess.run(asked, capture_output=True, text=True, check=False, encoding="utf-8")


@pytest.mark.parametrize(
    "theorem",
    chosen(
        (
            "maximal coupling: as its formula says",
            "K-SEQ: lossless all distributions on 2",
            "optimal plan: lossless all distributions on 2",
            "token 1 ends the text",
            "SLRS: lossless",
            "shared noise",
        ),
        quick=True,
    )[:6],
    ids=lambda theorem: f"{theorem.name}, {theorem.scope}",
)
def test_each_empty_region_carries_a_witness_and_no_proof_is_lost(theorem: Theorem) -> None:
    found = line(theorem)
    assert found.z3 == 0
    assert found.leaves > 0


def test_a_certificate_passes_the_checker_without_any_library(tmp_path: Path) -> None:
    (theorem,) = chosen(("SpecHub: lossless all distributions on 2",))
    place = tmp_path / "proof.json.gz"
    proof = saved(theorem, place)
    assert proof
    assert (proof.witnesses, proof.z3_alone) == (9, 0)
    found = alone(place, tmp_path)
    assert found.returncode == 0
    assert "; 12 regions judged, 9 empty by a witness, 0 by z3 alone" in found.stdout
    document = json.loads(gzip.decompress(place.read_bytes()))
    document["nodes"][0][2] = document["nodes"][0][2][1:]
    other = tmp_path / "other.json"
    _ = other.write_text(json.dumps(document), encoding="utf-8")
    found = alone(other, tmp_path)
    assert (found.returncode, found.stdout) == (1, "Rejected: node 0 lacks a sign\n")
    _ = other.write_text('{"format": "another"}', encoding="utf-8")
    assert alone(other, tmp_path).returncode == 2
    assert alone(tmp_path / "none.json", tmp_path).returncode == 2


def test_regions_that_z3_alone_found_empty_are_counted_and_named() -> None:
    document = deepcopy(certificate(*SMALL[3]))
    at = next(at for at, node in enumerate(document["nodes"]) if node[0] == "empty")
    document["nodes"][at] = ["z3"]
    assert "is proved but for 1 regions that z3 alone found empty. Checked" in check_proof.check(document)


def test_a_refuted_theorem_has_the_certificate_of_its_counterexample(tmp_path: Path) -> None:
    def hopeful(target: Any, draft: Any) -> Any:
        return check_lossless(lambda _coin, tokens, *_laws: tokens[0], target, draft, 1)

    place = tmp_path / "refuted.json"
    proof = saved(Theorem("no test", "all distributions on 2 tokens", hopeful, {"t": 2, "d": 2}), place)
    assert proof.verdict == "refuted"
    assert json.loads(place.read_text())["claims"][0]["verdict"][0] == "lossy"


def test_a_statement_that_names_no_program_has_no_certificate() -> None:
    theorem = Theorem("nothing is negative", "all distributions on 2 tokens", lambda law: bool(min(law) >= 0), {"t": 2})
    with pytest.raises(ValueError, match="names no program"):
        _ = certified(theorem)


def test_no_function_is_replayed_on_a_proof() -> None:
    with pytest.raises(ValueError, match="no function can be replayed"):
        _ = check_proof.check(certificate(*SMALL[0]), "file.py:verify")


def test_each_random_change_that_is_accepted_is_right_at_each_point_of_a_grid() -> None:
    """`python -m proofs_tests.certificates.proof_forgeries` tries 10,000."""
    for seed, theorem in enumerate(SMALL[:3]):
        passed, wrong = accepted(certificate(*theorem), 60, 100 + seed)
        assert not wrong
        assert passed < 20


def test_the_points_reject_what_the_checker_rejects() -> None:
    """The control of the oracle: a leaf with other coins is wrong at some point."""
    document = deepcopy(certificate(*SMALL[0]))
    assert holds(document)
    leaves = [node for node in document["nodes"] if node[0] == "leaf"]
    leaves[0][1], leaves[-1][1] = leaves[-1][1], leaves[0][1]
    assert not holds(document)


def test_a_witness_of_a_cubic_equality() -> None:
    """(1 − x)³ = 0 and x > 1: the cube of x − 1 is positive and 0."""
    cubic = {(0,): 1, (1,): -3, (2,): 3, (3,): -1}
    found = witness(((cubic, frozenset({0})), ({(0,): -1, (1,): 1}, frozenset({1}))), 1)
    assert found is not None
    assert witness(((cubic, frozenset({0})), ({(0,): -1, (1,): 1}, frozenset({0, 1}))), 1) is None


# Changes written by hand: each breaks one condition of the checker

Change = Callable[[dict[str, Any]], None]


def nodes(document: dict[str, Any], kind: str) -> list[list[Any]]:
    return [node for node in document["nodes"] if node[0] == kind]


def polynomial(document: dict[str, Any], terms: list[Any]) -> int:
    document["polynomials"].append(terms)
    return len(document["polynomials"]) - 1


def function(document: dict[str, Any], number: str, factors: list[Any]) -> int:
    document["functions"].append([number, factors])
    return len(document["functions"]) - 1


def solved(document: dict[str, Any]) -> list[Any]:
    return next(one for node in nodes(document, "ask") for one in node[2] if one[2] is not None)


def first_term(document: dict[str, Any], **wanted: int) -> list[Any]:
    return next(term for node in nodes(document, "empty") for term in node[1] if len(term[1]) >= wanted.get("facts", 1))


def with_terms(document: dict[str, Any]) -> list[Any]:
    return next(node[1] for node in nodes(document, "empty") if node[1])


def change(path: str, value: Any) -> Change:
    """Return the change of an entry, by its keys and indices."""

    def made(document: dict[str, Any]) -> None:
        *keys, last = [int(one) if one.lstrip("-").isdigit() else one for one in path.split(".")]
        place: Any = document
        for one in keys:
            place = place[one]
        place[last] = value

    return made


def coin(document: dict[str, Any]) -> list[Any]:
    return document["coins"][max(node[1] for node in nodes(document, "leaf"))]


BY_HAND: dict[str, Change] = {
    "a sign is left out": lambda one: one["nodes"][0][2].pop(),
    "a branch leads to its own node": change("nodes.0.2.0.1", 0),
    "a branch leads to the first node": lambda one: nodes(one, "ask")[-1][2][0].__setitem__(1, 0),
    "a branch leads nowhere": change("nodes.0.2.0.1", 10_000),
    "a node of no kind": change("nodes.-1", ["sure"]),
    "an entry too many": lambda one: one["nodes"][0].append([]),
    "an inequality is solved": lambda one: solved(one).__setitem__(0, [1, 0]),
    "solved for another value": lambda one: solved(one)[2].__setitem__(
        1, polynomial(one, [["1", [0] * len(one["polynomials"][0][0][1])]])
    ),
    "solved for another variable": lambda one: solved(one)[2].__setitem__(0, 1 - solved(one)[2][0]),
    "a witness without terms": lambda one: with_terms(one).clear(),
    "a witness loses a term": lambda one: with_terms(one).pop(),
    "a term with another sign": lambda one: first_term(one).__setitem__(0, str(-Fraction(first_term(one)[0]))),
    "a term of 0": lambda one: first_term(one).__setitem__(0, "0"),
    "a fact that is not there": lambda one: first_term(one)[1].__setitem__(0, 1000),
    "another fact": lambda one: first_term(one)[1].__setitem__(0, (first_term(one)[1][0] + 1) % 4),
    "a factor of an inequality": lambda one: first_term(one).__setitem__(
        2, polynomial(one, [["-1", [0] * len(one["polynomials"][0][0][1])]])
    ),
    "a leaf is called empty": lambda one: nodes(one, "leaf")[0].__setitem__(slice(None), ["empty", []]),
    "a leaf is called outside": lambda one: nodes(one, "leaf")[0].__setitem__(
        slice(None), ["outside", function(one, "0", [])]
    ),
    "a leaf without a value": lambda one: nodes(one, "leaf")[0].pop(),
    "another value": lambda one: nodes(one, "leaf")[0].__setitem__(2, [function(one, "7", [])]),
    "the coins of another region": lambda one: nodes(one, "leaf")[0].__setitem__(1, nodes(one, "leaf")[-1][1]),
    "a mass becomes 2": lambda one: coin(one)[1].__setitem__(0, function(one, "2", [])),
    "a mass becomes -1": lambda one: coin(one)[1].__setitem__(
        slice(None), [function(one, "-1", []), function(one, "2", [])]
    ),
    "a branch of the coins is left out": lambda one: coin(one)[2].__setitem__(0, None),
    "a branch of the coins leads back": lambda one: coin(one)[2].__setitem__(0, len(one["coins"]) - 1),
    "a branch of the coins is negative": lambda one: coin(one)[2].__setitem__(0, -1),
    "the branches are exchanged": lambda one: coin(one)[2].reverse(),
    "an outcome is renamed": lambda one: next(own for own in one["coins"] if own[0] == "emit").__setitem__(1, "other"),
    "another mass is wanted": change("wanted.0.1.0.1", 1),
    "a mass of the draft is wanted": change("wanted.0.1.0.0", "d"),
    "an outcome is not wanted": lambda one: one["wanted"].pop(),
    "a distribution on more tokens": change("laws.0.1", 3),
    "an exponent is missing": lambda one: one["polynomials"][0][0][1].pop(),
    "an exponent is negative": change("polynomials.0.0.1.0", -1),
    "a term stands twice": lambda one: one["polynomials"][0].append(one["polynomials"][0][0]),
    "a factor stands twice": lambda one: next(own for own in one["functions"] if own[1])[1].extend([[0, 1], [0, 1]]),
    "a table is missing": lambda one: one.pop("coins"),
}


@pytest.mark.parametrize("words", BY_HAND)
def test_a_change_by_hand_is_rejected(words: str) -> None:
    broke = 0
    for theorem in (SMALL[0], SMALL[3], K_SEQ):
        document = deepcopy(certificate(*theorem))
        try:
            BY_HAND[words](document)
        except StopIteration:
            continue  # this certificate has no such entry
        broke += 1
        with pytest.raises(ValueError, match=r"^[a-zA-Z]"):
            _ = check_proof.check(document)
    assert broke
