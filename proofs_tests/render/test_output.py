"""--out writes all forms into a folder, or the one that the ending names; nothing is begun that cannot be written."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from proofs_tests.render.read_results import from_json
from spec_math.render import figure, html
from spec_math.render.output import check_out, write, write_together
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
        "found.tex",
        "found-others.tex",
        "found.svg",
        "found-two.svg",
        "found.pdf",
        "found-two.pdf",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in written)
    assert from_json((tmp_path / "found.json").read_text()) == RESULT
    assert (tmp_path / "found.csv").read_text() == "a\n1\n"


def test_a_picture_is_drawn_once_for_the_page_and_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, svg = Counter[str](), figure.svg

    def counted(of: Any) -> str:
        drawn[of.get_suptitle()] += 1
        return svg(of)

    monkeypatch.setattr(figure, "svg", counted)
    figure.svg_of.cache_clear()
    write_together([RESULT], "Both", tmp_path)
    assert drawn == {"one": 1, "two": 1}
    assert (tmp_path / "report.html").read_text(encoding="utf-8").count("<img") == 1
    assert (tmp_path / "found.html").read_text(encoding="utf-8").count("<img") == 2
    # The control: what is drawn anew each time is counted twice.
    monkeypatch.setattr(html, "svg_of", figure.svg_of.__wrapped__)
    write_together([RESULT], "Both", tmp_path)
    assert drawn == {"one": 3, "two": 2}


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("x.html", ["x.html"]),
        ("x.json", ["x.json"]),
        ("x.csv", ["x-others.csv", "x.csv"]),
        ("x.tex", ["x-others.tex", "x.tex"]),
        ("x.svg", ["x-two.svg", "x.svg"]),
        ("x.pdf", ["x-two.pdf", "x.pdf"]),
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
    with pytest.raises(ValueError, match=r"picture\.png: no \.png is written; name a folder, or a file of \.html, "):
        check_out(tmp_path / "picture.png")
    assert not (tmp_path / "picture.png").exists()
    (tmp_path / "folder.png").mkdir()
    check_out(tmp_path / "folder.png")
    with pytest.raises(IsADirectoryError, match="--out names a folder, or a file"):
        check_out(tmp_path / "folder.html")
