"""Methods that draft in ways of their own: stochastic beams, distinct first tokens, stems, shared noise.

Source: our own; the rules are those of `block_level` and of `token_level.shared_noise`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from spec_math.block_level import stochastic_beam, traversal
from spec_math.block_level.lengths.drafted_chains import GatheredLaws
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
)
from spec_math.block_level.tree import inner
from spec_math.studies.frontier import contenders
from spec_math.studies.lengths.units import Contender, Key, Rows, Shape, Stream
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
    for method, size in product(BRANCHED, range(1, min(DEEPEST, contenders.LONGEST) + 1)):
        found.append(Contender(method, branched(size), Key(method, 2), size))
    fitting = [one for one in found if one.shape.nodes <= max(budgets)]
    # Beyond two drafts a plan takes a quadrature.
    fitting = [one._replace(dear=True) if one.method is PLANNED and one.shape.k > 2 else one for one in fitting]
    return sorted(fitting, key=lambda one: one.shape.nodes)


def beams(laws: GatheredLaws, stream: Stream, keys: Mapping[Key, int]) -> Rows:
    """Verify stochastic beams of width K by recursive rejection and by traversal, averaged over their coins."""
    own = [key for key in keys if key.of in (BEAMS, BEAMS_TRAVERSED)]
    longest = max((keys[key] for key in own), default=0)
    # All widths are drawn together, so that each tree is the same whatever else is measured.
    trees = stochastic_beam.sampled(laws, longest, contenders.KS, stream(0)) if own else {}
    laws.gather([path for key in own for path in inner(trees[key.k], ())])
    for key in own:
        yield key, traversal.chances(laws, trees[key.k], longest, afresh=key.of is BEAMS)


def noise(laws: GatheredLaws, stream: Stream, keys: Mapping[Key, int]) -> Rows:
    """Run shared noise for K chains: they go on as long as they agree with what is emitted, and only those race on."""
    for key, lookahead in keys.items():
        if key.of is NOISE:
            rng, alive, path, right = stream(key.k), key.k, (), [0.0] * lookahead
            for place in range(lookahead):
                laws.gather([path])
                clocks = rng.exponential(size=(alive, laws.size))
                drafts, token = shared_noise.race(clocks, laws.target(path), laws.draft(path))
                alive, path = drafts.count(token), (*path, token)
                if not alive or laws.ends(path):
                    break
                right[place] = 1.0
            yield key, right


DEEPEST = 5
"""Levels, at most: two, four, … nodes on them, 62 in all."""


BRANCHED = BRANCHED_REJECTION, BRANCHED_TRAVERSAL, BRANCHED_PLAN, UNIVER
"""Verifiers of trees that branch in two at every node; those of UniVer hold the likeliest token below every node."""


def branched(depth: int) -> Shape:
    """Return the shape of a tree with two drafts at every node.

    >>> branched(3)
    Shape(nodes=14, levels=3, widest=8, k=0, stem=0)
    """
    return Shape(2 ** (depth + 1) - 2, depth, 2**depth)
