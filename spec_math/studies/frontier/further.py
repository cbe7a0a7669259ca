"""Methods that draft in ways of their own: stochastic beams, distinct first tokens, stems, shared noise.

Source: our own; the rules are those of `block_level` and of `token_level.shared_noise`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from spec_math import array_coin
from spec_math.block_level import planned_tree, stochastic_beam, traversal, univer
from spec_math.block_level.chain_priorities import Priorities
from spec_math.block_level.lengths import given_drafts
from spec_math.block_level.lengths.monte_carlo import GatheredLaws, extended, with_distinct_roots
from spec_math.block_level.likeliest_tree import as_tree
from spec_math.block_level.methods import (
    BEAMS,
    BEAMS_TRAVERSED,
    BRANCHED_PLAN,
    BRANCHED_REJECTION,
    BRANCHED_TRAVERSAL,
    DELAYED,
    NOISE,
    PLANNED,
    UNIVER,
    Method,
)
from spec_math.block_level.planned_tree import Plans
from spec_math.block_level.tree import Node, inner
from spec_math.chance import sample
from spec_math.scheme import Tokens
from spec_math.studies.arguments import Progress
from spec_math.studies.frontier import contenders
from spec_math.studies.frontier.contenders import Contender, Regime, Shape, starts
from spec_math.token_level import shared_noise

PLANNED_KS, PLANNED_PART = (2, 4), 3
"""A plan for k ≥ 3 distinct drafts takes a second at large vocabularies: the k tried, one prefix in how many."""

STEM_KS = (4,)
"""Numbers of chains below a stem that are tried: priorities are dear at large vocabularies."""


def of_beams(regime: Regime, samples: int, seed: int, progress: Progress) -> list[Contender]:
    """Return stochastic beams of width K of `KS`, cut at every lookahead, by recursive rejection and by traversal.

    Recursive rejection is averaged over its coins, traversal runs once on the same beams.

    >>> from spec_math.studies.frontier.contenders import drafting_itself
    >>> from spec_math.studies.arguments import no_progress
    >>> of_beams(drafting_itself([0.5, 0.5]), 2, 0, no_progress)[1].tokens.tolist()
    [3.0, 3.0]
    """
    rng, longest = np.random.default_rng([seed, 4]), contenders.LONGEST

    def measured(laws: GatheredLaws) -> Measured:
        for k in contenders.KS:
            tree = stochastic_beam.sampled(laws, longest, k, rng)
            laws.gather(inner(tree, ()))
            yield (BEAMS, k, 0), stochastic_beam.chances(laws, tree, longest)
            yield (BEAMS_TRAVERSED, k, 0), accepted(laws, tree, longest, rng)

    step = progress(f"{regime.title}: beams", samples)
    return _sampled(regime, starts(regime, samples, seed), step, measured)


Measured = Iterator[tuple[tuple[Method, int, int], Any]]
"""A method, its number of chains (0 of a tree that branches) and their stem; P(a token of each level is accepted)."""


def _sampled(
    regime: Regime,
    prefixes: Sequence[Tokens],
    step: Callable[[int], None],
    measured: Callable[[GatheredLaws], Measured],
) -> list[Contender]:
    """Return what is measured after each prefix as contenders, cut at every lookahead."""
    found: dict[tuple[Method, int, int], list[Any]] = {}
    for prefix in prefixes:
        for key, row in measured(GatheredLaws(regime.models.target, regime.models.draft, prefix)):
            found.setdefault(key, []).append(row)
        step(1)
    return [
        Contender(
            way,
            stemmed(stem, k, size) if k else branched(size),
            1 + np.array(rows, dtype=np.float64)[:, :size].sum(axis=1),
            1.0 + size,
        )
        for (way, k, stem), rows in found.items()
        for size in range(stem + 1, len(rows[0]) + 1)
    ]


def accepted(laws: GatheredLaws, tree: tuple[Node, ...], lookahead: int, rng: Any) -> list[float]:
    """Run traversal on a drafted tree: for each level 1 where a token of it is accepted that does not end the text.

    >>> laws = GatheredLaws(lambda prefix: [1.0], lambda prefix: [1.0], ())
    >>> accepted(laws, (Node(0),), 2, np.random.default_rng(0))
    [1.0, 0.0]
    """
    emitted = sample(lambda coin: traversal.verify(coin, tree, laws), rng)
    # The last token is the target's own, or ends the text: it is no accepted token that something follows.
    return [float(place < len(emitted) - 1) for place in range(lookahead)]


def of_noise(regime: Regime, samples: int, seed: int, progress: Progress) -> list[Contender]:
    """Return shared noise for one chain and for K of `KS`, cut at every lookahead; one race a sample.

    Chains go on as long as they agree with what is emitted, and only those race on.

    >>> from spec_math.studies.frontier.contenders import drafting_itself
    >>> from spec_math.studies.arguments import no_progress
    >>> of_noise(drafting_itself([0.5, 0.5]), 2, 0, no_progress)[1].tokens.tolist()
    [3.0, 3.0]
    """
    rng = np.random.default_rng([seed, 6])

    def measured(laws: GatheredLaws) -> Measured:
        for k in (1, *contenders.KS):
            alive, path, right = k, (), [0.0] * contenders.LONGEST
            for place in range(contenders.LONGEST):
                laws.gather([path])
                noise = rng.exponential(size=(alive, regime.models.size))
                drafts, token = shared_noise.race(noise, laws.target(path), laws.draft(path))
                alive, path = drafts.count(token), (*path, token)
                if not alive or laws.ends(path):
                    break
                right[place] = 1.0
            yield (NOISE, k, 0), right

    step = progress(f"{regime.title}: {NOISE.name}", samples)
    return _sampled(regime, starts(regime, samples, seed), step, measured)


def of_stems(regime: Regime, samples: int, seed: int, progress: Progress) -> list[Contender]:
    """Return chain priorities below a drafted stem, for each stem and K of `STEM_KS`, cut at every lookahead.

    >>> from spec_math.studies.frontier.contenders import drafting_itself
    >>> from spec_math.studies.arguments import no_progress
    >>> of_stems(drafting_itself([0.5, 0.5]), 2, 0, no_progress)[0].tokens.tolist()
    [3.0, 3.0]
    """
    rng, longest = np.random.default_rng([seed, 7]), contenders.LONGEST

    def measured(laws: GatheredLaws) -> Measured:
        for stem, k in product((stem for stem in DELAYED if stem < longest), STEM_KS):
            drafted = extended(laws, extended(laws, [()], stem, rng) * k, longest, rng)
            yield (DELAYED[stem], k, stem), given_drafts.selected(laws, drafted, longest, Priorities(laws, k, stem))

    step = progress(f"{regime.title}: stems", samples)
    return _sampled(regime, starts(regime, samples, seed), step, measured)


def stemmed(stem: int, k: int, lookahead: int) -> Shape:
    """Return the shape of a stem with k chains below it, `lookahead` tokens in all.

    >>> str(stemmed(1, 4, 3)), stemmed(1, 4, 3).nodes
    ('a stem of 1, then 4 chains of 2', 9)
    """
    return Shape(stem + k * (lookahead - stem), lookahead, k, k, stem)


def of_plans(regime: Regime, samples: int, seed: int, progress: Progress) -> list[Contender]:
    """Return planned trees on K chains with distinct first tokens, cut at every lookahead.

    >>> from spec_math.studies.frontier.contenders import drafting_itself
    >>> from spec_math.studies.arguments import no_progress
    >>> of_plans(drafting_itself([0.5, 0.5]), 2, 0, no_progress)[1].tokens.tolist()
    [3.0, 3.0]
    """
    rng, longest = np.random.default_rng([seed, 5]), contenders.LONGEST
    fewer = max(6, samples // PLANNED_PART)

    def measured(laws: GatheredLaws) -> Measured:
        for k in (k for k in PLANNED_KS if k in contenders.KS):
            drafted = with_distinct_roots(laws, extended(laws, [()] * k, longest, rng), k, longest, rng)
            laws.gather([chain[:place] for chain in drafted for place in range(len(chain))])
            yield (PLANNED, k, 0), planned_tree.chances(Plans(laws, (k, *[1] * (longest - 1))), drafted)

    step = progress(f"{regime.title}: {PLANNED.name}", fewer)
    prefixes = starts(regime, samples, seed)[:: max(1, samples // fewer)][:fewer]
    return _sampled(regime, prefixes, step, measured)


DEEPEST = 5
"""Levels, at most: two, four, … nodes on them, 62 in all."""


def of_branching(regime: Regime, samples: int, seed: int, progress: Progress) -> list[Contender]:
    """Return four verifiers on trees that branch in two at every node, cut at every depth.

    Recursive rejection and UniVer are averaged over their coins; traversal and the choice of the plan run once. The
    trees of UniVer hold the likeliest token below every node, and one that is drawn from the rest.

    >>> from spec_math.studies.frontier.contenders import drafting_itself
    >>> from spec_math.studies.arguments import no_progress
    >>> of_branching(drafting_itself([0.5, 0.5]), 2, 0, no_progress)[1].tokens.tolist()
    [3.0, 3.0]
    """
    rng, depth = np.random.default_rng([seed, 8]), deepest()

    def measured(laws: GatheredLaws) -> Measured:
        tree = grown(laws, depth, rng)
        laws.gather(inner(tree, ()))
        yield (BRANCHED_REJECTION, 0, 0), stochastic_beam.chances(laws, tree, depth)
        yield (BRANCHED_TRAVERSAL, 0, 0), accepted(laws, tree, depth, rng)
        yield (BRANCHED_PLAN, 0, 0), _planned(laws, tree, depth, rng)
        favoured = grown(laws, depth, rng, likeliest=True)
        laws.gather(inner(favoured, ()))
        yield (UNIVER, 0, 0), univer.chances(laws, favoured, depth)

    step = progress(f"{regime.title}: branching trees", samples)
    return _sampled(regime, starts(regime, samples, seed), step, measured)


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
