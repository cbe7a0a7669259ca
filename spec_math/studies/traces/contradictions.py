"""What an audited trace must hold before it is shown: every way to group its rows adds up to the same."""

from __future__ import annotations

import numpy as np

from spec_math.arrays import SUM_BOUND
from spec_math.invariants import Watch
from spec_math.traces import Summary
from spec_math.traces.shard_audit import COLUMNS

COUNTED = "no more drafts are accepted than there are, and no more drafts judged than rows"
PREDICTED = "no verifier is predicted to accept more than the optimum, nor the optimum more than every draft"
ADDS_UP = "rows add up to the same, however they are grouped"


def watch(summary: Summary) -> Watch:
    """Return what contradicts itself in an audited trace.

    Counts are held exactly. Predictions are sums over drafts of numbers that a stored law's gap, 2^-7 at most, moves by
    as much; other sums of n float64 terms up to 1 agree within n·(n + 2)·2^-53 for n rows.

    >>> from spec_math.traces import merge
    >>> from spec_math.traces.recorder import toy_shard
    >>> from spec_math.traces.shard_audit import audit_opened
    >>> watch(merge([audit_opened(toy_shard())])).found
    {}
    """
    result = Watch()
    tables = {
        "depth in the block": summary.by_depth,
        "entropy": summary.by_entropy,
        "place in the text": summary.by_place,
        "repetition": summary.by_repetition,
    }
    for name, table in tables.items():
        rows, drafts, accepted, expected, optimum = table.T[:5]
        for sides in ((accepted, drafts), (drafts, rows), (0.0, accepted)):
            result.at_most(COUNTED, f"groups by {name}", sides, 0.0)
        # n drafts at most: a bound for each group by the largest of them.
        slack = 2 * SUM_BOUND["float16"] * max(1.0, float(drafts.max()))
        for sides in ((expected, optimum), (optimum, drafts), (0.0, expected)):
            result.at_most(PREDICTED, f"groups by {name}", sides, slack)
    totals = {name: table.sum(axis=0) for name, table in tables.items()}
    first = totals["depth in the block"]
    for name, total in totals.items():
        for place, column in enumerate(COLUMNS[:5]):
            rows = float(first[0])
            bound = 0.0 if place < 3 else rows * (rows + 2) * 2.0**-53
            result.at_most(ADDS_UP, f"{column} by {name}", (np.abs(total[place] - first[place]), 0.0), bound)
    return result
