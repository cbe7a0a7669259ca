"""Questions about drafts without replacement on the embedded defaults, each asked of the same texts.

Is the planned tree ahead of traversal? Both are measured along the same texts of the target, their coins averaged out,
so that a difference is a mean with its standard error. Are distinct first tokens worth more than i.i.d. chains, as many
and as long? The bounds of both kinds are means over the same texts of the target.

Run from the project's folder: python -m benchmarks.same_drafts [prefixes]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from spec_math.block_level.methods import CHAINS, DISTINCT, PLANNED, named
from spec_math.studies.frontier import contenders
from spec_math.studies.frontier.contenders import KS, LONGEST, Regime
from spec_math.studies.lengths import ceilings
from spec_math.studies.lengths.units import Key, Units

LOOKAHEAD = 4
BOTH = PLANNED, named("traversal, distinct first tokens")
TEMPERATURES = 1.0, 0.7, 0.4


def ahead_of_traversal(of: Regime, k: int, prefixes: int, seed: int = 0) -> Any:
    """Return by how many tokens a call the planned tree is ahead of traversal, a sample for each prefix [n].

    k chains of `LOOKAHEAD` tokens with distinct first tokens, both along the same texts.
    """
    models = of.models
    units = Units(models.target, models.draft, models.prefixes, LOOKAHEAD, seed, (), ceilings.along)
    found = units.accepted(range(prefixes), {Key(method, k): LOOKAHEAD for method in BOTH})
    planned, traversed = (found[Key(method, k)].sum(axis=1) for method in BOTH)
    return planned - traversed


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
