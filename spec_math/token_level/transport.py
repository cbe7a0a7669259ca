"""Optimal transport with membership cost (SpecTr, Eq. 4): the most that any verifier of any law of drafts accepts.

The problem, for a target t and drafts x with law P, S(x) their tokens:

    maximise   Σ π(x, y) over y ∈ S(x)
    subject to Σ_x π(x, y) = t(y),   Σ_y π(x, y) = P(x),   π ≥ 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np

from spec_math.arrays import Array, is_exact, number_type
from spec_math.arrays import as_law as checked_law
from spec_math.arrays import exact as exactly
from spec_math.token_level.certificate import Certificate
from spec_math.token_level.draft_law import Drafts, checked, common_denominator, sets

CERTAIN = 1e-9
"""How far the linear program's value may be from the optimum, by its own primal and dual solutions."""


def solve(target: Any, draft_law: Mapping[Any, Any]) -> Certificate:
    """Return an optimal coupling of drafts and emitted token with the certificate that none accepts more.

    Exact: a maximum flow source → draft set → its tokens → sink in whole numbers over the common denominator of all
    masses, and the minimum cut of it. What the flow leaves over on both sides is coupled in order, and a set's
    emissions are shared by its tuples in proportion, so that the emitted token depends on the drafted set alone.
    Target [V]; draft_law {tuple or frozenset of tokens: mass}, exact; the coupling's keys are those of draft_law.

    Raises:
        TypeError: the laws are floats, or of two number types. ValueError: either is not a probability distribution.

    Source: SpecTr, Eq. 4 and Lemma 2, on sets; maximum flow = minimum cut.

    >>> certificate = solve(["1/4", "3/4"], {(0, 0): "1/4", (0, 1): "1/2", (1, 1): "1/4"})
    >>> certificate.acceptance, certificate.subset, certificate.check()
    (Fraction(1, 1), frozenset(), True)
    """
    t, drafts = _checked_laws(target, draft_law)
    if not is_exact(t):
        raise TypeError(
            f"a certificate is exact, but got {number_type(t)}; write strings, ints or Fractions, or "
            "proportional_to(exact(weights)); acceptance_of and linear_program take floats"
        )
    masses = sets(drafts)
    unit = _unit(t, masses)
    pairs, flow = _flow(t, masses, unit)
    joint = {pair: carried for pair, carried in zip(pairs, flow.flows, strict=False) if carried}
    return Certificate(
        target=tuple(t),
        draft_law=cast("dict[Any, Fraction]", drafts),
        acceptance=Fraction(flow.value, unit),
        coupling=_spread(_filled(joint, t, masses, unit), drafts, masses),
        subset=frozenset(token for token in range(len(t)) if token + 2 in flow.source_side),
    )


def acceptance_of(target: Any, draft_law: Mapping[Any, Any]) -> Any:
    """Return the most that any lossless verifier of these drafts accepts, 1 − max_H [P(S ⊆ H) − t(H)].

    Laws as in `solve`; on floats the flow runs over the whole numbers that the floats are, exactly, and the value is
    rounded once: it is off by no more than the two laws' own sums are.

    Raises:
        TypeError, ValueError: as `solve`, save that floats are welcome.

    >>> acceptance_of(["1/4", "3/4"], {(0, 1): "1/2", (0, 0): "1/2"})
    Fraction(3, 4)
    """
    t, drafts = _checked_laws(target, draft_law)
    masses = sets(drafts)
    rational = exactly(t)
    if not is_exact(t):
        masses = {key: Fraction(mass) for key, mass in masses.items()}
    unit = _unit(rational, masses)
    value = Fraction(_flow(rational, masses, unit)[1].value, unit)
    return value if is_exact(t) else float(value)


