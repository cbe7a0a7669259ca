"""Results as one self-contained HTML document, with nothing fetched from outside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from spec_math.render.data import shown
from spec_math.render.figure import svg_of
from spec_math.result import Picture, Result


def page(result: Result, home: str = "") -> str:
    """Return a result as one HTML document: the finding first, then tables, pictures and notes; `home` leads back."""
    return _template().render(title=result.title, result=result, home=home, style=_file("style.css"))


def front(results: Sequence[Result], title: str, links: Sequence[str], extra: str = "") -> str:
    """Return the first page of several results, each with its finding, its first picture and a link to all of it.

    The answer stands on top. `extra` is HTML of ours that stands at the end, such as the playground.
    """
    parts = sorted(zip(results, links, strict=True), key=lambda part: part[0] is not answer_of(results))
    return _template().render(title=title, parts=parts, style=_file("style.css"), extra=extra)


def answer_of(results: Sequence[Result]) -> Result:
    """Return the result whose finding is the answer: the first that is not right, or else the first."""
    return next((result for result in results if result.exit_code), results[0])


@cache
def _template() -> Any:
    import jinja2

    environment: Any = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["data"] = _data
    environment.filters["shown"] = shown
    return environment.from_string(_file("document.html"))


def _data(picture: Picture) -> Any:
    """Return a picture as an address, a quarter shorter than in base64; it holds no double quotation mark."""
    import markupsafe

    text = re.sub(r"<!--.*?-->\n?", "", svg_of(picture), flags=re.DOTALL).partition("<svg")[2]
    signs = {"%": "%25", "#": "%23", '"': "'", "&": "%26", "\n": " "}
    return markupsafe.Markup("data:image/svg+xml,<svg" + text.translate(str.maketrans(signs)))


def _file(name: str) -> str:
    return (resources.files("spec_math.render") / "templates" / name).read_text(encoding="utf-8")
