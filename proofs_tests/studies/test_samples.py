"""spec-math audit --samples as a user meets it: tokens in files, functions, going on after an interruption."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from spec_math.audit import IdentityTest
from spec_math.cli import app
from spec_math.studies.arguments import no_progress
from spec_math.studies.audits import samples as samples_audit
from spec_math.studies.audits.samples import SamplesRequest, study

LAW, WRONG = [0.5, 0.3, 0.2], [0.4, 0.4, 0.2]
TARGET = "0.5,0.3,0.2"

SAMPLER = """
import numpy as np
rng = np.random.default_rng(0)
def right(n): return rng.choice(3, n, p=[0.5, 0.3, 0.2])
def wrong(n): return rng.choice(3, n, p=[0.4, 0.4, 0.2])
def one(n): return 1
"""


def draws(law, n, seed=0):
    return np.random.default_rng(seed).choice(3, n, p=law)


def run(*arguments):
    return CliRunner().invoke(app, ["audit", *map(str, arguments)])


@pytest.mark.parametrize("ending", ["txt", "csv", "npy", "json"])
@pytest.mark.parametrize(("law", "code"), [(LAW, 0), (WRONG, 1)])
def test_tokens_of_a_file_are_tested(tmp_path, ending, law, code):
    path = tmp_path / f"tokens.{ending}"
    tokens = draws(law, 5_000)
    if ending == "npy":
        np.save(path, tokens)
    elif ending == "json":
        path.write_text(json.dumps(tokens.tolist()))
    else:
        path.write_text(("," if ending == "csv" else "\n").join(map(str, tokens)))
    result = run("--samples", path, "--target", TARGET, "--total-variation", "0.15")
    assert result.exit_code == code, result.output
    assert "5,000 tokens seen" in result.output
    assert ("Lossy" in result.output) == bool(code)
    assert ("Not rejected" if code == 0 else "Rejected") in result.output
    assert "alarms on a right sampler with probability 1e-06 at most" in " ".join(result.output.split())


def test_too_few_tokens_decide_nothing(tmp_path):
    """Three tokens reject no law; exit code 0 would read as passed."""
    (tmp_path / "t.txt").write_text("0 1 2")
    few = run("--samples", tmp_path / "t.txt", "--target", TARGET, "--out", tmp_path / "v.html")
    assert few.exit_code == 3
    assert "to detect a total variation of 0.02 with probability 0.99." in " ".join(few.output.split())
    assert "Undecided. The test needs" in (tmp_path / "v.html").read_text()
    (tmp_path / "t.txt").write_text(" ".join(map(str, draws(WRONG, 5_000))))
    assert run("--samples", tmp_path / "t.txt", "--target", TARGET).exit_code == 1


def test_a_page_shows_the_evidence(tmp_path):
    (tmp_path / "t.txt").write_text(" ".join(map(str, draws(WRONG, 20_000))))
    result = run("--samples", tmp_path / "t.txt", "--target", TARGET, "--out", tmp_path / "v.html")
    assert result.exit_code == 1
    page = (tmp_path / "v.html").read_text()
    assert "these tokens do not have the target" in page
    assert "data:image/svg+xml" in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.txt", "v.html"]


def test_a_function_is_asked_until_it_is_refuted_or_cleared(tmp_path, monkeypatch):
    (tmp_path / "boxes.py").write_text(SAMPLER)
    monkeypatch.chdir(tmp_path)
    cleared = run("--samples", "boxes.py:right", "--target", TARGET, "--total-variation", "0.05")
    assert cleared.exit_code == 0, cleared.output
    assert "finds a total variation of 0.05 or more with probability 0.99" in " ".join(cleared.output.split())
    refuted = run("--samples", "boxes.py:wrong", "--target", TARGET, "--total-variation", "0.01")
    assert refuted.exit_code == 1
    assert "4,096 tokens seen" in refuted.output
    shapeless = run("--samples", "boxes.py:one", "--target", TARGET)
    assert shapeless.exit_code == 2
    assert "must return 4096 tokens" in shapeless.output


def test_a_draft_names_the_bug(tmp_path):
    t, d = np.array([0.5, 0.25, 0.15, 0.1]), np.array([0.1, 0.2, 0.3, 0.4])
    emitted = np.minimum(t, d)
    law = emitted + (1 - emitted.sum()) * t
    (tmp_path / "t.txt").write_text(" ".join(map(str, np.random.default_rng(0).choice(4, 20_000, p=law))))
    np.save(tmp_path / "target.npy", t)
    np.save(tmp_path / "draft.npy", d)
    files = "--target", tmp_path / "target.npy", "--draft", tmp_path / "draft.npy"
    result = run("--samples", tmp_path / "t.txt", *files)
    assert result.exit_code == 1
    assert "looks like: a rejection redraws from the target (M11)" in result.output


@pytest.mark.parametrize("batches_before", [0, 3, 8])
def test_interrupted_and_continued_it_gives_the_same_evidence(tmp_path, monkeypatch, batches_before):
    path, kept = tmp_path / "t.txt", tmp_path / "v.kept.json"
    path.write_text(" ".join(map(str, draws([0.48, 0.32, 0.2], 40_000))))
    request = SamplesRequest(str(path), TARGET, kept=kept)
    seen = []
    original = samples_audit._result
    monkeypatch.setattr(samples_audit, "_result", lambda asked, run: seen.append(run) or original(asked, run))
    assert study(request, no_progress).exit_code == 1
    whole = seen.pop()
    kept.unlink(missing_ok=True)
    update, done = IdentityTest.update_many, []

    def interrupted(test, tokens):
        if len(done) == batches_before:
            raise KeyboardInterrupt
        done.append(1)
        update(test, tokens)

    monkeypatch.setattr(IdentityTest, "update_many", interrupted)
    stopped = run("--samples", path, "--target", TARGET, "--out", tmp_path / "v.html")
    assert stopped.exit_code == 130
    assert "the same command continues from there" in " ".join(stopped.output.split())
    assert not (tmp_path / "v.html").exists()
    assert kept.exists()
    monkeypatch.setattr(IdentityTest, "update_many", update)
    taken = []
    monkeypatch.setattr(
        IdentityTest, "update_many", lambda test, tokens: taken.append(len(tokens)) or update(test, tokens)
    )
    assert run("--samples", path, "--target", TARGET, "--out", tmp_path / "v.html").exit_code == 1
    again = seen.pop()
    assert sum(taken) == 40_000 - batches_before * 4096
    assert again.test.log_evidence == whole.test.log_evidence
    assert again.test.alarm == whole.test.alarm
    assert again.curve == whole.curve
    assert not kept.exists()
    assert (tmp_path / "v.html").exists()


def test_what_was_kept_for_another_question_is_not_taken_up(tmp_path):
    path, out = tmp_path / "t.txt", tmp_path / "v.html"
    path.write_text("0 1 2 0 0")
    (tmp_path / "v.kept.json").write_text(json.dumps({"question": "another", "counts": [9, 9, 9]}))
    result = run("--samples", path, "--target", TARGET, "--out", out)
    assert "5 tokens seen" in result.output
    (tmp_path / "v.kept.json").write_text("{")
    assert "5 tokens seen" in run("--samples", path, "--target", TARGET, "--out", out).output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--samples", "t.txt"], "--samples needs --target"),
        (["--samples", "nowhere.txt", "--target", TARGET], "there is no file nowhere.txt"),
        (["--samples", "bad.txt", "--target", TARGET], "got 'two'"),
        (["--samples", "far.txt", "--target", TARGET], "tokens must lie in 0..2"),
        (["--samples", "none.txt", "--target", TARGET], "holds no tokens"),
        (["--samples", "t.txt", "--target", "1/2,1/3"], "masses must sum to"),
        (["--samples", "t.txt", "--target", TARGET, "--alpha", "2"], "alpha"),
        ([], "name what is audited"),
    ],
)
def test_bad_input_is_a_sentence(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text("0 1 2")
    (tmp_path / "bad.txt").write_text("0 two")
    (tmp_path / "far.txt").write_text("0 7")
    (tmp_path / "none.txt").write_text("")
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())
    assert "Traceback" not in result.output
