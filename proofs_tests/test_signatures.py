"""One name for one thing: rng is a source of uniforms, seed a number from which a result can be had again."""

from __future__ import annotations

import ast
from pathlib import Path

import spec_math

ROOT = Path(spec_math.__file__).parent
SEEDED = ("studies/", "cli/", "symbolic/", "pathwise/")
"""What must be repeatable from a number: studies, commands and proofs for their users, exploration for its own runs."""


def seeds(source: str) -> list[str]:
    """The public functions of a module that take a seed."""
    return [
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        if any(argument.arg == "seed" for argument in (*node.args.args, *node.args.kwonlyargs))
    ]


def test_below_studies_randomness_is_passed_as_rng() -> None:
    places = {path.relative_to(ROOT).as_posix(): path.read_text() for path in ROOT.rglob("*.py")}
    found = {place: names for place, text in places.items() if (names := seeds(text))}
    assert {place for place in found if not place.startswith(SEEDED)} == set()
    # The controls: the reading finds what there is.
    assert "symbolic/proof.py" in found
    assert seeds("def sample(program, seed=0): ...") == ["sample"]
