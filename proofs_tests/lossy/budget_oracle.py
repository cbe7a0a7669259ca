"""Second ways to the optimum under a budget: cuts by brute force, and linear programs through HiGHS.

Nothing of the library's formulas: P(S ⊆ H) is summed over the law of drafts, and the programs hold all variables.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any

import numpy as np
from scipy.optimize import linprog

Instance = tuple[list[Fraction], list[Fraction], int]


def instances(seed: int, number: int, largest: int = 4, most: int = 3) -> list[Instance]:
    """Random (target, draft, k): small weights with ties and zeros, and now and then masses of 2^-40."""
    rng = random.Random(seed)

    def law(size: int) -> list[Fraction]:
        while True:
            weights = [rng.choice([0, 0, 1, 1, 2, 3, 5, 8, Fraction(1, 2**40)]) for _ in range(size)]
            if sum(weights):
                return [Fraction(w) / sum(weights) for w in weights]

    found: list[Instance] = []
    for _ in range(number):
        size = rng.randint(1, largest)
        found.append((law(size), law(size), rng.randint(1, most)))
    return found


def iid(draft: list[Fraction], k: int) -> dict[tuple[int, ...], Fraction]:
    """The law of k i.i.d. drafts, written out."""
    masses: dict[tuple[int, ...], Fraction] = {}
    for tokens in product(range(len(draft)), repeat=k):
        mass = Fraction(1)
        for token in tokens:
            mass *= draft[token]
        if mass:
            masses[tokens] = mass
    return masses


def subsets(size: int) -> list[frozenset[int]]:
    return [frozenset(s) for s in chain.from_iterable(combinations(range(size), n) for n in range(size + 1))]


def least_cut(
    target: list[Fraction], drafts: Mapping[Any, Fraction], ceiling: Callable[[Fraction], Fraction]
) -> Fraction:
    """min over all subsets H of 1 − P(S ⊆ H) + ψ(t(H)), ψ(t(∅)) being 0 and ψ of everything 1."""
    values: list[Fraction] = []
    for subset in subsets(len(target)):
        inside = sum((mass for tokens, mass in drafts.items() if subset.issuperset(tokens)), Fraction(0))
        mass = sum((target[token] for token in subset), Fraction(0))
        values.append(1 - inside + (ceiling(mass) if subset else Fraction(0)))
    return min(values)


def program(
    target: list[Fraction],
    drafts: Mapping[Any, Fraction],
    total_variation: float | None = None,
    ratio: float | None = None,
    both_ways: bool = False,
) -> float:
    """Maximise P(Y ∈ S) over all couplings whose emitted law keeps to the budget: one linear program, as printed."""
    keys, size = list(drafts), len(target)
    pairs = len(keys) * size
    spare = size if total_variation is not None else 0  # s(y) ≥ e(y) − t(y), Σ s ≤ ε
    gain = np.zeros(pairs + spare)
    rows_equal = np.zeros((len(keys), pairs + spare))
    emitted = np.zeros((size, pairs + spare))
    for i, tokens in enumerate(keys):
        for y in range(size):
            place = i * size + y
            gain[place] = -float(y in tokens)
            rows_equal[i, place] = 1
            emitted[y, place] = 1
    t = np.array([float(mass) for mass in target])
    above, sides = [], []
    if total_variation is not None:
        excess = emitted.copy()
        excess[:, pairs:] = -np.eye(size)
        budget = np.concatenate([np.zeros(pairs), np.ones(size)])[None]
        above += [excess, budget]
        sides += [t, [total_variation]]
    if ratio is not None:
        above.append(emitted)
        sides.append(ratio * t)
        if both_ways:
            above.append(-emitted)
            sides.append(-t / ratio)
    found = linprog(
        gain,
        A_ub=np.vstack(above),
        b_ub=np.concatenate(sides),
        A_eq=rows_equal,
        b_eq=[float(drafts[key]) for key in keys],
        bounds=(0, None),
        method="highs",
        options={"presolve": False, "primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.x is None:
        raise ArithmeticError(found.message)
    return -float(found.fun)
