"""A result as files: the page, CSV, JSON and pictures in a folder, or one of them where the name says which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from spec_math.files.whole import check_writable, write_whole
from spec_math.result import Picture, Result
from spec_math.wording import listed

ENDINGS = (".html", ".json", ".csv", ".tex", ".svg", ".pdf")
OTHERS = (".png", ".jpg", ".jpeg", ".eps", ".txt", ".md", ".xlsx", ".parquet", ".htm", ".xml", ".yaml")
"""Endings of files that are not written: a folder of such a name is not what was meant."""


def check_out(out: Path | None) -> None:
    """Fail before the work is done where --out cannot be written: a folder, or a file with one of the endings.

    Raises:
        ValueError: the folder cannot be made or written, or is named as a file is.
        IsADirectoryError: the name of a file is that of a folder.
    """
    if out is None:
        return
    if out.suffix.lower() in OTHERS and not out.is_dir():
        forms = listed(ENDINGS, "or")
        raise ValueError(f"--out {out}: no {out.suffix} is written; name a folder, or a file of {forms}")
    if out.suffix not in ENDINGS:
        check_writable(out)
    elif out.is_dir():
        raise IsADirectoryError(f"{out}: a folder; --out names a folder, or a file such as {out.stem}-page{out.suffix}")
    else:
        check_writable(out.parent)


def write(result: Result, out: Path | None) -> list[Path]:
    """Write a result and return the files: all of its forms into a folder, or the one that the ending of `out` names.

    Further tables and pictures than the first stand beside a file under its name and theirs. What is attached keeps
    its own name in a folder, and where one file is asked for it is that file if its ending is the same.

    Raises:
        OSError: a file cannot be written. ValueError: there is nothing of the form that was asked for.
    """
    if out is None:
        return []
    if out.suffix in ENDINGS:
        attached = [one for one in result.attachments if Path(one.name).suffix == out.suffix]
        if attached:
            return [write_whole(out, attached[0].text)]
        written = _write_each(result, out)
        if not written:
            what = "picture" if out.suffix in (".svg", ".pdf") else "table"
            raise ValueError(f"{out}: there is no {what} of {result.title!r}; its numbers and notes are in .json")
        return written
    paths = [path for ending in ENDINGS for path in _write_each(result, out / f"{result.name}{ending}")]
    return [*paths, *(write_whole(out / one.name, one.text) for one in result.attachments)]


def write_together(results: Sequence[Result], title: str, out: Path, extra: str = "") -> list[Path]:
    """Write a first page with HTML of ours at its end, a page of each result, and in a folder all other forms too.

    Beside a file, the pages of results stand under its name and theirs; the first page leads to them.

    Raises:
        OSError: a file cannot be written.
    """
    from spec_math.render.html import front, page

    alone = out.suffix == ".html"
    home = out if alone else out / "report.html"
    links = [f"{out.stem}-{result.name}.html" if alone else f"{result.name}.html" for result in results]
    paths = [write_whole(home, front(results, title, links, extra))]
    for result, link in zip(results, links, strict=True):
        paths.append(write_whole(home.parent / link, page(result, home.name)))
        for ending in () if alone else ENDINGS[1:]:
            paths += _write_each(result, out / f"{result.name}{ending}")
    return paths


def _write_each(result: Result, place: Path) -> list[Path]:
    """Write the contents of one ending, the first at the place itself."""
    return [
        write_whole(place.with_stem(f"{place.stem}-{name}") if number else place, content())
        for number, (name, content) in enumerate(_contents(result, place.suffix))
    ]


def _contents(result: Result, ending: str) -> Iterable[tuple[str, Callable[[], str | bytes]]]:
    # Loaded when used: a table alone needs no matplotlib, and no template.
    if ending == ".html":
        from spec_math.render.html import page

        return [(result.name, lambda: page(result))]
    if ending in (".svg", ".pdf"):
        from spec_math.render.figure import pdf_of, svg_of

        draw: Callable[[Picture], str | bytes] = svg_of if ending == ".svg" else pdf_of
        return [(picture.name, lambda picture=picture: draw(picture)) for picture in result.pictures]
    from spec_math.render.data import as_csv, as_json, as_latex

    if ending == ".json":
        return [(result.name, lambda: as_json(result))]
    text = as_csv if ending == ".csv" else as_latex
    tables = [table for table in result.tables if ending == ".csv" or any(column.shown for column in table.columns)]
    return [(table.name, lambda table=table: text(table)) for table in tables]
