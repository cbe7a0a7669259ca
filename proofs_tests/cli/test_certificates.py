"""spec-math certify and check: a certificate goes out, comes back, and is judged again; no forgery passes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from proofs_tests import certificate_forgeries as cases
from spec_math.cli import app
from spec_math.token_level import certificate, optimal

BERNOULLI = ("--target", "2/5,3/5", "--draft", "3/4,1/4")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "400"})


def written(folder: Path, claim: cases.Data) -> Path:
    place = folder / "claim.json"
    assert place.write_text(json.dumps(claim), encoding="utf-8") > 0
    return place


def test_a_certificate_goes_out_and_comes_back(tmp_path: Path) -> None:
    out = run("certify", *BERNOULLI, "--k", 2, "--out", tmp_path)
    assert out.exit_code == 0, out.output
    assert "optimal acceptance of these drafts is 67/80 = 0.837500" in out.output
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "certificate.json",
        "optimum-coupling.csv",
        "optimum.csv",
        "optimum.html",
        "optimum.json",
        "optimum.pdf",
        "optimum.svg",
        "optimum.tex",
    ]
    back = run("check", tmp_path / "certificate.json", *BERNOULLI, "--k", 2, "--out", tmp_path / "again")
    assert back.exit_code == 0, back.output
    assert "It holds: the optimal acceptance of its drafts is 67/80" in back.output
    assert len(list((tmp_path / "again").iterdir())) == 7
    kept = certificate.load(tmp_path / "certificate.json").acceptance
    assert kept == optimal.acceptance(["2/5", "3/5"], ["3/4", "1/4"], 2)


def test_one_file_is_the_certificate(tmp_path: Path) -> None:
    assert run("certify", *BERNOULLI, "--out", tmp_path / "mine.json").exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["mine.json"]
    unasked = run("check", tmp_path / "mine.json")
    assert unasked.exit_code == 0
    assert "To check that it is about your distributions" in unasked.output
    half = " ".join(run("check", tmp_path / "mine.json", *BERNOULLI[:2]).output.split())
    assert half.endswith("Its target is yours. To check its drafts, give --draft.")
    half = " ".join(run("check", tmp_path / "mine.json", *BERNOULLI[2:]).output.split())
    assert half.endswith("Its drafts are yours. To check its target, give --target.")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (("--target", "1/2,1/2"), "another target"),
        (("--draft", "3/4,1/4", "--k", 3), "another distribution of the drafts"),
        (("--draft", "3/4,1/4", "--k", 2, "--drafts", "greedy"), "another distribution of the drafts"),
    ],
)
def test_a_true_certificate_about_other_laws_is_rejected(other: tuple[object, ...], words: str, tmp_path: Path) -> None:
    place = written(tmp_path, cases.true()["two drafts"])
    result = run("check", place, *other)
    assert result.exit_code == 1
    assert words in result.output


@pytest.mark.parametrize("name", cases.ONE_FAULT)
def test_a_forgery_is_rejected(name: str, tmp_path: Path) -> None:
    result = run("check", written(tmp_path, cases.ONE_FAULT[name]))
    # What is listed twice cannot be read as a claim.
    assert result.exit_code == (2 if name == "a draft listed twice" else 1), result.output
    assert "Rejected: " in result.output or "holds no certificate" in result.output


def test_true_certificates_are_accepted_and_no_forgery_is(tmp_path: Path) -> None:
    """Without the command line around it, every one of them."""
    assert all(certificate.load(written(tmp_path, claim)).check() for claim in cases.true().values())
    passed: list[str] = []
    for name, claim in cases.forged():
        try:
            passed += [name] * certificate.load(written(tmp_path, claim)).check()
        except ValueError as error:
            assert "holds no certificate" in str(error)
    assert passed == []


@pytest.mark.parametrize("text", ["", "{}", "[1, 2]", '{"format": NaN}', "\x00", "9" * 5000])
def test_what_is_no_certificate_is_bad_input(text: str, tmp_path: Path) -> None:
    place = tmp_path / "a.json"
    assert place.write_text(text, encoding="utf-8") == len(text)
    result = run("check", place)
    assert result.exit_code == 2
    assert "holds no certificate" in result.output


def test_laws_come_from_files_from_several_drafters_and_as_a_table(tmp_path: Path) -> None:
    assert (tmp_path / "t.json").write_text("[0.4, 0.6]") > 0
    np.save(tmp_path / "d.npy", np.array([[3, 1]], dtype=np.float32))
    both = run("certify", "--target", tmp_path / "t.json", "--draft", "3/4,1/4", "--draft", "3/4,1/4")
    assert both.exit_code == 0
    assert "67/80" in both.output
    weights = run("certify", "--target", "2,3", "--draft", tmp_path / "d.npy", "--weights", "--k", 2)
    assert "67/80" in weights.output
    assert (tmp_path / "law.json").write_text('{"0 0": "9/16", "0 1": "3/16", "1 0": "3/16", "1 1": "1/16"}') > 0
    table = run("certify", "--target", "2/5,3/5", "--draft-law", tmp_path / "law.json")
    assert "67/80" in table.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--draft", "1/2,1/2"), "they define the optimum"),
        (("--target", "1/2,1/2"), "they define the drafts"),
        (("--target", "2,3", "--draft", "1/2,1/2"), "--weights"),
        (("--target", "1/2,1/2", "--draft", "1"), "2 and 1 tokens"),
        ((*BERNOULLI, "--k", 0), "--k must be at least 1"),
        ((*BERNOULLI, "--drafts", "nothing"), "--drafts nothing names no one way"),
        ((*BERNOULLI, "--draft", "1/2,1/2", "--k", 3), "leave out --k"),
        (("--target", "no.json", "--draft", "1/2,1/2"), "no.json"),
        ((*BERNOULLI, "--draft-law", "law.json"), "leave out --draft"),
    ],
)
def test_bad_input_is_a_sentence(arguments: tuple[object, ...], words: str) -> None:
    result = run("certify", *arguments)
    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("kind", "k", "title", "value"),
    [
        ("independent", 2, "The optimal acceptance of 2 drafts", "67/80"),
        ("indep", 2, "The optimal acceptance of 2 drafts", "67/80"),
        ("maximal coupling", None, "of 1 draft as maximal coupling draws it", "13/20"),
        ("SpecHub", None, "of 2 drafts as SpecHub draws them", "1.000000"),
        ("without replacement", 2, "of 2 drafts as recursive rejection without replacement draws them", "1.000000"),
    ],
)
def test_one_way_of_drawing_is_in_the_title_and_in_the_value(kind: str, k: int | None, title: str, value: str) -> None:
    found = run("certify", *BERNOULLI, "--drafts", kind, *(() if k is None else ("--k", k)))
    assert found.exit_code == 0, found.output
    assert title in found.output
    assert f"optimal acceptance of these drafts is {value}" in found.output
    titled = next(line for line in found.output.splitlines() if re.match(r"The optimal acceptance of \d", line))
    assert ("as " in titled) == (" as " in title)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--drafts", "", "--k", 2), "--drafts says how drafts are drawn"),
        (("--drafts", "maximal coupling", "--k", 2), "draws 1 draft whatever is asked for; got --k 2"),
        (("--drafts", "SpecHub", "--k", 7), "draws 2 drafts whatever is asked for; got --k 7"),
        (("--drafts", "plan", "--k", 2), "names no one way to draw drafts; there are: independent, maximal"),
        (("--k", 100_000_000_000), "--k must be at most 10,000"),
    ],
)
def test_a_way_of_drawing_that_is_none_is_bad_input(arguments: tuple[object, ...], words: str) -> None:
    found = run("certify", *BERNOULLI, *arguments)
    assert found.exit_code == 2
    assert words in " ".join(found.output.split())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"0": "1", "0": "1"}', "occurs twice"),
        ('{"0": [1]}', "a mass is a number such as 0.25"),
        ('{"0": true}', "a mass is a number such as 0.25"),
        ("[" * 5000 + "]" * 5000, "nested too deeply"),
        ("", "Expecting value"),
    ],
)
def test_a_law_of_drafts_that_is_none_is_named(text: str, words: str, tmp_path: Path) -> None:
    place = tmp_path / "drafts.json"
    assert place.write_text(text, encoding="utf-8") == len(text)
    found = run("certify", "--target", "1/2,1/2", "--draft-law", place)
    assert found.exit_code == 2
    assert words in found.output
    assert "drafts.json" in found.output


def test_drafts_that_are_none_are_told(tmp_path: Path) -> None:
    place = tmp_path / "drafts.json"
    assert place.write_text('{"": "1/4", "0": "3/4"}', encoding="utf-8") > 0
    found = run("certify", "--target", "1/2,1/2", "--draft-law", place)
    assert found.exit_code == 0
    assert "optimal acceptance of these drafts is 1/2" in found.output


def test_a_number_of_drafts_without_a_draft_and_a_folder_are_bad_input(tmp_path: Path) -> None:
    assert run("certify", *BERNOULLI, "--k", 2, "--out", tmp_path / "mine.json").exit_code == 0
    alone = run("check", tmp_path / "mine.json", "--k", 3)
    assert alone.exit_code == 2
    assert "give --draft too, or leave out --k" in alone.output
    folder = run("check", tmp_path)
    assert folder.exit_code == 2
    assert "this is a folder, and a file is needed" in folder.output
