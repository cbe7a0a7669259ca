"""What a name leads to is looked for once: else it is sought among all that is documented, for every annotation."""

from __future__ import annotations

from typing import Any

from sphinx.domains.python import PythonDomain


class Remembering(PythonDomain):
    """Sphinx's domain of Python, which keeps what it found for as long as nothing more is documented."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._found: dict[Any, Any] = {}
        self._among = 0

    def find_obj(self, env: Any, *asked: Any, **named: Any) -> Any:
        """Return what Sphinx finds for a name in a module and a class."""
        if len(self.objects) != self._among:
            self._found, self._among = {}, len(self.objects)
        key = (asked, *named.items())
        if key not in self._found:
            self._found[key] = super().find_obj(env, *asked, **named)
        return self._found[key]


def setup(app: Any) -> dict[str, bool]:
    """Put it in the place of Sphinx's own."""
    app.add_domain(Remembering, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
