"""Trees with two distinct drafts at every node: recursive rejection, traversal, the optimal plan, UniVer on its own.

Source: our own; the rules are those of `block_level.stochastic_beam`, `traversal`, `planned_tree` and `univer`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_math import array_coin
from spec_math.block_level import stochastic_beam, univer
from spec_math.block_level.drafted_chains import GatheredLaws
from spec_math.block_level.likeliest_tree import as_tree
from spec_math.block_level.planned_tree import Plans
from spec_math.block_level.tree import Node, inner
from spec_math.chance import sample
from spec_math.scheme import Tokens
from spec_math.studies.frontier import contenders
from spec_math.studies.frontier.contenders import Contender, Shape, starts
from spec_math.studies.frontier.further import accepted
from spec_math.studies.frontier.regime import Regime
from spec_math.studies.frontier.ways import BRANCHED_PLAN, BRANCHED_REJECTION, BRANCHED_TRAVERSAL, UNIVER
from spec_math.studies.progress import Progress

DEEPEST = 5
"""Levels, at most: two, four, … nodes on them, 62 in all."""


def of_branching(regime: Regime, samples: int, seed: int, progress: Progress) -> list[Contender]:
    """Return four verifiers on trees that branch in two at every node, cut at every depth.

    Recursive rejection and UniVer are averaged over their coins; traversal and the choice of the plan run once. The
    trees of UniVer hold the likeliest token below every node, and one that is drawn from the rest.

    >>> from spec_math.studies.frontier.regime import drafting_itself
    >>> from spec_math.studies.progress import no_progress
    >>> of_branching(drafting_itself([0.5, 0.5]), 2, 0, no_progress)[1].tokens.tolist()
    [3.0, 3.0]
    """
    rng = np.random.default_rng([seed, 8])
    depth = deepest()
    rows: dict[Any, list[Any]] = {BRANCHED_REJECTION: [], BRANCHED_TRAVERSAL: [], BRANCHED_PLAN: []}
    rows[UNIVER] = []
    step = progress(f"{regime.title}: branching trees", samples)
    for prefix in starts(regime, samples, seed):
        laws = GatheredLaws(regime.models.target, regime.models.draft, prefix)
        tree = grown(laws, depth, rng)
        laws.gather(inner(tree, ()))
        rows[BRANCHED_REJECTION].append(stochastic_beam.chances(laws, tree, depth))
        rows[BRANCHED_TRAVERSAL].append(accepted(laws, tree, depth, rng))
        rows[BRANCHED_PLAN].append(_planned(laws, tree, depth, rng))
        favoured = grown(laws, depth, rng, likeliest=True)
        laws.gather(inner(favoured, ()))
        rows[UNIVER].append(univer.chances(laws, favoured, depth))
        step(1)
    return [
        Contender(way, branched(size), 1 + np.array(found, dtype=np.float64)[:, :size].sum(axis=1), 1.0 + size)
        for way, found in rows.items()
        for size in range(1, depth + 1)
    ]


def deepest() -> int:
    """Return the levels that are drafted.

    >>> deepest()
    5
    """
    return min(DEEPEST, contenders.LONGEST)


def branched(depth: int) -> Shape:
    """Return the shape of a tree with two drafts at every node.

    >>> branched(3)
    Shape(nodes=14, levels=3, widest=8, k=0, stem=0)
    """
    return Shape(2 ** (depth + 1) - 2, depth, 2**depth)


def grown(laws: GatheredLaws, depth: int, rng: Any, likeliest: bool = False) -> tuple[Node, ...]:
    """Draft two distinct tokens below every node, level by level, one where the draft has no other; float laws.

    With `likeliest` the first is the draft's likeliest token, the lowest among equals, and only the second is drawn.

    >>> laws = GatheredLaws(lambda prefix: [1.0, 0.0], lambda prefix: [1.0, 0.0], ())
    >>> grown(laws, 1, np.random.default_rng(0))
    (Node(token=0, children=()),)
    """
    level: list[Tokens] = [()]
    kept: list[Tokens] = []
    for _ in range(depth):
        growing = [path for path in level if not laws.ends(path)]
        if not growing:
            break
        laws.gather(growing)
        rows = np.stack([np.asarray(laws.draft(path), dtype=np.float64) for path in growing])
        first = rows.argmax(axis=1) if likeliest else array_coin.drawn(rows, rng.random(len(rows)))
        rows[np.arange(len(rows)), first] = 0
        second = array_coin.drawn(rows, rng.random(len(rows)))
        level = [
            (*path, token)
            for path, *tokens in zip(growing, first.tolist(), second.tolist(), strict=True)
            for token in tokens
            if token >= 0
        ]
        kept += level
    return as_tree(kept)


def _planned(laws: GatheredLaws, tree: tuple[Node, ...], depth: int, rng: Any) -> list[float]:
    """Select a path, and return the chances that it is kept so far: 0 for a token that ends the text."""
    plans = Plans(laws, (2,) * depth)
    path = sample(lambda coin: plans.select(coin, tree), rng)
    kept = [float(plans.weight(path[: place + 1])) for place in range(len(path))]
    if laws.ends(path):
        kept[-1] = 0.0
    return kept + [0.0] * (depth - len(path))
