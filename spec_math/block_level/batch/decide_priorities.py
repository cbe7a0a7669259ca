"""Chain priorities on a batch of trees: the priorities of all chains node by node, one coin, and block verification.

Source: Sun et al. 2024 for block verification.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from spec_math.array_coin import ArrayCoin, taken, wide
from spec_math.arrays import Array, array_namespace, divide, is_exact, ones_like, zeros_like
from spec_math.block_level.batch.array_tree import (
    ArrayTree,
    Rows,
    Walked,
    chord,
    path_to,
    places,
    repeated,
    running_max,
    sums_at,
    sums_below,
)
from spec_math.block_level.batch.decide_walk import tour, verified
from spec_math.block_level.batch.ratio_cells import Cells, CellsOf, deaths, density, prefixes, selection_heights
from spec_math.token_level.batch.drafts import ratio


class Chains(NamedTuple):
    """The K chains of each tree, in the order of a walk round it: nodes [B, K, D], −1 behind the end of one.

    `slots` [B, K, D] are the rows of the laws that each next token was drafted from, those of the first node with that
    path; `size` [B] is the number of chains of each tree.
    """

    nodes: Array
    slots: Array
    size: Array


class Drafted(NamedTuple):
    """The next token of each chain [B·K] as its node's cells see it: the `cell` and `share` it has, and its t/d.

    `goes` says that there is one.
    """

    cell: Array
    share: Array
    ratio: Array
    goes: Array


def decide_priorities(cells_of: CellsOf, coin: ArrayCoin, tree: ArrayTree, rows: Rows) -> Walked:
    """Select the chain of highest priority by one coin, and verify it as a block, as `chain_priorities` does.

    The law: that of `chain_priorities.Priorities` where each token is a cell of its own (`ratio_cells.by_ratio`).
    """
    chains = listed(tree)
    xp, batch, many = array_namespace(tree.tokens), len(tree.tokens), tree.width
    own = places(tree.tokens, batch * many) // many
    size, weight = chains.size[own], coin.one[own]
    law = everywhere(weight)
    heights: list[Array] = []
    for level in range(tree.depth):
        cells, drafted = _looked_at(cells_of, tree, rows, chains, level)
        law, weight, found = _refined(cells, drafted, law, weight, size, many)
        heights.append(found.reshape(batch, many, -1))
    there = chains.nodes[:, :, 0] >= 0
    chances = winner(law.edges.reshape(batch, many, -1), law.masses.reshape(batch, many, -1), there)
    chosen = coin.draw(chances, chains.size > 0)
    return verified(_Selected(cells_of, tree, chains, xp.where(chosen < 0, 0, chosen), heights), coin, tree, rows)


def listed(tree: ArrayTree) -> Chains:
    """Return the chains of each tree: its leaves as often as they have copies, each with the nodes on its way."""
    xp = array_namespace(tree.tokens)
    number = tree.tokens.shape[1]
    way, there = tour(tree), tree.tokens >= 0
    order = xp.argsort(xp.where(there, way.enters, 2 * number), axis=1, stable=True)
    leaf = xp.take_along_axis(there & (way.leaves == way.enters + 1), order, axis=1)
    copies = xp.astype(leaf, tree.tokens.dtype)
    if tree.copies is not None:
        copies = copies * xp.take_along_axis(tree.copies, order, axis=1)
    size, found = xp.sum(copies, axis=1), repeated(copies, tree.width)
    node = xp.where(
        found < number, xp.take_along_axis(order, xp.minimum(found, xp.full_like(found, number - 1)), axis=1), -1
    )
    level = xp.where(node >= 0, xp.take_along_axis(way.level, xp.where(node < 0, 0, node), axis=1), 0)
    nodes = path_to(tree, node, level)
    return Chains(nodes, _slots(tree, nodes), size)


def _slots(tree: ArrayTree, nodes: Array) -> Array:
    """Return the row of the laws above each node of the chains [B, K, D]: that of the first node with its path."""
    xp = array_namespace(tree.tokens)
    batch, chains, depth = nodes.shape
    tokens = tree.tokens_of(nodes.reshape(batch, -1)).reshape(nodes.shape)
    alike = xp.broadcast_to((tokens[:, 0, 0] < -1)[:, None, None], (batch, chains, chains))
    alike = ~alike
    slots = [xp.zeros_like(nodes[:, :, 0])]
    beyond = tree.tokens.shape[1]
    for place in range(depth - 1):
        own = tokens[:, :, place]
        alike = alike & (own[:, :, None] == own[:, None, :]) & (own >= 0)[:, :, None]
        first = xp.min(xp.where(alike, nodes[:, None, :, place], beyond), axis=-1)
        slots.append(xp.where(first < beyond, first + 1, 0))
    return xp.stack(slots, axis=-1)


def _looked_at(cells_of: CellsOf, tree: ArrayTree, rows: Rows, chains: Chains, level: int) -> tuple[Cells, Drafted]:
    """Return the cells [B·K, M] of every chain's node at a level, and what was drafted there."""
    xp = array_namespace(tree.tokens)
    tokens = tree.tokens_of(chains.nodes[:, :, level])
    cells: list[Any] = []
    drafted: list[Any] = []
    for column in range(tree.width):
        own = tokens[:, column : column + 1]
        slot = xp.where(own[:, 0] >= 0, chains.slots[:, column, level], 0)
        target, draft = rows.target(slot), rows.draft(slot)
        found = cells_of(target, draft)
        token = xp.where(own >= 0, own, 0)
        at_token = (*found[5:], target, draft)
        cell, share, t, d = (xp.take_along_axis(each, token, axis=1) for each in at_token)
        drafted.append((cell, wide(share), divide(wide(t), wide(d), wide(t)) * found.scale[:, None], own >= 0))
        cells.append(found[:5])
    key, target, draft, never, scale = (_rows(xp, each) for each in zip(*cells, strict=True))
    cell, share, ratios, goes = (xp.concat(each, axis=1).reshape(-1) for each in zip(*drafted, strict=True))
    return Cells(key, target, draft, never, scale, cell, share), Drafted(cell, share, ratios, goes)


