"""One selected chain of many: a selection rule whose law is known, then block verification against that law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from spec_math.arrays import Array, is_exact
from spec_math.block_level import block, chain
from spec_math.block_level.conditionals import Conditionals, in_numpy
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.token_level.optimum.ratio_order import Joined, RatioOrder, joined, ratio_order


class Selection(Protocol):
    """A rule that selects one of k i.i.d. chains, and the conditionals of what it selects."""

    laws: Conditionals
    k: int

    def law(self, path: Tokens) -> Array:
        """Return the law [V] of the next token of the selected chain, given that it begins with path."""
        ...

    def select(self, coin: Coin, chains: Sequence[Tokens]) -> Tokens:
        """Select one of the k drafted chains."""
        ...


def generate(coin: Coin, selection: Selection, lookahead: int) -> Tokens:
    """Draft k i.i.d. chains of up to `lookahead` tokens, select one, and verify it as a block against `selection.law`.

    The law: the selected chain is one drafted chain of the law Π selection.law, so that the tokens, continued by the
    target, have the target's joint law, whatever the rule.
    """
    laws = selection.laws
    return verify(coin, selection, [chain.draw(coin, laws, lookahead) for _ in range(selection.k)])


def verify(coin: Coin, selection: Selection, chains: Sequence[Tokens]) -> Tokens:
    """Select one of k drafted chains, and verify it as a block against `selection.law`, as `generate` says."""
    return verify_selected(coin, selection.laws, selection.law, selection.select(coin, chains))


def verify_selected(coin: Coin, laws: Conditionals, law: Callable[[Tokens], Array], tokens: Tokens) -> Tokens:
    """Verify a selected chain as a block, given the law of its next token after each of its beginnings."""
    targets = [in_numpy(laws.target(tokens[:place])) for place in range(len(tokens) + (not laws.ends(tokens)))]
    return block.verify(coin, tokens, targets, [law(tokens[:place]) for place in range(len(tokens))])


def expected(target_model: Model, selection: Selection, lookahead: int) -> Any:
    """Return the expected number of tokens per target call: block verification's, with the selected law as the draft.

    The law: 1 + Σ_s M(s), M(s) = min(c(s), M(s_<i) t(s_i | s_<i)), c(s) the probability that the selected chain begins
    with s. V^lookahead terms at most.
    """
    model = SelectedModel(selection.laws, selection.law)
    return block.expected(target_model, model, selection.laws.prefix, lookahead)


def clip_from_zero(masses: Array) -> Array:
    """Return masses > 0 as they are, but floats no smaller than 2^-1000: a power of a tiny mass may underflow.

    A chain that was drafted has a mass, however small; what is added is far below a rounding of the sum.
    """
    return masses if is_exact(masses) else np.maximum(masses, 2.0**-1000)


def order_of(laws: Conditionals, path: Tokens) -> RatioOrder:
    """Return both laws after a path, as `in_numpy` takes them, in ratio order; ask through `Conditionals.kept`."""
    return ratio_order(in_numpy(laws.target(path)), in_numpy(laws.draft(path)))


def classes_of(laws: Conditionals, path: Tokens) -> Joined:
    """Return that order with tokens of equal ratios as one; ask through `Conditionals.kept`."""
    return joined(laws.kept(order_of, path), laws.size)


class SelectedModel:
    """The law of a selected chain as a model: what follows a path, as a function of the whole prefix."""

    def __init__(self, laws: Conditionals, law: Callable[[Tokens], Array]) -> None:
        self._law = law
        self._like = laws.target()
        self._start = len(laws.prefix)
        self.end = laws.end

    def __call__(self, prefix: Tokens) -> Array:
        """Return the law [V] of the token after prefix, which begins with that of the block; torch where models are."""
        row = self._law(prefix[self._start :])
        return row if isinstance(self._like, np.ndarray) else self._like.new_tensor(row)
