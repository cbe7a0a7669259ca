"""The command line as a user meets it: tables, files, exit codes, and errors that are sentences."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from spec_math import SCHEMES
from spec_math.cli import app
from spec_math.studies.arguments import parsed_ks
from spec_math.studies.positions.stream import filtered, from_rows, parsed_filters, parsed_sweep
from spec_math.studies.positions.verdicts import load_scheme, named_scheme

VERIFIERS = """
def right(coin, tokens, target, draft):
    x = tokens[0]
    if coin.flip(min(1, target[x] / draft[x])):
        return x
    lacking = [max(t - d, t - t) for t, d in zip(target, draft)]
    return coin.draw([mass / sum(lacking) for mass in lacking])

def wrong(coin, tokens, target, draft):
    x = tokens[0]
    return x if coin.flip(min(1, target[x] / draft[x])) else coin.draw(target)
"""


@pytest.fixture(autouse=True)
def no_module_of_another_test(monkeypatch):
    """A file mine.py of another test stays loaded under its name."""
    monkeypatch.delitem(sys.modules, "mine", raising=False)


@pytest.fixture
def laws(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("t", "d"):
        np.save(tmp_path / f"{name}.npy", rng.dirichlet(np.ones(6), size=5))
        np.save(tmp_path / f"{name}_logits.npy", rng.standard_normal((5, 6)).astype(np.float16))
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_compare_writes_table_csv_json_and_picture(laws):
    files = "--target", laws / "t.npy", "--draft", laws / "d.npy"
    arguments = ["compare", *files, "--k", "1,2", "--all", "--out", laws / "out"]
    result = CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    assert max(map(len, result.output.splitlines())) <= 80 or "wrote" in max(result.output.splitlines(), key=len)
    # No word of a scheme's name is cut at 80 columns.
    assert all(word in result.output for scheme in SCHEMES for word in scheme.name.split())
    assert sorted(path.name for path in (laws / "out").iterdir()) == [
        "comparison-wide.csv",
        "comparison.csv",
        "comparison.html",
        "comparison.json",
        "comparison.pdf",
        "comparison.svg",
        "comparison.tex",
    ]
    data = json.loads((laws / "out" / "comparison.json").read_text())["tables"][0]
    assert {row["acceptance samples"] for row in data["rows"]} == {5}
    t, d = np.load(laws / "t.npy"), np.load(laws / "d.npy")
    value = next(row["acceptance"] for row in data["rows"] if row["scheme"] == "maximal coupling")
    assert abs(value - np.minimum(t, d).sum(axis=1).mean()) <= 2.0**-45


def test_logits_in_half_precision_compressed_and_swept(laws):
    result = run(
        *("compare", "--target", laws / "t_logits.npy", "--draft", laws / "d_logits.npy", "--logits"),
        *("--filter", "union.top_k=2", "--k", "2", "--sweep", "draft.temperature=0.5:1.5:3", "--out", laws / "out"),
    )
    assert result.exit_code == 0, result.output
    assert "is largest" in result.output
    rows = json.loads((laws / "out" / "comparison.json").read_text())["tables"][2]["rows"]
    assert {"0.5", "1", "1.5"} < set(rows[0])
    assert "</svg>" in (laws / "out" / "comparison-sweep.svg").read_text()


def test_one_position_of_files_is_explained_with_the_names_of_its_tokens(laws):
    (laws / "names.json").write_text(json.dumps(["ann", "bob", "cat", "dog", "eel", "fox"]))
    arguments = ["explain", "--target", f"{laws / 't.npy'}@3", "--draft", f"{laws / 'd.npy'}@3"]
    shown = run(*arguments, "--names", laws / "names.json", "--all").output
    assert "The optimum of 2 i.i.d. drafts is" in shown
    assert any(f"'{name}'" in shown for name in ("ann", "bob", "cat", "dog", "eel", "fox"))
    (laws / "names.json").write_text('["ann"]')
    refused = run(*arguments, "--names", laws / "names.json")
    assert refused.exit_code == 2
    assert "list of the 6 token names is needed; it holds 1 entries" in refused.output
    assert "positions lie in 0..4; got 9" in run("explain", "--target", f"{laws / 't.npy'}@9", "--draft", "1").output
    assert "one distribution; the file holds 5" in run("explain", "--target", laws / "t.npy", "--draft", "1").output
    soft = run(
        "explain", "--target", f"logits:{laws / 't_logits.npy'}@1", "--draft", f"logits:{laws / 'd_logits.npy'}@1"
    )
    assert soft.exit_code == 0, soft.output
    row = np.load(laws / "t_logits.npy")[1].astype(float)
    assert f"{np.exp(row)[0] / np.exp(row).sum():.6f}" in soft.output


def test_both_sides_are_filtered_apart():
    """The order is temperature, top-k, top-p; another way to each, and wrong orders differ."""
    rng = np.random.default_rng(0)
    t, d = (rng.dirichlet(np.ones(6), size=5) for _ in range(2))
    stream = from_rows(lambda a, b: t[a:b], lambda a, b: d[a:b], t.shape)

    def kept(*texts):
        (batch,) = filtered(stream, parsed_filters(texts)).batches(8)
        return overlap(*(masses / masses.sum(axis=1, keepdims=True) for masses in (batch.targets, batch.drafts)))

    def heated(x, heat):
        return x ** (1 / heat) / (x ** (1 / heat)).sum(axis=1, keepdims=True)

    def top(x, k):
        held = np.where(np.argsort(np.argsort(-x, axis=1, kind="stable"), axis=1) < k, x, 0)
        return held / held.sum(axis=1, keepdims=True)

    def overlap(x, y):
        return np.minimum(x, y).sum(axis=1).mean()

    assert abs(kept("target.temperature=0.5") - overlap(heated(t, 0.5), d)) <= 2.0**-40
    assert abs(kept("draft.top_k=2,target.temperature=0.5") - overlap(heated(t, 0.5), top(d, 2))) <= 2.0**-40
    assert abs(kept("top_k=3", "draft.temperature=2") - overlap(top(t, 3), top(heated(d, 2), 3))) <= 2.0**-40
    assert abs(kept("temperature=0") - (t.argmax(axis=1) == d.argmax(axis=1)).mean()) <= 2.0**-40
    assert abs(overlap(heated(t, 0.5), d) - overlap(t, heated(d, 0.5))) > 1e-3
    sharp = parsed_filters(["target.temperature=0.5,top_p=0.6"])
    (batch,) = filtered(stream, sharp).batches(8)
    ordered = -np.sort(-heated(t, 0.5), axis=1)
    sizes = (np.cumsum(ordered, axis=1) < 0.6).sum(axis=1) + 1
    assert (batch.targets > 0).sum(axis=1).tolist() == sizes.tolist()


def test_a_users_wrong_verifier_is_lossy_and_the_exit_code_says_so(laws, monkeypatch):
    (laws / "mine.py").write_text(VERIFIERS)
    monkeypatch.chdir(laws)
    arguments = ["compare", "--target", "t.npy", "--draft", "d.npy", "--k", "1,2"]
    good = run(*arguments, "--scheme", "mine:right")
    assert good.exit_code == 0, good.output
    assert "mine:right" in good.output
    bad = run(*arguments, "--scheme", "mine:wrong")
    assert bad.exit_code == 1
    assert "LOSSY" in bad.output
    assert "is emitted with probability 5/16 where the target has 1/4" in bad.output


def test_a_bare_verifier_at_large_size_is_judged_and_estimated_by_running_it(laws, monkeypatch):
    (laws / "mine.py").write_text(VERIFIERS)
    monkeypatch.chdir(laws)
    rng = np.random.default_rng(1)
    for name in ("T", "D"):
        np.save(f"{name}.npy", rng.standard_normal((3, 500)))
    result = run(
        "compare", "--target", "T.npy", "--draft", "D.npy", "--logits", "--scheme", "mine:wrong", "--out", "out"
    )
    assert result.exit_code == 1
    assert "LOSSY" in result.output
    rows = json.loads((laws / "out" / "comparison.json").read_text())["tables"][0]["rows"]
    mine = {row["k"]: row for row in rows if row["scheme"] == "mine:wrong"}
    assert mine.keys() == {1, 2, 4, 8}
    assert all(row["verdict"] == "LOSSY" and row["every position"] is False for row in mine.values())
    # A lossy verifier has no gap to the optimum of lossless ones.
    assert all(row["gap to optimum"] is None for row in mine.values())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "t.npy"], "--target and --draft come together"),
        (["--target", "none.npy", "--draft", "d.npy"], "there is no such file"),
        (["--target", "t.npy", "--draft", "d.npy", "--k", "0"], "--k must be at least 1; got 0"),
        (["--target", "t.npy", "--draft", "d.npy", "--k", "2.9"], "--k takes whole numbers"),
        (["--target", "t.npy", "--draft", "d.npy", "--filter", "union.top_k=0"], "union.top_k must be at least 1"),
        (["--target", "t.npy", "--draft", "d.npy", "--filter", "top_k=7"], "k must not exceed the vocabulary"),
        (["--filter", "target.heat=1"], "a filter is one of"),
        (["--filter", "top_p=2"], "top_p must lie above 0 and not above 1; got 2"),
        (["--filter", "top_p=0"], "top_p must lie above 0 and not above 1; got 0; top_k=1 keeps the likeliest"),
        (["--filter", "min_p=2"], "min_p must lie between 0 and 1"),
        (["--filter", "draft.temperature=-1"], "draft.temperature must be finite and >= 0; got -1"),
        (["--filter", "draft.temperature"], "--filter takes"),
        (["--target", "t.npy", "--draft", "d.npy", "--scheme", "nothing"], "--scheme takes your verifier"),
        (["--target", "t.npy", "--draft", "d.npy", "--scheme", "no.such:thing"], "No module named 'no'"),
        (["--target", "t.npy", "--draft", "d.npy", "--sweep", "k=1:2:3"], "a filter is one of"),
        (["--target", "t_logits.npy", "--draft", "d_logits.npy"], "if these are logits, pass --logits"),
        (["--positions", "0"], "--positions must be at least 1; got 0"),
    ],
)
def test_bad_input_is_a_sentence_and_nothing_is_written(laws, monkeypatch, arguments, words):
    monkeypatch.chdir(laws)
    before = sorted(path.name for path in laws.iterdir())
    result = run("compare", *arguments, "--out", "out")
    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output
    left = [path.name for path in (laws / "out").iterdir()] if (laws / "out").is_dir() else []
    assert left == []
    assert [name for name in before if name != "out"] == before


def test_an_output_folder_that_cannot_be_written_is_told_before_the_work(laws):
    (laws / "file").write_text("")
    result = run("compare", "--target", laws / "t.npy", "--draft", laws / "d.npy", "--out", laws / "file")
    assert result.exit_code == 2
    assert "the folder cannot be written" in result.output
    assert "maximal coupling" not in result.output


def test_two_drafters_are_compared_in_turn_and_together(laws):
    np.save(laws / "e.npy", np.random.default_rng(9).dirichlet(np.ones(6), size=5))
    arguments = ["compare", "--target", laws / "t.npy", "--draft", laws / "d.npy", "--draft", laws / "e.npy"]
    result = run(*arguments, "--out", laws / "out")
    assert result.exit_code == 0, result.output
    told = json.loads((laws / "out" / "drafters.json").read_text())["tables"][0]["rows"]
    means = {row["drafts"]: row["acceptance"] for row in told}
    t, d = np.load(laws / "t.npy"), np.load(laws / "d.npy")
    assert abs(means["d alone, one draft"] - np.minimum(t, d).sum(axis=1).mean()) <= 2.0**-45
    assert max(means["d then e"], means["e then d"]) <= means["optimum of d and e"] + 2.0**-45
    assert means["d then e"] != means["e then d"]
    assert "optimum of d and e" in result.output
    refused = run(*arguments, "--filter", "top_k=2")
    assert refused.exit_code == 2
    assert "--filter, --sweep and --scheme are not possible" in refused.output


def test_explain_shows_every_coin():
    result = run(
        "explain", "--scheme", "maximal", "--target", "1/4,3/4", "--draft", "1/2,1/2", "--k", "1", "--seed", "3"
    )
    assert result.exit_code == 0
    assert "draw from (1/2, 1/2)" in result.output
    assert "accept if" in result.output
    assert "The acceptance of maximal coupling is 3/4" in result.output
    assert run("explain", "--scheme", "unheard-of").exit_code == 2
    assert run("explain", "--target", "1/4,1/4").exit_code == 2


def test_explain_repeats_with_its_seed():
    outputs = [run("explain", "--seed", str(seed)).output for seed in (5, 5, 6)]
    assert outputs[0] == outputs[1] != outputs[2]


def test_the_report_opens_with_one_answer_and_fetches_nothing(tmp_path):
    folder = tmp_path / "page"
    result = run("report", "--out", folder / "report.html", "--positions", 12)
    assert result.exit_code == 0, result.output
    page = (folder / "report.html").read_text()
    # One answer opens it; the tables, and rules that are lossy by design, are on the pages that it links to.
    assert page.count('class="finding code0"') == 1
    assert "<table" not in page
    beside = {path.stem: path.read_text() for path in folder.glob("report-*.html")}
    assert all(f"{name}.html" in page for name in beside)
    every = "".join([page, *beside.values()])
    assert "Rules that are lossy by design: " in every
    assert "optimum, i.i.d. drafts" in every
    for fetched in ("src='http", 'src="http', 'href="http', "@import", "url(http", "<script src"):
        assert fetched not in every
    assert "The report is at" in result.output.replace("\n", " ")


def test_counts_and_sweeps_are_read_strictly():
    assert parsed_ks("8,1,1") == (1, 8)
    assert parsed_sweep("draft.temperature=0.5:0.7:3").values == (0.5, 0.6, 0.7)
    wrong = ("draft.temperature=1:0.5:3", "draft.temperature=0:1:1", "draft.temperature=1:2:0.1", "x", "top_p=0:inf:3")
    for text in wrong:
        with pytest.raises(ValueError, match="--sweep takes"):
            parsed_sweep(text)
    with pytest.raises(ValueError, match="no scheme begins with 'zz'; there are: maximal coupling"):
        named_scheme("zz")
    with pytest.raises(TypeError, match="a Scheme or a function"):
        load_scheme("math:pi")


def test_output_is_plain_where_nobody_watches(laws):
    """As a whole process: no colour codes in a pipe, a clean error on standard error, its exit code."""
    command = [str(Path(sys.executable).with_name("spec-math")), "compare", "--target", "t.npy", "--draft", "d.npy"]
    done = subprocess.run([*command, "--k", "1"], cwd=laws, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "\x1b[" not in done.stdout + done.stderr
    failed = subprocess.run([*command, "--k", "none"], cwd=laws, capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert failed.stdout == ""
    assert failed.stderr.startswith("error: --k takes whole numbers")
