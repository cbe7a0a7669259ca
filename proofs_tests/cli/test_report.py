"""The report of a user's own files: laws, tables of models, recorded traces, whichever are given."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from spec_math.cli import app
from spec_math.studies.traces.study import write_default


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    for name in ("t", "d"):
        np.save(tmp_path / f"{name}.npy", rng.dirichlet(np.ones(6), size=5))
    for name, law in (("T", ["1/4", "3/4"]), ("D", ["1/2", "1/2"])):
        text = json.dumps({"rows": {"": law}, "context": 0})
        assert (tmp_path / f"{name}.json").write_text(text, encoding="utf-8") == len(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["report", *arguments], env={"COLUMNS": "300"})


def test_laws_and_models_of_a_users_own_make_the_page(folder: Path) -> None:
    found = report("--target", "t.npy", "--draft", "d.npy", "--k", "1,2", "--out", "page.html")
    assert found.exit_code == 0, found.output
    page = (folder / "page.html").read_text(encoding="utf-8")
    t, d = np.load("t.npy"), np.load("d.npy")
    entropy = -(t * np.log(t)).sum(axis=1).mean()
    first = (
        f"largest probability is {t.max(axis=1).mean():.3f}, its entropy {entropy:.2f} nats, and its overlap with "
        f"the draft {np.minimum(t, d).sum(axis=1).mean():.3f}."
    )
    assert first in found.output
    assert page.index(first.split(",")[0]) < page.index('class="finding') < page.index("<img")
    assert page.count('class="finding') == 1
    assert "t.npy and d.npy" in page
    assert sorted(path.name for path in folder.glob("*.html")) == ["page-comparison.html", "page.html"]
    assert 'href="page-comparison.html"' in page
    assert 'href="page.html"' in (folder / "page-comparison.html").read_text(encoding="utf-8")


def test_a_folder_holds_all_forms_of_every_part(folder: Path) -> None:
    given = (
        "--target",
        "t.npy",
        "--draft",
        "d.npy",
        "--k",
        "1,2",
        "--target-model",
        "T.json",
        "--draft-model",
        "D.json",
    )
    found = report(*given, "--out", "out")
    assert found.exit_code == 0, found.output
    names = {path.name for path in (folder / "out").iterdir()}
    assert {"report.html", "comparison.csv", "comparison.json", "comparison.svg"} <= names
    assert {f"blocks.{ending}" for ending in ("html", "csv", "json", "tex", "svg", "pdf")} <= names
    assert (folder / "out" / "report.html").read_text(encoding="utf-8").count('class="finding') == 1


def test_a_trace_with_a_bug_makes_the_report_say_so(folder: Path) -> None:
    shards = folder / "shards"
    shards.mkdir()
    assert write_default(shards, "residual") != []
    found = report("--trace", "shards", "--out", "page.html")
    assert found.exit_code == 1, found.output
    assert 'class="finding code1"' in (folder / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--target", "t.npy"), "--target and --draft come together"),
        (("--target-model", "T.json"), "come together"),
        (("--out", "page.pdf"), "names a page, such as report.html, or a folder"),
        (("--positions", "0"), "--positions must be at least 1"),
    ],
)
def test_bad_input_is_a_sentence(folder: Path, arguments: tuple[str, ...], words: str) -> None:  # noqa: ARG001
    found = report(*arguments)
    assert found.exit_code == 2
    assert words in found.output
