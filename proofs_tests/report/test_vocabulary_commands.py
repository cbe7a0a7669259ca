"""psi and overlap as commands: the numbers of the library, files written whole, errors as sentences."""

import json

import pytest
from typer.testing import CliRunner

from spec_math.cli import app

tokenizers = pytest.importorskip("tokenizers")


def trained(folder, name, merges):
    """Write a byte-level BPE file with the given number of merges."""
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=256 + merges, initial_alphabet=alphabet, show_progress=False)
    model.train_from_iterator(["hello"] * 9 + ["hell"] * 5 + ["wonder"], trainer)
    model.save(str(folder / name))
    return folder / name


@pytest.fixture
def files(tmp_path):
    return trained(tmp_path, "small.json", 2), trained(tmp_path, "large.json", 8)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_psi_counts_the_segmentations_and_says_what_psi_is(files, tmp_path):
    small, large = files
    result = run("psi", "hello", "--vocabulary", small, "--target-vocabulary", large, "--out", tmp_path / "psi.json")
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "psi.json").read_text())
    # Two merges of five letters in a row: none, either, or both.
    assert found["segmentations"] in ("3", "4")
    assert f"has {found['segmentations']} segmentations in small.json" in result.output
    assert 0 < found["psi, uniform drafter"] < 1
    assert "hello" in result.output


def test_overlap_counts_shared_tokens_both_ways(files, tmp_path):
    small, large = files
    (tmp_path / "text.txt").write_text("hello", encoding="utf-8")
    result = run("overlap", small, large, "--text", tmp_path / "text.txt", "--out", tmp_path / "bars.svg")
    assert result.exit_code == 0, result.output
    assert "by raw keys" in result.output
    assert "258" in result.output
    assert "0 tokens of small.json cannot be spelled in large.json" in result.output
    assert (tmp_path / "bars.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize("content", ["", "{", '{"model": {}}', "\x00"])
def test_a_file_that_is_no_vocabulary_is_a_sentence(tmp_path, content):
    (tmp_path / "broken.json").write_text(content)
    result = run("psi", "a", "--vocabulary", tmp_path / "broken.json", "--out", tmp_path / "out.json")
    assert result.exit_code == 2
    assert "error:" in result.output
    assert "broken.json" in result.output
    assert not (tmp_path / "out.json").exists()


def test_a_missing_file_and_a_text_that_is_no_target_token_are_told(files, tmp_path):
    small, large = files
    assert run("overlap", small, tmp_path / "none.json").exit_code == 2
    refused = run("psi", "zzz", "--vocabulary", small, "--target-vocabulary", large)
    assert refused.exit_code == 2
