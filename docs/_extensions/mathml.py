"""Formulas as MathML, which browsers set themselves: no script, no font and no server is needed to read them."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula that stands in a line."""
    writer.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def displayed(writer: Any, node: Any) -> None:
    """Write a formula that stands alone, in a box of its own that may scroll."""
    writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Make it a renderer that Sphinx may choose."""
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
