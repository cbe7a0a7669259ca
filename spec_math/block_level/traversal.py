"""Traversal verification: a tree drafted without replacement, judged from its leaves upwards (Weng et al. 2025)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.arrays import Array, is_exact, positive_part
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import Node, checked_widths, grow
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio, normalised
from spec_math.kernels import kernel
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.token_level.without_replacement import draw, without


def generate(
    coin: Coin, target_model: Model, draft_model: Model, prefix: Sequence[int], widths: tuple[int, ...]
) -> Tokens:
    """Draft a tree of distinct siblings, and emit the path of the first leaf accepted with one token more.

    The law: the tokens, continued by the target, have the target's joint law. `widths[i]` children are drawn without
    replacement below each node of level i (the whole support where it is smaller), none below the end token.
    On a chain, widths (1, 1, …), this is block verification.
    Source: Weng et al. 2025, "Traversal Verification for Speculative Tree Decoding".

    Raises:
        ValueError, TypeError: widths does not hold positive integers; a law is not a probability distribution or the
            prefix is not valid, named by its prefix.

    >>> from spec_math.chance import law
    >>> target, draft = (lambda prefix: ["1/4", "1/2", "1/4"]), (lambda prefix: ["1/2", "1/2", 0])
    >>> law(lambda coin: len(generate(coin, target, draft, (), (2,)))) == {2: 3 / 4, 1: 1 / 4}
    True
    """
    laws = Conditionals(target_model, draft_model, prefix)
    return verify(coin, grow(coin, laws, checked_widths(widths), draw), laws)


def verify(coin: Coin, tree: tuple[Node, ...], laws: Conditionals) -> Tokens:
    """Judge a drafted tree, given the children of its root in the order they were drawn without replacement.

    Every node has a weight w and a target t, its parent a draft d that loses the tokens rejected: w(root) = 1 and
    w(child x) = min(1, w·t(x)/d(x)). Leaves are tried depth first. One of weight w is accepted with chance w: its path
    is emitted, and a token of its t. A leaf rejected is taken off the tree, and its parent, with r = (w·t − d)+, goes
    on with t = r / Σr, w = Σr / (Σr + 1 − w) and d without that token; a parent without children is a leaf.

    Source: Weng et al. 2025, Alg. 2.

    >>> from spec_math.chance import law
    >>> laws = Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ())
    >>> law(lambda coin: verify(coin, (Node(0),), laws))[1,]
    Fraction(1, 2)
    """
    return _visited(coin, laws, (), tree, laws.target().sum() * 0 + 1)


def _visited(coin: Coin, laws: Conditionals, path: Tokens, children: tuple[Node, ...], weight: Any) -> Tokens:
    """Judge the tree below a node of this weight: return what is emitted, nothing where all of it is rejected."""
    if laws.ends(path):
        return path if coin.flip(weight) else ()
    if not children:
        # The law after a leaf is asked for where the leaf is accepted alone.
        return (*path, coin.draw(laws.target(path))) if not path or coin.flip(weight) else ()
    t, drawn = laws.target(path), tuple(child.token for child in children)
    for place, child in enumerate(children):
        d = without(laws.draft(path), drawn[:place])
        kept = capped_ratio(weight * t[child.token], d[child.token])
        block = _visited(coin, laws, (*path, child.token), child.children, kept)
        if block:
            return block
        t, weight = after_rejection(t, d, weight)
    # The weight of the root is 1 throughout: it takes whatever comes to it, and no coin is tossed.
    if not path or coin.flip(weight):
        return (*path, coin.draw(t))
    return ()


def after_rejection(target: Array, draft: Array, weight: Any) -> tuple[Array, Any]:
    """Return a node's target and weight after the subtree of a child drawn from draft [V] was rejected."""
    lacking = positive_part(weight * target - draft)
    left = lacking.sum()
    rest = left + (1 - weight)
    # 0/0 is weight 1 and t = d, where no child is rejected but by a float's rounding: nothing changes.
    return normalised(lacking, target), left / rest if rest != 0 else weight


def chances(laws: Conditionals, tree: tuple[Node, ...], lookahead: int, afresh: bool = False) -> list[Any]:
    """Return a_1..a_L of a drafted tree, the chances that at least 1, 2, … tokens are accepted, as `given_drafts` does.

    a_i is that of the tree's first i levels. With `afresh` it is that of recursive rejection: a child that passes its
    test is a root, of weight 1.
    """
    one = laws.target().sum() * 0 + 1
    reject = _rejected if is_exact(laws.target()) else _fast_rejected

    def below(path: Tokens, children: tuple[Node, ...], weight: Any) -> tuple[Array, Array]:
        """Return the chances that anything from a node on is kept, and a node of the last level, by levels."""
        kept = np.array([weight] * (lookahead - len(path) + 1))
        reached = kept - kept
        reached[0] = reached[0] if laws.ends(path) else weight
        if children:
            wanted, d, free = weight * laws.target(path), laws.draft(path).copy(), reached[1:] + one
            for place, child in enumerate(children):
                left = d.sum() if place else one
                chance = capped_ratio(wanted[child.token] * left, d[child.token])
                some, last = below((*path, child.token), child.children, one if afresh else chance)
                reached[1:] += free * (chance * last if afresh else last)
                free = free * (1 - (chance if afresh else some))
                weight = reject(wanted, d, left) if not afresh or place < len(children) - 1 else weight
                d[child.token] = d[child.token] * 0
            kept[1:] = 1 - free * (1 - weight)
        return kept, reached

    return below((), tree, one)[1][1:].tolist()


def _rejected(wanted: Any, draft: Any, left: Any) -> Any:
    """Replace w t by that after a rejection, (w t − d)+ / Σ (d − w t)+, d = draft/left, and return its sum."""
    gain = lost = left - left
    for token in range(len(wanted)):
        gap = wanted[token] - draft[token] / left
        if gap > 0:
            gain += gap
        else:
            lost -= gap
        wanted[token] = gap if gap > 0 else left - left
    if lost > 0:
        wanted /= lost
        return gain / lost
    # Nothing is rejected: the weight is 1 and t = d.
    return left / left


_fast_rejected = kernel(_rejected)
