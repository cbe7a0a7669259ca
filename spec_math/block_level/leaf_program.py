"""Laws of the drafted leaves, which laws of ONE leaf they allow, and the linear program over these for the optimum.

It is solved in floats with leaf sets added as needed, then in Fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from spec_math.arrays import Array, exact, is_exact, proportional_to
from spec_math.block_level.conditionals import Conditionals
from spec_math.scheme import Tokens
from spec_math.token_level import optimal, transport
from spec_math.token_level.certificate import Certificate

FLOAT = np.ndarray[Any, np.dtype[np.float64]]

SLACK = 1e-9
"""By how much floats must break a constraint for it to be added; what remains is settled in Fractions."""

STEP = 0.1
"""How far beyond the allowed a point is separated, as a part of what is left of the way."""


# Both laws of sets S of drafted leaves, 0..n−1, answer alike. A law c of one leaf, selected from S by some rule, is
# admitted where c(W) ≤ P(S meets W) for every set W of leaves; masses [n] that sum to less, but keep to this, can be
# completed to such a law. `separated` returns sets W that the masses `outer` [n] break by more than SLACK, and in place
# of `inner`, which keeps to all sets, a point closer to `outer` that does so too.


@dataclass(frozen=True)
class IndependentChains:
    """k i.i.d. leaves of the draft law [n], all masses > 0."""

    draft: Array
    k: int

    @property
    def size(self) -> int:
        """The number of leaves."""
        return len(self.draft)

    def admits(self, selection: Array) -> bool:
        """Say whether the optimal coupling of k drafts with this law always emits a draft."""
        return bool(optimal.acceptance(selection, self.draft, self.k) == 1)

    def completed(self, masses: Array) -> Array | None:
        """Raise c to d·max(c/d, μ), μ such that the sum is 1: over d, a chord from an allowed point to (1, 1)."""
        ratios = masses / self.draft
        order = np.argsort(ratios, kind="stable")
        # Raising the m lowest leaves to one ratio takes μ_m = (1 − the masses of the others)/(draft of these).
        levels = (1 - masses.sum() + np.cumsum(masses[order])) / np.cumsum(self.draft[order])
        law = self.draft * np.maximum(ratios, levels.min())
        return law if law.sum() == 1 and self.admits(law) else None

    def separated(self, inner: FLOAT, outer: FLOAT) -> tuple[FLOAT, list[np.ndarray[Any, Any]]]:
        """Return tops of the leaves by c/d at a point just beyond where the way from inner to outer leaves the allowed.

        A set broken there is broken by outer too, and far fewer are needed than at outer itself (in-out separation).
        """
        if self._surplus(outer)[1].max() <= SLACK:
            return outer, []
        low, high = 0.0, 1.0
        for _ in range(12):
            middle = (low + high) / 2
            beyond = (self._surplus(inner + middle * (outer - inner))[1] > 0).any()
            low, high = (low, middle) if beyond else (middle, high)
        order, surplus = self._surplus(inner + (low + STEP * (1 - low)) * (outer - inner))
        return inner + low * (outer - inner), [order[: place + 1] for place in np.flatnonzero(surplus > 0)]

    def _surplus(self, masses: FLOAT) -> tuple[np.ndarray[Any, Any], FLOAT]:
        """Return the leaves by c/d descending, and c(W) − P(S meets W) of the tops W that part unequal ratios."""
        draft = self.draft.astype(np.float64)
        # A leaf whose draft mass is below all floats goes first where it has any mass, and last where it has none.
        with np.errstate(over="ignore"):
            ratios = np.divide(masses, draft, out=np.where(masses > 0, np.inf, 0.0), where=draft > 0)
        order = np.argsort(-ratios, kind="stable")
        surplus = np.cumsum(masses[order]) - (1 - (1 - np.minimum(np.cumsum(draft[order]), 1.0)) ** self.k)
        tied = np.append(ratios[order][:-1] <= ratios[order][1:] * (1 + SLACK), False)
        return order, np.where(tied, -1.0, surplus)

    def meets(self, leaves: np.ndarray[Any, Any]) -> Fraction:
        """Return 1 − (1 − d(W))^k."""
        return 1 - (1 - self.draft[leaves].sum()) ** self.k

    def dearest(self, prices: Sequence[Fraction]) -> Fraction:
        """Return Σ price·(P_i^k − P_{i−1}^k) along the leaves in the order of their prices."""
        total, below = Fraction(0), Fraction(0)
        for leaf in sorted(range(self.size), key=prices.__getitem__):
            above = below + self.draft[leaf]
            total += prices[leaf] * (above**self.k - below**self.k)
            below = above
        return total


@dataclass(frozen=True)
class DraftedTrees:
    """Any law of drafted trees, as the masses of their sets of leaves."""

    masses: Mapping[frozenset[int], Fraction]
    size: int

    def admits(self, selection: Array) -> bool:
        """Say whether the optimal transport of the sets to this law always emits a member."""
        return bool(transport.acceptance_of(selection, dict(self.masses)) == 1)

    def completed(self, masses: Array) -> Array | None:
        """Transport the sets to the masses, and give what is left of each set to its members in equal parts."""
        claim = self._transported(masses)
        if claim is None or claim.acceptance < masses.sum():
            return None
        law = exact([0] * self.size)
        for (leaves, leaf), mass in claim.coupling.items():
            for member in [leaf] if leaf in leaves else leaves:
                law[member] += mass if leaf in leaves else mass / len(leaves)
        return law

    def separated(self, inner: FLOAT, outer: FLOAT) -> tuple[FLOAT, list[np.ndarray[Any, Any]]]:
        """Return the set that has most too much, from the minimum cut of the transport."""
        masses = exact(np.maximum(outer, 0.0))
        claim = self._transported(masses if masses.sum() <= 1 else proportional_to(masses))
        if claim is None or claim.acceptance >= masses.sum() - Fraction(SLACK):
            return outer, []
        return inner, [np.array([leaf for leaf in range(self.size) if leaf not in claim.subset])]

    def meets(self, leaves: np.ndarray[Any, Any]) -> Fraction:
        """Return the mass of the trees with a leaf in W."""
        wanted = set(leaves.tolist())
        return sum((mass for drawn, mass in self.masses.items() if drawn & wanted), Fraction(0))

    def dearest(self, prices: Sequence[Fraction]) -> Fraction:
        """Return the mean over trees of the largest price of a leaf."""
        return sum((mass * max(prices[leaf] for leaf in drawn) for drawn, mass in self.masses.items()), Fraction(0))

    def _transported(self, masses: Array) -> Certificate | None:
        """Transport the sets to the leaves and to one token more, which no set holds and which has what is missing."""
        missing = 1 - masses.sum()
        return transport.solve(np.append(masses, missing), dict(self.masses)) if missing >= 0 else None


@dataclass(frozen=True)
class PrefixTree:
    """All N prefixes that a drafted chain can begin with, depth first, the empty one (index 0) first; n of them leaves.

    A leaf has `lookahead` tokens or ends with the end token. The leaves below node v are first[v] to last[v] − 1.
    Numbers are Fractions; float laws are read as the dyadic numbers they hold, in proportion to their own sums.
    """

    paths: tuple[Tokens, ...]
    parents: np.ndarray[Any, Any]
    """[N] the index of the prefix without its last token; −1 for the root."""
    target: Array
    """[N] t(last token | prefix before it); 1 for the root."""
    draft: Array
    """[N] the probability that a drafted chain begins with the prefix."""
    counted: np.ndarray[Any, Any]
    """[N] 1 where keeping the prefix adds a token to what is emitted: not for the root, nor after the end token."""
    leaves: np.ndarray[Any, Any]
    """[n] the indices of the leaves."""
    first: np.ndarray[Any, Any]
    last: np.ndarray[Any, Any]

    def __len__(self) -> int:
        return len(self.paths)

    def kept(self, selection: Sequence[Fraction]) -> list[Fraction]:
        """Return M [N] of block verification against the law of a selected leaf [n]: M_s = min(c(s), M_v t(s|v))."""
        sums = list(accumulate(selection, initial=Fraction(0)))
        kept = [Fraction(1)]
        for node in range(1, len(self)):
            wanted = kept[self.parents[node]] * self.target[node]
            kept.append(min(sums[self.last[node]] - sums[self.first[node]], wanted))
        return kept

    def accepted(self, selection: Sequence[Fraction]) -> Fraction:
        """Return Σ M: the expected number of tokens that block verification of the selected leaf adds."""
        kept = self.kept(selection)
        return sum((mass for mass, counts in zip(kept, self.counted, strict=True) if counts), Fraction(0))

    def leaf_prices(self, prices: Sequence[Fraction]) -> list[Fraction]:
        """Return for each leaf [n] the sum of the prices [N] on the way to it."""
        sums = [prices[0] * 0]
        for node in range(1, len(self)):
            sums.append(sums[self.parents[node]] + prices[node])
        return [sums[leaf] for leaf in self.leaves]

    def stopping(self, prices: Sequence[Fraction]) -> Fraction:
        """Return the most that walking down by the target can gain: 1 a counted prefix, less its price, stop at will.

        The law: ζ_v = Σ_s t(s|v) max(0, [s counted] − Y_s + ζ_s), and ζ of the root is returned.
        """
        gains = [Fraction(0)] * len(self)
        for node in range(len(self) - 1, 0, -1):
            gain = int(self.counted[node]) - prices[node] + gains[node]
            if gain > 0:
                gains[self.parents[node]] += self.target[node] * gain
        return gains[0]


def prefix_tree(laws: Conditionals, lookahead: int) -> PrefixTree:
    """Walk all prefixes of up to `lookahead` tokens that the draft can draw.

    Raises:
        ValueError, TypeError: a law is not a probability distribution, named by its prefix.
    """
    paths: list[Tokens] = [()]
    parents, leaves, first, last = [-1], list[int](), [0], [0]
    target, draft = [Fraction(1)], [Fraction(1)]

    def below(node: int) -> None:
        path = paths[node]
        if len(path) == lookahead or laws.ends(path):
            leaves.append(node)
        else:
            t, d = _rational(laws.target(path)), _rational(laws.draft(path))
            for token in np.flatnonzero(d > 0).tolist():
                paths.append((*path, token))
                parents.append(node)
                target.append(t[token])
                draft.append(draft[node] * d[token])
                first.append(len(leaves))
                last.append(0)
                below(len(paths) - 1)
        last[node] = len(leaves)

    below(0)
    counted = np.array([bool(path) and not laws.ends(path) for path in paths], dtype=np.int64)
    by_leaf = np.array(leaves), np.array(first), np.array(last)
    return PrefixTree(tuple(paths), np.array(parents), exact(target), exact(draft), counted, *by_leaf)


def _rational(row: Array) -> Array:
    return row if is_exact(row) else proportional_to(exact(row))


Drafts = IndependentChains | DraftedTrees
"""A law of sets of drafted leaves."""

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
        laws = (self._drafts.completed((1 - Fraction(1, 2**power)) * floats) for power in range(40, -1, -2))
        return next((law for law in laws if law is not None), None)

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

    The problem: Σ_j a_j x_j = b for every (a, b); sparse elimination in Fractions, the right sides as one more column.
    """
    from sympy.polys.matrices.sdm import sdm_irref

    place, right = {j: at for at, j in enumerate(unknowns)}, len(unknowns)
    rows = [
        {place[j]: a for j, a in row.items() if j in place and a} | ({right: b} if b else {}) for row, b in equations
    ]
    reduced, pivots, _ = sdm_irref({at: row for at, row in enumerate(rows) if row})
    if pivots != list(range(right)):
        return None
    return {j: reduced[at].get(right, Fraction(0)) for j, at in place.items()}
