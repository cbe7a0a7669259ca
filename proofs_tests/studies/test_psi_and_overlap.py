"""psi and overlap as commands: the numbers of the library, files written whole, errors as sentences."""

import base64
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from spec_math.cli import app
from spec_math.language import Vocabulary
from spec_math.language.files import read_tokenizer, read_vocabulary
from spec_math.language.tokenizer_json import TokenizerJson
from spec_math.string_level.psi import first_token, longest_lookahead
from spec_math.studies.vocabularies import psi

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
    (found,) = json.loads((tmp_path / "psi.json").read_text())["tables"][0]["rows"]
    # Two merges of five letters in a row: none, either, or both.
    assert found["segmentations"] in (3, 4)
    assert f"{found['segmentations']} segmentations in small.json" in result.output
    assert 0 < found["psi"] < 1
    assert "if all draft tokens are equally likely" in result.output
    assert "hello" in result.output


@pytest.fixture
def lists(tmp_path):
    """A target with ab as one token, and a drafter that spells it."""
    (tmp_path / "T.json").write_text('["a", "b", "ab", "abb"]')
    (tmp_path / "D.json").write_text('["a", "b", "ba", {"special": "<end>"}]')
    np.save(tmp_path / "law.npy", np.array([0.5, 0.125, 0.125, 0.25]))
    (tmp_path / "text.txt").write_text("abaab", encoding="utf-8")
    return tmp_path


def of_psi(lists, *options):
    both = "--vocabulary", lists / "D.json", "--target-vocabulary", lists / "T.json"
    result = run("psi", "ab", *both, *options, "--out", lists / "psi.json")
    assert result.exit_code == 0, result.output
    told = json.loads((lists / "psi.json").read_text())
    return told["tables"][0]["rows"][0] | {"stop": told["notes"][-2]["text"].partition("Drafting ends when ")[2]}


@pytest.mark.parametrize(
    ("options", "law", "lookahead"),
    [
        ((), ["1/3", "1/3", "1/3", 0], None),
        (("--lookahead", "1"), ["1/3", "1/3", "1/3", 0], 1),
        (("--lookahead", "2"), ["1/3", "1/3", "1/3", 0], 2),
        # What is drawn from a file leaves the token without text out, and what is left sums to 1 again.
        (("--draft", "law.npy"), ["2/3", "1/6", "1/6", 0], None),
        # abaab is read as a, ba, a, b by longest prefixes.
        (("--text", "text.txt"), ["1/2", "1/4", "1/4", 0], None),
        (("--text", "text.txt", "--lookahead", "2"), ["1/2", "1/4", "1/4", 0], 2),
    ],
)
def test_psi_is_that_of_the_drafter_s_law_and_the_stopping_rule(lists, options, law, lookahead):
    named = [lists / option if str(option).endswith(("npy", "txt")) else option for option in options]
    target, draft = Vocabulary(["a", "b", "ab", "abb"]), Vocabulary(["a", "b", "ba", "<end>"], special=[3])
    exact = first_token(target, draft, law, lookahead)
    found = of_psi(lists, *named)
    # Three masses with a rounding each, walked in at most 3 · 4 steps of a product and a sum.
    assert abs(found["psi"] - exact.law[2]) <= 32 * 2.0**-53
    assert found["n_max"] == longest_lookahead(target, draft) == 3
    assert found["stop"].startswith(
        "the first" if lookahead is None or lookahead >= 3 else "one" if lookahead == 1 else str(lookahead)
    )
    assert abs(found["expected draft tokens"] - exact.draws) <= 64 * 2.0**-53


def test_another_law_gives_another_psi(lists):
    assert len({of_psi(lists)["psi"], of_psi(lists, "--draft", lists / "law.npy")["psi"]}) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("ab", "--draft", "law.npy"), "--draft, --text and --lookahead need --target-vocabulary"),
        (("ab", "--shortest", "2"), "--shortest is for all tokens; leave out the token"),
        (("--lookahead", "2"), "ψ needs one target token"),
        (("--shortest", "9"), "--shortest must not exceed the 3 tokens with text; got 9"),
        (("--shortest", "0"), "--shortest must be at least 1"),
        (("ab", "--target-vocabulary", "T.json", "--draft", "law.npy", "--text", "text.txt"), "give only one of them"),
        (("ab", "--target-vocabulary", "T.json", "--draft", "short.npy"), "ψ needs one row for the drafter's 4 tokens"),
        (("ab", "--target-vocabulary", "T.json", "--text", "latin.txt"), "no UTF-8 at byte 2 (0xe9)"),
        (("ab", "--target-vocabulary", "T.json", "--text", "other.txt"), "no token starts at byte 1 of 3 (0x63, 'c')"),
        (("ab", "--target-vocabulary", "T.json", "--text", "empty.txt"), "its text has no token"),
        (("ba", "--target-vocabulary", "T.json"), "'ba' is not a text token"),
        (("ab", "--target-vocabulary", "T.json", "--lookahead", "0"), "lookahead must be at least 1"),
        (("c", "--out", "none.svg"), "none.svg: there is no picture of 'c: 0 segmentations in D.json'"),
        (("a" * 20, "--vocabulary", "many.json", "--out", "none.svg"), "none.svg: there is no picture"),
    ],
)
def test_bad_questions_are_sentences(lists, monkeypatch, arguments, says):
    monkeypatch.chdir(lists)
    np.save("short.npy", np.array([0.5, 0.5]))
    (lists / "latin.txt").write_bytes(b"ab\xe9")
    (lists / "other.txt").write_text("acb")
    (lists / "empty.txt").write_text("")
    (lists / "many.json").write_text('["a", "aa"]')
    before = {path.name for path in lists.iterdir()}
    result = run("psi", *([] if "--vocabulary" in arguments else ["--vocabulary", "D.json"]), *arguments)
    assert result.exit_code == 2, result.output
    assert says in " ".join(result.output.split())
    assert {path.name for path in lists.iterdir()} == before


