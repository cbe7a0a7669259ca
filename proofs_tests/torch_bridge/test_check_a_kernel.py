"""The page on checking kernels: its command, its readers and its kernel run as they stand there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from spec_math.cli import app

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "check_a_kernel.md"


def block(language: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(found) == 1
    return found[0]


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, ["vectors", *(str(argument) for argument in arguments)])


def test_without_torch_the_command_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("spec_math.cli.report"), "find_spec", lambda _: None)
    result = run("--out", tmp_path / "vectors")
    assert result.exit_code == 2
    assert "torch is not installed; install the extra: pip install 'spec_math[torch]'" in result.output
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    place = tmp_path_factory.mktemp("made") / "vectors"
    result = run("--out", place, "--seed", 3)
    assert result.exit_code == 0, result.output
    assert "vectors.json" in result.output
    return place


def test_the_command_writes_what_its_index_lists_and_its_seed_decides(folder: Path, tmp_path: Path) -> None:
    index = json.loads((folder / "vectors.json").read_text())
    assert index["seed"] == 3
    kinds = {"token", "block", "k_seq", "plan", "drafts", "tree", "mappeddrafts", "mappedtree"}
    assert {file["verifier"] for file in index["files"]} == kinds
    assert {file["file"] for file in index["files"]} == {path.name for path in folder.glob("*.safetensors")}
    assert run("--out", tmp_path / "again", "--seed", 4).exit_code == 0
    name = index["files"][0]["file"]
    assert (tmp_path / "again" / name).read_bytes() != (folder / name).read_bytes()


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "file").write_text("")
    assert "cannot be written" in run("--out", tmp_path / "file").output


def test_the_python_reader_reads_every_type(folder: Path) -> None:
    torch = pytest.importorskip("torch")
    from safetensors.torch import load_file

    space: dict[str, Any] = {}
    exec(block("python"), space)
    for file in json.loads((folder / "vectors.json").read_text())["files"]:
        read, held = space["read"](folder / file["file"]), load_file(folder / file["file"])
        assert read.keys() == held.keys()
        for name, (shape, flat) in read.items():
            assert torch.equal(torch.tensor(flat, dtype=torch.float64).reshape(shape), held[name].double())


def test_the_readers_are_short() -> None:
    python = [line for line in block("python").splitlines() if line.strip()]
    cpp = block("cpp")
    reader = cpp[cpp.index("template") : cpp.index("vector<float> softmax")].strip().splitlines()
    assert len(python) <= 20
    assert len(reader) <= 20


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler here")
def test_the_kernel_in_plain_cpp_passes_and_a_wrong_one_does_not(folder: Path, tmp_path: Path) -> None:
    # Over 5 s on a busy machine: two compilations.
    bounds = {file["file"]: file["bound"] for file in json.loads((folder / "vectors.json").read_text())["files"]}
    name = "token_float32_t1_4x50.safetensors"
    program = block("cpp")
    wrong = program.replace("std::fmax(rest[y] - d[y], 0.0f)", "rest[y]")  # corrected from the target
    placeholder = program.replace("if (i == L || tokens[b * L + i] < 0) break;", "if (i == L) break;").replace(
        "long x = tokens[b * L + i];", "long x = tokens[b * L + i] < 0 ? V - 1 : tokens[b * L + i];"
    )
    for number, (source, code) in enumerate(((program, 0), (wrong, 1), (placeholder, 1))):
        place = tmp_path / f"check{number}.cpp"
        place.write_text(source)
        subprocess.run(["g++", "-O1", "-o", str(place.with_suffix("")), str(place)], check=True)
        command = [str(place.with_suffix("")), str(folder / name), str(bounds[name])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout
        compared = int(done.stdout.split()[0])
        assert compared >= 22
