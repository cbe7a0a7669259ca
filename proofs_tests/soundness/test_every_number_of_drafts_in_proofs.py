"""`prove --scheme` with all defaults proved verifiers that are wrong from the second draft on: for one draft only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proofs_tests.soundness.verifiers_of_more_drafts import WRONG
from spec_math import check_lossless
from spec_math.cli import app

pytest.importorskip("z3")

HERE = "proofs_tests.soundness.verifiers_of_more_drafts"


def run(name: str, *more: object) -> tuple[int, str]:
    arguments = ["prove", "--scheme", f"{HERE}:{name}", "--jobs", "1", *map(str, more)]
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, " ".join(result.output.split())


@pytest.mark.parametrize(("verifier", "first"), WRONG.items(), ids=lambda value: getattr(value, "__name__", value))
def test_a_verifier_that_is_wrong_from_some_draft_on_is_refuted_by_default(
    verifier: object, first: int, tmp_path: Path
) -> None:
    name = verifier.__name__  # type: ignore[attr-defined]
    code, output = run(name, "--out", tmp_path / "proofs.json")
    assert code == 1
    assert f"refuted for {first}" in output
    rows, masses = (table["rows"] for table in json.loads((tmp_path / "proofs.json").read_text())["tables"])
    refuted = [row for row in rows if row["verdict"] == "refuted"]
    assert refuted
    for row in refuted:
        assert f"{first} drafts" in row["scope"]
        laws = [
            [one["mass"] for one in masses if (one["scope"], one["law"]) == (row["scope"], law)] for law in ("t", "d")
        ]
        assert not check_lossless(verifier, *laws, first)  # type: ignore[arg-type]
    for fewer in range(1, first):
        assert [row["verdict"] for row in rows if f"{fewer} draft" in row["scope"]] == ["proved"] * 2


def test_a_verifier_that_is_right_for_all_is_proved_for_one_two_and_three() -> None:
    code, output = run("right_for_all")
    assert code == 0
    assert output.endswith("right_for_all is proved for 1, 2 and 3 drafts on 2 and 3 tokens")


def test_a_verifier_that_is_written_for_one_draft_is_proved_for_one_and_not_refuted_for_others() -> None:
    code, output = run("for_one_alone")
    assert code == 0
    assert "is proved for 1 draft on 2 and 3 tokens; not judged for 2 and 3 (ValueError: too many values" in output


def test_a_verifier_that_is_written_for_two_drafts_is_proved_for_two() -> None:
    code, output = run("for_two_alone")
    assert code == 0
    assert "is proved for 2 drafts on 2 and 3 tokens; not judged for 1 (ValueError: not enough values" in output
    assert "not judged for 3 (ValueError: too many values" in output


def test_a_verifier_that_takes_no_number_of_drafts_is_left_open() -> None:
    code, output = run("for_none", "--tokens", 2)
    assert code == 3
    assert "for_none is not judged for 1, 2 and 3 drafts on 2 tokens (NotImplementedError: there is no body" in output


def test_what_symbols_refuse_for_two_drafts_leaves_the_verifier_open() -> None:
    code, output = run("hashes_from_the_second", "--tokens", 2)
    assert code == 3
    assert "is proved for 1 draft on 2 tokens; left open for 2 and 3 (the hash of the mass t(0)" in output


def test_a_number_that_is_asked_for_and_not_taken_is_left_open() -> None:
    code, output = run("for_one_alone", "--k", 2)
    assert code == 3
    assert "is open: ValueError" in output


def test_a_scheme_that_drafts_a_fixed_number_is_proved_for_that_number() -> None:
    code, output = run("OF_THE_HUB", "--tokens", 2)
    assert code == 0
    assert output.endswith("OF_THE_HUB is proved for 2 drafts on 2 tokens")
    assert run("WRONG_OF_TWO", "--tokens", 2)[0] == 1


def test_a_number_for_which_the_time_is_short_is_not_tried_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One draft more is foreseen to take a million times as long: nobody asked for it, and nothing is wrong."""
    monkeypatch.setattr("spec_math.studies.proofs.ROOM", 10**6)
    code, output = run("right_for_all", "--tokens", 2)
    assert code == 0
    assert "is proved for 1 draft on 2 tokens; not tried for 2 and 3 (1 took" in output


def test_a_proof_that_runs_out_of_time_leaves_the_verifier_open() -> None:
    code, output = run("right_for_all", "--tokens", 2, "--limit", 1e-9)
    assert code == 3
    assert "is left open for 1 draft on 2 tokens (1e-09 s were not enough" in output
    assert "not tried for 2 and 3" in output
