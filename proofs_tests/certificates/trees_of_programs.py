"""Tree of coins of a program, built from its paths, which tests hand to the writer of Markov chains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from spec_math.chance import Coin, paths
from spec_math.language.model import Model

Branches = Callable[[Any], Sequence[tuple[Fraction, Any]]]


def tree_of(program: Callable[[Coin], Any], target: Model, horizon: int) -> tuple[Any, Any, Branches]:
    """Return the root of a program's tree, the root of the target's, and the function of their branches.

    Leaves are texts, a token that the program returns being a text of one. The target continues them to the horizon.
    """
    kids: dict[Any, list[tuple[Fraction, Any]]] = {}
    outcomes: dict[Any, Any] = {}
    for path in paths(program):
        key: tuple[Any, ...] = ("at",)
        for _, _, options, at in path.taken:
            kids.setdefault(key, [(mass, (*key, turn)) for turn, (_, mass) in enumerate(options)])
            key += (at,)
        text = path.outcome if isinstance(path.outcome, tuple) else (int(path.outcome),)
        outcomes[key] = text[:horizon]

    def branches(node: Any) -> Sequence[tuple[Fraction, Any]]:
        if node[:1] == ("at",):
            return [(mass, outcomes.get(child, child)) for mass, child in kids[node]]
        if len(node) >= horizon:
            return ()
        return [(mass, (*node, token)) for token, mass in enumerate(target(node)) if mass]

    return outcomes.get(("at",), ("at",)), (), branches
