"""Chain priorities: of k i.i.d. chains one is selected by a priority refined node by node, and verified as a block.

Source: Sun et al. 2024 for block verification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spec_math.arrays import Array, count, divide, is_exact, zeros_like
from spec_math.block_level import selected_chain
from spec_math.block_level.batch.ratio_cells import Cells, CellsOf
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.priority_law import PriorityLaw, mixed, node_selection, uniform, winner
from spec_math.chance import Coin
from spec_math.distribution import normalised
from spec_math.language.model import Model
from spec_math.remembering import remembering
from spec_math.scheme import Tokens
from spec_math.token_level.optimum.pools import KnotMixture, knot_mixture, nested
from spec_math.token_level.optimum.ratio_order import Joined, RatioOrder, joined, ratio_order


def generate(
    coin: Coin, target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int
) -> Tokens:
    """Draft k i.i.d. chains, select the one of highest priority, and block-verify it against the law this selects.

    The law: the tokens, continued by the target, have the target's joint law; see `Priorities` for the selected law.
    k = 1 is block verification, lookahead 1 the optimal coupling of one position.

    Raises:
        ValueError, TypeError: lookahead or k is not a positive integer; a law is not a probability distribution or the
            prefix is not valid, named by its prefix.

    >>> from spec_math.chance import law
    >>> target, draft = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: ["1/2", "1/2"])
    >>> law(lambda coin: len(generate(coin, target, draft, (), 1, 2)))
    {2: Fraction(1, 1)}
    """
    return selected_chain.generate(coin, Priorities(Conditionals(target_model, draft_model, prefix), k), lookahead)


def expected(target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int) -> Any:
    """Return the expected number of tokens per target call, by walking the V^lookahead prefixes at most.

    The law: 1 + Σ_s M(s) over the texts s that do not end with the end token, M(s) = min(c(s), M(s_<i) t(s_i | s_<i)),
    with c(s) the probability that the selected chain begins with s. Units: tokens per call.

    Raises:
        ValueError, TypeError: as `generate`.

    >>> expected(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], (), 2, 2)
    Fraction(23, 8)
    """
    chosen = Priorities(Conditionals(target_model, draft_model, prefix), k)
    return selected_chain.expected(target_model, chosen, lookahead)


@dataclass(frozen=True)
class _Refinement:
    """The change by a node of the priorities of its children: their order, the pools, and the cells.

    The order is one of tokens, joined where their ratios are equal, or of cells; `whole` knows where each token stands.
    """

    order: RatioOrder
    whole: Joined
    pools: KnotMixture
    cells: Cells | None
    _below: dict[int, PriorityLaw] = field(default_factory=dict[int, PriorityLaw], init=False, compare=False)

    def below(self, place: int, priority: PriorityLaw) -> PriorityLaw:
        """Return what the priority of this node becomes below a token at a place of the order."""
        if place not in self._below:
            weights, low, high = nested(self.pools, place)
            self._below[place] = priority.given(weights, self.order.draft_below[low], self.order.draft_below[high])
        return self._below[place]

    def places(self, token: int) -> list[tuple[Any, int]]:
        """Return where a token stands in the order, with which shares."""
        if self.cells is None:
            return [(1, int(self.whole.place[token]))]
        cell, share = int(self.cells.cell[0, token]), self.cells.share[0, token]
        both = [(1 - share, cell), (share, cell + 1)]
        places = self.whole.place
        return [(part, int(places[cell])) for part, cell in both if part > 0 and self.cells.draft[0, cell] > 0]


class Priorities:
    """The chain of highest priority among k i.i.d. chains, each drawing its own priority in [0, 1] from its leaf's law.

    The law: a node v carries the law F_v of its priority U (uniform at the root), Z_v = E[k U^(k−1)] and the weight
    w_v = M_v / c(v) of block verification. Below it, in the order of t/d, Φ_v(p) = ∫_0^p k F_v^{-1}(q)^(k−1) dq is
    convex and takes the part that x^k has in the optimal plan of one position: the plan for the target w_v·t(.|v) and
    Φ_v/Z_v has the selection law c(.|v) and pools with weights, and F_s is the mixture over the pool sets of F_v given
    that its quantile lies in the pool of s. As Σ_s d(s|v) F_s = F_v, leaf and priority together are i.i.d. with a
    uniform priority, and the highest of k has the law Π c(.|v).

    With a `stem` the chains share their first so many tokens: these have the draft's law, and priorities, uniform until
    there, part below.

    In floats c(.|v) is the law of the pools as rounded, not the one they were made for, so that rounding costs
    acceptance and not losslessness. Laws are worked out as nodes are asked for, and kept.

    With `cells_of` the plan is that of cells of tokens, of which a chain draws one of those of its next token. With
    `ratio_cells.rounded` each chain rounds the ratio t/d of its next token at random to a neighbouring point of
    `ratio_cells.grid`, so that its mean stays: no token is sorted, and what one position accepts is less than the
    optimum by max_j (e_{j+1} − e_j)/4 · d(e_j < t/d < e_{j+1}) at most, or, if more, by what the tokens with t/d
    above the last point e lose, Σ (min(t, k·d) − e·d)+.

    Raises:
        TypeError, ValueError: k is not a positive integer.

    >>> laws = Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ())
    >>> Priorities(laws, 2).law(()).tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    """

    def __init__(self, laws: Conditionals, k: int, stem: int = 0, cells_of: CellsOf | None = None) -> None:
        self.laws = laws
        self.k = count(k)
        self._stem = stem
        self._cells_of = cells_of
        root = selected_chain.in_numpy(laws.target())
        self._priorities: dict[Tokens, PriorityLaw] = {(): uniform(root)}
        self._weights: dict[Tokens, Any] = {(): root.sum() * 0 + 1}
        self._refinements: dict[Tokens, _Refinement] = {}
        self._rows: dict[Tokens, Array] = {}
        self._last: tuple[tuple[Tokens, ...], Array] | None = None

    def law(self, path: Tokens) -> Array:
        """Return the law [V] of the next token of the selected chain, given that it begins with path."""
        if len(path) < self._stem:
            return selected_chain.in_numpy(self.laws.draft(path))
        if path not in self._rows:
            self._rows[path] = self._row(path)
        return self._rows[path]

    def _row(self, path: Tokens) -> Array:
        made = self._refinement(path)
        selected = np.full(len(made.whole.place), zeros_like(made.order.target[:1])[0])
        made.whole.spread(selected_chain.clip_from_zero(made.pools.selection), selected)
        if made.cells is not None:
            heights = divide(selected[:-1], made.cells.draft[0], zeros_like(made.cells.draft[0]))
            selected = selected_chain.in_numpy(self.laws.draft(path)) * made.cells.mean(heights[None])[0]
        return normalised(selected, selected)

    def priority(self, path: Tokens) -> PriorityLaw:
        """Return the law of the priority of a chain, given that it begins with path."""
        if len(path) <= self._stem:
            return self._priorities[()]
        if path not in self._priorities:
            above, priority = self._refinement(path[:-1]), self.priority(path[:-1])
            parts = [(share, above.below(place, priority)) for share, place in above.places(path[-1])]
            self._priorities[path] = mixed(parts) if len(parts) > 1 else parts[0][1]
        return self._priorities[path]

    def select(self, coin: Coin, chains: Sequence[Tokens]) -> Tokens:
        """Select each chain with the probability that its priority is the highest; equal chains are as good."""
        drafted = tuple(chains)
        # A walk over all paths asks again for the same chains, once for each path of what follows.
        if self._last is None or self._last[0] != drafted:
            self._last = drafted, winner([self.priority(tokens) for tokens in chains])
        return chains[coin.draw(self._last[1])]

    def _weight(self, path: Tokens) -> Any:
        if path not in self._weights:
            before, token = path[:-1], path[-1]
            weight = self._weight(before)
            reached = weight * selected_chain.in_numpy(self.laws.target(before))[token] / self.law(before)[token]
            self._weights[path] = min(weight * 0 + 1, reached)
        return self._weights[path]

    def _refinement(self, path: Tokens) -> _Refinement:
        if path not in self._refinements:
            target, draft = self.laws.target(path), self.laws.draft(path)
            weight, priority = self._weight(path), self.priority(path)
            if self._cells_of is None and is_exact(target):
                pieces = priority.masses, priority.low, priority.high
                made = _exact_refinement(target, draft, weight, *pieces, self.k)
            else:
                made = _refined(*self._order(path), weight, priority, self.k)
            self._refinements[path] = made
        return self._refinements[path]

    def _order(self, path: Tokens) -> tuple[Joined, Cells | None]:
        """Return the tokens after a path by their ratios, or their cells, the last of which is never drafted."""
        if self._cells_of is None:
            return self.laws.kept(selected_chain.classes_of, path), None
        target, draft = map(selected_chain.in_numpy, (self.laws.target(path), self.laws.draft(path)))
        cells = self._cells_of(target[None], draft[None])
        drafted = np.append(cells.draft[0], zeros_like(cells.never))
        return joined(ratio_order(np.append(cells.target[0], cells.never), drafted), len(drafted)), cells


def _refined(whole: Joined, cells: Cells | None, weight: Any, priority: PriorityLaw, k: int) -> _Refinement:
    ratios, gains = node_selection(whole.order, weight, priority, k)
    return _Refinement(whole.order, whole, knot_mixture(whole.order.draft, ratios, gains), cells)


# Each path of a walk over all of them works its nodes out anew, from the same Fractions.
@remembering(1024)
def _exact_refinement(  # noqa: PLR0913
    target: Array, draft: Array, weight: Any, masses: Array, low: Array, high: Array, k: int
) -> _Refinement:
    whole = joined(ratio_order(target, draft), len(target))
    return _refined(whole, None, weight, PriorityLaw(masses, low, high), k)
