"""What each method yields for each shape of its drafts: tokens per call, sample by sample, coins averaged out.

Source: our own; the methods are those of `block_level`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spec_math.block_level.lengths.monte_carlo import Setting, sample
from spec_math.block_level.method import Drafts, Method
from spec_math.block_level.methods import METHODS, PLAN_AT_EVERY_NODE
from spec_math.scheme import Tokens
from spec_math.studies.frontier.regime import Regime
from spec_math.studies.frontier.ways import Way
from spec_math.studies.progress import Progress

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
