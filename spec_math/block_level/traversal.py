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
    """Return a_1..a_L of a drafted tree, the chances that at least 1, 2, … tokens are accepted, over the coins.

    a_i is that of the tree's first i levels. With `afresh` it is that of recursive rejection: a child that passes its
    test is a root, of weight 1.
    """
    one = laws.target().sum() * 0 + 1
    tested, met = PLAIN if is_exact(laws.target()) else COMPILED
    nodes: list[tuple[int, int, Any, Any, Any]] = []

    def visit(path: Tokens, children: tuple[Node, ...], parent: int, chance: Any) -> None:
        place, weight, passed = len(nodes), one if afresh else chance, np.array([one] * len(children))
        worth, left = weight - weight if laws.ends(path) else weight, weight
        if children:
            tokens = np.array([child.token for child in children])
            left = tested(weight, laws.target(path), laws.draft(path), tokens, passed, len(tokens) - afresh)
        nodes.append((parent, len(path), chance, left, worth))
        for child, own in zip(children, passed.tolist(), strict=True):
            visit((*path, child.token), child.children, place, own)

    visit((), tree, 0, one)
    found = np.array([one] * (lookahead + 1))
    met(*(np.array(column) for column in zip(*nodes, strict=True)), afresh, found)
    return found[1:].tolist()


def _met(parents: Any, depths: Any, passed: Any, left: Any, worth: Any, afresh: bool, found: Any) -> None:  # noqa: PLR0913
    """Fill the chances that a node of level 1, 2, … is met, where nothing is drafted below it."""
    for level in range(1, len(found)):
        met = passed - passed
        free = met + 1
        for node in range(len(parents) - 1, 0, -1):
            if depths[node] <= level:
                inside, parent = depths[node] < level, parents[node]
                reached = met[node] if inside else worth[node]
                some = 1 - free[node] * (1 - left[node]) if inside and not afresh else passed[node]
                met[parent] = (passed[node] * reached if afresh else reached) + (1 - some) * met[parent]
                free[parent] *= 1 - some
        found[level] = met[0]


def _tested(weight: Any, target: Any, draft: Any, tokens: Any, passed: Any, rejections: int) -> Any:
    """Fill the chances that children pass, each after those before; return the weight after so many rejections.

    w t becomes (w t − d)+ / Σ (d − w t)+, and d loses the child.
    """
    zero, one = weight - weight, weight - weight + 1
    wanted, left, scale = weight * target, draft.copy(), one
    for place in range(len(tokens)):
        token = tokens[place]
        top = wanted[token] * scale
        passed[place] = top / left[token] if top < left[token] else one
        if place < rejections:
            gain = lost = zero
            for other in range(len(wanted)):
                gap = wanted[other] * scale - left[other]
                wanted[other] = gap if gap > zero else zero
                gain += wanted[other]
                lost += wanted[other] - gap
            # Where nothing is rejected the weight is 1 and t = d.
            weight, lost = (gain / lost, lost) if lost > zero else (one, one)
            if place + 1 < len(tokens):
                wanted /= lost
                left[token] = zero
                scale = left.sum()
    return weight


PLAIN: Any = _tested, _met
COMPILED: Any = kernel(_tested, fastmath={"reassoc", "nsz"}), kernel(_met)
"""The same for floats."""