def test_the_tree_is_drawn_where_asked_for(lists):
    result = run("psi", "ab", "--vocabulary", lists / "D.json", "--out", lists / "tree.svg")
    assert result.exit_code == 0, result.output
    assert (lists / "tree.svg").read_text().startswith("<?xml")


def test_all_tokens_are_counted_and_drawn(lists):
    numbers = run("psi", "--vocabulary", lists / "T.json", "--out", lists / "all.json")
    assert numbers.exit_code == 0, numbers.output
    summary, lengths = json.loads((lists / "all.json").read_text())["tables"]
    # a, b: 1; ab: a b, ab; abb: a b b, ab b, abb.
    assert [(row["bytes"], row["tokens"], row["least"], row["most"]) for row in lengths["rows"]] == [
        (1, 2, 1, 1),
        (2, 1, 2, 2),
        (3, 1, 3, 3),
    ]
    assert [summary["rows"][0][end] for end in ("at least", "at most")] == [1.75, 1.75]
    drawn = run("psi", "--vocabulary", lists / "T.json", "--shortest", 3, "--out", lists / "all.svg")
    assert drawn.exit_code == 0, drawn.output
    assert (lists / "all.svg").read_text().startswith("<?xml")
    assert (lists / "all-histogram.svg").read_text().startswith("<?xml")


def test_a_tie_of_lengths_is_told_as_an_interval(lists):
    (lists / "tied.json").write_text('["a", "b", "c", "aa", "bc"]')
    (lists / "more.json").write_text('["a", "b", "ab", "aba", "bbb"]')
    told = run("psi", "--vocabulary", lists / "more.json", "--shortest", 4)
    assert told.exit_code == 0
    assert "Only 1 of the 2 tokens of 3 bytes are included" in " ".join(told.output.split())
    found = psi.summary(psi.counts(Vocabulary(["a", "b", "ab", "aba", "bbb"]), 4))
    # aba: a b a, ab a, aba; bbb: b b b, bbb.
    assert found["maximum"] == (2.0, 3.0)
    assert found["mean"] == (1.5, 1.75)
    assert found["25 %"] == (1.0, 1.0)


def test_overlap_counts_shared_tokens_both_ways(files, tmp_path):
    small, large = files
    (tmp_path / "text.txt").write_text("hello", encoding="utf-8")
    result = run("overlap", small, large, "--text", tmp_path / "text.txt", "--out", tmp_path / "bars.svg")
    assert result.exit_code == 0, result.output
    assert "by raw keys" in result.output
    assert "258" in result.output
    assert "text.txt is read by its own tokeniser of small.json" in result.output
    # Table 10: hello is one token of the large file, and of the small one's two merges and the letters left.
    row = next(line for line in result.output.splitlines() if "tokens of the text" in line)
    texts = [TokenizerJson(place).encode("hello") for place in (small, large)]
    used = [{read_vocabulary(place)[token] for token in tokens} for place, tokens in zip(files, texts, strict=True)]
    assert f"{len(used[0] & used[1]) / len(used[0]):.4f}" in row
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


def test_files_without_keys_or_common_tokens_are_compared_by_bytes(lists):
    (lists / "ranks.tiktoken").write_bytes(
        b"\n".join(base64.b64encode(t) + b" %d" % i for i, t in enumerate([b"x", b"y"]))
    )
    result = run("overlap", lists / "ranks.tiktoken", lists / "T.json", "--out", lists / "none.svg")
    assert result.exit_code == 0, result.output
    assert "by raw keys" not in result.output
    assert "2 tokens of ranks.tiktoken cannot be spelled in T.json: b'x', b'y'" in result.output


def test_a_tokeniser_whose_library_is_absent_reads_by_longest_prefixes(files, monkeypatch):
    from spec_math.language import tokenizer_json

    def absent(name, purpose):
        raise ImportError(f"{purpose} needs the library {name}")

    assert read_tokenizer(files[0])[1] == "by its own tokeniser"
    monkeypatch.setattr(tokenizer_json, "library", absent)
    assert read_tokenizer(files[0])[1] == "by longest prefixes"
