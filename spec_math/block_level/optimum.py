"""The optimum of blocks: the most tokens per target call that ANY verifier of k chains, or of a tree, yields.

Source: Sun et al. 2024 for one chain; the program of prefixes and its dual are worked out here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from spec_math.arrays import count, exact
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.leaf_program import (
    DraftedTrees,
    Drafts,
    IndependentChains,
    LeafProgram,
    PrefixTree,
    prefix_tree,
)
from spec_math.block_level.tree import Node, checked_widths, grow
from spec_math.chance import Coin
from spec_math.chance import law as law_of
from spec_math.language.model import Model
from spec_math.notebook import BAD, GOOD, card
from spec_math.scheme import Tokens
from spec_math.token_level import optimal
from spec_math.token_level.without_replacement import draw as draw_without_replacement
from spec_math.verdict import Bracket


@dataclass(frozen=True)
class Certificate:
    """A law c of one leaf that drafts allow, and prices of prefixes: a verifier reaches `lower`, none exceeds `upper`.

    Selecting a drafted leaf by c and block-verifying it yields 1 + Σ M tokens per call on average, M_s = min(c(s),
    M_v t(s|v)). No verifier yields more than 1 + E[largest sum of prices along a drafted chain] + (the most that
    stopping a walk by the target can gain, 1 a prefix less its price), whatever the prices Y ≥ 0 [N].

    >>> claim = chains_certificate(lambda _: ["1/3", "2/3"], lambda _: ["2/3", "1/3"], (), 1, 1)
    >>> claim.lower, claim.upper, claim.check()
    (Fraction(5, 3), Fraction(5, 3), True)
    """

    tree: PrefixTree
    drafts: Drafts
    selection: tuple[Fraction, ...]
    prices: tuple[Fraction, ...]

    @property
    def lower(self) -> Fraction:
        """The tokens per call that block verification of the selected leaf yields."""
        return 1 + self.tree.accepted(self.selection)

    @property
    def upper(self) -> Fraction:
        """The tokens per call that no verifier exceeds, by the prices."""
        return 1 + self.drafts.dearest(self.tree.leaf_prices(self.prices)) + self.tree.stopping(self.prices)

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
        facts = {"leaves": len(self.tree.leaves), "tokens per call at least": self.lower, "at most": self.upper}
        return card("Certificate of a block", facts, colour=GOOD)


@dataclass(frozen=True)
class OptimalLength:
    """No verifier of these drafts yields more tokens per call of the target: `certificate` shows it.

    >>> print(tokens_per_call(lambda _: ["1/3", "2/3"], lambda _: ["2/3", "1/3"], (), 1, 1))
    Optimal: no verifier of these drafts yields more than 5/3 tokens per call
    """

    tokens_per_call: Any
    certificate: Certificate

    def __str__(self) -> str:
        return f"Optimal: no verifier of these drafts yields more than {self.tokens_per_call} tokens per call"

    def _repr_html_(self) -> str:
        facts = {"tokens per call": self.tokens_per_call, "certified": self.certificate.check()}
        return card("Optimal", facts, colour=GOOD)


def tokens_per_call(
    target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int
) -> OptimalLength | Bracket:
    """Return the most tokens per call that any verifier of k i.i.d. chains yields on average, with its certificate.

    The problem (reduced): max Σ_s M_s over 0 ≤ M_s ≤ M_v t(s|v), M of the empty prefix 1, and Σ_{s ∈ W} M_s ≤
    P(the drafts meet W) for every antichain W. A prefix that ends the text is not counted, so that the tokens per call
    of the target are 1 more than this. HiGHS solves it in floats, with leaf sets added as they are broken; its vertex
    is then solved for in Fractions. Optimal where the two ends agree exactly, else a Bracket of Fractions. Float laws
    are read as the dyadic numbers they hold, in proportion to their own sums.

    Raises:
        ValueError, TypeError: lookahead or k is not a positive integer; a law is not a probability distribution or the
            prefix is not valid, named by its prefix.

    >>> tokens_per_call(lambda _: ["1/3", "2/3"], lambda _: ["2/3", "1/3"], (), 2, 1).tokens_per_call
    Fraction(20, 9)
    """
    return _verdict(chains_certificate(target_model, draft_model, prefix, lookahead, k))


def tokens_per_call_of_tree(
    target_model: Model,
    draft_model: Model,
    prefix: Sequence[int],
    widths: Sequence[int],
    draw: Callable[[Coin, Any, int], Tokens] = draw_without_replacement,
) -> OptimalLength | Bracket:
    """Return the most tokens per call that any verifier yields on average of a tree drafted without replacement.

    As `tokens_per_call`; siblings are drawn by `draw`, and the law of the drafted trees is enumerated.

    Raises:
        ValueError, TypeError: widths are not positive integers; a law is not a probability distribution or the prefix
            is not valid, named by its prefix.

    >>> tokens_per_call_of_tree(lambda _: ["1/3", "2/3"], lambda _: ["2/3", "1/3"], (), (2, 2)).tokens_per_call
    Fraction(3, 1)
    """
    laws, widths = Conditionals(target_model, draft_model, prefix), checked_widths(widths)
    tree = prefix_tree(laws, len(widths))
    index = {tree.paths[leaf]: place for place, leaf in enumerate(tree.leaves)}

    def leaves(nodes: tuple[Node, ...], path: Tokens) -> frozenset[int]:
        if not nodes:
            return frozenset({index[path]})
        return frozenset().union(*(leaves(node.children, (*path, node.token)) for node in nodes))

    masses = law_of(lambda coin: leaves(grow(coin, laws, widths, draw), ()))
    return _verdict(certified(tree, DraftedTrees(masses, len(tree.leaves))))


def chains_certificate(
    target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int
) -> Certificate:
    """Return the certificate that `tokens_per_call` judges: its `lower` and `upper` enclose the optimum."""
    tree = prefix_tree(Conditionals(target_model, draft_model, prefix), count(lookahead, "lookahead"))
    return certified(tree, IndependentChains(tree.draft[tree.leaves], count(k)))


def level_bound(target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int) -> Any:
    """Return an upper bound of the tokens per call without a solver: 1 + Σ over levels of the transport of prefixes.

    The bound lets every level be met as if the levels above it did not bind: 1 + Σ_i max P(the first i tokens of the
    text are those of a drafted chain). One sort a level, V^lookahead prefixes.

    Raises:
        TypeError, ValueError: lookahead or k is not a positive integer; a law is not a probability distribution or the
            prefix is not valid, named by its prefix.

    >>> level_bound(lambda _: ["1/3", "2/3"], lambda _: ["2/3", "1/3"], (), 2, 1)
    Fraction(7, 3)
    """
    tree = prefix_tree(Conditionals(target_model, draft_model, prefix), count(lookahead, "lookahead"))
    total, reached = Fraction(1), [Fraction(1)]
    for node in range(1, len(tree)):
        reached.append(reached[tree.parents[node]] * tree.target[node])
    for level in range(1, lookahead + 1):
        nodes = [node for node, path in enumerate(tree.paths) if len(path) == level and tree.counted[node]]
        # What is not of this level, or not counted, is a draft that no target token meets, and the reverse.
        t, d = [reached[node] for node in nodes], [tree.draft[node] for node in nodes]
        target, draft = exact([*t, 0, 1 - sum(t)]), exact([*d, 1 - sum(d), 0])
        total += optimal.acceptance(target, draft, k)
    return total


def _verdict(claim: Certificate) -> OptimalLength | Bracket:
    lower, upper = claim.lower, claim.upper
    return OptimalLength(lower, claim) if lower == upper else Bracket(lower, upper)


def certified(tree: PrefixTree, drafts: Drafts) -> Certificate:
    """Return a certificate for any law of drafts on a tree of prefixes: the narrowest of those found.

    Units: tokens per target call. Prices and selection: vectors over prefixes and leaves.
    """
    program = LeafProgram(tree, drafts)
    program.solve()
    law, cost = program.exact_selection(), program.exact_prices()
    if law is not None and cost is not None:
        claim = Certificate(tree, drafts, tuple(law), tuple(cost))
        # None is narrower than this, and it is found most often.
        if claim.lower == claim.upper and claim.check():
            return claim
    claims = [
        Certificate(tree, drafts, tuple(law), tuple(cost))
        for law, cost in product((law, program.rounded_selection()), (cost, program.rounded_prices()))
        if law is not None and cost is not None
    ]
    sound = [claim for claim in claims if claim.check()]
    return min(sound, key=lambda claim: claim.upper - claim.lower)
