"""spec-math vocabularies: the numbers of the library in its tables, on files and on the embedded default."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction

import numpy as np
import pytest
from typer.testing import CliRunner

from proofs_tests.studies.small_vocabularies import small
from spec_math import total_variation
from spec_math.chance import law
from spec_math.cli import app
from spec_math.language import Table, TokenizedModel, Vocabulary
from spec_math.mean import Mean, known
from spec_math.papers import two_vocabularies
from spec_math.string_level import speed, timing
from spec_math.string_level.methods import SLEM, TLI, TOKEN_TIMING, UNION
from spec_math.studies.arguments import prefix_of
from spec_math.studies.vocabularies import study as vocabulary_models
from spec_math.studies.vocabularies import study as vocabulary_study
from spec_math.studies.vocabularies.table import Bias, DrafterLines, MethodLine, advice, result_of

TARGET, DRAFT = ["a", "b", "ab"], ["a", "b", "ba"]
TARGET_LAW, DRAFT_LAW = ["4/5", "1/10", "1/10"], ["7/10", "1/10", "1/5"]


@pytest.fixture
def folder(tmp_path):
    contents = {
        "T.json": TARGET,
        "D.json": DRAFT,
        "t.json": {"rows": {"": TARGET_LAW, "0": ["1/2", "1/4", "1/4"]}, "default": TARGET_LAW},
        "d.json": {"rows": {}, "default": DRAFT_LAW},
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    np.save(tmp_path / "t.npy", np.array([[0.8, 0.1, 0.1], [0.25, 0.5, 0.25]]))
    np.save(tmp_path / "d.npy", np.array([[0.7, 0.1, 0.2], [0.5, 0.25, 0.25]]))
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["vocabularies", *(str(argument) for argument in arguments)])


def of_files(folder, kind):
    target, draft = ("t.json", "d.json") if kind == "models" else ("t.npy", "d.npy")
    return [folder / "T.json", folder / "D.json", "--target", folder / target, "--draft", folder / draft]


def written(folder):
    told = json.loads((folder / "vocabularies.json").read_text(encoding="utf-8"))
    return {table["name"]: table["rows"] for table in told["tables"]}


def test_tables_are_compared_exactly(folder):
    cost = Fraction(1, 10)
    result = run(*of_files(folder, "models"), "--lookahead", "1,2", "--draft-cost", "1/10", "--out", folder)
    assert result.exit_code == 0, result.output
    assert "TLI (lossy)" not in result.output
    read = io.StringIO((folder / "vocabularies.csv").read_text(encoding="utf-8"))
    rows = {row["method"]: row for row in csv.DictReader(read)}
    speakers = (
        TokenizedModel(Table.load(folder / "t.json"), Vocabulary(TARGET)),
        TokenizedModel(Table.load(folder / "d.json"), Vocabulary(DRAFT)),
    )
    for found in speed.compare(*speakers, (), (1, 2), cost):
        row = rows[found.method]
        assert Fraction(row["tokens, exact"]) == found.tokens_per_call
        assert float(row["speed-up"]) == float(found.speed_up)
        assert int(row["lookahead"]) == found.lookahead
        assert row["lossless"] == str(found.lossless).lower()
    # Table 3, each line at its own lookahead.
    for name, line in (("union", "union"), ("TLI", "intersection"), ("SLEM", "exact_match"), ("SLRS", "rejection")):
        drafted = int(rows[name]["lookahead"])
        table = two_vocabularies.table(TARGET_LAW, DRAFT_LAW, Vocabulary(TARGET), Vocabulary(DRAFT), drafted)
        assert Fraction(rows[name]["acceptance, exact"]) == getattr(table, line)
    assert (folder / "vocabularies.svg").read_text().startswith("<?xml")


def test_the_exact_bias_is_that_of_the_program(folder):
    result = run(*of_files(folder, "models"), "--lookahead", "1,2", "--out", folder)
    assert result.exit_code == 0, result.output
    told = written(folder)["bias"]
    speakers = (
        TokenizedModel(Table.load(folder / "t.json"), Vocabulary(TARGET)),
        TokenizedModel(Table.load(folder / "d.json"), Vocabulary(DRAFT)),
    )
    for bias in told:
        masses = law(lambda coin, bias=bias: timing.generate(coin, *speakers, (), bias["draft tokens"])[0])
        wanted = total_variation(speakers[0].law(()), [masses.get(token, Fraction(0)) for token in range(3)])
        assert bias["total variation"] == float(wanted) > 0
        assert bias["exact"] is True


def test_a_prefix_changes_what_is_compared(folder):
    files = of_files(folder, "models")
    first = run(*files, "--lookahead", 1, "--out", folder)
    assert first.exit_code == 0
    before = written(folder)["methods"]
    assert run(*files, "--lookahead", 1, "--prefix", "0", "--out", folder).exit_code == 0
    after = written(folder)["methods"]
    assert [row["acceptance, exact"] for row in before] != [row["acceptance, exact"] for row in after]
    assert json.loads((folder / "vocabularies.json").read_text())["title"].endswith("after the prefix (0,)")


def test_laws_are_compared_with_psi_of_one_draft_token(folder):
    result = run(*of_files(folder, "laws"), "--out", folder)
    assert result.exit_code == 0, result.output
    rows = {row["method"]: row for row in written(folder)["methods"]}
    targets, drafts = np.load(folder / "t.npy"), np.load(folder / "d.npy")
    words = Vocabulary(TARGET), Vocabulary(DRAFT)
    for name, line, lookahead in (
        ("union", "union", 1),
        ("TLI", "intersection", 1),
        ("SLEM", "exact_match", 1),
        ("SLRS", "rejection", 1),
        ("SLRS, every draft token from this distribution", "rejection", None),
    ):
        tables = [two_vocabularies.table(*row, *words, lookahead) for row in zip(targets, drafts, strict=True)]
        values = [getattr(table, line) for table in tables]
        assert rows[name]["acceptance"] == np.mean(values)
    # One draft token more or less: 1 + acceptance, at one drafter call; of SLEM laws alone do not say it.
    assert rows["TLI"]["tokens per call"] == pytest.approx(1 + rows["TLI"]["acceptance"], rel=2**-50)
    assert rows["SLEM"]["tokens per call"] is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["T.json"], "files need both vocabularies"),
        (["T.json", "D.json"], "spec-math overlap compares vocabularies alone"),
        (["T.json", "D.json", "--target", "t.npy"], "only one was given"),
        (["T.json", "D.json", "--target", "t.npy", "--draft", "d.json"], "two files of distributions or two tables"),
        (["--target", "t.npy", "--draft", "d.npy"], "files need both"),
        (["--prefix", "0"], "--prefix is for models from files"),
        (["--draft-cost", "x"], "--draft-cost takes a number"),
        (["--draft-cost", "-1"], "--draft-cost is at least 0"),
        (["--lookahead", "0"], "--lookahead must be at least 1"),
        (["--positions", "0"], "--positions must be at least 1"),
    ],
)
def test_options_that_do_not_fit_are_sentences(folder, monkeypatch, arguments, says):
    monkeypatch.chdir(folder)
    result = run(*arguments)
    assert result.exit_code == 2
    assert says in " ".join(result.output.split())


def test_files_that_do_not_fit_are_sentences(folder):
    (folder / "D.json").write_text('["a", "b"]')
    refused = run(*of_files(folder, "laws"))
    assert refused.exit_code == 2
    assert "its rows have 3 tokens" in " ".join(refused.output.split())
    refused = run(*of_files(folder, "models"))
    assert refused.exit_code == 2
    assert "the vocabulary has 2 tokens" in " ".join(refused.output.split())
    (folder / "D.json").write_text('["a", "b", "ba"]')
    (folder / "taken").write_text("")
    assert run(*of_files(folder, "models"), "--out", folder / "taken").exit_code == 2
    assert run(*of_files(folder, "laws"), "--lookahead", "2").exit_code == 2


def test_more_sequences_than_can_be_added_up_are_refused_with_the_longest_that_can(folder):
    refused = run(*of_files(folder, "models"), "--lookahead", "2,40", "--out", folder)
    assert refused.exit_code == 2
    assert "take --lookahead up to 7" in " ".join(refused.output.split())
    assert not (folder / "vocabularies.csv").exists()
    assert 3**7 <= vocabulary_models.MOST < 3**8


def test_ends_and_floats_are_compared_too(folder):
    (folder / "T.json").write_text('["a", "b", {"special": "<end>"}]')
    (folder / "D.json").write_text('["ab", "a", {"special": "<end>"}, {"bytes": "62"}]')
    (folder / "t.json").write_text('{"rows": {"": [0.5, 0.25, 0.25]}, "default": [0.25, 0.5, 0.25], "end": 2}')
    (folder / "d.json").write_text('{"rows": {}, "default": [0.25, 0.25, 0.25, 0.25], "end": 2}')
    result = run(*of_files(folder, "models"), "--lookahead", "1,2", "--out", folder)
    assert result.exit_code == 0, result.output
    found = written(folder)
    assert found["drafters"][0]["shared tokens"] == 3
    rows = {row["method"]: row for row in found["methods"]}
    # a and b: 1/4 each of the draft, and the end 1/4: three shared tokens of mass 3/4 in all.
    assert rows["union"]["acceptance"] == 0.75
    assert rows["TLI"]["acceptance"] == pytest.approx(1 / 3 + 1 / 4 + 1 / 4, abs=2**-50)
    assert rows["union"]["acceptance, exact"] is None


# Advice.

NOTHING = known(0)


def lines(speed_ups):
    return tuple(MethodLine(method, known(0.5), 2, known(2), 2.0, value) for method, value in speed_ups.items())


def test_advice_takes_the_fastest_lossless_method():
    found = DrafterLines("d", 2, 1, NOTHING, NOTHING, 3, lines({TLI: 1.5, SLEM: 1.2, TOKEN_TIMING: 3.0}))
    assert "Take TLI with 2 draft tokens: 1.500 times as fast as plain decoding." in advice(found, NOTHING)
    slow = DrafterLines("d", 2, 1, NOTHING, NOTHING, 3, lines({TLI: 0.9}))
    assert any("the best method, TLI, is only 0.900" in said for said in advice(slow, NOTHING))
    tied = DrafterLines("d", 2, 1, NOTHING, NOTHING, 3, lines({UNION: 1.5, TLI: 1.5}))
    assert "Take TLI with 2 draft tokens: 1.500 times as fast as plain decoding." in advice(tied, NOTHING)


def test_advice_claims_no_bias_that_samples_do_not_show():
    def with_bias(value, low, exact):
        bias = Bias(4, Mean(value, 0.01, 9, low, value + 0.1, 0.99), exact)
        return advice(DrafterLines("d", 2, 1, NOTHING, NOTHING, 3, (), (bias,)), NOTHING)

    assert any("from the target by at least 0.0700 with 4 draft tokens" in said for said in with_bias(0.1, 0.07, False))
    assert not any("TokenTiming" in said for said in with_bias(0.1, -0.05, False))
    assert not any("TokenTiming" in said for said in with_bias(0.1, float("nan"), False))
    assert any("from the target by 0.1000" in said for said in with_bias(0.1, -0.05, True))
    assert not any("TokenTiming" in said for said in with_bias(0.0, 0.0, True))


def test_the_result_shows_every_line_the_advice_and_the_choice():
    shown = result_of(small())
    assert len(shown.table("methods").rows) == sum(len(drafter.lines) for drafter in small().drafters)
    assert len(shown.table("drafters").rows) == 3
    assert list(dict.fromkeys(note.head for note in shown.notes if note.head)) == [
        "words (order 2)",
        "byte pairs",
        "bytes",
    ]
    assert "words (order 2): Take TLI" in shown.finding
    assert {row.cells[1] for row in shown.table("methods").rows if row.mark == "wrong"} == {"TokenTiming as printed"}
    assert len(shown.pictures[0].panels) == 3


def test_without_files_the_default_is_compared(monkeypatch):
    monkeypatch.setattr(vocabulary_study, "EMBEDDED", (1,))
    result = run("--positions", 2)
    assert result.exit_code == 0, result.output
    assert "byte pairs: 512 tokens, 105 of them the target's" in result.output
    assert "Take TLI" in result.output


def test_models_read_a_prefix_of_indices_alone():
    with pytest.raises(ValueError, match="--prefix lists token indices"):
        prefix_of("a")
