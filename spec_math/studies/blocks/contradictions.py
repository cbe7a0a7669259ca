"""What a comparison of blocks must hold before it is shown: lengths within the lookahead, methods within bounds."""

from __future__ import annotations

from fractions import Fraction

from spec_math.invariants import Watch, hoeffding
from spec_math.mean import Mean
from spec_math.studies.blocks.comparison import EXACT_TERMS, BlockComparison, Ceiling, Entry

LENGTH = "a call yields at least one token, and no more than the lookahead and one"
ABOVE_BOUND = "no method exceeds the bound of its own drafts"


def watch(found: BlockComparison) -> Watch:
    """Return what contradicts itself in a comparison of blocks.

    Fractions are held exactly. Floats are sums of at most EXACT_TERMS terms, each off by some roundings of a number up
    to L + 1. A sampled value is a mean over one chain and a mean difference to it, each of independent draws from an
    interval, so that Hoeffding's bound holds for either; so it does for a sampled bound.

    >>> watch(BlockComparison("two tables", 2, (1,), (4,), 0, [], [])).found
    {}
    """
    result = Watch()
    for entry in found.entries:
        slack = _slack(entry.tokens, entry.exact, entry.lookahead, entry.method.largest(entry.k))
        name = f"{entry.method.name}, L = {entry.lookahead}"
        value = entry.tokens.value if entry.exact is None else entry.exact
        result.at_most(LENGTH, name, (1, value), slack, k=entry.k)
        result.at_most(LENGTH, name, (value, entry.lookahead + 1), slack, k=entry.k)
        for ceiling in found.ceilings:
            if _bounds(ceiling, entry):
                most = ceiling.tokens.value if ceiling.exact is None else ceiling.exact
                more = _slack(ceiling.tokens, ceiling.exact, entry.lookahead, 1)
                result.at_most(ABOVE_BOUND, name, (value, most), slack + more, k=entry.k)
    return result


def _bounds(ceiling: Ceiling, entry: Entry) -> bool:
    """Say whether a bound is that of a method's drafts."""
    return (ceiling.drafts, ceiling.k, ceiling.lookahead) == (entry.method.drafts, entry.k, entry.lookahead)


def _slack(mean: Mean, exact: object, lookahead: int, largest: int) -> float:
    if mean.samples:
        return 2 * hoeffding(mean.samples, lookahead * (1 + largest))
    return 0.0 if isinstance(exact, Fraction) else (EXACT_TERMS + 100) * (lookahead + 1) * 2.0**-50
