"""Every command once, on small input: it answers on a screen of 80 columns and 40 lines, and its JSON reads back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from proofs_tests.cli.screens import faults, opens_and_closes
from spec_math.cli import COMMANDS, app

TARGET = {"context": 1, "rows": {"": ["1/4", "3/4"], "0": ["1/2", "1/2"], "1": ["3/4", "1/4"]}}
DRAFT = {"context": 1, "rows": {"": ["1/2", "1/2"], "0": ["1/3", "2/3"], "1": ["2/3", "1/3"]}}
SAMPLERS = """
import random

def chosen(masses):
    return random.choices(range(len(masses)), masses)[0]

def right(target, draft):
    x = chosen(draft)
    if random.random() < min(1, target[x] / draft[x]):
        return x
    return chosen([max(t - d, 0) for t, d in zip(target, draft)])

def wrong(target, draft):
    x = chosen(draft)
    return x if random.random() < min(1, target[x] / draft[x]) else chosen(target)
"""
TABLES, ROWS = ["--target", "t.json", "--draft", "d.json"], ["--target", "t.npy", "--draft", "d.npy"]
LAWS = ["--target", "1/4,3/4", "--draft", "1/2,1/2"]

CALLS = {
    "advise": ([*TABLES, "--k", "1", "--lookahead", "2", "--out", "found.json"], 0),
    "compare": ([*ROWS, "--k", "1,2", "--out", "found.json"], 0),
    "blocks": ([*TABLES, "--k", "2", "--lookahead", "2", "--out", "found.json"], 0),
    "frontier": ([*TABLES, "--nodes", "4", "--samples", "12", "--temperature", "1", "--out", "found.json"], 0),
    "record": (["nothing-was-recorded"], 2),
    "engine": (["stub", "--samples", "400", "--out", "found.json"], 3),
    "lossy": ([*ROWS, "--rule", "typical", "--out", "found.json"], 0),
    "vocabularies": (["v.json", "v.json", *ROWS, "--out", "found.json"], 0),
    "explain": ([*LAWS, "--scheme", "recursive", "--k", "2", "--seed", "7", "--out", "found.json"], 0),
    "generate": (["--tokens", "8", *TABLES, "--lookahead", "2", "--k", "2", "--out", "found.json"], 0),
    "report": (["--target", "missing.npy", "--draft", "missing.npy"], 2),
    "psi": (["ab", "--vocabulary", "v.json", "--out", "found.json"], 0),
    "overlap": (["v.json", "v.json", "--out", "found.json"], 0),
    "audit": (["samplers.py:wrong"], 1),
    "trace": (["missing.safetensors"], 2),
    "prove": (["one-hot draft: lossless"], 0),
    "certify": ([*LAWS, "--k", "2", "--out", "found.json"], 0),
    "check": (["certificate.json"], 0),
    "vectors": ([], 2),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    for name, model in (("t", TARGET), ("d", DRAFT)):
        np.save(tmp_path / f"{name}.npy", rng.dirichlet(np.ones(3), size=2))
        assert (tmp_path / f"{name}.json").write_text(json.dumps(model))
    assert (tmp_path / "v.json").write_text(json.dumps(["a", "b", "ab"]))
    assert (tmp_path / "samplers.py").write_text(SAMPLERS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str, arguments: list[str]) -> Any:
    return CliRunner().invoke(app, [command, *arguments], env={"COLUMNS": "80"})


def test_each_command_is_called() -> None:
    assert set(CALLS) == set(COMMANDS)


@pytest.mark.parametrize("command", CALLS)
def test_the_command_answers(folder: Path, command: str) -> None:
    if command == "check":
        assert run("certify", [*LAWS, "--k", "2", "--out", "certificate.json"]).exit_code == 0
    if command == "prove":
        pytest.importorskip("z3")
    arguments, code = CALLS[command]
    result = run(command, arguments)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    assert result.output.strip()
    # Progress, complaints and bad input stand on standard error.
    assert faults(result.stdout) == []
    assert code == 2 or opens_and_closes(result.stdout)
    if "--out" in arguments:
        assert json.loads((folder / "found.json").read_text())


def test_a_right_sampler_is_lossless_and_its_exit_code_is_0(folder: Path) -> None:
    assert folder.is_dir()
    assert run("audit", ["samplers.py:right"]).exit_code == 0
