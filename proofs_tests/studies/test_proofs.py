"""`spec-math prove` as a user meets it."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spec_math.cli import app
from spec_math.studies.proofs import failures, summary
from spec_math.symbolic import Proof

pytest.importorskip("z3")


def run(*arguments: object) -> object:
    return CliRunner().invoke(app, ["prove", *map(str, arguments)])


def test_chosen_theorems_are_proved_side_by_side_and_shown(tmp_path: Path) -> None:
    result = run("one-hot draft: lossless", "SLEM", "--jobs", 2, "--out", tmp_path / "new" / "proofs.json")
    assert result.exit_code == 0, result.output
    assert "7 of 7 theorems proved" in result.output
    (table,) = json.loads((tmp_path / "new" / "proofs.json").read_text())["tables"]
    rows = table["rows"]
    assert [row["verdict"] for row in rows] == ["proved"] * 7
    assert {row["theorem"] for row in rows} == {"one-hot draft: lossless", "SLEM: lossless"}
    assert all(row["regions"] > 0 for row in rows)


def test_a_wrong_verifier_of_ones_own_is_refuted_with_fractions_and_exit_code_1(tmp_path: Path) -> None:
    place = "proofs_tests.controls:draws_the_residual_from_the_target"
    result = run("--scheme", place, "--tokens", "2", "--jobs", 1, "--out", tmp_path / "proofs.json")
    assert result.exit_code == 1
    assert "is refuted: t = (" in result.output
    table, masses = json.loads((tmp_path / "proofs.json").read_text())["tables"]
    (row,) = table["rows"]
    assert row["verdict"] == "refuted"
    assert [sum(Fraction(one["mass"]) for one in masses["rows"] if one["law"] == law) for law in ("t", "d")] == [1, 1]
    assert row["counterexample"].startswith("t = (")
    assert "; d = (" in row["counterexample"]
    assert "is emitted with probability" in row["counterexample"]


def test_proofs_are_written_in_all_forms(tmp_path: Path) -> None:
    result = run("one-hot draft: lossless", "--jobs", 1, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    written = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "out").glob("*.[!p]*")}
    assert set(written) == {"proofs.html", "proofs.csv", "proofs.json", "proofs.svg", "proofs.tex"}
    rows = list(csv.DictReader(io.StringIO(written["proofs.csv"])))
    assert [row["verdict"] for row in rows] == ["proved"] * 3
    assert [row["regions"] for row in rows] == [
        str(row["regions"]) for row in json.loads(written["proofs.json"])["tables"][0]["rows"]
    ]
    assert "one-hot draft: lossless" in written["proofs.html"]


def test_a_right_verifier_of_ones_own_is_proved_for_all_its_sizes() -> None:
    result = run("--scheme", "proofs_tests.wrong_choices:chooses_an_index", "--tokens", "2,3", "--k", "2", "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert "2 of 2 theorems proved" in result.output


def test_listing_proves_nothing() -> None:
    result = run("--list", "--quick", "SpecHub")
    assert result.exit_code == 0
    assert "SpecHub: lossless" in result.output
    assert "3 tokens, 2 drafts" in result.output
    assert "proved" not in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nonsense",), "no theorem mentions 'nonsense'"),
        (("--scheme", "nowhere:mine"), "nowhere cannot be imported from here"),
        (("SLEM", "--scheme", "proofs_tests.controls:raises"), "leave out the words"),
        (("SLEM", "--jobs", "0"), "--jobs must be at least 1"),
        (("SLEM", "--tokens", "x"), "--tokens takes whole numbers"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(arguments: tuple[str, ...], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_an_open_theorem_says_why() -> None:
    proofs = [Proof("a", "b", "open", 1, 0, 0, 0.0, reason="x < 0"), Proof("c", "d", "proved", 2, 0, 1, 0.0)]
    assert failures(proofs) == ["a (b) is open: x < 0"]
    assert summary(proofs, 2.0, 13).startswith("1 of 2 theorems proved on 3 regions")
