"""Results as one self-contained HTML document, with nothing fetched from outside."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from spec_math.render.data import shown
from spec_math.render.figure import svg_of
from spec_math.result import Picture, Result


def page(results: Sequence[Result], title: str = "", extra: str = "") -> str:
    """Return results as one HTML document: the findings first, then each with tables, pictures and notes.

    `title` stands above several results; `extra` is HTML of ours that stands at the end, such as the playground.
    """
    return _template().render(
        title=title or results[0].title,
        results=results,
        style=_file("style.css"),
        extra=extra,
        alone=not title and len(results) == 1,
    )


@cache
def _template() -> Any:
    import jinja2

    environment: Any = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["data"] = _data
    environment.filters["shown"] = shown
    return environment.from_string(_file("document.html"))


def _data(picture: Picture) -> str:
    return base64.b64encode(svg_of(picture).encode()).decode()


def _file(name: str) -> str:
    return (resources.files("spec_math.render") / "templates" / name).read_text(encoding="utf-8")
