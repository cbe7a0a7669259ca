"""Rules that verify a drafted tree given as arrays: each with its array formula, its coins, and the trees it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from spec_math.array_coin import ArrayCoin
from spec_math.block_level import block, chain, selected_chain, spectr, target_only, traversal, without_replacement
from spec_math.block_level.batch.array_tree import ArrayTree, Rows, Walked
from spec_math.block_level.batch.decide_priorities import decide_priorities
from spec_math.block_level.batch.decide_walk import (
    decide_block,
    decide_multi_path,
    decide_target_only,
    decide_traversal,
    decide_walk,
)
from spec_math.block_level.batch.ratio_cells import by_ratio, rounded
from spec_math.block_level.chain_priorities import Priorities
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.multi_path import HighestRank
from spec_math.block_level.tree import Node, leaves
from spec_math.chance import Coin
from spec_math.scheme import Tokens
from spec_math.token_level import k_sequential, pooled_priority, recursive
from spec_math.token_level.batch.drafts import Decide
from spec_math.token_level.batch.plan import decide_plan
from spec_math.token_level.batch.rejection import decide_k_sequential, decide_recursive, decide_without_replacement

DecideTree = Callable[[ArrayCoin, ArrayTree, Rows], Walked]
"""(coin, tree, rows) -> what a batch of trees accepts, and what follows."""

Program = Callable[[Coin, tuple[Node, ...], Conditionals], Tokens]
"""(coin, children of the root, laws) -> the emitted tokens: the same rule against a coin, for one tree."""


@dataclass(frozen=True)
class TreeRule:
    """A rule of verification for drafted trees.

    `program` is the rule against a coin, `decide` its array formula, None where there is none; `coins(n)` bounds the
    coins of any path on n drafts. `siblings` says how the drafts after a node may agree: "any" as i.i.d. ones may,
    "distinct" not, "one" that there is one alone. `chains` says that the tree must be k i.i.d. chains that each go on
    to their end, however their common beginnings are shared. `reads_draft` says that the draft's laws matter. `largest`
    is the largest vocabulary that the array formula is worth it for, None where any is. `ordered` says that the drafts
    after a node must come in the order drawn: equal ones may not be taken together.
    """

    name: str
    program: Program
    decide: DecideTree | None
    coins: Callable[[int], int]
    siblings: str = "any"
    chains: bool = False
    reads_draft: bool = True
    largest: int | None = None
    ordered: bool = False


def _walk(name: str, verifier: spectr.Verifier, decide: Decide, coins: int, ordered: bool = False) -> TreeRule:
    """A rule of one position at every node, which tosses at most so many coins a draft, and draws once more."""
    program, batch = partial(spectr.verify, verifier=verifier), partial(decide_walk, decide)
    return TreeRule(f"{name} at every node", program, batch, lambda n: coins * n + 1, ordered=ordered)


def _of_one(verify: Callable[..., Tokens]) -> Program:
    def program(coin: Coin, nodes: tuple[Node, ...], laws: Conditionals) -> Tokens:
        if not nodes:
            return (coin.draw(laws.target()),)
        (tokens,) = leaves(nodes)
        return verify(coin, *chain.with_rows(tokens, laws))

    return program


def _selecting(rule: Callable[[Conditionals, int], selected_chain.Selection]) -> Program:
    def program(coin: Coin, nodes: tuple[Node, ...], laws: Conditionals) -> Tokens:
        chains = leaves(nodes)
        return selected_chain.verify(coin, rule(laws, len(chains)), chains) if chains else (coin.draw(laws.target()),)

    return program


def _one_each(n: int) -> int:
    """One coin a draft, and the final draw."""
    return n + 1


TOKEN_BY_TOKEN = TreeRule(
    "one chain, token by token", _of_one(chain.verify), partial(decide_walk, decide_recursive), _one_each, "one"
)
AS_A_BLOCK = TreeRule("one chain, as a block", _of_one(block.verify), decide_block, _one_each, "one")
# A token drawn after all tests have failed may agree with a draft: a draw may be added at every level.
RECURSIVE = _walk("recursive rejection", recursive.verify, decide_recursive, 2, ordered=True)
K_SEQUENTIAL = _walk("K-SEQ", k_sequential.verify, decide_k_sequential, 2, ordered=True)
PLAN = _walk("optimal plan", spectr.by_plan, decide_plan, 4)
DISTINCT = TreeRule(
    "recursive rejection, distinct drafts",
    without_replacement.verify,
    partial(decide_walk, decide_without_replacement, tested=True),
    _one_each,
    "distinct",
)
PLAN_OF_DISTINCT = TreeRule(
    "optimal plan, distinct drafts",
    partial(without_replacement.verify, emit=pooled_priority.emit_without_replacement),
    None,
    # A node of k drafts: the component, k − 1 choices in the pool, the test, and the residual where that fails.
    lambda n: 2 * n + 1,
    "distinct",
)
TARGET_ONLY = TreeRule(
    "target only",
    target_only.verify,
    partial(decide_walk, decide_target_only, tested=True),
    _one_each,
    "distinct",
    reads_draft=False,
)
TRAVERSAL = TreeRule("traversal", traversal.verify, decide_traversal, _one_each, "distinct")
MULTI_PATH = TreeRule("greedy multi-path", _selecting(HighestRank), decide_multi_path, _one_each, chains=True)
PRIORITIES = TreeRule(
    "chain priorities",
    _selecting(Priorities),
    partial(decide_priorities, by_ratio),
    lambda n: n + 2,
    chains=True,
    largest=256,
)
ROUNDED_PRIORITIES = TreeRule(
    "chain priorities on rounded ratios",
    _selecting(partial(Priorities, cells_of=rounded)),
    partial(decide_priorities, rounded),
    lambda n: n + 2,
    chains=True,
)

TREE_RULES = (
    TARGET_ONLY,
    TOKEN_BY_TOKEN,
    AS_A_BLOCK,
    RECURSIVE,
    K_SEQUENTIAL,
    PLAN,
    DISTINCT,
    PLAN_OF_DISTINCT,
    TRAVERSAL,
    MULTI_PATH,
    PRIORITIES,
    ROUNDED_PRIORITIES,
)
