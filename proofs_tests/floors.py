"""The floors of the library, and what a file imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# From the ground up. A module imports from lower floors, or from its own package; those that share a floor do not know
# of each other. `spec_math/__init__.py` is the roof.
FLOORS = [
    {"lazy", "number_types", "kernels", "notebook", "files", "mean", "invariants", "wording"},
    {"remembering"},
    {"arrays", "float_allowance", "verdict_values", "result"},
    {"masses"},
    {"chance", "distribution", "roots", "common_denominator", "array_coin"},
    {"scheme", "every_path", "recording"},
    {"certificates"},
    {"coupling", "verdict"},
    {"language"},
    {"token_level"},
    {"block_level"},
    {"drafting"},
    {"string_level"},
    {"lossy"},
    {"papers"},
    {"symbolic"},
    {"audit", "pathwise", "samplers", "sequential", "traces", "zoo"},
    {"render"},
    {"studies"},
    {"engines", "field"},
    {"cli", "testing"},
]


HEIGHT = {name: height for height, floor in enumerate(FLOORS) for name in floor}


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and full name of everything imported, at the top or inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module or ''}.{alias.name}") for alias in node.names)
            if node.level:
                yield node.lineno, "a relative import"
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
