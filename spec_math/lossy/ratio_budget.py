"""The optimum under a bounded likelihood ratio: no token may be emitted more than L times as often as the target does.

The problem: maximise P(Y ∈ S) over couplings of the drafts whose emitted law e has e ≤ L·t, and, where both ways are
bounded, t ≤ L·e. Its value is min_H [1 − P(S ⊆ H) + ψ(t(H))] over all subsets H of tokens, with ψ(T) = min(1, L·T), or
min(1, L·T, 1 − (1 − T)/L) both ways: the most that e(H) can be. As ψ is concave a best H for i.i.d. drafts is a prefix
of the tokens by t/d ascending. Any budget that is a bound e(H) ≤ ψ(t(H)), ψ concave, is solved alike: total variation
is ψ(T) = min(1, T + ε).

Source: the lossless problem is SpecTr's Eq. 4; the theorem is worked out here. L = e^ε both ways is the bound of
differential privacy.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, as_law, is_exact
from spec_math.lossy import frontier
from spec_math.lossy.options import at_least
from spec_math.token_level.draft_law import checked, common_denominator, sets
from spec_math.token_level.optimum.prefix_law import independent
from spec_math.token_level.optimum.ratio_order import ratio_order
from spec_math.token_level.transport import maximum_flow


def acceptance(target: Any, draft: Any, k: int, ratio: Any, both_ways: bool = False) -> Any:
    """Return the largest P(Y ∈ S) of any rule of k i.i.d. drafts that keeps to the likelihood ratio: O(V log V).

    `ratio` L ≥ 1, a number; e^ε is for the caller to round. Target and draft [V]; a probability, exact on Fractions.

    Raises:
        TypeError, ValueError: the ratio is no number from 1 on; laws of more than one position; as `arrays.as_laws`.

    >>> acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1, "3/2"), acceptance(["1/4", "3/4"], ["1/2", "1/2"], 1, "3/2", True)
    (Fraction(7, 8), Fraction(7, 8))
    """
    most = at_least(1)(ratio, "ratio")
    t, d = frontier.one_position(target, draft)
    order = ratio_order(t, d)
    prefix = independent(order, k)
    times = most if is_exact(t) else float(most)
    ceilings = [np.minimum(times * order.target_below, order.target_below * 0 + 1)]
    if both_ways:
        ceilings.append(1 - order.target_above / times)
    return (prefix.outside + np.minimum.reduce(ceilings)).min()


def acceptance_of(target: Any, draft_law: Mapping[Any, Any], ratio: Any) -> Fraction:
    """Return the largest P(Y ∈ S) of any rule of these drafts that emits no token more than `ratio` times its due.

    A maximum flow from draft sets through their tokens, each with an outlet L·t(y). Target [V]; draft_law
    {tuple or frozenset of tokens: mass}; exact.

    Raises:
        TypeError: floats, whose flow would round. ValueError: the ratio is below 1, or a law is not a probability
            distribution.

    >>> acceptance_of(["1/4", "3/4"], {(0,): "1/2", (1,): "1/2"}, "3/2")
    Fraction(7, 8)
    """
    most = at_least(1)(ratio, "ratio")
    t = as_law(target, "target")
    if not is_exact(t) or t.ndim != 1:
        raise TypeError("the flow is exact, at one position: write strings, ints or Fractions")
    masses = sets(checked(draft_law, t))
    unit = common_denominator((*(most * mass for mass in t), *masses.values()))
    nodes = {drawn: 2 + len(t) + place for place, drawn in enumerate(masses)}
    edges = [(0, nodes[drawn], int(mass * unit)) for drawn, mass in masses.items()]
    edges += [(nodes[drawn], 2 + token, int(masses[drawn] * unit)) for drawn in masses for token in drawn]
    edges += [(2 + token, 1, int(most * mass * unit)) for token, mass in enumerate(t)]
    return Fraction(maximum_flow(2 + len(t) + len(masses), edges, 0, 1).value, unit)


def law(target: Any, draft: Any, k: int, ratio: Any, both_ways: bool = False) -> Array:
    """Return the law [V] of the frontier at that acceptance: it keeps to the ratio, as no law of it has a smaller one.

    Target and draft [V].

    Raises:
        TypeError, ValueError: as `acceptance`.

    >>> law(["1/4", "3/4"], ["1/2", "1/2"], 1, "3/2").tolist()
    [Fraction(3, 8), Fraction(5, 8)]
    """
    return frontier.law(target, draft, k, min(1, acceptance(target, draft, k, ratio, both_ways)))
