"""What no verifier of blocks has: every level at its best at once, or the optimum without the drafter's model."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog

from proofs_tests.block_level.tables import (
    HALF,
    LEVEL_DRAFT,
    LEVEL_TARGET,
    Path,
    Table,
    best,
    drafted_chains,
    seeded,
    target_mass,
)
from spec_math.block_level import chain_priorities, optimum
from spec_math.block_level.optimum import Certificate


def test_levels_are_not_at_their_best_at_once() -> None:
    claim = optimum.chains_certificate(LEVEL_TARGET, LEVEL_DRAFT, (), 2, 2)
    assert claim.check()
    assert claim.lower == claim.upper == Fraction(43, 18)
    levels = [best_at_level(claim, level) for level in (1, 2)]
    assert levels == [1, HALF]
    assert claim.upper < 1 + sum(levels)


def best_at_level(claim: Certificate, level: int) -> Fraction:
    counted = np.array([int(len(path) == level) for path in claim.tree.paths])
    alone = optimum.certified(replace(claim.tree, counted=counted), claim.drafts)
    assert alone.check()
    assert alone.lower == alone.upper
    return alone.lower - 1


def test_levels_of_one_chain_are_at_their_best_at_once() -> None:
    for seed in range(10):
        target, draft = seeded(2 * seed, 3), seeded(2 * seed + 1, 3)
        claim = optimum.chains_certificate(target, draft, (), 2, 1)
        assert claim.upper == 1 + best_at_level(claim, 1) + best_at_level(claim, 2)


# No verifier that sees the conditionals at drafted nodes alone is optimal for every model.
BLIND_TARGET = Table({(): [HALF, HALF, 0], (0,): [0, 1, 0], (1,): [HALF, HALF, 0], (2,): [1, 0, 0]})
BLIND_DRAFTS = [
    Table({(): ["1/4", "1/4", HALF], (0,): row, (1,): [0, HALF, HALF], (2,): ["1/3", "1/3", "1/3"]})
    for row in ([0, "3/4", "1/4"], ["2/3", 0, "1/3"])
]
TEXTS = list(product(range(3), repeat=2))


def test_no_verifier_that_sees_drafted_conditionals_alone_is_optimal_for_every_model() -> None:
    optima = [best(BLIND_TARGET, draft, 2, 2) for draft in BLIND_DRAFTS]
    assert optima == [Fraction(323, 256), Fraction(31, 32)]
    reached = [chain_priorities.expected(BLIND_TARGET, draft, (), 2, 2) - 1 for draft in BLIND_DRAFTS]
    bound = shared_bound(shared_prices())
    assert sum(reached) <= bound == Fraction(559, 256)
    assert bound < sum(optima) == Fraction(571, 256)


def drafted_pairs(draft: Any) -> dict[tuple[Path, Path], Fraction]:
    chains = drafted_chains(draft, 2)
    return {(a, b): chains[a] * chains[b] for a, b in product(chains, repeat=2)}


def looks_the_same(drafts: tuple[Path, Path]) -> bool:
    """Whether the node (0,) is not drafted: its conditional is all that the models differ in."""
    return all(chain[0] != 0 for chain in drafts)


def situations() -> list[tuple[tuple[int, ...], tuple[Path, Path], Fraction]]:
    """What a verifier can tell apart: the models it may be in, the drafted chains, and their mass in each of them."""
    first, second = (drafted_pairs(draft) for draft in BLIND_DRAFTS)
    both = [((0, 1), drafts, mass) for drafts, mass in first.items() if looks_the_same(drafts)]
    assert all(second[drafts] == mass for _, drafts, mass in both)
    alone = [((0,), drafts, mass) for drafts, mass in first.items() if not looks_the_same(drafts)]
    return both + alone + [((1,), drafts, mass) for drafts, mass in second.items() if not looks_the_same(drafts)]


def answers(drafts: tuple[Path, Path]) -> list[tuple[int, dict[int, Fraction]]]:
    """All answers to drafted chains: how many tokens are accepted, and the law of the text once the target goes on."""
    result: list[tuple[int, dict[int, Fraction]]] = []
    for node in sorted({chain[:size] for chain in drafts for size in range(3)}):
        for emitted in [node] if len(node) == 2 else [(*node, token) for token in range(3)]:
            texts = {
                at: target_mass(BLIND_TARGET, text, len(emitted))
                for at, text in enumerate(TEXTS)
                if text[: len(emitted)] == emitted
            }
            result.append((len(node), texts))
    return result


def shared_bound(prices: list[list[Fraction]]) -> Fraction:
    """Weak duality for one kernel of answers: where the models look the same, the answer has to serve both.

    Any prices of texts, one list a model, bound the sum of both means: each text is bought at its target mass, and in
    each situation the best answer is worth its accepted tokens less the prices of its texts, in all models it is in.
    """
    total = sum(
        (price * target_mass(BLIND_TARGET, text) for model in prices for price, text in zip(model, TEXTS, strict=True)),
        Fraction(0),
    )
    for models, drafts, mass in situations():
        total += mass * max(
            sum(accepted - sum(prices[m][at] * share for at, share in texts.items()) for m in models)
            for accepted, texts in answers(drafts)
        )
    return total


def shared_prices() -> list[list[Fraction]]:
    """The prices that make the bound least: multipliers of a linear program in floats, rounded."""
    columns = [
        (row, models, answer) for row, (models, drafts, _) in enumerate(situations()) for answer in answers(drafts)
    ]
    masses = [float(mass) for _, _, mass in situations()]
    matrix = np.zeros((len(masses) + 18, len(columns)))
    for column, (row, models, (_, texts)) in enumerate(columns):
        matrix[row, column] = 1.0
        for m, (at, share) in product(models, texts.items()):
            matrix[len(masses) + 9 * m + at, column] = float(share)
    wanted = [float(target_mass(BLIND_TARGET, text)) for text in TEXTS]
    gains = [-float(accepted * len(models)) for _, models, (accepted, _) in columns]
    solution: Any = linprog(gains, A_eq=matrix, b_eq=masses + wanted + wanted, method="highs-ds")
    assert solution.status == 0
    multipliers = [-Fraction(price).limit_denominator(1000) for price in solution.eqlin.marginals[len(masses) :]]
    return [multipliers[:9], multipliers[9:]]
