"""The optimum under a bounded likelihood ratio: no token may be emitted more than L times as often as the target does.

The problem: maximise P(Y ∈ S) over couplings of the drafts whose emitted law e has e ≤ L·t, and, where both ways are
bounded, t ≤ L·e. Its value is min_H [1 − P(S ⊆ H) + ψ(t(H))] over all subsets H of tokens, with ψ(T) = min(1, L·T), or
min(1, L·T, 1 − (1 − T)/L) both ways: the most that e(H) can be. As ψ is concave a best H for i.i.d. drafts is a prefix
of the tokens by t/d ascending. Any budget that is a bound e(H) ≤ ψ(t(H)), ψ concave, is solved alike: total variation
is ψ(T) = min(1, T + ε).

Source: the lossless problem is SpecTr's Eq. 4; the theorem is worked out here. L = e^ε both ways is the bound of
differential privacy.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from spec_math.arrays import Array, as_law, count, is_exact
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lossless import continued, target_law
from spec_math.language.model import Model
from spec_math.lossy import frontier
from spec_math.lossy.options import at_least, share
from spec_math.token_level.draft_law import checked, common_denominator, sets
from spec_math.token_level.optimum.prefix_law import independent
from spec_math.token_level.optimum.ratio_order import ratio_order
from spec_math.token_level.transport import maximum_flow


def acceptance(target: Any, draft: Any, k: int, ratio: Any, both_ways: bool = False) -> Any:
    """Return the largest P(Y ∈ S) of any rule of k i.i.d. drafts that keeps to the likelihood ratio: O(V log V).

    `ratio` L ≥ 1, a number; e^ε is for the caller to round. Target and draft [V]; a probability, exact on Fractions.

    Raises:
        TypeError, ValueError: the ratio is no number from 1 on; laws of more than one position; as `arrays.as_laws`.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1, "3/2"), acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1, "3/2", True)
    (Fraction(7, 8), Fraction(7, 8))
    """
    most = at_least(1)(ratio, "ratio")
    t, d = frontier.one_position(target, draft)
    order = ratio_order(t, d)
    prefix = independent(order, k)
    times = most if is_exact(t) else float(most)
    ceilings = [np.minimum(times * order.target_below, order.target_below * 0 + 1)]
    if both_ways:
        ceilings.append(1 - order.target_above / times)
    return (prefix.outside + np.minimum.reduce(ceilings)).min()


def acceptance_of(target: Any, draft_law: Mapping[Any, Any], ratio: Any) -> Fraction:
    """Return the largest P(Y ∈ S) of any rule of these drafts that emits no token more than `ratio` times its due.

    A maximum flow from draft sets through their tokens, each with an outlet L·t(y). Target [V]; draft_law
    {tuple or frozenset of tokens: mass}; exact.

    Raises:
        TypeError: floats, whose flow would round. ValueError: the ratio is below 1, or a law is not a probability
            distribution.

    >>> acceptance_of(["1/4", "3/4"], {(0,): "1/2", (1,): "1/2"}, "3/2")
    Fraction(7, 8)
    """
    most = at_least(1)(ratio, "ratio")
    t = as_law(target, "target")
    if not is_exact(t) or t.ndim != 1:
        raise TypeError("the flow is exact, at one position: write strings, ints or Fractions")
    masses = sets(checked(draft_law, t))
    unit = common_denominator((*(most * mass for mass in t), *masses.values()))
    nodes = {drawn: 2 + len(t) + place for place, drawn in enumerate(masses)}
    edges = [(0, nodes[drawn], int(mass * unit)) for drawn, mass in masses.items()]
    edges += [(nodes[drawn], 2 + token, int(masses[drawn] * unit)) for drawn in masses for token in drawn]
    edges += [(2 + token, 1, int(most * mass * unit)) for token, mass in enumerate(t)]
    return Fraction(maximum_flow(2 + len(t) + len(masses), edges, 0, 1).value, unit)


def law(target: Any, draft: Any, k: int, ratio: Any, both_ways: bool = False) -> Array:
    """Return the law [V] of the frontier at that acceptance: it keeps to the ratio, as no law of it has a smaller one.

    Target and draft [V].

    Raises:
        TypeError, ValueError: as `acceptance`.

    >>> law(["1/4", "3/4"], ["1/2", "1/2"], 1, "3/2").tolist()
    [Fraction(3, 8), Fraction(5, 8)]
    """
    return frontier.law(target, draft, k, min(1, acceptance(target, draft, k, ratio, both_ways)))


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
