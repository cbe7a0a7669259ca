"""Questions about drafts without replacement on the embedded defaults, each asked of the same drafts or the same texts.

Is the planned tree ahead of traversal? Both judge the same drafted chains, their coins averaged out, so that a
difference is a mean with its standard error. Are distinct first tokens worth more than i.i.d. chains, as many and as
long? The bounds of both kinds are means over the same texts of the target.

Run from the project's folder: python -m benchmarks.same_drafts [prefixes]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.block_level import planned_tree
from spec_math.block_level.lengths import given_drafts
from spec_math.block_level.lengths.drafted_chains import GatheredLaws, extended, with_distinct_roots
from spec_math.block_level.methods import CHAINS, DISTINCT, paths
from spec_math.block_level.planned_tree import Plans
from spec_math.studies.frontier import contenders
from spec_math.studies.frontier.contenders import KS, LONGEST, Regime
from spec_math.studies.lengths import ceilings
from spec_math.studies.lengths.units import Key, Units

LOOKAHEAD = 4
TEMPERATURES = 1.0, 0.7, 0.4


def ahead_of_traversal(of: Regime, k: int, prefixes: int, seed: int = 0) -> Any:
    """Return by how many tokens a call the planned tree is ahead of traversal, a sample for each prefix [n].

    k chains of `LOOKAHEAD` tokens with distinct first tokens, the same for both.
    """
    rng = np.random.default_rng(seed)
    found: list[float] = []
    for place in rng.integers(len(of.models.prefixes), size=prefixes):
        laws = GatheredLaws(of.models.target, of.models.draft, of.models.prefixes[place])
        free = extended(laws, [()] * k, LOOKAHEAD, rng)
        drafted = with_distinct_roots(laws, free, k, LOOKAHEAD, rng)
        laws.gather([chain[:at] for chain in drafted for at in range(len(chain))])
        planned = planned_tree.chances(Plans(laws, paths(LOOKAHEAD, k)), drafted)
        traversed = given_drafts.distinct_roots(laws, drafted, LOOKAHEAD, as_block=True)
        found.append(float(sum(planned)) - float(sum(traversed)))
    return np.array(found)


def distinct_over_chains(of: Regime, prefixes: int, seed: int = 0) -> dict[tuple[int, int], Any]:
    """Return by how much the bound of distinct first tokens is above that of i.i.d. chains, {(k, L): samples [n]}."""
    models = of.models
    units = Units(models.target, models.draft, models.prefixes, LONGEST, seed, (), ceilings.along)
    bounds = units.bounds(range(prefixes), {Key(kind, k): LONGEST for kind in (CHAINS, DISTINCT) for k in KS})
    return {
        (k, size): (bounds[Key(DISTINCT, k)] - bounds[Key(CHAINS, k)])[:, :size].sum(axis=1)
        for k in KS
        for size in (1, 2, LOOKAHEAD, 8)
    }


def told(samples: Any) -> str:
    """Return a mean with its standard error."""
    return f"{samples.mean():+.3f} ± {samples.std(ddof=1) / len(samples) ** 0.5:.3f}"


def main(arguments: Sequence[str]) -> None:
    """Print both answers for both defaults."""
    prefixes = int(arguments[0]) if arguments else 60
    for name, models in contenders.defaults():
        for heat in TEMPERATURES:
            of = contenders.at(name, models, heat)
            print(f"\n{of.title}. {of.facts}. {prefixes} prefixes, ± one standard error", flush=True)
            for k, n in ((2, 10 * prefixes), (4, prefixes)):
                print(f"  planned tree over traversal, {k} chains of {LOOKAHEAD}: {told(ahead_of_traversal(of, k, n))}")
            for (k, size), samples in distinct_over_chains(of, prefixes).items():
                print(
                    f"  bound of distinct first tokens over i.i.d., {k} chains of {size}: {told(samples)}", flush=True
                )


if __name__ == "__main__":
    main(sys.argv[1:])
