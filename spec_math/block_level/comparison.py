"""How many tokens each method accepts on average, beside the most that any verifier of the same drafts can.

Source: SpecTr, Tables 2 and 4, for the quantity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spec_math.block_level import (
    block,
    chain,
    chain_priorities,
    length,
    multi_path,
    optimum,
    spectr,
    traversal,
    without_replacement,
)
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.selected_chain import SelectedModel
from spec_math.block_level.tree import checked_widths
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.token_level import plan, pooled_priority, recursive
from spec_math.verdict import Bracket, Optimal


def of_chains(
    target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int
) -> tuple[dict[str, Any], Optimal | Bracket]:
    """Return {method: expected number of accepted tokens} for k i.i.d. chains, and the optimum of all verifiers.

    Accepted are the emitted tokens less the one that every call yields. The methods that take one chain stand beside
    for what k chains add. Exact on Fractions; for toy models: V^lookahead prefixes, and V^k drafts a node.

    Raises:
        ValueError, TypeError: lookahead or k is no count; a law or the prefix is none, named by its prefix.

    >>> accepted, best = of_chains(lambda _: ["1/4", "3/4"], lambda _: ["1/2", "1/2"], (), 2, 2)
    >>> accepted["chain priorities"], best.acceptance
    (Fraction(15, 8), Fraction(15, 8))
    """
    models = target_model, draft_model, tuple(prefix)
    widths = (k, *[1] * (lookahead - 1))
    tokens = {
        "one chain, token by token": chain.expected(*models, lookahead),
        "one chain, as a block": block.expected(*models, lookahead),
        "K-SEQ at every node": spectr.expected(*models, widths),
        "recursive rejection at every node": spectr.expected(*models, widths, recursive.verify),
        "optimal plan at every node": spectr.expected(*models, widths, pooled_priority.verify),
        "greedy multi-path": multi_path.expected(*models, lookahead, k),
        "chain priorities": chain_priorities.expected(*models, lookahead, k),
    }
    return {name: value - 1 for name, value in tokens.items()}, optimum.chains(*models, lookahead, k)


def of_trees(
    target_model: Model, draft_model: Model, prefix: Sequence[int], widths: Sequence[int]
) -> tuple[dict[str, Any], Optimal | Bracket]:
    """Return {method: expected number of accepted tokens} for a tree drafted without replacement, and the optimum.

    The optimal plan of one position selects a child with a known law c(.|v) at every node. Its selected leaf can be
    accepted token by token, or verified as a block against Π c, which is never less. Exact on Fractions; for toy
    models, as traversal verification is enumerated.

    Raises:
        ValueError, TypeError: widths are no counts; a law or the prefix is none, named by its prefix.

    >>> accepted, best = of_trees(lambda _: ["1/4", "3/4"], lambda _: ["1/2", "1/2"], (), (2, 2))
    >>> accepted["traversal"], best.acceptance
    (Fraction(2, 1), Fraction(2, 1))
    """
    models = target_model, draft_model, tuple(prefix)
    widths = checked_widths(widths)
    laws = Conditionals(*models)

    def selected(path: Tokens) -> Any:
        return plan.plan_without_replacement(laws.target(path), laws.draft(path), widths[len(path)]).selection

    planned = SelectedModel(laws, selected)
    tokens = {
        "recursive rejection at every node": without_replacement.expected(*models, widths),
        "traversal": length.expected(
            lambda coin, start: traversal.generate(coin, *models[:2], start, widths), models[2]
        ),
        "optimal plan at every node": chain.expected(target_model, planned, models[2], len(widths)),
        "optimal plan at every node, as a block": block.expected(target_model, planned, models[2], len(widths)),
    }
    return {name: value - 1 for name, value in tokens.items()}, optimum.trees(*models, widths)
