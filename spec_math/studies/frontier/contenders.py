"""What each method yields for each shape of its drafts: tokens per call, sample by sample, coins averaged out.

Source: our own; the methods are those of `block_level`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec_math.block_level.drafted_chains import GatheredLaws
from spec_math.block_level.likeliest_tree import by_ranks, placed, ranked_paths, top
from spec_math.block_level.method import Drafts, Method
from spec_math.block_level.methods import METHODS, PLAN_AT_EVERY_NODE
from spec_math.block_level.monte_carlo import Setting, sample
from spec_math.block_level.target_only import reached
from spec_math.block_level.tree import inner
from spec_math.scheme import Tokens
from spec_math.studies.frontier.regime import Regime
from spec_math.studies.frontier.ways import BEST_TREE, CHOSEN, STATIC, Way
from spec_math.studies.progress import Progress

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

KS = (2, 4, 8)
"""Numbers of chains that are tried; a single one belongs to the methods of one chain."""

LONGEST = 8
"""Drafted tokens in a row, at most."""

DEPTHS = (2, 4, 6, 8)
"""Depth limits of chosen trees that are tried."""

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

    method: Method | Way
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
    >>> from spec_math.studies.progress import no_progress
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
    models = regime.models
    prefixes = starts(regime, samples, seed)
    most = max(budgets)
    rates = _rates(regime, prefixes[: max(1, samples // 3)], most)
    shapes = {(nodes, depth): by_ranks(rates, nodes, depth) for nodes in budgets for depth in DEPTHS}
    found: dict[tuple[Way, int, int], list[float]] = {}
    step = progress(f"{regime.title}: trees", samples)
    for prefix in prefixes:
        laws = GatheredLaws(models.target, models.draft, prefix)
        drafted, true = Ranked(laws, "draft", most), Ranked(laws, "target", most)
        for depth in DEPTHS:
            for way, ranked in ((CHOSEN, drafted), (BEST_TREE, true)):
                worth = _worth(laws, ranked_paths(ranked.followed, most, depth))
                for nodes in budgets:
                    found.setdefault((way, nodes, depth), []).append(float(worth[min(nodes, len(worth) - 1)]))
            for nodes in budgets:
                tree = placed(shapes[nodes, depth], laws, drafted.first)
                laws.gather(inner(tree, ()), "target")
                found.setdefault((STATIC, nodes, depth), []).append(1 + float(sum(reached(laws, tree))))
        step(1)
    contenders = [
        Contender(way, Shape(nodes, min(depth, nodes), nodes), np.array(values), 1 + min(depth, nodes))
        for (way, nodes, depth), values in found.items()
        if depth <= nodes or depth == DEPTHS[0]
    ]
    return [one for one in contenders if one.method is not BEST_TREE], [
        one for one in contenders if one.method is BEST_TREE
    ]


def _worth(laws: GatheredLaws, paths: list[Tokens]) -> FLOAT:
    """Return the tokens per call of the first 0, 1, … of these paths as a tree, target-only."""
    masses: dict[Tokens, float] = {(): 1.0}
    laws.gather([path[:-1] for path in paths], "target")
    for path in paths:
        masses[path] = masses[path[:-1]] * float(laws.target(path[:-1])[path[-1]])
    return np.cumsum(list(masses.values()))


class Ranked:
    """The likeliest tokens after each path, ranked once for all trees: `most` that something follows, and the end.

    Rows are asked for one at a time, without the checks of a model that is not known to be right.

    >>> laws = GatheredLaws(lambda prefix: [0.25, 0.75], lambda prefix: [0.5, 0.5], ())
    >>> Ranked(laws, "target", 2).first((), 1)
    [(1, 0.75)]
    """

    def __init__(self, laws: GatheredLaws, role: str, most: int) -> None:
        self._laws, self._role, self._most = laws, role, most
        self._first: dict[Tokens, list[tuple[int, Any]]] = {}

    def first(self, path: Tokens, number: int) -> list[tuple[int, Any]]:
        """Return the `number` likeliest tokens after a path, `most` + 1 at most, with their masses."""
        if path not in self._first:
            self._laws.gather([path], self._role)
            masses = self._laws.draft(path) if self._role == "draft" else self._laws.target(path)
            self._first[path] = top(masses, self._most + 1, None)
        return self._first[path][:number]

    def followed(self, path: Tokens, number: int) -> list[tuple[int, Any]]:
        """Return the `number` likeliest tokens after a path that something follows, `most` at most."""
        listed = self.first(path, number + 1)
        return [pair for pair in listed if pair[0] != self._laws.end][:number]


def _rates(regime: Regime, prefixes: Sequence[Tokens], most: int) -> list[float]:
    """Return the target's mean mass on the draft's first, second, … choice, descending."""
    total = np.zeros(min(most, regime.models.size))
    for prefix in prefixes:
        laws = GatheredLaws(regime.models.target, regime.models.draft, prefix)
        laws.gather([()])
        t = laws.target()
        held = [float(t[token]) for token, _ in top(laws.draft(), len(total), laws.end)]
        total[: len(held)] += held
    return sorted((total / len(prefixes)).tolist(), reverse=True)
