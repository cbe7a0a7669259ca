"""Full names of the library between backticks lead to the reference, wherever they stand."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.util.nodes import make_refnode

NAME = re.compile(r"(?:spec_math|torch_bridge)(?:\.\w+)+")


def link(app: Any, doctree: Any, page: str) -> None:
    """Make a reference of each literal that is the full name of something documented, or passed on by a package."""
    known = app.env.get_domain("py").objects
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext()
        if not NAME.fullmatch(name) or isinstance(literal.parent, nodes.reference):
            continue
        found = known.get(name) or _passed_on(known, name)
        if found is None or found.docname == page:
            continue
        reference = make_refnode(app.builder, page, found.docname, found.node_id, literal.deepcopy(), name)
        literal.parent.replace(literal, reference)


def _passed_on(known: Any, name: str) -> Any:
    """Find what a package passes on from one of its modules, where only one has it: `spec_math.overlap`."""
    package, _, last = name.rpartition(".")
    ends = [full for full in known if full.startswith(f"{package}.") and full.endswith(f".{last}")]
    return known[ends[0]] if len(ends) == 1 else None


def setup(app: Any) -> dict[str, bool]:
    """Link names once all pages are read."""
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
