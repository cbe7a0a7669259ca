"""The reduced linear program of a drafted tree: solved in floats with leaf sets added as needed, then in Fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, exact
from spec_math.block_level.optimal.leaves import Drafts, PrefixTree

NEGLIGIBLE = 1e-8
"""Below it a float of the solver is read as 0. A wrong reading costs the proof of optimality, never a wrong claim."""

LARGE = 500
"""Rows beyond which the optimum in floats is not pursued to a vertex."""


class LeafProgram:
    """The reduced linear program: columns M_1..M_{N−1}, then the masses c_1..c_n of a selected leaf; all ≥ 0.

    The problem: max Σ M_s over the counted prefixes, with M_s ≤ t(s|v) M_v, M_s ≤ Σ of c over the leaves below s,
    Σ c ≤ 1 and c(W) ≤ P(the drafts meet W) for every set W of leaves.
    """

    def __init__(self, tree: PrefixTree, drafts: Drafts) -> None:
        self._tree, self._drafts = tree, drafts
        self._nodes, self._leaves = len(tree) - 1, len(tree.leaves)
        one = Fraction(1)
        self._rows: list[tuple[Row, Fraction]] = []
        for node in range(1, len(tree)):
            row: Row = {node - 1: one}
            if tree.parents[node] > 0:
                row[int(tree.parents[node]) - 1] = -tree.target[node]
            self._rows.append((row, Fraction(0) if tree.parents[node] > 0 else tree.target[node]))
        for node in range(1, len(tree)):
            below = range(int(tree.first[node]), int(tree.last[node]))
            self._rows.append(({node - 1: one} | {self._nodes + leaf: -one for leaf in below}, Fraction(0)))
        self._rows.append(({self._nodes + leaf: one for leaf in range(self._leaves)}, one))
        self._gains = [Fraction(int(counts)) for counts in tree.counted[1:]] + [Fraction(0)] * self._leaves
        self._sets: set[tuple[int, ...]] = set()
        self._values: np.ndarray[Any, Any] = np.zeros(0)
        self._duals: np.ndarray[Any, Any] = np.zeros(0)

    def solve(self) -> None:
        """Solve in floats, adding the leaf sets that are broken until none is."""
        inner = np.zeros(self._leaves)
        while True:
            value = self._solve_with_the_rows_there_are()
            outer = self._values[self._nodes :]
            inner, broken = self._drafts.separated(inner, outer)
            if self._added(broken):
                continue
            # Where the point between brings nothing new, outer itself may. On a large instance that goes on for long
            # among vertices of one value: there, a point that reaches the value in floats has to do.
            settled = len(self._rows) > LARGE and value - float(self._tree.accepted(inner.tolist())) < NEGLIGIBLE
            if settled or not self._added(self._drafts.separated(outer, outer)[1]):
                self._values[self._nodes :] = inner
                return

    def _solve_with_the_rows_there_are(self) -> float:
        from scipy.optimize import linprog  # slow to load, and most of what imports this solves nothing

        solution: Any = linprog(
            [-float(gain) for gain in self._gains],
            A_ub=self._matrix(),
            b_ub=[float(b) for _, b in self._rows],
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if solution.status != 0:
            raise RuntimeError(f"the linear program could not be solved: {solution.message}")
        self._values, self._duals = solution.x, -solution.ineqlin.marginals
        return -float(solution.fun)

    def _added(self, broken: list[np.ndarray[Any, Any]]) -> bool:
        """Add rows for leaf sets; say whether any was new."""
        size = len(self._rows)
        for leaves in broken:
            known = tuple(sorted(leaves.tolist()))
            if known not in self._sets:
                self._sets.add(known)
                row = {self._nodes + leaf: Fraction(1) for leaf in known}
                self._rows.append((row, self._drafts.meets(leaves)))
        return len(self._rows) > size

    def exact_selection(self) -> Array | None:
        """Solve in Fractions for the vertex: the rows that hold with equality, over the columns that are not 0."""
        slack = np.array([float(b) for _, b in self._rows]) - self._matrix() @ self._values
        tight = [self._rows[row] for row in np.flatnonzero(slack < NEGLIGIBLE)]
        solution = solved(tight, np.flatnonzero(self._values > NEGLIGIBLE).tolist())
        if solution is None or min(solution.values(), default=0) < 0:
            return None
        return self._drafts.completed(exact([solution.get(self._nodes + leaf, 0) for leaf in range(self._leaves)]))

    def exact_prices(self) -> list[Fraction] | None:
        """Solve in Fractions for the dual vertex: the columns that pay exactly, over the rows with a price."""
        columns: list[Row] = [{} for _ in self._gains]
        for at, (row, _) in enumerate(self._rows):
            for column, a in row.items():
                columns[column][at] = a
        paid = self._matrix().T @ self._duals - np.array([float(gain) for gain in self._gains])
        tight = [(columns[column], self._gains[column]) for column in np.flatnonzero(paid < NEGLIGIBLE)]
        solution = solved(tight, np.flatnonzero(self._duals > NEGLIGIBLE).tolist())
        if solution is None:
            return None
        return [Fraction(0)] + [solution.get(self._nodes + node, Fraction(0)) for node in range(self._nodes)]

    def rounded_selection(self) -> Array | None:
        """Return the law in floats, made smaller until Fractions find it allowed, and completed."""
        floats = exact(np.maximum(self._values[self._nodes :], 0.0))
        for power in range(40, -1, -2):
            law = self._drafts.completed((1 - Fraction(1, 2**power)) * floats)
            if law is not None:
                return law
        return None

    def rounded_prices(self) -> list[Fraction]:
        """Return the prices in floats, rounded to simple fractions."""
        floats = self._duals[self._nodes : 2 * self._nodes]
        return [Fraction(0), *(Fraction(max(price, 0.0)).limit_denominator(10**9) for price in floats)]

    def _matrix(self) -> Any:
        from scipy.sparse import csr_array

        data = [float(a) for row, _ in self._rows for a in row.values()]
        indices = [column for row, _ in self._rows for column in row]
        ends = np.cumsum([0] + [len(row) for row, _ in self._rows])
        return csr_array((data, indices, ends), shape=(len(self._rows), len(self._gains)))


Row = dict[int, Fraction]
"""A sparse row {column: coefficient}."""


def solved(equations: Sequence[tuple[Row, Fraction]], unknowns: Sequence[int]) -> dict[int, Fraction] | None:
    """Solve linear equations over the unknowns, all other columns 0: the solution, or None unless there is exactly one.

    The problem: Σ_j a_j x_j = b for every (a, b); sparse elimination in Fractions, the shortest row first.

    >>> one = Fraction(1)
    >>> solved([({0: one, 1: one}, one), ({0: one, 1: -one}, 0 * one)], [0, 1])
    {0: Fraction(1, 2), 1: Fraction(1, 2)}
    >>> solved([({0: one, 1: one}, one)], [0, 1]) is None
    True
    """
    wanted = set(unknowns)
    rows = [({j: a for j, a in row.items() if j in wanted and a != 0}, b) for row, b in equations]
    pivots: list[tuple[int, Row, Fraction]] = []
    while rows:
        rows.sort(key=lambda entry: len(entry[0]), reverse=True)
        row, b = rows.pop()
        if not row:
            if b != 0:
                return None
            continue
        pivot = min(row, key=lambda j: sum(j in other for other, _ in rows))
        lead = row[pivot]
        row, b = {j: a / lead for j, a in row.items() if j != pivot}, b / lead
        pivots.append((pivot, row, b))
        rows = [_without(entry, pivot, row, b) for entry in rows]
    if len(pivots) < len(wanted):
        return None
    solution: dict[int, Fraction] = {}
    for pivot, row, b in reversed(pivots):
        solution[pivot] = b - sum((a * solution[j] for j, a in row.items()), Fraction(0))
    return {j: solution[j] for j in unknowns}


def _without(entry: tuple[Row, Fraction], pivot: int, row: Row, b: Fraction) -> tuple[Row, Fraction]:
    """Take pivot = b − row out of an equation."""
    other, right = entry
    factor = other.get(pivot)
    if factor is None:
        return entry
    result = {j: a for j, a in other.items() if j != pivot}
    for j, a in row.items():
        value = result.get(j, Fraction(0)) - factor * a
        if value == 0:
            result.pop(j, None)
        else:
            result[j] = value
    return result, right - factor * b
