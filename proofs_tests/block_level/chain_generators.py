"""The generator that the tests of chain priorities judge, and the optimum of one position by all sets of tokens."""

from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from spec_math.arrays import Array
from spec_math.block_level import selected_chain
from spec_math.block_level.batch.ratio_cells import rounded
from spec_math.block_level.chain_priorities import Priorities
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.priority_law import PriorityLaw

Path = tuple[int, ...]

rounded_selection = partial(Priorities, cells_of=rounded)
"""The rule on rounded ratios."""


def generator(target: Any, draft: Any, lookahead: int, k: int, rule: Any = Priorities) -> Any:
    """The generator, with its laws worked out once for all paths of an enumeration."""
    known: dict[Path, Any] = {}

    def generate(coin: Any, prefix: Path) -> Path:
        if prefix not in known:
            known[prefix] = rule(Conditionals(target, draft, prefix), k)
        return selected_chain.generate(coin, known[prefix], lookahead)

    return generate


def drafted_chains(draft: Any, lookahead: int) -> dict[Path, Fraction]:
    chains: dict[Path, Fraction] = {(): Fraction(1)}
    for _ in range(lookahead):
        longer: dict[Path, Fraction] = {}
        for path, mass in chains.items():
            if draft.end is not None and path[-1:] == (draft.end,):
                longer[path] = mass
                continue
            for token, share in enumerate(draft(path)):
                if share > 0:
                    longer[(*path, token)] = mass * share
        chains = longer
    return chains


def reached(law: PriorityLaw, at: Fraction) -> Fraction:
    """P(U ≤ at)."""
    pieces = zip(law.masses, law.low, law.high, strict=True)
    return sum((mass * min(max((at - low) / (high - low), 0), 1) for mass, low, high in pieces), Fraction(0))


def optimal_acceptance(target: Array, draft: Array, k: int) -> Fraction:
    """1 − max over all sets H of tokens of d(H)^k − t(H)."""
    masks = product([False, True], repeat=len(target))
    return 1 - max(sum(draft[list(mask)], Fraction(0)) ** k - sum(target[list(mask)], Fraction(0)) for mask in masks)