def _rows(xp: Any, columns: tuple[Any, ...]) -> Any:
    """Return columns [B, ...] of every request side by side, [B·K, ...]."""
    stacked = xp.stack(columns, axis=1)
    return stacked.reshape(-1, *stacked.shape[2:])


def _refined(
    cells: Cells, drafted: Drafted, law: Pieces, weight: Array, k: Array, many: int
) -> tuple[Pieces, Array, Array]:
    """Return the laws of the priorities and the weights below the nodes [R, ...], and their heights, a row a chain."""
    xp = array_namespace(weight)
    ends = prefixes(cells.draft)
    node = cut(law, ends)
    power = law.mean_power(k, many)[:, None]
    slopes = divide(node.slopes(k, many), power, power)
    gains = sums_below(slopes * cells.draft)
    # Where no chain takes part nothing is gained, and nothing is selected.
    heights = selection_heights(cells, weight, divide(gains, gains[:, -1:], gains))
    died, draft = deaths(cells.draft, heights, slopes), cells.draft
    following = xp.minimum(drafted.cell + 1, xp.full_like(drafted.cell, draft.shape[1] - 1))
    here, share = density(draft, died, drafted.cell), drafted.share
    spread = here * (1 - share)[:, None] + density(draft, died, following) * share[:, None]
    goes = drafted.goes[:, None]
    below = node.given(xp.where(goes, spread, ones_like(spread)))
    height = taken(heights, drafted.cell) * (1 - share) + taken(heights, following) * share
    reached = xp.minimum(ones_like(height), ratio(weight * drafted.ratio, height))
    return below, xp.where(drafted.goes, reached, weight), heights


