"""Second ways to the law that pools select, from their definition: rules played out, hulls by corners, long doubles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate, combinations, pairwise
from typing import Any

import numpy as np

from proofs_tests.oracles import independent_drafts, successive_drafts

Between = Callable[[int, int], Any]
"""The slope (g_b − g_a)/(P_b − P_a) of a pool (a, b]."""


def prefix_masses(draft: Sequence[Any], k: int, replaced: bool) -> list[Any]:
    """g_i = P(all drafts lie among the first i tokens), by adding up tuples."""
    drafts = independent_drafts(draft, k) if replaced else successive_drafts(draft, k)
    return [
        sum((mass for tokens, mass in drafts.items() if max(tokens) < i), Fraction(0)) for i in range(len(draft) + 1)
    ]


def slope_between(draft: Sequence[Any], inside: Sequence[Any]) -> Between:
    def between(a: int, b: int) -> Any:
        return (inside[b] - inside[a]) / sum(draft[a:b])

    return between


def hull(points: Sequence[tuple[Any, Any]]) -> list[int]:
    """The lower convex hull of points with ascending first coordinates: those below every chord across them."""
    corners = [0]
    for i in range(1, len(points) - 1):
        x, y = points[i]
        above = all(
            (points[b][0] - points[a][0]) * y < points[a][1] * (points[b][0] - x) + points[b][1] * (x - points[a][0])
            for a, b in combinations(range(len(points)), 2)
            if a < i < b
        )
        if above:
            corners.append(i)
    return [*corners, len(points) - 1]


def corners_of_u(convex: Sequence[Any], inside: Sequence[Any], below: Sequence[Any]) -> list[Any]:
    """Every u in (0, 1) where three of the points (P_i, C_i − u·g_i) lie on a line, with 0 and 1, ascending."""
    found = {Fraction(0), Fraction(1)}
    for a, i, b in combinations(range(len(below)), 3):
        left, right = (below[b] - below[i]), (below[i] - below[a])
        kink = convex[a] * left + convex[b] * right - convex[i] * (left + right)
        bend = inside[a] * left + inside[b] * right - inside[i] * (left + right)
        if bend != 0 and 0 < kink / bend < 1:
            found.add(kink / bend)
    return sorted(found)


def selected_by_pools(weights: Sequence[Any], dies: Sequence[int], draft: Sequence[Any], between: Between) -> list[Any]:
    """Σ_j w_j·(slope of its pool in component j) · d for each token, component by component."""
    result = [mass - mass for mass in draft]
    for j, weight in enumerate(weights):
        living = [i for i, last in enumerate(dies) if last > j]
        for a, b in pairwise(living):
            for token in range(a, b):
                result[token] = result[token] + weight * draft[token] * between(a, b)
    return result


def selected_by_pools_at_any_size(weights: Any, dies: Any, slopes_between: Callable[[Any, Any], Any]) -> Any:
    """The same, without the factor d, for many tokens: every pool is found as what the death of its last knot leaves.

    Knot i leaves the pool (a, b] between the nearest knots that live at least as long; it lasts from the death of i to
    the first death of a and b. A pool lies in the one that this death makes. Arithmetic of the slopes' own type.
    """
    n = len(dies) - 1
    listed = [int(last) for last in dies]
    before, after = [0] * (n + 1), [n] * (n + 1)
    stack = [0]
    for i in range(1, n + 1):
        while listed[stack[-1]] < listed[i]:
            after[stack.pop()] = i
        before[i] = stack[-1]
        stack.append(i)
    low, high = np.array(before)[1:n], np.array(after)[1:n]
    slopes = slopes_between(np.concatenate([np.arange(n), low]), np.concatenate([np.arange(1, n + 1), high]))
    zero = slopes[0] - slopes[0]
    # Weights are multiples of 2^-53, whose sums up to 1 are exact in every arithmetic used here.
    starts = np.array([zero, *accumulate(zero + weight for weight in weights)], dtype=slopes.dtype)
    ends = np.concatenate([np.minimum(dies[:-1], dies[1:]), np.minimum(dies[low], dies[high])])
    births = np.concatenate([np.zeros(n, dtype=int), dies[1:n]])
    shares = list((starts[ends] - starts[births]) * slopes)
    totals = [zero] * (n + 1)
    for i in sorted(range(1, n), key=lambda i: -listed[i]):
        a, b = before[i], after[i]
        totals[i] = shares[n + i - 1] + totals[a if listed[a] <= listed[b] else b]
    leaves = [shares[token] + totals[token + 1 if listed[token + 1] <= listed[token] else token] for token in range(n)]
    return np.array(leaves, dtype=slopes.dtype)
