"""A tree whose siblings are drawn without replacement, verified node by node: by rejection (Sequoia), or by the plan.

Source: Sequoia, Chen et al. 2024; SpecTr, Alg. 3, for the walk; the plan is worked out here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spec_math.arrays import Array
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import Node, checked_widths, grow
from spec_math.chance import Coin
from spec_math.chance import law as law_of
from spec_math.language.model import Model
from spec_math.scheme import Emission, Tokens
from spec_math.token_level import without_replacement

Emit = Callable[[Coin, Tokens, Array, Array], Emission]
"""A verifier of one position on any number of distinct drafts: emit(coin, tokens, target, draft)."""


def generate(
    coin: Coin,
    target_model: Model,
    draft_model: Model,
    prefix: Sequence[int],
    widths: Sequence[int],
    emit: Emit = without_replacement.emit,
) -> Tokens:
    """Draft a tree of distinct siblings, widths[i] below each node of level i, and walk down it while one is accepted.

    The law: the tokens, continued by the target, have the target's joint law. Each rejected sibling leaves the draft
    law, and the target law becomes its residual; an accepted one starts afresh with both laws after it. A node has its
    whole support below it where that is smaller than its width. Source: Sequoia; SpecTr, Alg. 3 for the walk.
    `emit` verifies any number of distinct drafts; the optimal plan is `pooled_priority.emit_without_replacement`.

    Raises:
        ValueError, TypeError: widths are not positive integers, a law is not a probability distribution or the prefix
            is not valid, named by its prefix.

    >>> from spec_math.chance import law
    >>> target, draft = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: ["1/2", "1/2"])
    >>> law(lambda coin: len(generate(coin, target, draft, (), (2,))))
    {2: Fraction(1, 1)}
    """
    laws = Conditionals(target_model, draft_model, prefix)
    return verify(coin, grow(coin, laws, checked_widths(widths), without_replacement.draw), laws, emit)


def verify(coin: Coin, siblings: tuple[Node, ...], laws: Conditionals, emit: Emit = without_replacement.emit) -> Tokens:
    """Walk down a tree of distinct siblings, given the children of its root in the order drawn, as `generate` says.

    >>> from spec_math.chance import replay
    >>> laws = Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ())
    >>> replay(lambda coin: verify(coin, (Node(1),), laws), [0, 0])
    (1, 0)
    """
    emitted: Tokens = ()
    while siblings:
        tokens = tuple(node.token for node in siblings)
        emission = emit(coin, tokens, laws.target(emitted), laws.draft(emitted))
        emitted = (*emitted, emission.token)
        if not emission.accepted or laws.ends(emitted):
            return emitted
        siblings = next(node.children for node in siblings if node.token == emission.token)
    return (*emitted, coin.draw(laws.target(emitted)))


def expected(target_model: Model, draft_model: Model, prefix: Sequence[int], widths: Sequence[int]) -> Any:
    """Compute the expected number of tokens per target call node by node, without walking whole trees.

    The law: E(v) = 1 + Σ_y P(y accepted after v) · E(vy), 1 below the last level, 0 after the end token. Exact on
    Fractions. Each node is enumerated on its V!/(V − width)! drafts at most. Units: tokens per call.

    Raises:
        ValueError, TypeError: as `generate`.

    >>> expected(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], (), (2, 2))
    Fraction(3, 1)
    """
    widths = checked_widths(widths)
    laws = Conditionals(target_model, draft_model, prefix)

    def emit(coin: Coin, path: Tokens) -> Emission:
        drafts = without_replacement.draw(coin, laws.draft(path), widths[len(path)])
        return without_replacement.emit(coin, drafts, laws.target(path), laws.draft(path))

    def tokens_from(path: Tokens) -> Any:
        total = laws.target(path).sum() * 0 + 1
        if len(path) == len(widths):
            return total
        for emission, mass in law_of(lambda coin: emit(coin, path)).items():
            longer = (*path, emission.token)
            if emission.accepted and not laws.ends(longer):
                total = total + mass * tokens_from(longer)
        return total

    return tokens_from(())