def linear_program(target: Any, draft_law: Mapping[Any, Any], reduced: bool = True) -> float:
    """Return the optimum of SpecTr's Eq. 4, as printed, by a linear programming solver (HiGHS), within 1e-9.

    All variables π(x, y) and both marginals, on draft sets; on the tuples themselves if not reduced (V^(k+1) variables:
    tiny V only). A second way to `solve`'s number that shares nothing with it. Target [V], draft law as in `solve`;
    floats welcome.

    Raises:
        ArithmeticError: the solver fails, or its own primal and dual solutions leave the optimum open by more.
        TypeError, ValueError: either is not a probability distribution.

    >>> round(linear_program(["1/4", "3/4"], {(0, 1): "1/2", (0, 0): "1/2"}), 9)
    0.75
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, kron, vstack

    t, drafts = _checked_laws(target, draft_law)
    masses: Mapping[Any, Any] = sets(drafts) if reduced else drafts
    n, size = len(masses), len(t)
    cost = np.array([float(y not in drawn) for drawn in masses for y in range(size)])
    # Variable (x, y) stands at x·V + y: one row for each draft, and one for each token.
    rows = vstack([kron(eye_array(n), np.ones((1, size))), kron(np.ones((1, n)), eye_array(size))])
    sides = np.array([*map(float, masses.values()), *map(float, t)])
    # Without presolve: next to masses of the tolerance's size it calls a feasible program infeasible.
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "presolve": False}
    found = linprog(cost, A_eq=csr_array(rows), b_eq=sides, bounds=(0, None), method="highs", options=options)
    if found.x is None:
        raise ArithmeticError(f"the linear program was not solved: {found.message}")
    value, prices = float(cost @ found.x), found.eqlin.marginals
    # HiGHS's tolerances (1e-7 by default, 1e-10 here) bound residuals one by one, not the value; the value is bounded
    # by its two solutions. Weak duality: with δ = max(Aᵀprices − cost)+, every coupling costs at least
    # prices·sides − δ, its mass being 1. And from x a coupling is made: leave out its negative parts (N in all; the
    # cost rises by N at most, each of the two marginals moves by N), cut rows and then columns down to their sides,
    # and fill up the deficit, at most Σ|residual| + 2N, at a cost of at most 1: together Σ|residual| + 3N.
    # What float64 sums of n·V terms ≤ 1 add is below (n·V + n + V)·2^-53: 1e-10 at a million variables.
    below = float(prices @ sides) - max(0.0, float((rows.T @ prices - cost).max()))
    moved = float(np.abs(rows @ found.x - sides).sum()) + 3 * float(np.maximum(-found.x, 0).sum())
    if value + moved - below > CERTAIN:
        raise ArithmeticError(
            f"the solver leaves the optimum open: the cost lies between {below} and {value + moved}, which is wider "
            f"than {CERTAIN}; call solve, which is exact"
        )
    return 1 - value


def _checked_laws(target: Any, draft_law: Mapping[Any, Any]) -> tuple[Array, dict[Drafts, Any]]:
    t = checked_law(target, "target")
    if t.ndim != 1:
        raise ValueError(f"the transport problem is that of one position, a target [V]; got {tuple(t.shape)}")
    return t, checked(draft_law, t)


def _unit(t: Array, masses: Mapping[Any, Fraction]) -> int:
    return cast(int, common_denominator((*t, *masses.values())))


def _whole(mass: Fraction, unit: int) -> int:
    return mass.numerator * (unit // mass.denominator)


def _flow(
    t: Array, masses: Mapping[frozenset[int], Fraction], unit: int
) -> tuple[list[tuple[frozenset[int], int]], Flow]:
    """Flow from the source (node 0) through sets to their tokens (node y + 2) and into the sink (node 1)."""
    first = 2 + len(t)
    pairs = [(drawn, token) for drawn in masses for token in sorted(drawn)]
    nodes = {drawn: first + place for place, drawn in enumerate(masses)}
    supply = {drawn: _whole(mass, unit) for drawn, mass in masses.items()}
    edges = [(nodes[drawn], token + 2, supply[drawn]) for drawn, token in pairs]
    edges += [(0, nodes[drawn], supplied) for drawn, supplied in supply.items()]
    edges += [(token + 2, 1, _whole(mass, unit)) for token, mass in enumerate(t)]
    return pairs, maximum_flow(first + len(masses), edges, 0, 1)


def _filled(
    joint: dict[tuple[frozenset[int], int], int], t: Array, masses: Mapping[frozenset[int], Fraction], unit: int
) -> dict[tuple[frozenset[int], int], int]:
    """Couple the mass that the flow leaves over, set after set with token after token."""
    drafts = {drawn: _whole(mass, unit) for drawn, mass in masses.items()}
    tokens = [_whole(mass, unit) for mass in t]
    for (drawn, token), carried in joint.items():
        drafts[drawn] -= carried
        tokens[token] -= carried
    token = 0
    for drawn, wanting in drafts.items():
        while wanting:
            moved = min(wanting, tokens[token])
            if moved:
                joint[drawn, token] = joint.get((drawn, token), 0) + moved
            wanting -= moved
            tokens[token] -= moved
            token += not tokens[token]
    return joint


def _spread(
    joint: dict[tuple[frozenset[int], int], int],
    drafts: Mapping[Drafts, Fraction],
    masses: Mapping[frozenset[int], Fraction],
) -> dict[tuple[Any, int], Fraction]:
    """Share each set's emissions among its tuples in proportion: π(x, y) = P(x) · π(S, y) / π(S)."""
    rows: dict[frozenset[int], list[tuple[int, int]]] = {drawn: [] for drawn in masses}
    for (drawn, token), carried in joint.items():
        rows[drawn].append((token, carried))
    totals = {drawn: sum(carried for _, carried in row) for drawn, row in rows.items()}
    return {
        (tokens, token): Fraction(mass.numerator * carried, mass.denominator * totals[drawn])
        for tokens, mass in drafts.items()
        for drawn in (frozenset(tokens),)
        for token, carried in rows[drawn]
    }


