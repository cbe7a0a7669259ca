"""Models as tables, and the laws of drafted chains, for the tests of the optimum."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np

from spec_math.arrays import Array, exact, proportional_to
from spec_math.block_level import optimum
from spec_math.block_level.optimum import OptimalLength

Path = tuple[int, ...]
HALF, ONE = Fraction(1, 2), Fraction(1)


class Table:
    """A model by its rows, the same law after every prefix not listed."""

    end = None

    def __init__(self, rows: dict[Path, list[Any]]) -> None:
        self.rows = {prefix: exact(row) for prefix, row in rows.items()}

    def __call__(self, prefix: Path) -> Array:
        return self.rows[prefix]


def drafted_chains(draft: Any, lookahead: int) -> dict[Path, Fraction]:
    chains: dict[Path, Fraction] = {(): ONE}
    for _ in range(lookahead):
        chains = {
            (*path, token): mass * share
            for path, mass in chains.items()
            for token, share in enumerate(draft(path))
            if share > 0
        }
    return chains


def target_mass(target: Any, text: Path, start: int = 0) -> Fraction:
    return prod((target(text[:at])[text[at]] for at in range(start, len(text))), start=ONE)


def best(target: Any, draft: Any, lookahead: int, k: int) -> Fraction:
    """The most that is accepted, one less than is yielded."""
    verdict = optimum.tokens_per_call(target, draft, (), lookahead, k)
    assert isinstance(verdict, OptimalLength), str(verdict)
    return verdict.tokens_per_call - 1


def seeded(seed: int, size: int) -> Table:
    """Whole weights 0 to 8, a law for each of the prefixes of up to 3 tokens."""
    rng = np.random.default_rng(seed)
    rows: dict[Path, list[Any]] = {}
    for path in [path for depth in range(4) for path in product(range(size), repeat=depth)]:
        weights = rng.integers(0, 9, size).tolist()
        rows[path] = proportional_to(weights if any(weights) else [1] * size).tolist()
    return Table(rows)


# The levels of a block cannot all be at their best at once: 25/18 in all, where level 1 can have 1 and level 2 1/2.
LEVEL_TARGET = Table({(): [HALF, HALF], (0,): [1, 0], (1,): [1, 0]})
LEVEL_DRAFT = Table({(): ["1/3", "2/3"], (0,): [0, 1], (1,): [HALF, HALF]})