class _Selected:
    """The chain selected in each tree, token by token, and the law that it has: d·c/d, by its tokens' cells."""

    def __init__(self, cells_of: CellsOf, tree: ArrayTree, chains: Chains, chosen: Array, heights: list[Array]) -> None:
        here = places(tree.tokens, len(tree.tokens))
        self._cells_of = cells_of
        self._tokens = tree.tokens_of(chains.nodes[here, chosen])
        self._heights = [each[here, chosen] for each in heights]
        self._level = 0

    def __call__(self, tokens: Array, target: Array, draft: Array) -> tuple[Array, Array]:
        if self._level == len(self._heights):
            return array_namespace(tokens).full_like(tokens[:, 0], -1), target
        token, heights = self._tokens[:, self._level], self._heights[self._level]
        self._level += 1
        law = wide(draft) * self._cells_of(target, draft).mean(heights)
        return token, law if is_exact(law) else array_namespace(law).astype(law, target.dtype, copy=False)


class Pieces(NamedTuple):
    """Laws on [0, 1]: masses [R, m] between the edges [R, m + 1], ascending from 0 to 1; a mass is spread evenly."""

    edges: Array
    masses: Array

    def mean_power(self, size: Array, most: int) -> Array:
        """Return E[k U^(k−1)], [R], for each row's own k, `size` [R], at most `most`."""
        return (self.masses * chord(self.edges[:, :-1], self.edges[:, 1:], size, most)).sum(1)


class Cut(NamedTuple):
    """Laws cut at quantiles: `edges` [R, n + 1] of priorities, `widths` [R, n] between them in quantiles.

    `cell` [R, n] is the stretch of quantiles that a piece lies in, and `places` [R, M + 1] the priorities at its ends.
    """

    edges: Array
    widths: Array
    cell: Array
    places: Array

    def slopes(self, size: Array, most: int) -> Array:
        """Return the mean of k U^(k−1) over each of the M stretches, [R, M]: as means of positive terms.

        A stretch that floats cannot tell from a point has the slope of the place it stands at.
        """
        many = self.places.shape[1] - 1
        rises = chord(self.edges[:, :-1], self.edges[:, 1:], size, most)
        at_place = chord(self.places[:, :-1], self.places[:, 1:], size, most)
        return divide(sums_at(self.widths * rises, self.cell, many), sums_at(self.widths, self.cell, many), at_place)

    def given(self, density: Array) -> Pieces:
        """Return the law of this density [R, M] over the quantiles; where floats see no mass, the law that was cut."""
        xp = array_namespace(density)
        masses = self.widths * xp.take_along_axis(density, self.cell, axis=1)
        total = masses.sum(1)[:, None]
        return Pieces(self.edges, divide(masses, total, self.widths))


def everywhere(like: Array) -> Pieces:
    """Return the uniform law on [0, 1] for each row of an array [R]."""
    xp = array_namespace(like)
    one = ones_like(like)[:, None]
    return Pieces(xp.concat([one - one, one], axis=1), one)


