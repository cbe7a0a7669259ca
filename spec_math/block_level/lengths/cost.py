"""The cost of a block: tokens per call divided by stated latencies.

Source: SpecTr, Tables 1 and 3, for latencies; Section 1 for the cost of a call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import accumulate
from math import prod
from operator import mul
from typing import Any, NamedTuple

from spec_math.block_level.tree import checked_widths


class Latency(NamedTuple):
    """A measured latency: its mean and the standard deviation over runs, in units of a stated call."""

    mean: Fraction
    spread: Fraction


Table = Mapping[tuple[int, int], Latency]
"""Measured latencies of one model, {(length, batch): latency}: tokens in a row, and rows at once."""

LatencyOf = Callable[[int, int], Any]
"""The latency of one call of a model on `length` tokens in a row and `batch` rows at once."""


def _table(*rows: tuple[str, ...]) -> Table:
    """Read the rows of a table, for the lengths 4 and 8."""
    return {
        (length, batch): Latency(*map(Fraction, entry.split(" ± ")))
        for length, entries in zip((4, 8), rows, strict=True)
        for batch, entry in zip((1, 2, 4, 8), entries, strict=True)
    }


SPECTR_TABLE_1 = _table(
    ("1.00 ± 0.16", "1.01 ± 0.15", "1.06 ± 0.10", "1.10 ± 0.16"),
    ("1.01 ± 0.18", "1.09 ± 0.25", "1.10 ± 0.09", "1.42 ± 0.4"),
)
"""SpecTr, Table 1: a call of the 97M target on a GPU, 1,000 runs, relative to its own call of length 4 and batch 1."""

SPECTR_TABLE_3 = _table(
    ("0.18 ± 0.02", "0.19 ± 0.04", "0.18 ± 0.09", "0.20 ± 0.13"),
    ("0.17 ± 0.04", "0.19 ± 0.05", "0.16 ± 0.02", "0.18 ± 0.04"),
)
"""SpecTr, Table 3: a call of the 6M draft, 1,000 runs, relative to the 97M target's call of length 4 and batch 1."""


def from_table(table: Table, spreads: Any = 0) -> LatencyOf:
    """Read latencies off a table, at the mean plus `spreads` standard deviations; nothing is interpolated.

    A call shorter than the shortest that the table states for its batch costs what that one costs.

    Raises:
        LookupError: the table states neither the length nor a longer shortest one, or not the batch.
    """

    def latency(length: int, batch: int) -> Any:
        stated = sorted(known for known, rows in table if rows == batch)
        if stated and length < stated[0]:
            length = stated[0]
        if (length, batch) not in table:
            raise LookupError(
                f"no latency is stated for length {length} and batch {batch}; the table has lengths "
                f"{sorted({known for known, _ in table})} and batches {sorted({rows for _, rows in table})}: choose "
                "among those, or pass a function of your own"
            )
        mean, spread = table[length, batch]
        return mean + spreads * spread

    return latency


def of_block(widths: Iterable[int], target: LatencyOf, draft: LatencyOf | None = None) -> Any:
    """Return the latency of one block: a target call on its tree, and one draft call a level before it.

    With L levels and K = Π widths leaves: target(L, K) + Σ_i draft(1, Π widths_<i), as level i is drafted from the
    nodes above it all at once. A draft of None costs nothing. `target` and `draft` take a length and a number of paths,
    and return a number. Units: those of the two functions.

    Raises:
        ValueError, TypeError: widths are not positive integers.
    """
    levels = checked_widths(tuple(widths))
    latency = target(len(levels), prod(levels))
    if draft is None:
        return latency
    return latency + sum(draft(1, nodes) for nodes in accumulate(levels[:-1], mul, initial=1))


def speed_up(tokens_per_call: Any, latency: Any, plain: Any = 1) -> Any:
    """Return how many times faster than plain decoding: tokens per call · plain / latency.

    `plain` is the latency of the call that plain decoding makes for each token, in the units of `latency`.

    Raises:
        ValueError: a latency that is not positive, or fewer tokens per call than the one that every call yields.
    """
    if not latency > 0 or not plain > 0:
        raise ValueError(f"latencies must be positive; got {latency} for a block and {plain} for plain decoding")
    if not tokens_per_call >= 1:
        raise ValueError(f"every call yields at least 1 token; got {tokens_per_call} tokens per call")
    return tokens_per_call * plain / latency
