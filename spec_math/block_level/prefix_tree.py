"""The tree of prefixes that drafts can reach, and the values on it that the optimum's linear program needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from spec_math.arrays import Array, exact, is_exact, proportional_to
from spec_math.block_level.conditionals import Conditionals
from spec_math.scheme import Tokens


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
        """Return M [N] of block verification against the law of a selected leaf [n]: M_s = min(c(s), M_v t(s|v)).

        >>> tree = prefix_tree(Conditionals(lambda _: ["1/4", "3/4"], lambda _: ["1/2", "1/2"], ()), 1)
        >>> tree.kept(exact(["1/4", "3/4"]))
        [Fraction(1, 1), Fraction(1, 4), Fraction(3, 4)]
        """
        sums = list(accumulate(selection, initial=Fraction(0)))
        kept = [Fraction(1)]
        for node in range(1, len(self)):
            wanted = kept[self.parents[node]] * self.target[node]
            kept.append(min(sums[self.last[node]] - sums[self.first[node]], wanted))
        return kept

    def accepted(self, selection: Sequence[Fraction]) -> Fraction:
        """Return Σ M: the expected number of tokens that block verification of the selected leaf adds.

        >>> tree = prefix_tree(Conditionals(lambda _: ["1/4", "3/4"], lambda _: ["1/2", "1/2"], ()), 1)
        >>> tree.accepted(exact(["1/2", "1/2"]))
        Fraction(3, 4)
        """
        kept = self.kept(selection)
        return sum((mass for mass, counts in zip(kept, self.counted, strict=True) if counts), Fraction(0))

    def leaf_prices(self, prices: Sequence[Fraction]) -> list[Fraction]:
        """Return for each leaf [n] the sum of the prices [N] on the way to it.

        >>> tree = prefix_tree(Conditionals(lambda _: ["1/4", "3/4"], lambda _: ["1/2", "1/2"], ()), 1)
        >>> tree.leaf_prices(exact([0, 1, "1/2"]))
        [Fraction(1, 1), Fraction(1, 2)]
        """
        sums = [prices[0] * 0]
        for node in range(1, len(self)):
            sums.append(sums[self.parents[node]] + prices[node])
        return [sums[leaf] for leaf in self.leaves]

    def stopping(self, prices: Sequence[Fraction]) -> Fraction:
        """Return the most that walking down by the target can gain: 1 a counted prefix, less its price, stop at will.

        The law: ζ_v = Σ_s t(s|v) max(0, [s counted] − Y_s + ζ_s), and ζ of the root is returned.

        >>> tree = prefix_tree(Conditionals(lambda _: ["1/4", "3/4"], lambda _: ["1/2", "1/2"], ()), 1)
        >>> tree.stopping(exact([0, 1, "1/2"]))
        Fraction(3, 8)
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

    >>> prefix_tree(Conditionals(lambda _: ["1/4", "3/4"], lambda _: [0, 1], ()), 2).paths
    ((), (1,), (1, 1))
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
    return PrefixTree(
        tuple(paths),
        np.array(parents),
        exact(target),
        exact(draft),
        counted,
        np.array(leaves),
        np.array(first),
        np.array(last),
    )


def _rational(row: Array) -> Array:
    return row if is_exact(row) else proportional_to(exact(row))
