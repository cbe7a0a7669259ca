"""Formulas as MathML, which browsers set themselves, in the font that the book brings: no script and no server."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
ElementTree.register_namespace("", NAMESPACE)

SCRIPT = re.compile(r"\\mathcal\s*(?:\{([A-Z])\}|([A-Z]))")
LETTERS = dict(zip("BEFHILMR", "ℬℰℱℋℐℒℳℛ", strict=True))
WORD = re.compile(r"([_^])\{([A-Za-z]{3,})\}")

OPENING, CLOSING = set("([{⌊⌈"), set(")]}⌋⌉")
BREAKS = set("=≤≥<>∈→+−-,")
LONGEST = 12
"""Formulas with fewer parts than this stay in one piece."""
CROWDED = 14
"""Within brackets a piece ends only after as many parts."""


def spelled(latex: str) -> str:
    """Return a formula with script letters as characters, and subscripts that are words as words."""
    script = SCRIPT.sub(lambda found: _script(found[1] or found[2]) + " ", latex)
    return WORD.sub(r"\1{\\text{\2}}", script)


def _script(letter: str) -> str:
    return LETTERS.get(letter) or chr(0x1D49C + ord(letter) - ord("A"))


def pieces(mathml: str) -> list[str]:
    """Cut a formula after its relations and signs, outside brackets, so that a line may end there."""
    root = ElementTree.fromstring(mathml)
    row = root[0] if len(root) == 1 and root[0].tag.endswith("mrow") else root
    groups: list[list[ElementTree.Element]] = [[]]
    depth = 0
    for part in row:
        said = _sign(part)
        depth += (said in OPENING) - (said in CLOSING)
        groups[-1].append(part)
        if said in BREAKS and part.tag.endswith("}mo") and len(groups[-1]) > (1 if depth == 0 else CROWDED):
            # At the end of a row an operator would lose its space.
            part.set("form", "infix")
            groups.append([])
    if len(row) < LONGEST:
        return [mathml]
    return [_written(group, dict(root.attrib)) for group in groups if group]


def _sign(part: ElementTree.Element) -> str | None:
    """Return the sign that a part is, a bracket with an exponent included; None for anything else."""
    if part.tag.endswith(("}msup", "}msub", "}msubsup")):
        part = part[0]
    return (part.text or "").strip() or None if part.tag.endswith("}mo") else None


def _written(parts: list[ElementTree.Element], attributes: dict[str, str]) -> str:
    math = ElementTree.Element(f"{{{NAMESPACE}}}math", attributes)
    math.extend(parts)
    return ElementTree.tostring(math, encoding="unicode")


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula that stands in a line, in pieces between which the line may break."""
    writer.body.append("<wbr>".join(pieces(convert(spelled(node.astext()), display="inline"))))
    raise nodes.SkipNode


def displayed(writer: Any, node: Any) -> None:
    """Write a formula that stands alone, in a box of its own that may scroll."""
    writer.body.append(f'<div class="math">{convert(spelled(node.astext()), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Make it a renderer that Sphinx may choose."""
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