def cut(law: Pieces, ends: Array) -> Cut:
    """Cut laws at the quantiles [R, M + 1], ascending from 0 to 1."""
    xp = array_namespace(ends)
    below = sums_below(law.masses)
    below = below / below[:, -1:]
    pieces, stretches = law.masses.shape[1], ends.shape[1] - 1
    stops = xp.concat([below[:, 1:], ends[:, 1:]], axis=1)
    order = xp.argsort(stops, axis=1, stable=True)
    upper = xp.take_along_axis(stops, order, axis=1)
    own = xp.astype(order < pieces, order.dtype)
    # How many pieces, and how many stretches, have ended before this one begins.
    piece = xp.minimum(own.cumsum(1) - own, xp.full_like(order, pieces - 1))
    cell = xp.minimum((1 - own).cumsum(1) - (1 - own), xp.full_like(order, stretches - 1))
    sides = below, law.edges[:, :-1], law.edges[:, 1:]
    start, low, high = (xp.take_along_axis(rows, piece, axis=1) for rows in sides)
    pace = divide(high - low, xp.take_along_axis(law.masses / law.masses.sum(1)[:, None], piece, axis=1), low - low)
    # Rounding must not carry a priority past the end of its piece.
    at = xp.where(own > 0, high, xp.minimum(low + (upper - start) * pace, high))
    edges = running_max(xp.concat([law.edges[:, :1], at], axis=1))
    lower = xp.concat([zeros_like(upper[:, :1]), upper[:, :-1]], axis=1)
    back = xp.argsort(order, axis=1)
    places = xp.take_along_axis(edges, back[:, pieces:] + 1, axis=1)
    return Cut(edges, upper - lower, cell, xp.concat([edges[:, :1], places], axis=1))


def winner(edges: Array, masses: Array, there: Array) -> Array:
    """Return, for independent priorities of the laws of K chains, the probability [B, K] that each is the highest.

    Edges [B, K, m + 1], masses [B, K, m], `there` [B, K] which of the chains take part. Between neighbouring edges of
    any law every distribution function is linear, so that the integrand is a polynomial with coefficients ≥ 0.
    """
    xp = array_namespace(edges)
    chains, ends = edges.shape[1:]
    flat = edges.reshape(len(edges), -1)
    order = xp.argsort(flat, axis=1, stable=True)
    marks = xp.take_along_axis(flat, order, axis=1)
    widths = marks[:, 1:] - marks[:, :-1]
    reached: list[Any] = []
    shares: list[Any] = []
    for chain in range(chains):
        own = xp.astype(order[:, :-1] // ends == chain, order.dtype)
        piece = own.cumsum(1) - 1
        inside = (piece >= 0) & (piece < ends - 1) & there[:, chain, None]
        piece = xp.where(inside, piece, 0)
        span = edges[:, chain, 1:] - edges[:, chain, :-1]
        density = divide(masses[:, chain], span, zeros_like(span))
        share = widths * xp.take_along_axis(density, piece, axis=1)
        share = xp.where(inside, share, zeros_like(share))
        before = sums_below(share)[:, :-1]
        # A place without a chain is below all others.
        reached.append(xp.where(there[:, chain, None], before, ones_like(before)))
        shares.append(share)
    return highest(reached, shares)


def highest(reached: list[Array], shares: list[Array]) -> Array:
    """Return the probability [B, K] that each of K priorities is the highest, over cells in which all are linear.

    Within a cell, at the fraction θ of its width, F_i = reached_i + shares_i·θ; lists of K arrays [B, cells].
    """
    lower, upper = _products(reached, shares), _products(reached[::-1], shares[::-1])[::-1]
    chances = [(share * _integral(low, high)).sum(1) for share, low, high in zip(shares, lower, upper, strict=True)]
    return array_namespace(shares[0]).stack(chances, axis=1)


def _products(constants: list[Any], slopes: list[Any]) -> list[list[Any]]:
    """Return the polynomials Π_{i<j} (constant_i + slope_i θ) for every j, by their coefficients."""
    found = [[ones_like(constants[0])]]
    for constant, slope in zip(constants[:-1], slopes[:-1], strict=True):
        last = found[-1]
        inner = [last[at] * constant + last[at - 1] * slope for at in range(1, len(last))]
        found.append([last[0] * constant, *inner, last[-1] * slope])
    return found


def _integral(first: list[Any], second: list[Any]) -> Any:
    """Integrate the product of two polynomials from 0 to 1."""
    total = zeros_like(first[0])
    for i, ours in enumerate(first):
        inner = zeros_like(total)
        for j, theirs in enumerate(second):
            inner = inner + theirs / (i + j + 1)
        total = total + ours * inner
    return total
