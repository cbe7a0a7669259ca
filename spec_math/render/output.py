"""A result as files: the page, CSV, JSON and pictures in a folder, or one of them where the name says which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from spec_math.files.whole import check_writable, write_whole
from spec_math.result import Result
from spec_math.wording import listed

ENDINGS = (".html", ".json", ".csv", ".svg")
OTHERS = (".png", ".pdf", ".jpg", ".jpeg", ".eps", ".txt", ".md", ".tex", ".xlsx", ".parquet", ".htm", ".xml", ".yaml")
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
            what = "picture" if out.suffix == ".svg" else "table"
            raise ValueError(f"{out}: there is no {what} of {result.title!r}; its numbers and notes are in .json")
        return written
    paths = [path for ending in ENDINGS for path in _write_each(result, out / f"{result.name}{ending}")]
    return [*paths, *(write_whole(out / one.name, one.text) for one in result.attachments)]


def write_together(results: Sequence[Result], title: str, out: Path, extra: str = "") -> list[Path]:
    """Write several results: one page under a title, with HTML of ours at its end, and in a folder all other forms too.

    Raises:
        OSError: a file cannot be written.
    """
    from spec_math.render.html import page

    whole = page(results, title, extra)
    if out.suffix == ".html":
        return [write_whole(out, whole)]
    paths = [write_whole(out / "report.html", whole)]
    others = [ending for ending in ENDINGS if ending != ".html"]
    for result in results:
        paths += [path for ending in others for path in _write_each(result, out / f"{result.name}{ending}")]
    return paths


def _write_each(result: Result, place: Path) -> list[Path]:
    """Write the contents of one ending, the first at the place itself."""
    return [
        write_whole(place.with_stem(f"{place.stem}-{name}") if number else place, content())
        for number, (name, content) in enumerate(_contents(result, place.suffix))
    ]


def _contents(result: Result, ending: str) -> Iterable[tuple[str, Callable[[], str]]]:
    # Loaded when used: a table alone needs no matplotlib, and no template.
    if ending == ".html":
        from spec_math.render.html import page

        return [(result.name, lambda: page([result]))]
    if ending == ".svg":
        from spec_math.render.figure import svg_of

        return [(picture.name, lambda picture=picture: svg_of(picture)) for picture in result.pictures]
    from spec_math.render.data import as_csv, as_json

    if ending == ".json":
        return [(result.name, lambda: as_json(result))]
    return [(table.name, lambda table=table: as_csv(table)) for table in result.tables]
