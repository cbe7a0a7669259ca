"""spec-math trace as a user meets it: tables, files, exit codes, sentences."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from proofs_tests.render.read_results import from_json
from spec_math.cli import app
from spec_math.cli.audit import BUGS, TOLERANCE
from spec_math.studies.traces import study
from spec_math.traces import write_shard
from spec_math.traces.recorder import Engine, by_position, record

LOOKAHEAD = 3


def always(coin, token, target, draft):  # noqa: ARG001
    return token, True


def write(path, verify=None, texts=2, seed=0):
    rng = np.random.default_rng(seed)
    laws = np.random.default_rng(0).dirichlet(np.full(20, 0.5), size=2)
    engine = Engine(lambda _: laws[0], lambda _: laws[1], by_position(verify) if verify else by_position(), LOOKAHEAD)
    return write_shard(path, record(engine, texts, 300, rng), LOOKAHEAD)


def run(*arguments):
    return CliRunner().invoke(app, ["trace", *map(str, arguments)])


def read(folder):
    return from_json((folder / "trace.json").read_text(encoding="utf-8"))


def test_a_right_trace_leaves_with_0_and_a_page(tmp_path):
    write(tmp_path / "a.safetensors")
    result = run(tmp_path, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "not refuted" in result.output
    page = (tmp_path / "out" / "trace.html").read_text()
    assert "Nothing in this trace refutes" in page
    assert "http" not in re.sub(r"src=\"data:[^\"]*\"", "", page)
    assert page.count("<img") == 3
    assert {path.name for path in (tmp_path / "out").glob("*.svg")} == {
        "trace.svg",
        "trace-acceptance.svg",
        "trace-deviation.svg",
    }
    told = read(tmp_path / "out")
    assert told.exit_code == 0
    assert "audited before" not in result.output
    assert "1 of 1 shards were audited before" in run(tmp_path, "--out", tmp_path / "out").output
    assert told.table("groups").records()[0]["rows by"] == "depth in the block"
    assert told.table("groups").cells("drafts")[0] > 0
    assert told.table("groups").cells("realised")[0].error > 0


def test_a_wrong_trace_leaves_with_1_and_says_so(tmp_path):
    write(tmp_path / "a.safetensors", always)
    result = run(tmp_path / "a.safetensors", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "refuted" in result.output
    assert "The engine of this trace is not lossless" in (tmp_path / "out" / "trace.html").read_text()
    assert read(tmp_path / "out").exit_code == 1


@pytest.mark.parametrize("rows", ["few", "without a law"])
def test_a_trace_that_can_refute_nothing_is_undecided(tmp_path, rows):
    """Ten tokens at α = 10^-6; and hundreds whose laws are NaN: of a wrong verifier nothing is known."""
    laws = np.random.default_rng(0).dirichlet(np.full(20, 0.5), size=2)
    engine = Engine(lambda _: laws[0], lambda _: laws[1], by_position(always), LOOKAHEAD)
    columns = record(engine, 1, 300, np.random.default_rng(0))
    if rows == "few":
        columns = {name: column[:10] for name, column in columns.items()}
    else:
        columns["target_logits"] = np.full_like(columns["target_logits"], np.nan)
    path = write_shard(tmp_path / "a.safetensors", columns, LOOKAHEAD)
    result = run(path, "--out", tmp_path / "out")
    assert result.exit_code == 3, result.output
    told = read(tmp_path / "out")
    assert told.exit_code == 3
    assert told.finding.startswith("Undecided: ")


def test_a_broken_shard_is_named_and_leaves_with_2(tmp_path):
    write(tmp_path / "a.safetensors")
    broken = write(tmp_path / "b.safetensors", seed=1)
    broken.write_bytes(broken.read_bytes()[:-5])
    result = run(tmp_path, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert re.search(r"b\.safetensors +\S", result.output)
    assert "Shards left out" in (tmp_path / "out" / "trace.html").read_text()
    assert read(tmp_path / "out").table("skipped").cells("shard") == ["b.safetensors"]


def test_a_wrong_trace_beside_a_broken_shard_leaves_with_1(tmp_path):
    write(tmp_path / "a.safetensors", always)
    (tmp_path / "b.safetensors").write_bytes(b"")
    assert run(tmp_path, "--out", tmp_path / "out").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere: there is no such file or folder"),
        (["--alpha", "1"], "--alpha, the false-positive rate"),
        (["--tolerance", "-1"], "--tolerance, a total variation"),
        (["--workers", "0"], "--workers must be at least 1"),
        (["--bug", "none", "."], "--bug is for the embedded default"),
        (["--bug", "unheard of"], "--bug takes one of none, block"),
    ],
)
def test_bad_input_is_a_sentence(tmp_path, arguments, words):
    result = run(*arguments, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output
    assert not (tmp_path / "out" / "trace.json").exists()


def test_interrupted_it_says_how_to_go_on(tmp_path, monkeypatch):
    def interrupted(shards, executor, tolerance, store, done):  # noqa: ARG001
        raise KeyboardInterrupt

    write(tmp_path / "a.safetensors")
    monkeypatch.setattr(study, "audit_shards", interrupted)
    result = run(tmp_path, "--out", tmp_path / "out")
    assert result.exit_code == 130
    assert "interrupted; 0 of 1 shards are kept; the same command continues" in result.output


def test_the_default_with_a_bug_is_refuted_and_without_it_is_not(tmp_path):
    """Four shards of the n-gram default each: two thousand tokens, some seconds to record."""
    assert run("--out", tmp_path / "none").exit_code == 0
    result = run("--bug", "residual", "--out", tmp_path / "residual")
    assert result.exit_code == 1
    claims = read(tmp_path / "residual").table("claims")
    refuted = dict(zip(claims.cells("claim"), claims.cells("refuted"), strict=True))
    assert refuted["emitted tokens have the target's distribution"]
    assert not refuted["drafts have the distribution reported with them"]


def test_help_teaches_with_examples():
    said = run("--help").output
    assert "spec-math trace --bug residual" in said
    assert "record_a_trace.md" in said


def test_the_command_says_what_the_study_takes():
    assert study.VARIANTS.keys() == set(BUGS)
    assert study.TraceRequest().tolerance == TOLERANCE
