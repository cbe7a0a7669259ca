"""The words that a page shows: all but its styles, its scripts and the addresses of its pictures."""

from __future__ import annotations

from html.parser import HTMLParser


class _Shown(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.found = 0, 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.hidden += tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("style", "script")

    def handle_data(self, data: str) -> None:
        self.found += len(data.split()) * (not self.hidden)


def words(page: str) -> int:
    """Return the number of words that stand on a page."""
    reader = _Shown()
    reader.feed(page)
    return reader.found
