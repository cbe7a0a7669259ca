"""What each method yields for each shape of its drafts: tokens per call, sample by sample, coins averaged out.

Source: our own; the methods are those of `block_level`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec_math.block_level.lengths.monte_carlo import GatheredLaws, Setting, sample
from spec_math.block_level.likeliest_tree import Ranked, likeliest_of_depths, top
from spec_math.block_level.methods import BEST_TREE, CHOSEN, METHODS, PLAN_AT_EVERY_NODE, STATIC, Drafts, Method
from spec_math.scheme import Tokens
from spec_math.studies.arguments import Progress
from spec_math.studies.frontier.regime import Regime

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

KS = (2, 4, 8)
"""Numbers of chains that are tried; a single one belongs to the methods of one chain."""

LONGEST = 8
"""Drafted tokens in a row, at most."""

SLOW = {PLAN_AT_EVERY_NODE: ((2, 4), 6)}
"""Methods that take seconds a sample at large vocabularies: the numbers of chains tried, and one sample in how many."""


@dataclass(frozen=True)
class Shape:
    """What is drafted: so many nodes in so many levels, `widest` of them at most on one level; K chains where k > 0.

    The chains share their first `stem` tokens, which are counted once.

    >>> str(chains(8, 6)), chains(8, 6).nodes, str(Shape(32, 4, 32))
    ('8 chains of 6', 48, 'a tree of 32, depth 4')
    """

    nodes: int
    levels: int
    widest: int
    k: int = 0
    stem: int = 0

    def __str__(self) -> str:
        if self.stem:
            return f"a stem of {self.stem}, then {self.k} chains of {self.levels - self.stem}"
        if self.k == 1:
            return f"one chain of {self.levels}"
        return f"{self.k} chains of {self.levels}" if self.k else f"a tree of {self.nodes}, depth {self.levels}"


def chains(k: int, lookahead: int) -> Shape:
    """Return the shape of k chains.

    >>> chains(2, 3)
    Shape(nodes=6, levels=3, widest=2, k=2, stem=0)
    """
    return Shape(k * lookahead, lookahead, k, k)


@dataclass(frozen=True)
class Contender:
    """A method with a shape: tokens per call of each sample [n], numbers in [1, most]."""

    method: Method
    shape: Shape
    tokens: FLOAT
    most: float

    @property
    def drafts(self) -> Drafts:
        """The kind of its drafts."""
        return self.method.drafts


def starts(regime: Regime, samples: int, seed: int) -> list[Tokens]:
    """Draw the prefixes that all methods and bounds start from.

    >>> from spec_math.studies.frontier.regime import drafting_itself
    >>> starts(drafting_itself([0.5, 0.5]), 2, 0)
    [(), ()]
    """
    rng = np.random.default_rng([seed, 2])
    prefixes = regime.models.prefixes
    return [prefixes[int(place)] for place in rng.integers(len(prefixes), size=samples)]


def of_chains(regime: Regime, samples: int, seed: int, progress: Progress) -> list[Contender]:
    """Return all methods of `METHODS` for K of `KS` and every lookahead up to `LONGEST`, on shared drafts.

    Raises:
        TypeError, ValueError: as `monte_carlo.sample`.

    >>> from spec_math.studies.frontier.regime import drafting_itself
    >>> from spec_math.studies.arguments import no_progress
    >>> found = of_chains(drafting_itself([0.5, 0.5]), 8, 0, no_progress)
    >>> str(found[1].shape), found[1].tokens[:3].tolist()
    ('one chain of 2', [3.0, 3.0, 3.0])
    """
    models = regime.models
    step = progress(f"{regime.title}: chains", samples)
    quick = [method for method in METHODS if method not in SLOW]
    prefixes = starts(regime, samples, seed)
    setting = Setting(models.target, models.draft, prefixes, KS, LONGEST, in_turn=True)
    lines = sample(setting, samples, np.random.default_rng(seed), step, quick)
    for method in METHODS:
        if method in SLOW:
            ks, part = SLOW[method]
            fewer = max(6, samples // part)
            setting = Setting(models.target, models.draft, prefixes[:: samples // fewer], ks, LONGEST, in_turn=True)
            rng, step = np.random.default_rng(seed), progress(f"{regime.title}: {method.name}", fewer)
            lines += sample(setting, fewer, rng, step, [method])
    return [
        Contender(
            line.method,
            chains(line.k, size),
            1 + line.accepted[:, :size].sum(axis=1),
            1 + size * line.method.largest(line.k),
        )
        for line in lines
        for size in range(1, LONGEST + 1)
    ]


DEPTHS = (2, 4, 6, 8)
"""Depth limits of chosen trees that are tried."""


def of_trees(
    regime: Regime, budgets: Sequence[int], samples: int, seed: int, progress: Progress
) -> tuple[list[Contender], list[Contender]]:
    """Return the trees that a drafter chooses for each budget and depth, and the best ones, which no drafter knows.

    The best tree under a budget and a depth is what no chosen tree of that shape exceeds. Rates of ranks, for static
    trees, are those of the first third of the prefixes.

    >>> from spec_math.studies.frontier.regime import drafting_itself
    >>> from spec_math.studies.arguments import no_progress
    >>> chosen, best = of_trees(drafting_itself([0.5, 0.5]), (2,), 2, 0, no_progress)
    >>> [one.tokens.tolist() for one in (*chosen, *best)]
    [[2.0, 2.0], [2.0, 2.0], [2.0, 2.0]]
    """
    models, prefixes, most = regime.models, starts(regime, samples, seed), max(budgets)
    rates = _rates(regime, prefixes[: max(1, samples // 3)], most)
    static = likeliest_of_depths(lambda _: rates, most, DEPTHS)
    found: dict[tuple[Method, int, int], list[float]] = {}
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
