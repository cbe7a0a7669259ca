"""A tree drawn without replacement: select one path by the optimal plan of each node, then verify it as a block.

Source: Sun et al. 2024 for block verification.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.block_level import block
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.selected_chain import SelectedModel, in_numpy, verify_selected
from spec_math.block_level.tree import Node, checked_widths, grow
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.token_level import plan
from spec_math.token_level.without_replacement import draw


def generate(
    coin: Coin, target_model: Model, draft_model: Model, prefix: Sequence[int], widths: Sequence[int]
) -> Tokens:
    """Draft a tree of distinct siblings, select one of its leaves node by node, and block-verify the path to it.

    The law: the tokens, continued by the target, have the target's joint law; see `Plans` for the law of the selected
    path. `widths[i]` children are drawn without replacement below each node of level i (the whole support where it is
    smaller), none below the end token. One level is the optimal coupling, widths (1, 1, …) block verification.

    Raises:
        ValueError, TypeError: widths are not positive integers, a law is not a probability distribution or the prefix
            is not valid, named by its prefix.

    >>> from spec_math.chance import law
    >>> target, draft = (lambda prefix: ["1/4", "1/2", "1/4"]), (lambda prefix: ["1/2", "1/2", 0])
    >>> law(lambda coin: len(generate(coin, target, draft, (), (2,)))) == {2: 3 / 4, 1: 1 / 4}
    True
    """
    laws = Conditionals(target_model, draft_model, prefix)
    plans = Plans(laws, widths)
    tokens = plans.select(coin, grow(coin, laws, plans.widths, draw))
    return verify_selected(coin, laws, plans.law, tokens)


def expected(target_model: Model, draft_model: Model, prefix: Sequence[int], widths: Sequence[int]) -> Any:
    """Return the expected number of tokens per target call, 1 + Σ_s M(s), by walking prefixes; Units: tokens per call.

    The law: M(s) = min(c(s), M(v) t(s | v)) over the texts s that do not end with the end token, with c(s) the
    probability that the selected path begins with s. V^levels terms at most.

    Raises:
        ValueError, TypeError: as `generate`.

    >>> expected(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], (), (2, 2))
    Fraction(3, 1)
    """
    plans = Plans(Conditionals(target_model, draft_model, prefix), widths)
    model = SelectedModel(plans.laws, plans.law)
    return block.expected(target_model, model, plans.laws.prefix, len(plans.widths))


class Plans:
    """The path that is selected in a tree drawn without replacement, with its law, worked out node by node.

    The law: a node v carries the weight m_v = M_v / c(v), the chance that block verification keeps a selected path as
    far as v, 1 at the root. Its plan is the optimal one, for its number of distinct drafts, of the target m_v·t(.|v),
    which lacks 1 − m_v: c(.|v) is the law of the child that this plan puts forward, whatever it would do then. The path
    has the law Π c(.|v), and what is kept of it m_s = min(1, m_v t(s|v) / c(s|v)). Laws are kept as they are asked for.

    Raises:
        ValueError, TypeError: widths are not positive integers.

    >>> plans = Plans(Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ()), (2,))
    >>> plans.law(()).tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    """

    def __init__(self, laws: Conditionals, widths: Sequence[int]) -> None:
        self.laws = laws
        self.widths = checked_widths(widths)
        self._weights: dict[Tokens, Any] = {(): in_numpy(laws.target()).sum() * 0 + 1}
        self._plans: dict[Tokens, plan.Plan] = {}

    def law(self, path: Tokens) -> Array:
        """Return the law [V] of the next token of the selected path, given that it begins with path."""
        return self._plan(path).selection[:-1]

    def select(self, coin: Coin, tree: tuple[Node, ...]) -> Tokens:
        """Select a leaf of a drafted tree, given the children of its root in the order they were drawn."""
        path: Tokens = ()
        while tree:
            token = plan.put_forward(coin, tuple(node.token for node in tree), self._plan(path))
            tree = next(node.children for node in tree if node.token == token)
            path = (*path, token)
        return path

    def weight(self, path: Tokens) -> Any:
        """Return m_v, the chance that a selected path is kept as far as v, given that it goes through v."""
        if path not in self._weights:
            above, token = path[:-1], path[-1]
            wanted = self.weight(above) * in_numpy(self.laws.target(above))[token]
            self._weights[path] = capped_ratio(wanted, self.law(above)[token])
        return self._weights[path]

    def _plan(self, path: Tokens) -> plan.Plan:
        if path not in self._plans:
            t, weight = in_numpy(self.laws.target(path)) * self.weight(path), self.weight(path)
            # What m_v·t lacks is one token more, which no draft has: the plan is for laws that sum to 1.
            target = np.append(t, [1 - weight])
            draft = np.append(in_numpy(self.laws.draft(path)), [weight - weight])
            self._plans[path] = plan.plan_without_replacement(target, draft, self.widths[len(path)])
        return self._plans[path]
