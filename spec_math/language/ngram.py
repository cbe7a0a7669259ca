"""An n-gram language model learnt from a text: one law read four ways (rows, single masses, draws, Fractions)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numba.extending import register_jitable

from spec_math.arrays import Array, count
from spec_math.kernels import Delayed, kernel
from spec_math.language.context_tree import ContextTree, check_range, indices, padded
from spec_math.language.model import check_prefix
from spec_math.language.trie import first_from

DISCOUNT = Fraction(3, 4)
"""Taken off every count. Dyadic, so that every discounted count is exact in float64 too."""

_CHUNK = 256  # rows written together, 8 MiB at 4,096 tokens: the fastest of 16 to 4,096 rows, for orders 2 and 5


class NGram:
    """An interpolated Kneser–Ney model: the law of the next token given the last `order` - 1.

    The law, for a context h of k tokens, with h' the same without its oldest token, D = 3/4 and u the uniform law:

        P_k(w | h) = (c(h w) - D)+ / C(h)  +  D T(h) / C(h) · P_{k-1}(w | h')          P_{-1} = u

    C(h) = Σ_w c(h w), and T(h) is the number of w with c(h w) > 0. At k = order - 1, and where h begins with the start
    of a text, c counts occurrences; elsewhere it counts the different tokens (the start included) seen before h w.
    A context never seen has the law of h'. A context reaches back to the start of its text, never past it.
    Every law sums to 1, and every token has positive mass, since some of it comes from u.

    A prefix shorter than the context is taken to stand at the start of a text.

    Source: Ney, Essen and Kneser 1994, "On structuring probabilistic dependences in stochastic language modelling"
    (absolute discounting); Kneser and Ney 1995; Chen and Goodman 1999, "An empirical study of smoothing techniques
    for language modeling", section 3 (the interpolated form).

    >>> model = NGram.learn([0, 1, 0, 1, 1], order=2, size=2)
    >>> model.exact((0,)).tolist()
    [Fraction(3, 16), Fraction(13, 16)]
    """

    def __init__(self, order: int, size: int, counts: ContextTree) -> None:
        """Hold counts; `learn` is the way to make a model."""
        self.order = order
        self.size = size
        self._counts = counts
        discount = float(DISCOUNT)
        excess, back = counts.pair_count - discount, discount * counts.types / counts.total
        # 4 c - 3 in integers, summed over the whole list: `draw` searches it without any rounding.
        units = counts.pair_count * DISCOUNT.denominator - DISCOUNT.numerator
        self._units = np.concatenate([[0], np.cumsum(units)])
        stop = counts.start[1]
        base = np.full(size, float(back[0]) / size)
        base[counts.pair_token[:stop]] += excess[:stop] / counts.total[0]
        # The two arguments with which the compiled functions below begin.
        self._read = (counts.keys, counts.start, counts.pair_token, counts.total), (excess, back, base)

    @classmethod
    def learn(cls, tokens: Sequence[int] | np.ndarray[Any, Any], order: int, size: int) -> NGram:
        """Count the n-grams of a text of token indices below `size`; -1 among them starts a new text.

        Raises:
            TypeError: order or size is not an int, or a token is not an int (a bool is refused).
            ValueError: order or size is below 1, a token is outside [0, size), or there is no token at all.

        >>> NGram.learn([0, -1, 1], order=2, size=2).exact(()).tolist()
        [Fraction(1, 2), Fraction(1, 2)]
        """
        order, size = count(order, "order"), count(size, "size")
        text = indices(tokens, "tokens", 1)
        check_range(text, size, "tokens")
        if not (text >= 0).any():
            raise ValueError("a model is learnt from at least one token; the text has none")
        return cls(order, size, ContextTree(text, order, size))

    def __call__(self, prefix: Sequence[int]) -> Array:
        """Return the law [V] of the token that follows prefix, in float64.

        Raises:
            TypeError, ValueError: a token of the prefix is not an index below V; the message names the prefix.

        >>> NGram.learn([0, 1, 0, 1, 1], order=2, size=2)((0,)).tolist()
        [0.1875, 0.8125]
        """
        return self.rows(self.context(prefix)[None, :])[0]

    def context(self, prefix: Sequence[int]) -> np.ndarray[Any, Any]:
        """Return the last order - 1 tokens of a prefix, padded in front with -1: one row of `contexts`.

        >>> NGram.learn([0, 1], order=4, size=2).context((1,)).tolist()
        [-1, -1, 1]
        """
        return np.array(padded(check_prefix(prefix, self.size), self.order - 1), dtype=np.int64)

    def rows(self, contexts: Any) -> np.ndarray[Any, Any]:
        """Return the laws [n, V], in float64, at contexts [n, order - 1] padded in front with -1.

        All terms are positive, so relative errors do not grow in sums: with K = order - 1, no mass is reached through
        more than 3 K + 3 roundings (the test `test_rows_equal_the_exact_laws_within_3K_plus_3_roundings` counts them):
        with u = 2^-53, every mass, and every sum of masses, is within γ = (3 K + 3) u / (1 - (3 K + 3) u) of its
        exact value, relatively.

        Raises:
            TypeError, ValueError: the contexts are not such an array; see `windows`.

        >>> NGram.learn([0, 1, 0, 1, 1], order=2, size=2).rows([[0]]).tolist()
        [[0.1875, 0.8125]]
        """
        given = self._checked(contexts)
        laws = np.empty((len(given), self.size))
        for begin in range(0, len(given), _CHUNK):
            _delayed_fill(*self._read, given[begin : begin + _CHUNK], laws[begin : begin + _CHUNK])
        return laws

    def mass(self, contexts: Any, tokens: Any) -> np.ndarray[Any, Any]:
        """Return the masses of given tokens alone: `rows(contexts)[i, tokens[i]]`, the same floats, without the rows.

        Shapes: contexts [n, order - 1], tokens [n] or [n, m]; the masses have the shape of tokens.

        Raises:
            TypeError, ValueError: no such arrays, or a token outside [0, V).

        >>> NGram.learn([0, 1, 0, 1, 1], order=2, size=2).mass([[0]], [[1, 0]]).tolist()
        [[0.8125, 0.1875]]
        """
        given = self._checked(contexts)
        asked = indices(tokens, "tokens", None)
        check_range(asked, self.size, "tokens", least=0)
        if asked.ndim not in (1, 2) or len(asked) != len(given):
            raise ValueError(f"tokens must be [n] or [n, m] for contexts [n = {len(given)}, …]; got {asked.shape}")
        wide = asked.reshape(len(given), -1)
        masses = np.empty(wide.shape)
        weigh(*self._read, given, wide, masses)
        return masses.reshape(asked.shape)

    def draw(self, contexts: Any, uniforms: Any) -> np.ndarray[Any, Any]:
        """Draw one token per context from its law, by walking the mixture; one uniform in [0, 1) is consumed by each.

        The law: from the longest context seen, go to a successor w with probability (c - D) / C each, and with what
        is left, D T / C, to the next shorter context, at last to the uniform law: exactly P of the class. In floats
        every border between two outcomes, on the scale of the uniform, is off by at most 3 · order · 2^-53.
        The order of the outcomes along [0, 1) is NOT that of the tokens: `coin.draw` turns the same uniform into
        another token of the same law.

        Shapes: contexts [n, order - 1], uniforms [n]; the tokens are [n].

        Raises:
            TypeError, ValueError: no such arrays, or a uniform outside [0, 1).

        >>> NGram.learn([0, 1, 0, 1, 1], order=2, size=2).draw([[0], [0]], [0.0, 0.9]).tolist()
        [1, 0]
        """
        given = self._checked(contexts)
        u = np.array(uniforms, dtype=np.float64)
        if u.shape != (len(given),):
            raise ValueError(f"uniforms must be [n = {len(given)}], one for each context; got the shape {u.shape}")
        if not bool(((u >= 0) & (u < 1)).all()):
            raise ValueError("uniforms must lie in [0, 1)")
        counts, discount, units = self._counts, float(DISCOUNT), DISCOUNT.denominator
        nodes = counts.nodes(given)
        tokens = np.full(len(given), -1, dtype=np.int64)
        for depth in range(self.order - 1, -1, -1):
            open_ = np.flatnonzero((tokens < 0) & (nodes[:, depth] >= 0))
            node = nodes[open_, depth]
            # x < C holds in floats: C · (1 - 2^-53) never rounds up to the integer C. What lies at or above C - D T
            # is exactly that far above it, and less than D T; so the next uniform is below 1 again.
            x = u[open_] * counts.total[node]
            own = counts.total[node] - discount * counts.types[node]
            here = x < own
            hit, at = open_[here], node[here]
            wanted = self._units[counts.start[at]] + np.floor(x[here] * units).astype(np.int64)
            tokens[hit] = counts.pair_token[np.searchsorted(self._units, wanted, side="right") - 1]
            u[open_[~here]] = (x[~here] - own[~here]) / (discount * counts.types[node[~here]])
        rest = tokens < 0
        tokens[rest] = np.floor(u[rest] * self.size).astype(np.int64)
        return tokens

    def exact(self, prefix: Sequence[int]) -> Array:
        """Return the law [V] after prefix as Fractions: the formula of the class, term by term.

        Raises:
            TypeError, ValueError: a token of the prefix is not an index below V; the message names the prefix.

        >>> NGram.learn([0, 1, 0, 1, 1], order=2, size=2).exact(()).tolist()
        [Fraction(5, 8), Fraction(3, 8)]
        """
        counts = self._counts
        law = [Fraction(1, self.size)] * self.size
        for node in counts.nodes(self.context(prefix)[None, :])[0].tolist():
            if node < 0:
                break
            total, types = int(counts.total[node]), int(counts.types[node])
            law = [DISCOUNT * types / total * mass for mass in law]
            for pair in range(int(counts.start[node]), int(counts.start[node + 1])):
                law[int(counts.pair_token[pair])] += (int(counts.pair_count[pair]) - DISCOUNT) / total
        result = np.empty(self.size, dtype=object)
        result[:] = law
        return result

    def _checked(self, contexts: Any) -> np.ndarray[Any, Any]:
        given = indices(contexts, "contexts", 2)
        if given.shape[1] != self.order - 1:
            raise ValueError(f"contexts must be [n, {self.order - 1}] for order {self.order}; got {given.shape}")
        check_range(given, self.size, "contexts")
        if bool(((given[:, 1:] < 0) & (given[:, :-1] >= 0)).any()):
            raise ValueError("contexts are padded with -1 in front only; one has a -1 after a token")
        return given


@kernel
def _fill(tree: Any, numbers: Any, contexts: Any, laws: Any) -> None:
    """Fill the laws [n, V] at contexts [n, order - 1]: the shortest context's law, and counts of all longer ones."""
    (_keys, start, tokens, _total), (excess, _back, base) = tree, numbers
    nodes, scales = np.zeros(contexts.shape[1] + 1, np.int64), np.empty(contexts.shape[1] + 1)
    for row in range(contexts.shape[0]):
        deepest, weight = read(tree, numbers, contexts[row], nodes, scales)
        for token in range(len(base)):
            laws[row, token] = weight * base[token]
        for depth in range(1, deepest + 1):
            for pair in range(start[nodes[depth]], start[nodes[depth] + 1]):
                laws[row, tokens[pair]] += excess[pair] * scales[depth]


def _fill_with_arrays(tree: Any, numbers: Any, contexts: Any, laws: Any) -> None:
    """Do the same with arrays: the pairs of a node have different tokens."""
    (_keys, start, tokens, _total), (excess, _back, base) = tree, numbers
    nodes, scales = [0] * (contexts.shape[1] + 1), [0.0] * (contexts.shape[1] + 1)
    for context, law in zip(contexts.tolist(), laws, strict=True):
        deepest, weight = read(tree, numbers, context, nodes, scales)
        np.multiply(base, weight, out=law)
        for node, scale in zip(nodes[1 : deepest + 1], scales[1:], strict=False):
            pairs = slice(start[node], start[node + 1])
            law[tokens[pairs]] += excess[pairs] * scale


_delayed_fill = Delayed(_fill, _fill_with_arrays, calls=20)


@kernel
def weigh(tree: Any, numbers: Any, contexts: Any, tokens: Any, masses: Any) -> None:
    """Fill the masses [n, m] of tokens [n, m]: the sums of `NGram.rows` in their order, each token found in its list.

    Contexts [n, order - 1]; the tree is keys, starts, tokens of pairs and totals of a `ContextTree`, the numbers are
    what a pair's count adds, the weight of the next shorter context, and the shortest one's law.

    >>> tree = np.empty(0, np.int64), np.array([0, 1]), np.array([1]), np.array([4])
    >>> masses = np.empty((1, 2))
    >>> numbers = np.array([1.0]), np.array([1.0]), np.array([0.25, 0.75])
    >>> weigh(tree, numbers, np.empty((1, 0), np.int64), np.array([[1, 0]]), masses)
    >>> masses.tolist()
    [[0.75, 0.25]]
    """
    (_keys, start, successors, _total), (excess, _back, base) = tree, numbers
    nodes, scales = np.zeros(contexts.shape[1] + 1, np.int64), np.empty(contexts.shape[1] + 1)
    for row in range(contexts.shape[0]):
        deepest, weight = read(tree, numbers, contexts[row], nodes, scales)
        for column in range(tokens.shape[1]):
            mass = weight * base[tokens[row, column]]
            for depth in range(1, deepest + 1):
                end = start[nodes[depth] + 1]
                at = first_from(successors, start[nodes[depth]], end, tokens[row, column])
                if at < end and successors[at] == tokens[row, column]:
                    mass += excess[at] * scales[depth]
            masses[row, column] = mass


@register_jitable
def read(tree: Any, numbers: Any, context: Any, nodes: Any, scales: Any) -> tuple[int, float]:
    """Fill the nodes [order] of a context and what one count adds at each [order]; return how deep, and the weight.

    The nodes are those of `ContextTree.nodes`; the trees and numbers are those that `weigh` takes.

    >>> tree, numbers = ([1], None, None, [4, 2]), (None, [0.5, 0.25], [0.25, 0.75])
    >>> nodes, scales = [0, 0], [0.0, 0.0]
    >>> read(tree, numbers, [0], nodes, scales), nodes, scales
    ((1, 0.25), [0, 1], [0.0, 0.5])
    """
    (keys, _start, _tokens, total), (_excess, back, base) = tree, numbers
    deepest, weight = 0, 1.0
    for depth in range(1, len(nodes)):
        wanted = nodes[depth - 1] * (len(base) + 1) + context[len(nodes) - 1 - depth] + 1
        at = first_from(keys, 0, len(keys), wanted)
        if at == len(keys) or keys[at] != wanted:
            break
        nodes[depth], deepest = at + 1, depth
    for depth in range(deepest, 0, -1):
        scales[depth] = weight / total[nodes[depth]]
        weight *= back[nodes[depth]]
    return deepest, weight
