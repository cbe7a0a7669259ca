"""The tree of coins of a program, built from its paths: what the tests hand to the writer of Markov chains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from spec_math.chance import Coin, paths
from spec_math.language.model import Model

Branches = Callable[[Any], Sequence[tuple[Fraction, Any]]]


def tree_of(program: Callable[[Coin], Any]) -> tuple[Any, Branches]:
    """Return the root of a program's tree and the function of its branches; leaves are the outcomes."""
    kids: dict[Any, list[tuple[Fraction, Any]]] = {}
    outcomes: dict[Any, Any] = {}
    for path in paths(program):
        key: tuple[Any, ...] = ("at",)
        for _, _, options, at in path.taken:
            kids.setdefault(key, [(mass, (*key, turn)) for turn, (_, mass) in enumerate(options)])
            key += (at,)
        outcomes[key] = path.outcome
    named = {key: [(mass, outcomes.get(child, child)) for mass, child in row] for key, row in kids.items()}
    return outcomes.get(("at",), ("at",)), lambda node: named.get(node, ())


def continued(root: Any, branches: Branches, target: Model, horizon: int) -> tuple[Any, Branches]:
    """Return the tree of a block whose text the target continues up to the horizon."""

    def on(node: Any) -> Sequence[tuple[Fraction, Any]]:
        if node[:1] == ("at",):
            return [(mass, child if child[:1] == ("at",) else child[:horizon]) for mass, child in branches(node)]
        if len(node) >= horizon:
            return ()
        return [(mass, (*node, token)) for token, mass in enumerate(target(node)) if mass]

    return root, on
