"""An oracle: the most tokens that ANY lossless verifier of one drafted chain keeps, as a linear program.

The verifier sees the whole chain x_1..x_L, keeps its first i tokens and adds one of its choice. Variables: the joint
masses of (chain, i, added token). Constraints: each chain has its draft mass; each text of L + 1 tokens has its target
mass, once the target has continued what was emitted. Maximised: the mean of i.

HiGHS solves it in floats. What is returned is exact all the same: its prices of the texts, rounded to rationals, give
an upper bound by weak duality whatever their errors, as the prices of the chains are then chosen to fit.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

from scipy.optimize import linprog
from scipy.sparse import coo_array

from proofs_tests.block_level.models import Rows


def upper_bound(target: Rows, draft: Rows, lookahead: int) -> Fraction:
    """Return an exact upper bound on the mean number of kept tokens, equal to the optimum where HiGHS is right."""
    size = len(target.rows[0])
    chains = list(product(range(size), repeat=lookahead))
    texts = list(product(range(size), repeat=lookahead + 1))
    choices = list(product(chains, range(lookahead + 1), range(size)))
    reached = [_continuations(target, texts, (*chain[:kept], added)) for chain, kept, added in choices]
    entries: list[tuple[int, int, Fraction]] = []
    for column, (chain, _, _) in enumerate(choices):
        entries.append((chains.index(chain), column, Fraction(1)))
        entries += [(len(chains) + text, column, mass) for text, mass in reached[column].items()]
    chain_masses = [_mass(draft, chain) for chain in chains]
    text_masses = [_mass(target, text) for text in texts]
    solution: Any = linprog(
        [-kept for _, kept, _ in choices],
        A_eq=coo_array(
            ([float(mass) for _, _, mass in entries], ([row for row, _, _ in entries], [col for _, col, _ in entries])),
            shape=(len(chains) + len(texts), len(choices)),
        ),
        b_eq=[float(mass) for mass in chain_masses + text_masses],
        method="highs-ds",
    )
    if solution.status != 0:
        raise RuntimeError(solution.message)
    prices = [-Fraction(price).limit_denominator(10**6) for price in solution.eqlin.marginals[len(chains) :]]
    worth: dict[tuple[int, ...], Fraction] = {}
    for column, (chain, kept, _) in enumerate(choices):
        gain = kept - sum((prices[text] * mass for text, mass in reached[column].items()), Fraction(0))
        worth[chain] = max(worth.get(chain, gain), gain)
    bound = sum((worth[chain] * mass for chain, mass in zip(chains, chain_masses, strict=True)), Fraction(0))
    return bound + sum((price * mass for price, mass in zip(prices, text_masses, strict=True)), Fraction(0))


def _mass(model: Rows, text: tuple[int, ...], start: int = 0) -> Fraction:
    mass = Fraction(1)
    for place in range(start, len(text)):
        mass *= model(text[:place])[text[place]]
    return mass


def _continuations(target: Rows, texts: list[tuple[int, ...]], block: tuple[int, ...]) -> dict[int, Fraction]:
    return {
        place: mass
        for place, text in enumerate(texts)
        if text[: len(block)] == block and (mass := _mass(target, text, len(block))) > 0
    }