@dataclass(frozen=True)
class Flow:
    """A maximum flow: its value, the flow on each edge as listed, and the nodes on the source's side of a least cut.

    Made by `maximum_flow`.
    """

    value: int
    flows: list[int]
    source_side: frozenset[int]


def maximum_flow(nodes: int, edges: Sequence[tuple[int, int, int]], source: int, sink: int) -> Flow:
    """Return a maximum flow of a network with edges (tail, head, capacity), capacities whole numbers of any size.

    The problem: maximise what leaves the source, 0 ≤ flow ≤ capacity, conserved at every other node. The source side
    is the smallest one of a minimum cut: the nodes that the source still reaches.

    Raises:
        ValueError: a capacity is negative, or source and sink are one node.
    """
    if source == sink or any(capacity < 0 for _, _, capacity in edges):
        raise ValueError("a flow needs two distinct ends and capacities >= 0")
    # Edge 2i is the i-th edge with what it has left, edge 2i + 1 its reverse, which may give back what it carries.
    heads = [node for tail, head, _ in edges for node in (head, tail)]
    left = [number for _, _, capacity in edges for number in (capacity, 0)]
    leaving: list[list[int]] = [[] for _ in range(nodes)]
    for place, (tail, head, _) in enumerate(edges):
        leaving[tail].append(2 * place)
        leaving[head].append(2 * place + 1)
    value = 0
    while True:
        level = _levels(heads, left, leaving, source)
        if level[sink] < 0:
            side = frozenset(node for node in range(nodes) if level[node] >= 0)
            return Flow(value, left[1::2], side)
        value += _blocking(heads, left, leaving, level, (source, sink))


def _levels(heads: list[int], left: list[int], leaving: list[list[int]], source: int) -> list[int]:
    level = [-1] * len(leaving)
    level[source] = 0
    front = [source]
    for node in front:  # which grows on the way
        for edge in leaving[node]:
            head = heads[edge]
            if level[head] < 0 and left[edge]:
                level[head] = level[node] + 1
                front.append(head)
    return level


def _blocking(
    heads: list[int], left: list[int], leaving: list[list[int]], level: list[int], ends: tuple[int, int]
) -> int:
    """Fill the shortest paths from end to end until each of them has a full edge, and return what was added."""
    source, sink = ends
    place = [0] * len(leaving)
    path: list[int] = []
    node, added = source, 0
    while True:
        if node == sink:
            least = min(left[edge] for edge in path)
            added += least
            for edge in path:
                left[edge] -= least
                left[edge ^ 1] += least
            full = next(step for step, edge in enumerate(path) if not left[edge])
            node = heads[path[full] ^ 1]
            del path[full:]
            continue
        edges = leaving[node]
        while place[node] < len(edges):
            edge = edges[place[node]]
            if left[edge] and level[heads[edge]] == level[node] + 1:
                break
            place[node] += 1
        if place[node] < len(edges):
            path.append(edges[place[node]])
            node = heads[path[-1]]
        elif path:
            # A dead end: step back, and do not try this edge again.
            node = heads[path.pop() ^ 1]
            place[node] += 1
        else:
            return added
