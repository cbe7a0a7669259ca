"""What ANY verifier of k chains, or of a drafted tree, can reach: the largest expected number of accepted tokens.

Source: Sun et al. 2024 for one chain; the program of prefixes and its dual are worked out here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from spec_math.arrays import count, exact
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.drafted_leaves import DraftedTrees, Drafts, IndependentChains
from spec_math.block_level.leaf_program import LeafProgram
from spec_math.block_level.prefix_tree import PrefixTree, prefix_tree
from spec_math.block_level.tree import Node, checked_widths, grow
from spec_math.chance import law as law_of
from spec_math.language.model import Model
from spec_math.notebook import BAD, GOOD, card
from spec_math.scheme import Tokens
from spec_math.token_level import optimal
from spec_math.token_level.without_replacement import draw as draw_without_replacement
from spec_math.verdict import Bracket, Optimal


@dataclass(frozen=True)
class Certificate:
    """A law c of one leaf that drafts allow, and prices of prefixes: a verifier reaches `lower`, none exceeds `upper`.

    Selecting a drafted leaf by c and block-verifying it accepts Σ M on average, M_s = min(c(s), M_v t(s|v)). No
    verifier accepts more than E[largest sum of prices along a drafted chain] + (the most that stopping a walk by the
    target can gain, 1 a prefix less its price), whatever the prices Y ≥ 0 [N].

    >>> claim = chains_certificate(lambda _: ["1/3", "2/3"], lambda _: ["2/3", "1/3"], (), 1, 1)
    >>> claim.lower, claim.upper, claim.check()
    (Fraction(2, 3), Fraction(2, 3), True)
    """

    tree: PrefixTree
    drafts: Drafts
    selection: tuple[Fraction, ...]
    prices: tuple[Fraction, ...]

    @property
    def lower(self) -> Fraction:
        """What block verification of the selected leaf accepts."""
        return self.tree.accepted(self.selection)

    @property
    def upper(self) -> Fraction:
        """What no verifier exceeds, by the prices."""
        return self.drafts.dearest(self.tree.leaf_prices(self.prices)) + self.tree.stopping(self.prices)

    def check(self) -> bool:
        """Say whether the selection is allowed and the prices are prices, so that the value lies in [lower, upper]."""
        law, prices = list(self.selection), list(self.prices)
        return (
            len(law) == len(self.tree.leaves) == self.drafts.size
            and len(prices) == len(self.tree)
            and min(law) >= 0
            and sum(law) == 1
            and min(prices) >= 0
            and self.drafts.admits(exact(law))
            and self.lower <= self.upper
        )

    def _repr_html_(self) -> str:
        if not self.check():
            return card("Certificate that shows nothing", {}, colour=BAD)
        facts = {"leaves": len(self.tree.leaves), "accepted tokens at least": self.lower, "at most": self.upper}
        return card("Certificate of a block", facts, colour=GOOD)


def chains(target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int) -> Optimal | Bracket:
    """Return the most tokens that any verifier of k i.i.d. chains accepts on average, with its certificate.

    The problem (reduced): max Σ_s M_s over 0 ≤ M_s ≤ M_v t(s|v), M of the empty prefix 1, and Σ_{s ∈ W} M_s ≤
    P(the drafts meet W) for every antichain W. A prefix that ends the text is not counted, so that the expected number
    of tokens per target call is 1 more than this. HiGHS solves it in floats, with leaf sets added as they are broken;
    its vertex is then solved for in Fractions. Optimal where the two ends agree exactly, else a Bracket of Fractions.
    Float laws are read as the dyadic numbers they hold, in proportion to their own sums.

    Raises:
        ValueError, TypeError: lookahead or k is no count; a law or the prefix is none, named by its prefix.

    >>> chains(lambda _: ["1/3", "2/3"], lambda _: ["2/3", "1/3"], (), 2, 1).acceptance
    Fraction(11, 9)
    """
    claim = chains_certificate(target_model, draft_model, prefix, lookahead, k)
    return _verdict(claim)


def trees(target_model: Model, draft_model: Model, prefix: Sequence[int], widths: Sequence[int]) -> Optimal | Bracket:
    """Return the most tokens that any verifier accepts on average of a tree drafted without replacement.

    As `chains`; siblings are drawn without replacement, and the law of the drafted trees is enumerated.

    Raises:
        ValueError, TypeError: widths are no counts; a law or the prefix is none, named by its prefix.

    >>> trees(lambda _: ["1/3", "2/3"], lambda _: ["2/3", "1/3"], (), (2, 2)).acceptance
    Fraction(2, 1)
    """
    laws, widths = Conditionals(target_model, draft_model, prefix), checked_widths(widths)
    tree = prefix_tree(laws, len(widths))
    index = {tree.paths[leaf]: place for place, leaf in enumerate(tree.leaves)}

    def leaves(nodes: tuple[Node, ...], path: Tokens) -> frozenset[int]:
        if not nodes:
            return frozenset({index[path]})
        return frozenset().union(*(leaves(node.children, (*path, node.token)) for node in nodes))

    masses = law_of(lambda coin: leaves(grow(coin, laws, widths, draw_without_replacement), ()))
    return _verdict(certified(tree, DraftedTrees(masses, len(tree.leaves))))


def chains_certificate(
    target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int
) -> Certificate:
    """Return the certificate that `chains` judges: its `lower` and `upper` enclose the optimum.

    >>> chains_certificate(lambda _: ["1/3", "2/3"], lambda _: ["2/3", "1/3"], (), 1, 2).upper
    Fraction(8, 9)
    """
    tree = prefix_tree(Conditionals(target_model, draft_model, prefix), count(lookahead, "lookahead"))
    return certified(tree, IndependentChains(tree.draft[tree.leaves], count(k)))


def level_bound(target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int) -> Any:
    """Return an upper bound without a solver: Σ over levels of the optimal transport of whole prefixes of that length.

    The bound lets every level be met as if the levels above it did not bind: Σ_i max P(the first i tokens of the text
    are those of a drafted chain). One sort a level, V^lookahead prefixes.

    Raises:
        TypeError, ValueError: lookahead or k is no count; a law or the prefix is none, named by its prefix.

    >>> level_bound(lambda _: ["1/3", "2/3"], lambda _: ["2/3", "1/3"], (), 2, 1)
    Fraction(4, 3)
    """
    tree = prefix_tree(Conditionals(target_model, draft_model, prefix), count(lookahead, "lookahead"))
    total, reached = Fraction(0), [Fraction(1)]
    for node in range(1, len(tree)):
        reached.append(reached[tree.parents[node]] * tree.target[node])
    for level in range(1, lookahead + 1):
        nodes = [node for node, path in enumerate(tree.paths) if len(path) == level and tree.counted[node]]
        # What is not of this level, or not counted, is a draft that no target token meets, and the reverse.
        t, d = [reached[node] for node in nodes], [tree.draft[node] for node in nodes]
        target, draft = exact([*t, 0, 1 - sum(t)]), exact([*d, 1 - sum(d), 0])
        total += optimal.acceptance(target, draft, k)
    return total


def _verdict(claim: Certificate) -> Optimal | Bracket:
    lower, upper = claim.lower, claim.upper
    return Optimal(lower, claim) if lower == upper else Bracket(lower, upper)


def certified(tree: PrefixTree, drafts: Drafts) -> Certificate:
    """Return a certificate for any law of drafts on a tree of prefixes: the narrowest of those found.

    Units: tokens accepted per target call. Prices and selection: vectors over prefixes and leaves.

    >>> tree = prefix_tree(Conditionals(lambda _: ["1/4", "3/4"], lambda _: ["1/2", "1/2"], ()), 1)
    >>> claim = certified(tree, DraftedTrees({frozenset({0, 1}): Fraction(1)}, 2))
    >>> claim.lower, claim.upper
    (Fraction(1, 1), Fraction(1, 1))
    """
    program = LeafProgram(tree, drafts)
    program.solve()
    selections = [program.exact_selection(), program.rounded_selection()]
    prices = [program.exact_prices(), program.rounded_prices()]
    claims = [
        Certificate(tree, drafts, tuple(law), tuple(cost))
        for law, cost in product(selections, prices)
        if law is not None and cost is not None
    ]
    sound = [claim for claim in claims if claim.check()]
    return min(sound, key=lambda claim: claim.upper - claim.lower)
