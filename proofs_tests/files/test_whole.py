"""A file appears whole or not at all; every writer of the project goes through one function."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from spec_math.files.whole import check_writable, replaced, write_whole

ROOT = Path(__file__).parents[2]
WRITERS = {"write_text", "write_bytes"}


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_the_old_file_stays_and_nothing_partial_when_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = write_whole(tmp_path / "a.txt", "old")

    def fail(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(f"spec_math.files.whole.os.{step}", fail)
    with pytest.raises(OSError, match="no space"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["a.txt"]


def test_a_writer_that_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), replaced(tmp_path / "a.txt") as partial:
        partial.write_text("half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_two_writers_of_one_name_do_not_share_a_neighbour(tmp_path: Path) -> None:
    with replaced(tmp_path / "a.txt") as first, replaced(tmp_path / "a.txt") as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    # The outer one is moved last.
    assert (tmp_path / "a.txt").read_text() == "first"


def test_text_and_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    assert write_whole(tmp_path / "a", "γ*").read_bytes() == "γ*".encode()
    assert write_whole(tmp_path / "b", b"\x00\r\n").read_bytes() == b"\x00\r\n"


def test_a_folder_that_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    check_writable(tmp_path / "made" / "anew")
    assert list((tmp_path / "made" / "anew").iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"the folder cannot be written .*; choose another with --out"):
        check_writable(tmp_path / "file")


def written_directly(tree: ast.Module) -> list[int]:
    """Lines of calls of write_text and write_bytes outside docstrings: whole files have `write_whole` for that."""
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in WRITERS]


def test_no_other_file_of_the_library_writes_by_itself() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("spec_math", "torch_bridge")
        for path in (ROOT / folder).rglob("*.py")
        if written_directly(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == {"spec_math/files/whole.py"}
    assert written_directly(ast.parse("place.write_text('x')\nopen('x').read()")) == [1]
