"""Certificates of proofs: right ones pass a checker that stands alone, wrong ones do not."""

from __future__ import annotations

import gc
import gzip
import json
import subprocess
import sys
from copy import deepcopy
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

from proofs_tests.certificates.every_proof import line
from proofs_tests.certificates.proof_cases import BY_HAND, K_SEQ
from proofs_tests.certificates.proof_forgeries import SMALL, accepted, certificate
from proofs_tests.certificates.proof_points import holds
from spec_math import check_lossless
from spec_math.certificates import check_proof
from spec_math.certificates.check_proof import plus, times
from spec_math.symbolic import Theorem, chosen
from spec_math.symbolic.certificate import certified, saved
from spec_math.symbolic.witness import Polynomial, multiple, over, witness

pytest.importorskip("z3")

CHECKER = Path(check_proof.__file__)


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


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collection_of_cycles_is_as_it_was_after_a_certificate_is_written(enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        assert certified(*chosen(("SpecHub: lossless all distributions on 2",)))[1] is not None
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()


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
    assert "is proved but for 1 region that z3 alone found empty. Checked" in check_proof.check(document)


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


def test_a_witness_of_a_polynomial_that_is_zero_by_two_equalities() -> None:
    """By 3ax = 3ab and 3dy = 3dc, where neither a nor d is 0: xy = bc."""

    def of(*terms: tuple[int, str]) -> Polynomial:
        return {tuple(map(letters.count, "abcdxy")): number for number, letters in terms}

    zero, wrong = of((1, "xy"), (-1, "bc")), of((1, "xy"), (-2, "bc"))
    for a in (frozenset({1}), frozenset({-1})):
        known = (
            (of((3, "ax"), (-3, "ab")), frozenset({0})),
            (of((1, "a")), a),
            (of((1, "d")), frozenset({1})),
            (of((3, "dy"), (-3, "dc")), frozenset({0})),
        )
        for sign in (1, -1):
            found = multiple((*known, (zero, frozenset({sign}))))
            assert found is not None
            total: Polynomial = {}
            for number, places, factor in found:
                term = {(0,) * 6: number} if factor is None else times(factor, {(0,) * 6: number})
                for place in places:
                    term = times(term, (*known, (zero, ()))[place][0])
                total = plus(total, term)
            number, places, _ = found[0]
            assert not total and number * prod({1: min(a), 2: 1, 4: sign}[place] for place in places) > 0
            # The controls: it is not 0 where a may be, nor is another polynomial.
            assert multiple((known[0], *known[2:], (zero, frozenset({sign})))) is None
            assert multiple((*known, (wrong, frozenset({sign})))) is None


def test_a_witness_of_a_cubic_equality() -> None:
    """(1 − x)³ = 0 and x > 1: the cube of x − 1 is positive and 0."""
    cubic = {(0,): 1, (1,): -3, (2,): 3, (3,): -1}
    found = witness(((cubic, frozenset({0})), ({(0,): -1, (1,): 1}, frozenset({1}))), 1)
    assert found is not None
    assert witness(((cubic, frozenset({0})), ({(0,): -1, (1,): 1}, frozenset({0, 1}))), 1) is None


@given(*[st.dictionaries(st.tuples(st.integers(0, 2), st.integers(0, 2)), st.integers(-3, 3), max_size=3)] * 3)
def test_a_quotient_is_that_of_sympy_or_there_is_none(one: Polynomial, two: Polynomial, rest: Polynomial) -> None:
    first, second = (sympy.Poly(found or {(0, 0): 0}, *sympy.symbols("x y")) for found in (one, two))
    assume(second)
    for top in (first * second, first * second + sympy.Poly(rest or {(0, 0): 0}, *sympy.symbols("x y"))):
        quotient, left = sympy.div(top, second)
        terms, below = ({powers: Fraction(str(n)) for powers, n in own.terms() if n} for own in (top, second))
        assert over(terms, below) == (None if left else {p: Fraction(str(n)) for p, n in quotient.terms() if n})


# Changes written by hand: each breaks one condition of the checker


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


def test_a_certificate_that_does_not_hold_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of `saved`: what the checker rejects is an error, and no file."""
    (theorem,) = (one for one in chosen(()) if (one.name, one.scope) == SMALL[0])
    proof, document = certified(theorem)
    assert document is not None
    right = tmp_path / "right.json"
    monkeypatch.setattr("spec_math.symbolic.certificate.certified", lambda *_: (proof, document))
    assert saved(theorem, right)
    assert right.exists()
    document["nodes"] = [["z3"]]
    with pytest.raises(ValueError, match="no region is judged"):
        _ = saved(theorem, tmp_path / "wrong.json")
    assert not (tmp_path / "wrong.json").exists()
