"""Trees that a drafter chooses without randomness: what each is worth by the target, and the best trees there are.

Source: our own; the trees are those of `block_level.likeliest_tree`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.block_level.lengths.monte_carlo import GatheredLaws
from spec_math.block_level.likeliest_tree import Ranked, likeliest_of_depths, top
from spec_math.scheme import Tokens
from spec_math.studies.frontier.contenders import FLOAT, Contender, Shape, starts
from spec_math.studies.frontier.regime import Regime
from spec_math.studies.frontier.ways import BEST_TREE, CHOSEN, STATIC, Way
from spec_math.studies.progress import Progress

DEPTHS = (2, 4, 6, 8)
"""Depth limits of chosen trees that are tried."""


def of_trees(
    regime: Regime, budgets: Sequence[int], samples: int, seed: int, progress: Progress
) -> tuple[list[Contender], list[Contender]]:
    """Return the trees that a drafter chooses for each budget and depth, and the best ones, which no drafter knows.

    The best tree under a budget and a depth is what no chosen tree of that shape exceeds. Rates of ranks, for static
    trees, are those of the first third of the prefixes.

    >>> from spec_math.studies.frontier.regime import drafting_itself
    >>> from spec_math.studies.progress import no_progress
    >>> chosen, best = of_trees(drafting_itself([0.5, 0.5]), (2,), 2, 0, no_progress)
    >>> [one.tokens.tolist() for one in (*chosen, *best)]
    [[2.0, 2.0], [2.0, 2.0], [2.0, 2.0]]
    """
    models, prefixes, most = regime.models, starts(regime, samples, seed), max(budgets)
    rates = _rates(regime, prefixes[: max(1, samples // 3)], most)
    static = likeliest_of_depths(lambda _: rates, most, DEPTHS)
    found: dict[tuple[Way, int, int], list[float]] = {}
    step = progress(f"{regime.title}: trees", samples)
    for prefix in prefixes:
        laws = GatheredLaws(models.target, models.draft, prefix)
        chosen, best = (_searched(laws, role, most) for role in ("draft", "target"))
        met = _reached(laws, [path for taken in chosen.values() for _, path in taken])
        filled = _filled(laws, static)
        for depth in DEPTHS:
            worths = {
                CHOSEN: [met[path] for _, path in chosen[depth]],
                BEST_TREE: [mass for mass, _ in best[depth]],
                STATIC: [filled.get(ranks, 0.0) for _, ranks in static[depth]],
            }
            for way, masses in worths.items():
                worth = np.cumsum([1.0, *masses])
                for nodes in budgets:
                    found.setdefault((way, nodes, depth), []).append(float(worth[min(nodes, len(masses))]))
        step(1)
    contenders = [
        Contender(way, Shape(nodes, min(depth, nodes), nodes), np.array(values), 1 + min(depth, nodes))
        for (way, nodes, depth), values in found.items()
        if depth <= nodes or depth == DEPTHS[0]
    ]
    return [one for one in contenders if one.method is not BEST_TREE], [
        one for one in contenders if one.method is BEST_TREE
    ]


def _searched(laws: GatheredLaws, role: str, most: int) -> Ranked:
    law = laws.draft if role == "draft" else laws.target
    return likeliest_of_depths(law, most, DEPTHS, laws.end, lambda paths: laws.gather(paths, role))


def _reached(laws: GatheredLaws, paths: list[Tokens]) -> dict[Tokens, float]:
    """Return the target's mass of each of these paths, of which all beginnings are among them."""
    shortest_first = sorted(set(paths), key=len)
    laws.gather([path[:-1] for path in shortest_first], "target")
    masses: dict[Tokens, float] = {(): 1.0}
    for path in shortest_first:
        masses[path] = masses[path[:-1]] * float(laws.target(path[:-1])[path[-1]])
    return masses


def _filled(laws: GatheredLaws, static: Ranked) -> dict[Tokens, float]:
    """Return the target's mass of what paths of ranks become: rank r is the r-th likeliest token of the draft.

    A rank beyond the draft's support is left out with all below it, and so is what follows the end token; a token that
    ends the text counts nothing.
    """
    wanted: dict[Tokens, int] = {}
    for path in {path for taken in static.values() for _, path in taken}:
        wanted[path[:-1]] = max(wanted.get(path[:-1], 0), path[-1] + 1)
    level: dict[Tokens, tuple[Tokens, float]] = {(): ((), 1.0)}
    filled: dict[Tokens, float] = {}
    while level:
        inner = {ranks: held for ranks, held in level.items() if ranks in wanted}
        laws.gather([path for path, _ in inner.values()])
        level = {}
        for ranks, (path, mass) in inner.items():
            target = laws.target(path)
            for rank, (token, _) in enumerate(top(laws.draft(path), wanted[ranks], None)):
                if token != laws.end:
                    reached = mass * float(target[token])
                    filled[*ranks, rank] = reached
                    level[*ranks, rank] = (*path, token), reached
    return filled


def _rates(regime: Regime, prefixes: Sequence[Tokens], most: int) -> FLOAT:
    """Return the target's mean mass on the draft's first, second, … choice, descending."""
    total: Any = np.zeros(min(most, regime.models.size))
    for prefix in prefixes:
        laws = GatheredLaws(regime.models.target, regime.models.draft, prefix)
        laws.gather([()])
        t = laws.target()
        held = [float(t[token]) for token, _ in top(laws.draft(), len(total), laws.end)]
        total[: len(held)] += held
    return -np.sort(-total / len(prefixes))
