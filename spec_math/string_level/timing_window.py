"""How wide a band to align in: the offsets that alignments without a band show, and the window of the best speed-up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from spec_math.string_level.alignment import align

SHARE = Fraction(9, 10)
"""The share of aligned places whose offset a window is to hold."""


def offsets(pairs: Iterable[tuple[Sequence[str | bytes], Sequence[str | bytes]]]) -> dict[int, int]:
    """Count the offsets |i − j| of the aligned places of pairs of token sequences, without a band: {offset: count}.

    Source: TokenTiming, Appendix K, Fig. 6 (Δpos).

    >>> offsets([(["a", "b", "cd"], ["ab", "cd"])])
    {0: 1, 1: 2}
    """
    found: Counter[int] = Counter()
    for first, second in pairs:
        path, _ = align(first, second, max(len(first), len(second)))
        found.update(abs(i - j) for i, j in path)
    return dict(sorted(found.items()))


def reach(counts: Mapping[int, int], share: Any = SHARE) -> int:
    """Return the least offset up to which at least `share` of the aligned places lie. Source: Appendix K.

    Raises:
        ValueError: there are no places, or the share is outside (0, 1].

    >>> reach({0: 8, 1: 1, 5: 1}), reach({0: 8, 1: 1, 5: 1}, Fraction(19, 20))
    (1, 5)
    """
    total = sum(counts.values())
    if total == 0:
        raise ValueError("offsets are counted over at least one aligned place; there is none")
    if not 0 < share <= 1:
        raise ValueError(f"a share of the places lies in (0, 1]; got {share}")
    within = 0
    for offset in sorted(counts):
        within += counts[offset]
        if within >= share * total:
            break
    return offset  # pyright: ignore[reportPossiblyUnboundVariable] - there is at least one offset


def chosen(reaches: Iterable[int], mean_speed_up: Callable[[int], Any]) -> int:
    """Return the window with the largest mean speed-up, the narrowest among equals.

    Searched from the least to the largest reach of the model pairs. Source: Appendix K, which so comes to w = 8.

    Raises:
        ValueError: there is no model pair.

    >>> chosen([2, 6, 4], lambda window: -abs(window - 5))
    5
    """
    found = list(reaches)
    if not found:
        raise ValueError("windows are chosen for at least one model pair; there is none")
    return max(range(min(found), max(found) + 1), key=mean_speed_up)
