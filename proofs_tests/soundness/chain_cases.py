"""Cases of chains: a function that verifies a few drafts in a row, with the random numbers of a library."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_tests.soundness import block_cases, defects, families, laws
from proofs_tests.soundness import syntax as s
from proofs_tests.soundness.compare import Truth
from proofs_tests.soundness.oracle import Emitted, emitted_by
from proofs_tests.soundness.source import compiled, written
from proofs_tests.soundness.token_cases import as_tensor, names_of, on_tensors, written_for


@dataclass(frozen=True)
class ChainCase:
    """A function of drafted tokens, or one that drafts by itself; rows of laws by position, [L + 1, V] and [L, V]."""

    kind: str
    numbers: str
    family: str
    defect: str
    size: Fraction | None
    source: str
    names: dict[str, Any]
    program: s.Block
    target: tuple[laws.Law, ...]
    draft: tuple[laws.Law, ...]
    given: bool

    def function(self) -> Callable[..., Any]:
        return compiled(self.source, self.names)

    def truth(self) -> Truth:
        """Ask the oracle: the law of L + 1 tokens, the target going on by its rows."""
        wanted = block_cases.continued({(): Fraction(1)}, self.row, len(self.target))
        ideal = self.text_law(self.target, self.draft, True)
        unit = laws.ROUNDOFF[self.numbers.removeprefix("torch.")]
        if not unit:
            return Truth(ideal, ideal, wanted, strict=False)
        kind = self.numbers.removeprefix("torch.")
        stored = [tuple(laws.as_stored(row, kind) for row in rows) for rows in (self.target, self.draft)]
        if "torch" in self.numbers:
            stored = [tuple(as_tensor(self.names["torch"], row) for row in rows) for rows in stored]
        with np.errstate(all="ignore"):
            run = self.text_law(stored[0], stored[1], False)
        coins, size = run.coins + 1, len(self.target[0])

        def as_stored() -> Emitted:
            rows = [tuple(laws.exactly(row) for row in one) for one in stored]
            return self.text_law(rows[0], rows[1], True)

        rounding, cap = 2 * coins * (size + 8 + 2 * coins) * unit, 1e-2 if unit >= laws.ROUNDOFF["float16"] else 1e-4
        return Truth(ideal, run, wanted, 0.0, rounding, 4 * coins * size * unit, False, cap, False, as_stored)

    def row(self, text: tuple[int, ...]) -> laws.Law:
        return self.target[len(text) % len(self.target)]

    def text_law(self, target: Any, draft: Any, exact: bool) -> Emitted:
        names = {
            "target_model": lambda tokens: list(target[len(tokens)]),
            "draft_model": lambda tokens: list(draft[len(tokens)]),
            "floating": self.numbers != "fractions",
            "tensors": not exact and on_tensors(self.source),
        }
        found = emitted_by(self.program, names, self.draft if self.given else (), False, exact)
        found.law = block_cases.continued(found.law, self.row, len(self.target))
        return found


def chain_case(rng: random.Random, library: str, torch: Any) -> ChainCase:
    """Draw rows of laws, a chain of one or two drafts that is lossless, and perhaps a defect."""
    size, lookahead, given = rng.choice((2, 2, 3)), rng.choice((1, 1, 2)), rng.random() < 0.5
    pairs = [laws.drawn_pair(rng, size) for _ in range(lookahead)]
    target = (*(pair[0] for pair in pairs), laws.drawn_law(rng, size))
    draft = tuple(pair[1] for pair in pairs)
    make = families.Maker(rng, size, 1, *pairs[0])
    program = block_cases.chain(make, lookahead, (), given)
    defect, ε = "", None
    if defects.chosen(rng):
        program, defect, ε = defects.in_a_chain(program, make)
    numbers, dialect = written_for(rng, library, "tokens" if given else "laws")
    source = written(program, replace(dialect, several=True), rng)
    names = names_of(library, size, torch)
    family = f"chain of {lookahead}"
    return ChainCase(library, numbers, family, defect, ε, source, names, program, target, draft, given)
