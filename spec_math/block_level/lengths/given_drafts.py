"""Tokens accepted of drafts with distinct siblings along a text that the target writes, coins averaged out.

E[tokens] = 1 + Σ_i E[M_i(x) / T_i(x)] as in `target_text`. Here M_i(x) also depends on siblings that are drafted and
rejected before x_i. They are drawn with the chance that this happens, so that the mean over these draws is M_i(x) and
no value exceeds T_i(x).

Sources: Sequoia, Chen et al. 2024, for the walk; Weng et al. 2025 for traversal; Weng, Hu and Yairi 2026 for UniVer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from spec_math.arrays import Array, positive_part
from spec_math.block_level.conditionals import Conditionals, in_numpy
from spec_math.distribution import capped_ratio
from spec_math.scheme import Tokens
from spec_math.token_level import plan, without_replacement

Pick = Callable[[Array], int]
"""Masses [V] -> a token drawn in proportion to them."""

AlongTree = Callable[[Conditionals, Tokens, Sequence[int], Pick], list[Any]]
"""(laws, text, widths, pick) -> M_i over the target's mass of the first i tokens, i = 1, 2, …, in the mean of picks."""

Tried = Callable[[Any, Array, Array, int, int, Pick], Iterator[tuple[Any, Any]]]
"""(weight, target, draft, token, width, pick) -> (the chance that the token is drafted and tried, its weight then)."""


def in_turn(weight: Any, target: Array, draft: Array, token: int, width: int, pick: Pick) -> Iterator[tuple[Any, Any]]:
    """Yield the chance of each place of a token among distinct siblings, and the weight that it is tried with there.

    The law: a child of weight w is rejected, with all that is drafted below it, with chance 1 − w. The first is x with
    chance d(x), and w(x) = min(1, w t(x)/d(x)); else it is u and rejected with chance (d(u) − w t(u))+. Then w t is
    (w t − d)+ / (Σ (w t − d)+ + 1 − w), and d loses u. Where w t(x) ≤ d(x), no later place has a weight.
    """
    reached, wanted, d = weight - weight + 1, weight * target, draft
    for place in range(width):
        if not d[token] > 0:
            return
        yield reached * d[token], capped_ratio(wanted[token], d[token])
        if place == width - 1 or not wanted[token] > d[token]:
            return
        gap = wanted - d
        gained = positive_part(gap)
        lost = gained - gap
        chance, gain = lost.sum(), gained.sum()
        if not chance > 0:
            return
        weight, wanted, d = gain / chance, gained / chance, without_replacement.without(d, [pick(lost)])
        reached = reached * chance


def favourite_first(
    weight: Any, target: Array, draft: Array, token: int, width: int, pick: Pick
) -> Iterator[tuple[Any, Any]]:
    """Yield the chance that a token is a child of UniVer's node, and its weight: the likeliest, and one drawn.

    The law: with d' the draft without its favourite f, the drawn u has a(u) = min(1, w t(u)/d'(u)), and f is tried
    before it with the weight w t(f) (1 − a(u))/Z, Z = Σ (d' − w t)+ over what is drawn. For x = f, u is drawn in
    proportion to (d' − w t)+: its own chance is then Z/(1 − a(u)) as likely, and chance times weight is w t(f).
    """
    best = int(np.argmax(draft))
    rest, wanted = draft.copy(), weight * target
    rest[best] = rest[best] * 0
    if width == 1 or not rest.sum() > 0:
        yield from in_turn(weight, target, draft, token, 1, pick)
        return
    rest = rest / rest.sum()
    lost = positive_part(rest - wanted)
    left = lost.sum()
    if token == best:
        if left > 0:
            u = pick(lost)
            chance = left * rest[u] / lost[u]
            yield chance, wanted[best] / chance
    elif rest[token] > 0:
        kept = capped_ratio(wanted[token], rest[token])
        free = 1 - (wanted[best] * (1 - kept) / left if left > 0 else left)
        if free > 0:
            yield rest[token] * free, capped_ratio(kept, free)


def walked(tried: Tried, afresh: bool = False) -> AlongTree:
    """Return the function of a text whose children are tried as `tried` says; with `afresh` all nodes have weight 1.

    Whatever is drafted below a child that is tried with weight w, something there is accepted with chance w.
    `afresh` is recursive rejection, which accepts the child itself, else it is traversal.

    >>> laws = Conditionals(lambda _: ["1/4", "3/4"], lambda _: ["1/2", "1/2"], ())
    >>> walked(in_turn)(laws, (0, 1), (1, 1), max), walked(in_turn, afresh=True)(laws, (0, 1), (1, 1), max)
    ([Fraction(1, 1), Fraction(1, 1)], [Fraction(1, 1), Fraction(2, 3)])
    """

    def along(laws: Conditionals, text: Tokens, widths: Sequence[int], pick: Pick) -> list[Any]:
        one = in_numpy(laws.target()).sum() * 0 + 1
        written, levels, states = one, list[Any](), {one: one}
        for place, (token, width) in enumerate(zip(text, widths, strict=False)):
            t, d = in_numpy(laws.target(text[:place])), in_numpy(laws.draft(text[:place]))
            below: dict[Any, Any] = {}
            for weight, mass in states.items():
                for chance, kept in tried(weight, t, d, token, width, pick):
                    # States of one weight are one.
                    below[kept] = below.get(kept, one - one) + mass * chance
            written = written * t[token]
            reached = sum((kept * mass for kept, mass in below.items()), one - one)
            levels.append(reached / written)
            states = {one: reached} if afresh else below
        return levels

    return along


def planned(laws: Conditionals, text: Tokens, widths: Sequence[int], pick: Pick) -> list[Any]:  # noqa: ARG001
    """Planned trees: M_i = min(C_i, M_{i−1} t_i), C_i the chance that the selected path begins with x_1..x_i.

    >>> laws = Conditionals(lambda _: ["1/4", "3/4"], lambda _: ["1/2", "1/2"], ())
    >>> planned(laws, (1, 0), (1, 1), max)
    [Fraction(2, 3), Fraction(2, 3)]
    """
    weight = mass = in_numpy(laws.target()).sum() * 0 + 1
    levels = list[Any]()
    for place, (token, width) in enumerate(zip(text, widths, strict=False)):
        t, d = in_numpy(laws.target(text[:place])), in_numpy(laws.draft(text[:place]))
        wanted = weight * t
        if width > 1:
            # What w t lacks is one token more, as in `Plans`.
            d = plan.selected(np.append(wanted, [1 - weight]), np.append(d, [weight - weight]), width)
        weight, mass = capped_ratio(wanted[token], d[token]), mass * d[token] / t[token]
        levels.append(mass * weight)
    return levels
