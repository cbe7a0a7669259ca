"""--out writes all forms into a folder, or the one that the ending names; nothing is begun that cannot be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from spec_math.render.data import from_json
from spec_math.render.output import check_out, write
from spec_math.result import Column, Curve, Panel, Picture, Result, Row, Table

TABLES = tuple(Table(name, name, (Column("a", "count"),), (Row((1,)),)) for name in ("lines", "others"))
PICTURES = tuple(Picture(n, n, n, (Panel((Curve("a", (0.0,), (1.0,)),), "x", "y"),)) for n in ("one", "two"))
RESULT = Result("found", "F", "Found.", TABLES, PICTURES)


def test_a_folder_gets_page_data_and_pictures(tmp_path: Path) -> None:
    written = write(RESULT, tmp_path)
    assert [path.name for path in written] == [
        "found.html",
        "found.json",
        "found.csv",
        "found-others.csv",
        "found.svg",
        "found-two.svg",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in written)
    assert from_json((tmp_path / "found.json").read_text()) == RESULT
    assert (tmp_path / "found.csv").read_text() == "a\n1\n"


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("x.html", ["x.html"]),
        ("x.json", ["x.json"]),
        ("x.csv", ["x-others.csv", "x.csv"]),
        ("x.svg", ["x-two.svg", "x.svg"]),
    ],
)
def test_an_ending_says_which_form(tmp_path: Path, name: str, names: list[str]) -> None:
    check_out(tmp_path / name)
    write(RESULT, tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_what_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    assert write(RESULT, None) == []
    check_out(None)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="the folder cannot be written"):
        check_out(tmp_path / "file")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(IsADirectoryError, match="--out names a folder, or a file"):
        check_out(tmp_path / "folder.html")
