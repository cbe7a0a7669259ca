"""Methods that draft in ways of their own: stochastic beams, distinct first tokens, stems, shared noise.

Source: our own; the rules are those of `block_level` and of `token_level.shared_noise`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from spec_math import array_coin
from spec_math.block_level import planned_tree, stochastic_beam, univer
from spec_math.block_level.lengths.drafted_chains import GatheredLaws, extended, with_distinct_roots
from spec_math.block_level.likeliest_tree import as_tree
from spec_math.block_level.methods import (
    BEAMS,
    BEAMS_TRAVERSED,
    BRANCHED_PLAN,
    BRANCHED_REJECTION,
    BRANCHED_TRAVERSAL,
    DELAYED,
    METHODS,
    NOISE,
    PLANNED,
    UNIVER,
    Method,
)
from spec_math.block_level.planned_tree import Plans
from spec_math.block_level.tree import Node, inner
from spec_math.chance import sample
from spec_math.scheme import Tokens
from spec_math.studies.frontier import contenders
from spec_math.studies.lengths.units import Contender, Key, Rows, Shape, Stream, run
from spec_math.token_level import shared_noise

PLANNED_KS = (2, 4)
"""Numbers of chains with distinct first tokens that a plan is made for, which is slow for more."""

STEM_KS = (4,)
"""Numbers of chains below a stem that are tried: priorities are dear at large vocabularies."""


def every(budgets: Sequence[int]) -> list[Contender]:
    """Return all methods in all shapes that fit the largest budget, those with the fewest nodes first.

    >>> str(every((2,))[0].shape), len(every((64,)))
    ('one chain of 1', 315)
    """
    found = contenders.of_trees(budgets)
    for method in (*METHODS, BEAMS, BEAMS_TRAVERSED, NOISE, PLANNED):
        ks = (1,) if method.one_chain and method in METHODS else PLANNED_KS if method is PLANNED else contenders.KS
        for k in (1, *ks) if method is NOISE else ks:
            found += contenders.of_chains(method, k)
    for (stem, method), k in product(DELAYED.items(), STEM_KS):
        found += contenders.of_chains(method, k, stem)
    for method, size in product(BRANCHED, range(1, deepest() + 1)):
        found.append(Contender(method, branched(size), Key(method, 2), size))
    fitting = [one for one in found if one.shape.nodes <= max(budgets)]
    return sorted(fitting, key=lambda one: one.shape.nodes)


def _own(keys: Sequence[Key], *methods: Method) -> dict[int, list[Key]]:
    """Return the keys of some methods by their number of chains."""
    own = [key for key in keys if key.of in methods]
    return {k: [key for key in own if key.k == k] for k in sorted({key.k for key in own})}


def beams(laws: GatheredLaws, stream: Stream, keys: Sequence[Key], lookahead: int) -> Rows:
    """Verify stochastic beams of width K by recursive rejection, averaged over its coins, and by traversal."""
    for k, own in _own(keys, BEAMS, BEAMS_TRAVERSED).items():
        rng = stream(k)
        tree = stochastic_beam.sampled(laws, lookahead, k, rng)
        laws.gather(inner(tree, ()))
        for key in own:
            beam = key.of is BEAMS
            yield key, stochastic_beam.chances(laws, tree, lookahead) if beam else run(laws, tree, lookahead, rng)


def noise(laws: GatheredLaws, stream: Stream, keys: Sequence[Key], lookahead: int) -> Rows:
    """Run shared noise for K chains: they go on as long as they agree with what is emitted, and only those race on."""
    for k, (key,) in _own(keys, NOISE).items():
        rng = stream(k)
        alive, path, right = k, (), [0.0] * lookahead
        for place in range(lookahead):
            laws.gather([path])
            clocks = rng.exponential(size=(alive, laws.size))
            drafts, token = shared_noise.race(clocks, laws.target(path), laws.draft(path))
            alive, path = drafts.count(token), (*path, token)
            if not alive or laws.ends(path):
                break
            right[place] = 1.0
        yield key, right


def plans(laws: GatheredLaws, stream: Stream, keys: Sequence[Key], lookahead: int) -> Rows:
    """Verify K chains with distinct first tokens by planned trees."""
    for k, (key,) in _own(keys, PLANNED).items():
        rng = stream(k)
        drafted = with_distinct_roots(laws, extended(laws, [()] * k, lookahead, rng), k, lookahead, rng)
        laws.gather([chain[:place] for chain in drafted for place in range(len(chain))])
        yield key, planned_tree.chances(Plans(laws, (k, *[1] * (lookahead - 1))), drafted)


DEEPEST = 5
"""Levels, at most: two, four, … nodes on them, 62 in all."""


BRANCHED = BRANCHED_REJECTION, BRANCHED_TRAVERSAL, BRANCHED_PLAN, UNIVER
"""Verifiers of trees that branch in two at every node; those of UniVer hold the likeliest token below every node."""


def branching(laws: GatheredLaws, stream: Stream, keys: Sequence[Key], lookahead: int) -> Rows:  # noqa: ARG001
    """Verify trees that branch in two at every node.

    Recursive rejection and UniVer are averaged over their coins; traversal and the choice of the plan run once.
    """
    own, depth = [key for key in keys if key.of in BRANCHED], deepest()
    for likeliest in (False, True):
        ours = [key for key in own if (key.of is UNIVER) == likeliest]
        if not ours:
            continue
        tree = grown(laws, depth, stream(likeliest), likeliest)
        laws.gather(inner(tree, ()))
        for key in ours:
            if key.of is BRANCHED_REJECTION:
                yield key, stochastic_beam.chances(laws, tree, depth)
            elif key.of is BRANCHED_TRAVERSAL:
                yield key, run(laws, tree, depth, stream(2))
            elif key.of is BRANCHED_PLAN:
                yield key, _planned(laws, tree, depth, stream(3))
            else:
                yield key, univer.chances(laws, tree, depth)


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
        drawn = zip(growing, first.tolist(), second.tolist(), strict=True)
        level = [(*path, token) for path, *tokens in drawn for token in tokens if token >= 0]
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
