"""Chain priorities on rounded ratios: of its tokens a node sees no more than points of a grid, between which t/d lies.

Source: worked out here, see `chain_priorities`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from spec_math.arrays import Array, array_namespace
from spec_math.block_level import selected_chain
from spec_math.block_level.batch.ratio_cells import grid, rounded
from spec_math.block_level.chain_priorities import Priorities
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.scheme import Tokens


def generate(
    coin: Coin, target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int
) -> Tokens:
    """Draft k i.i.d. chains, select the one of highest priority, refined by rounded ratios, and verify it as a block.

    The law: the tokens, continued by the target, have the target's joint law. Of `chain_priorities` it differs in what
    a node's plan is made for: each chain rounds the ratio t/d of its next token at random to a neighbouring point of
    `ratio_cells.grid`, so that its mean stays, and the plan is that of the few points. No token is sorted, and what
    one position accepts is less than the optimum by `loss` at most.

    Raises:
        TypeError, ValueError: as `chain_priorities.generate`.

    >>> from spec_math.chance import law
    >>> target, draft = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: ["1/2", "1/2"])
    >>> law(lambda coin: len(generate(coin, target, draft, (), 1, 2)))
    {2: Fraction(1, 1)}
    """
    laws = Conditionals(target_model, draft_model, prefix)
    return selected_chain.generate(coin, selection(laws, k), lookahead)


def expected(target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int) -> Any:
    """Return the expected number of tokens per target call, by walking the V^lookahead prefixes at most.

    Raises:
        TypeError, ValueError: as `generate`.

    >>> expected(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], (), 2, 2)
    Fraction(23, 8)
    """
    chosen = selection(Conditionals(target_model, draft_model, prefix), k)
    return selected_chain.expected(target_model, chosen, lookahead)


def selection(laws: Conditionals, k: int) -> Priorities:
    """Return the rule that selects one of k i.i.d. chains, with the law of what it selects.

    >>> laws = Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ())
    >>> selection(laws, 2).law(()).tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    """
    return Priorities(laws, k, cells_of=rounded)


def loss(target: Array, draft: Array, k: int) -> Any:
    """Return a bound on what rounding takes from the acceptance of k i.i.d. drafts of one position. Laws [V].

    The law: max_j (e_{j+1} − e_j)/4 · d(e_j < t/d < e_{j+1}), and no less than what the tokens with t/d above the last
    point e lose, Σ (min(t, k·d) − e·d)+.

    >>> from spec_math.arrays import exact
    >>> loss(exact(["17/64", "47/64"]), exact(["1/2", "1/2"]), 2)
    Fraction(1, 64)
    """
    xp = array_namespace(target)
    points, there = grid(), draft > 0
    found = draft.sum() * 0
    for low, high in pairwise(points):
        inside = there & (low * draft < target) & (target < high * draft)
        found = max(found, (high - low) / 4 * draft[inside].sum())
    beyond = xp.minimum(target, k * draft)[there] - points[-1] * draft[there]
    return found + beyond[beyond > 0].sum()
