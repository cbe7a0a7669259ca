"""Greedy multi-path block verification: of k i.i.d. chains the highest in rank is verified (Thomas and Pal 2026).

Source: Thomas and Pal 2026; the stable form is worked out here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.arrays import Array, count, ones_like, zeros_like
from spec_math.block_level import selected_chain
from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.token_level.optimum.prefix_law import mixed_powers


def generate(
    coin: Coin, target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int
) -> Tokens:
    """Draft k i.i.d. chains, keep the one highest in rank, and block-verify it against the law that this selects.

    The law: the tokens, continued by the target, have the target's joint law. Chains are compared token by token, by
    the rank of t/d among the tokens that may follow (ties by index); see `HighestRank` for the selected law. k = 1 is
    block verification. Source: Thomas and Pal 2026, "Greedy Multi-Path Block Verification for Faster Decoding in
    Speculative Sampling".

    Raises:
        ValueError, TypeError: lookahead or k is not a positive integer; a law is not a probability distribution or the
            prefix is not valid, named by its prefix.

    >>> from spec_math.chance import law
    >>> target, draft = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: ["1/2", "1/2"])
    >>> law(lambda coin: len(generate(coin, target, draft, (), 1, 2)))
    {2: Fraction(1, 1)}
    """
    return selected_chain.generate(coin, HighestRank(Conditionals(target_model, draft_model, prefix), k), lookahead)


def expected(target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int) -> Any:
    """Return the expected number of tokens per target call, by walking the V^lookahead prefixes at most.

    The law: 1 + Σ_s M(s) over the texts s that do not end with the end token, M(s) = min(c(s), M(s_<i) t(s_i | s_<i)),
    with c(s) the probability that the chain of highest rank begins with s. Units: tokens per call.

    Raises:
        ValueError, TypeError: as `generate`.

    >>> expected(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], (), 2, 2)
    Fraction(23, 8)
    """
    chosen = HighestRank(Conditionals(target_model, draft_model, prefix), k)
    return selected_chain.expected(target_model, chosen, lookahead)


class HighestRank:
    """The lexicographically highest of k i.i.d. chains, tokens ranked at every node by t/d ascending.

    The law: with m the draft mass of a path and lo that of all paths ranked below it,
        s(x | path) = ((lo_x + m_x)^k − lo_x^k) / ((lo + m)^k − lo^k),  m_x = m d(x),  lo_x = lo + m d(ranked below x).
    Taken in units of lo + m, and with the difference of powers factored, these are sums of positive terms:
        s(x) = d(x) h(a_x, b_x) / h(a, 1),   h(a, b) = Σ_j a^j b^(k−1−j),   a = lo/(lo + m),   b_x = a_x + (1 − a) d(x),
    so that no digit cancels and nothing underflows with the length of the path.

    Raises:
        TypeError, ValueError: k is not a positive integer.

    >>> laws = Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ())
    >>> HighestRank(laws, 2).law(()).tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    """

    def __init__(self, laws: Conditionals, k: int) -> None:
        self.laws = laws
        self.k = count(k)
        self._rows: dict[Tokens, Array] = {}
        one = ones_like(selected_chain.in_numpy(laws.target())[:1])
        self._shares: dict[Tokens, tuple[Array, Array]] = {(): (one - one, one)}

    def law(self, path: Tokens) -> Array:
        """Return the law [V] of the next token of the highest chain, given that it begins with path."""
        if path not in self._rows:
            order, (below, mass) = self.laws.kept(selected_chain.order_of, path), self._share(path)
            ends = below + mass * order.draft_below
            rising = mixed_powers(ends[:-1], ends[1:], self.k) / mixed_powers(below, ends[-1:], self.k)
            self._rows[path] = zeros_like(selected_chain.in_numpy(self.laws.target(path)))
            self._rows[path][order.tokens] = selected_chain.clip_from_zero(order.draft * rising)
        return self._rows[path]

    def select(self, coin: Coin, chains: Sequence[Tokens]) -> Tokens:  # noqa: ARG002 - no chance is needed
        """Return the chain of highest rank; only nodes that several chains pass through are put in order."""
        leading, place = list(chains), 0
        while len(set(leading)) > 1:
            ranks = [self._rank(tokens, place) for tokens in leading]
            leading = [tokens for tokens, rank in zip(leading, ranks, strict=True) if rank == max(ranks)]
            place += 1
        return leading[0]

    def _rank(self, tokens: Tokens, place: int) -> int:
        return int(np.flatnonzero(self.laws.kept(selected_chain.order_of, tokens[:place]).tokens == tokens[place])[0])

    def _share(self, path: Tokens) -> tuple[Array, Array]:
        """Return lo/(lo + m) and m/(lo + m) of a path, each by its own products and sums."""
        if path not in self._shares:
            below, mass = self._share(path[:-1])
            order, rank = self.laws.kept(selected_chain.order_of, path[:-1]), self._rank(path, len(path) - 1)
            lower, own = below + mass * order.draft_below[rank : rank + 1], mass * order.draft[rank : rank + 1]
            self._shares[path] = lower / (lower + own), own / (lower + own)
        return self._shares[path]
