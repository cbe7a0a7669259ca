"""Expected tokens per call of all methods on chains, or on one drafted tree, beside the most that any can."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spec_math.block_level import block, chain, length, optimum, planned_tree, traversal, univer, without_replacement
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.lengths.given_drafts import AlongTree, favourite_first, in_turn, planned, walked
from spec_math.block_level.methods import CHAINS, METHODS
from spec_math.block_level.optimum import OptimalLength
from spec_math.block_level.selected_chain import SelectedModel
from spec_math.block_level.tree import checked_widths
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.token_level import plan
from spec_math.verdict import Bracket


def of_chains(
    target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int
) -> tuple[dict[str, Any], OptimalLength | Bracket]:
    """Return {method: expected tokens per call} for k i.i.d. chains, those of one chain too, and the optimum."""
    models = target_model, draft_model, tuple(prefix)
    tokens = {method.name: method.expected(*models, lookahead, k) for method in METHODS if method.drafts is CHAINS}
    return tokens, optimum.tokens_per_call(*models, lookahead, k)


def of_trees(
    target_model: Model, draft_model: Model, prefix: Sequence[int], widths: Sequence[int]
) -> tuple[dict[str, Any], OptimalLength | Bracket]:
    """Return {method: expected tokens per call} for a tree drafted without replacement, and the optimum.

    The optimal plan of one position selects a child with a known law c(.|v) at every node. Its selected leaf can be
    accepted token by token, or verified as a block against Π c, which is never less. Exact on Fractions; for toy
    models, as traversal verification is enumerated.
    """
    models = target_model, draft_model, tuple(prefix)
    widths = checked_widths(widths)
    laws = Conditionals(*models)

    def selected(path: Tokens) -> Any:
        return plan.plan_without_replacement(laws.target(path), laws.draft(path), widths[len(path)]).selection

    planned = SelectedModel(laws, selected)
    tokens = {
        "recursive rejection at every node": without_replacement.expected(*models, widths),
        "traversal": by_traversal(*models, widths),
        "optimal plan at every node": chain.expected(target_model, planned, models[2], len(widths)),
        "optimal plan at every node, as a block": block.expected(target_model, planned, models[2], len(widths)),
        "planned tree": planned_tree.expected(*models, widths),
    }
    return tokens, optimum.tokens_per_call_of_tree(*models, widths)


def by_traversal(target: Model, draft: Model, _: Any, widths: Sequence[int]) -> Any:
    return length.expected(lambda coin, start: traversal.generate(coin, target, draft, start, tuple(widths)), ())


RULES: dict[str, tuple[AlongTree, Any]] = {
    "recursive rejection": (walked(in_turn, afresh=True), without_replacement.expected),
    "traversal": (walked(in_turn), by_traversal),
    "UniVer": (walked(favourite_first), univer.expected),
    "planned tree": (planned, planned_tree.expected),
}
"""Verifiers of trees of distinct siblings: the function of a text, and the exact expectation for some widths."""
