"""The optimum of a block under a budget: the most drafted tokens that any rule keeps, within so much of the target.

The problem, for a chain x of L tokens from the draft, a prefix of it that is kept, a token y, and the target after it:

    maximise   Σ i·π(x, i, y)     the mean number of drafted tokens kept, 0 ≤ i ≤ L
    subject to Σ_{i, y} π(x, i, y) = d(x),   π ≥ 0,
               E(s) = Σ π(x, i, y)·t(what follows) over the texts s of L + 1 tokens,   Σ (E − t)+ ≤ ε.

Source: SpecTr, Theorem 3, for what a block continued by the target is; the program is our own. Without a budget it is
the one that block verification solves (Sun et al. 2024).
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from spec_math.arrays import count
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lossless import continued, target_law
from spec_math.language.model import Model
from spec_math.lossy.options import share

VARIABLES = 2_000
"""The most variables that the program is set up with."""


def optimum(models: tuple[Model, Model], lookahead: int, total_variation: Any) -> float:
    """Return the largest mean number of drafted tokens kept of a block, by a linear program (HiGHS), within about 1e-8.

    `models` are the target and the draft, without an end token; the budget is on the law of texts of L + 1 tokens.
    Units: tokens per call.

    Raises:
        ValueError, TypeError: the total variation is no number in [0, 1]; the program is too large.
        ArithmeticError: the solver fails.

    >>> models = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: ["1/2", "1/2"])
    >>> round(optimum(models, 1, 0), 6), round(optimum(models, 1, "1/8"), 6)
    (0.75, 0.875)
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, vstack

    spent, length = float(share(total_variation, "total_variation")), count(lookahead, "lookahead")
    laws = Conditionals(*models, ())
    chains = [(x, mass) for x in product(range(laws.size), repeat=length) if (mass := _mass(laws, x)) > 0]
    counts = range(length + 1)
    variables = [(place, kept, y) for place in range(len(chains)) for kept in counts for y in range(laws.size)]
    if len(variables) > VARIABLES:
        raise ValueError(f"the program has {len(variables):,} variables, more than {VARIABLES:,}; take a smaller block")
    wanted = target_law(models[0], length + 1)
    texts = {text: row for row, text in enumerate(product(range(laws.size), repeat=length + 1))}
    size, spare = len(variables), len(texts)
    entries: list[tuple[int, int, float]] = []
    for column, (place, kept, y) in enumerate(variables):
        start = (*chains[place][0][:kept], y)
        for text, mass in continued({start: 1.0}, models[0], length + 1).items():
            entries.append((texts[text], column, float(mass)))
    entries += [(row, size + row, -1.0) for row in range(spare)]
    rows, columns, values = zip(*entries, strict=True)
    excess = coo_array((values, (rows, columns)), shape=(spare, size + spare))
    budget = coo_array(([1.0] * spare, ([0] * spare, list(range(size, size + spare)))), shape=(1, size + spare))
    drafted = coo_array(
        ([1.0] * size, ([place for place, _, _ in variables], list(range(size)))), shape=(len(chains), size + spare)
    )
    found = linprog(
        np.array([*(-float(kept) for _, kept, _ in variables), *[0.0] * spare]),
        A_ub=vstack([excess, budget]),
        b_ub=np.array([*(float(wanted.get(text, 0)) for text in texts), spent]),
        A_eq=drafted,
        b_eq=np.array([float(mass) for _, mass in chains]),
        bounds=(0, None),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.x is None:
        raise ArithmeticError(f"the linear program was not solved: {found.message}")
    return -float(found.fun)


def _mass(laws: Conditionals, text: tuple[int, ...]) -> Any:
    mass: Any = 1
    for place, token in enumerate(text):
        mass = mass * laws.draft(text[:place])[token]
    return mass
