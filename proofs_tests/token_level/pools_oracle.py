"""Second ways to the law that pools select, from their definition: rules played out, hulls by corners, long doubles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
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


def selected_by_merging(weights: Any, dies: Any, draft: Any, gains: Any) -> Any:
    """The same for many tokens, from their gains g_{i+1} − g_i: each pool is the tokens that some knot's death joins.

    The knots form a tree: the longest-lived of a stretch is above those on its two sides. Masses and gains are added
    up from the tokens, and lifetime times slope down from the root: positive terms in the arithmetic of the arrays.
    """
    n, none = len(draft), -1
    ages = [int(last) for last in dies]
    sides = [[none, none] for _ in range(n + 1)]
    stack: list[int] = []
    for knot in range(1, n):
        while stack and ages[stack[-1]] < ages[knot]:
            sides[knot][0] = stack.pop()
        if stack:
            sides[stack[-1]][1] = knot
        stack.append(knot)
    births = [draft[0] - draft[0]]
    for weight in weights:
        births.append(births[-1] + weight)
    mass, rise = [*draft, *[None] * (n + 1)], [*gains, *[None] * (n + 1)]
    parts = {
        knot: [n + side if side != none else knot - 1 + at for at, side in enumerate(sides[knot])]
        for knot in range(1, n)
    }
    downwards = sorted(range(1, n), key=lambda knot: (-ages[knot], knot))
    for knot in reversed(downwards):
        lower, upper = parts[knot]
        mass[n + knot], rise[n + knot] = mass[lower] + mass[upper], rise[lower] + rise[upper]
    one = births[-1]
    ends, above = [one] * (2 * n + 1), [one - one] * (2 * n + 1)
    for knot in downwards:
        node, born = n + knot, births[ages[knot]]
        total = above[node] + (ends[node] - born) * (rise[node] / mass[node])
        for part in parts[knot]:
            ends[part], above[part] = born, total
    shares = [above[token] + ends[token] * (rise[token] / mass[token]) for token in range(n)]
    return np.array([share * d for share, d in zip(shares, draft, strict=True)], dtype=np.asarray(draft).dtype)
