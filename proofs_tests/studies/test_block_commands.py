"""The commands on blocks: whole files, tables and prefixes of the user, and bad input as a sentence."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from proofs_tests.studies.block_tables import DRAFT, TARGET, invoke, toy
from spec_math.block_level import chain


def test_blocks_writes_whole_files(tables: Path) -> None:
    models = ["--target-model", tables / "t.json", "--draft-model", tables / "d.json"]
    result = invoke("blocks", *models, "--k", "1,2", "--lookahead", "2,4", "--out", tables / "out")
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in (tables / "out").iterdir()) == [
        "blocks.csv",
        "blocks.html",
        "blocks.json",
        "blocks.pdf",
        "blocks.svg",
        "blocks.tex",
    ]
    assert "any verifier, i.i.d. chains" in (tables / "out" / "blocks.csv").read_text()
    notes = " ".join((tables / "out" / "blocks.json").read_text().split())
    assert "all values are exact" in notes
    assert "The speed-ups use the latencies of SpecTr's Tables 1 and 3" in notes
    assert (tables / "out" / "blocks.svg").read_text().startswith("<?xml")


def test_blocks_samples_the_embedded_default(tmp_path: Path) -> None:
    arguments = ["--k", "1,2", "--lookahead", "2", "--samples", 8, "--out", tmp_path]
    result = invoke("blocks", *arguments)
    assert result.exit_code == 0, result.output
    assert "Not decided with this budget of 8 samples" in result.output
    rows = json.loads((tmp_path / "blocks.json").read_text())["tables"][0]["rows"]
    assert all(row["tokens per call standard error"] > 0 for row in rows)
    hows = {row["how"] for row in rows}
    assert hows == {"optimum, 8 samples", "upper bound, 8 samples", "8 samples"}


def test_a_prefix_says_where_tables_start(tables: Path) -> None:
    models = ["--target-model", tables / "t.json", "--draft-model", tables / "d.json"]
    result = invoke("blocks", *models, "--prefix", "0 1", "--k", "1", "--lookahead", "1", "--out", tables)
    assert "after the prefix (0, 1)" in result.output
    row = json.loads((tables / "blocks.json").read_text())["tables"][0]["rows"][0]
    assert Fraction(row["fraction"]) == chain.expected(toy(TARGET), toy(DRAFT), (0, 1), 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target-model", "t.json"], "come together; only one was given"),
        (["--target-model", "t.json", "--draft-model", "none.json"], "none.json"),
        (["--target-model", "over.json", "--draft-model", "d.json"], "prefix (): masses must sum to exactly 1"),
        (["--target-model", "gap.json", "--draft-model", "d.json"], "no row for prefix (0, 0, 1)"),
        (["--target-model", "t.json", "--draft-model", "pair.json"], "distribution after the prefix () has 2 tokens"),
        (["--target-model", "t.json", "--draft-model", "end.json"], "must agree on the token that ends a text"),
        (["--target-model", "t.json", "--draft-model", "d.json", "--prefix", "0 7"], "prefix (0, 7): token 1"),
        (["--target-model", "t.json", "--draft-model", "d.json", "--prefix", "a"], "--prefix lists token indices"),
        (["--target-model", "end.json", "--draft-model", "end.json", "--prefix", "0 2"], "prefix (0, 2) ends with"),
        (["--prefix", "0"], "--prefix is for models from files"),
        (["--lookahead", "0"], "--lookahead must be at least 1; got 0"),
        (["--lookahead", "4,257"], "--lookahead takes numbers up to 256; got 257"),
        (["--k", "1000000"], "--k takes numbers up to 1,000; got 1,000,000"),
        (["--lookahead", ""], "--lookahead takes whole numbers"),
        (["--k", "2.9"], "--k takes whole numbers"),
        (["--blocks-samples", "0"], "--samples must be at least 1; got 0"),
        (["--target", "t.npy", "--draft", "d.npy"], "t.npy"),
    ],
)
def test_bad_input_is_a_sentence_and_nothing_is_written(
    tables: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tables)
    result = invoke("blocks", *arguments, "--out", "out")
    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output
    assert not list((tables / "out").iterdir()) if (tables / "out").is_dir() else True


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["generate", "--tokens", "0"], "--tokens must be at least 1; got 0"),
        (["generate", "--method", "beam"], "no method is named 'beam'"),
        (["generate", "--k", "0"], "--k must be at least 1; got 0"),
        (["explain", "--k", "257"], "--k takes numbers up to 256; got 257"),
        (["explain", "--blocks", "--lookahead", "1000"], "--lookahead takes numbers up to 256; got 1,000"),
        (["generate", "--k", "1001"], "--k takes numbers up to 1,000; got 1,001"),
        (["explain", "--blocks", "--lookahead", "0"], "--lookahead must be at least 1; got 0"),
    ],
)
def test_commands_refuse_what_they_cannot_do(command: list[str], words: str) -> None:
    result = invoke(*command)
    assert result.exit_code == 2
    assert words in result.output
