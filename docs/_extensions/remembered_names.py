"""What a name leads to, and what a word's stem is, are looked for once: else for each annotation and each word.

And on which lines of its file a name is defined is not looked for at all: the book shows no sources of the library.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sphinx.domains.python import PythonDomain
from sphinx.pycode.parser import Parser
from sphinx.search import languages
from sphinx.search.en import SearchEnglish


class Remembering(PythonDomain):
    """Sphinx's domain of Python, which keeps what it found for as long as nothing more is documented."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._found: dict[Any, Any] = {}
        self._lasts: set[str] = set()
        self._among = 0

    def find_obj(self, env: Any, modname: Any, classname: Any, name: str, *asked: Any) -> Any:
        """Return what Sphinx finds for a name in a module and a class: nothing where no documented name ends as it."""
        if len(self.objects) != self._among:
            self._found, self._among = {}, len(self.objects)
            self._lasts = {_last(known) for known in self.objects}
        if _last(name) not in self._lasts:
            return []
        key = (modname, classname, name, *asked)
        if key not in self._found:
            self._found[key] = super().find_obj(env, *key)
        return self._found[key]


class RememberingEnglish(SearchEnglish):
    """Sphinx's English of the search, which keeps the stem of each word."""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self.stem = cache(super().stem)


def _last(name: str) -> str:
    return name.removesuffix("()").rpartition(".")[2]


def _not_looked_for(_parser: Parser) -> None:
    """Leave the lines of definitions empty: each file would be split into its tokens for them."""


def setup(app: Any) -> dict[str, bool]:
    """Put them in the place of Sphinx's own."""
    languages["en"] = RememberingEnglish
    Parser.parse_definition = _not_looked_for
    app.add_domain(Remembering, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
