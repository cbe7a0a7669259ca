"""Delayed branching: one drafted stem, then k i.i.d. chains below it, verified as a block by chain priorities.

Source: Thomas et al. 2026, "Dynamic Delayed Tree Expansion", for the drafts, by its abstract; the verifier is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spec_math.arrays import count
from spec_math.block_level import chain, selected_chain
from spec_math.block_level.chain_priorities import Priorities
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.scheme import Tokens


def generate(
    coin: Coin, target_model: Model, draft_model: Model, prefix: Sequence[int], shape: tuple[int, int], k: int
) -> Tokens:
    """Draft a stem and k chains below it, select the chain of highest priority, and block-verify stem and chain.

    The law: the tokens, continued by the target, have the target's joint law. `shape` is (stem, branch), the tokens of
    each; a stem of 0 is `chain_priorities`. The selected text has the law d(stem)·Π c: below the stem priorities begin
    afresh, with what a block has kept of the stem as its weight. Nodes verified: stem + k · branch.

    Raises:
        ValueError, TypeError: sizes that are not whole numbers, a branch or k below 1; a law is not a probability
            distribution or the prefix is not valid, named by its prefix.

    >>> from spec_math.chance import law
    >>> target, draft = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: ["1/2", "1/2"])
    >>> law(lambda coin: generate(coin, target, draft, (), (1, 1), 2)[0])[0]
    Fraction(1, 4)
    """
    stem, branch = checked(shape)
    laws = Conditionals(target_model, draft_model, prefix)
    selection = Priorities(laws, k, stem)
    trunk = chain.continued(coin, laws, (), stem)
    chains = [chain.continued(coin, laws, trunk, stem + branch) for _ in range(selection.k)]
    tokens = trunk if laws.ends(trunk) else selection.select(coin, chains)
    return selected_chain.verify_selected(coin, laws, selection.law, tokens)


def expected(target_model: Model, draft_model: Model, prefix: Sequence[int], shape: tuple[int, int], k: int) -> Any:
    """Return the expected number of tokens per target call, 1 + Σ_s M(s), M(s) = min(c(s), M(s_<i) t(s_i | s_<i)).

    c is the law of the selected text. V^(stem + branch) terms at most. Units: tokens per call.

    Raises:
        ValueError, TypeError: as `generate`.

    >>> expected(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], (), (1, 1), 2)
    Fraction(5, 2)
    """
    stem, branch = checked(shape)
    selection = Priorities(Conditionals(target_model, draft_model, prefix), k, stem)
    return selected_chain.expected(target_model, selection, stem + branch)


def checked(shape: Any) -> tuple[int, int]:
    """Return (stem, branch) as whole numbers, stem ≥ 0 and branch ≥ 1.

    Raises:
        ValueError, TypeError: they are not.

    >>> checked((0, 2))
    (0, 2)
    """
    if not isinstance(shape, tuple | list) or len(shape) != 2:  # pyright: ignore[reportUnknownArgumentType]
        raise TypeError(f"a delayed tree has the shape (stem, branch), such as (2, 4); got {shape!r}")
    stem, branch = shape  # pyright: ignore[reportUnknownVariableType]
    return (0 if type(stem) is int and stem == 0 else count(stem, "stem")), count(branch, "branch")
