"""What a page takes over from a document of its own is the page's: else all that Sphinx knows is kept with each page.

MyST reads reStructuredText into another document, and nodes of that remember it, with its settings, with the state of
the whole build. Sphinx takes that out of the page's own settings alone before it writes a page to disk.
"""

from __future__ import annotations

from typing import Any


def own(_app: Any, doctree: Any) -> None:
    """Let every node of a page belong to the page."""
    for node in doctree.findall():
        if node.document is not doctree:
            node.document = doctree


def setup(app: Any) -> dict[str, bool]:
    """Do it once a page is read, before it is written to disk."""
    app.connect("doctree-read", own, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
