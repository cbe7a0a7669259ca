"""Stochastic beams: K sequences drawn without replacement (Gumbel-top-K), as a tree, verified by recursive rejection.

Source: Jeon et al. 2024, "Recursive Speculative Decoding" (RSD-S); Kool et al. 2019 for the beam.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from math import inf
from typing import Any

import numpy as np

from spec_math.arrays import Array, count
from spec_math.block_level import length
from spec_math.block_level.conditionals import Conditionals, a_token_longer
from spec_math.block_level.lengths.drafted_chains import GatheredLaws
from spec_math.block_level.likeliest_tree import as_tree
from spec_math.block_level.tree import Node
from spec_math.block_level.without_replacement import verify as verify
from spec_math.chance import Coin
from spec_math.kernels import kernel
from spec_math.language.model import Model
from spec_math.scheme import Tokens

Verify = Callable[[Coin, tuple[Node, ...], Conditionals], Tokens]
"""A verifier of a drafted tree whose siblings come in the order they were drawn; here a walk by recursive rejection."""


def generate(  # noqa: PLR0913 - the models, where they start, two sizes, and who verifies
    coin: Coin,
    target_model: Model,
    draft_model: Model,
    prefix: Sequence[int],
    lookahead: int,
    k: int,
    verifier: Verify = verify,
) -> Tokens:
    """Draft a stochastic beam of width k and verify it: recursive rejection, or `traversal.verify`.

    The law: the tokens, continued by the target, have the target's joint law with either verifier, although how many
    children a node has depends on the race; see `grow`. Source: Jeon et al. 2024, RSD-S.

    Raises:
        ValueError, TypeError: lookahead or k is not a positive integer, a law is not a probability distribution or the
            prefix is not valid, named by its prefix.

    >>> from spec_math.chance import law
    >>> target, draft = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: ["1/2", "1/2"])
    >>> law(lambda coin: len(generate(coin, target, draft, (), 1, 2)))
    {2: Fraction(1, 1)}
    """
    laws = Conditionals(target_model, draft_model, prefix)
    return verifier(coin, grow(coin, laws, lookahead, k), laws)


def grow(coin: Coin, laws: Conditionals, lookahead: int, k: int) -> tuple[Node, ...]:
    """Draft the tree of a stochastic beam: on each level the first k prefixes that a race of whole sequences rings.

    The law: each sequence of `lookahead` tokens rings at an exponential time of rate d(sequence), so that they ring one
    after another as draws without replacement; a prefix rings with the first sequence that begins with it. The beam of
    a level is its first k prefixes, and their parents are in the beam above, as they ring no later; a sequence that
    has ended keeps its place. Siblings are in the order they ring: draws without replacement of the draft's law there.
    V^lookahead sequences.

    Raises:
        ValueError, TypeError: lookahead or k is not a positive integer.

    >>> from spec_math.chance import replay
    >>> laws = Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ())
    >>> replay(lambda coin: grow(coin, laws, 2, 2), [0.0, 0.0, 0.0])
    (Node(token=0, children=(Node(token=0, children=()), Node(token=1, children=()))), Node(token=1, children=()))
    """
    lookahead, k = count(lookahead, "lookahead"), count(k)
    sequences, masses = _sequences(laws, lookahead)
    wanted = [min(k, len({path[:size] for path in sequences})) for size in range(1, lookahead + 1)]
    beams: list[list[Tokens]] = [[] for _ in range(lookahead)]
    left = np.array(masses, dtype=object if not isinstance(masses[0], float) else np.float64)
    while any(len(beam) < number for beam, number in zip(beams, wanted, strict=True)):
        drawn = coin.draw((left / left.sum()).tolist())
        left[drawn] = left[drawn] - left[drawn]
        path = sequences[drawn]
        for size, (beam, number) in enumerate(zip(beams, wanted, strict=True), 1):
            if len(beam) < number and path[:size] not in beam:
                beam.append(path[:size])
    return _tree(beams, k)


def _tree(beams: Sequence[Sequence[Tokens]], k: int) -> tuple[Node, ...]:
    return as_tree([path for size, beam in enumerate(beams, 1) for path in beam[:k] if len(path) == size])


def expected(target_model: Model, draft_model: Model, prefix: Sequence[int], lookahead: int, k: int) -> Any:
    """Return the expected number of tokens per target call, by enumeration: for toy models. Units: tokens per call.

    Raises:
        ValueError, TypeError: as `generate`.

    >>> expected(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], (), 2, 2)
    Fraction(11, 4)
    """
    return length.expected(
        lambda coin, start: generate(coin, target_model, draft_model, start, lookahead, k), tuple(prefix)
    )


def sampled(laws: GatheredLaws, lookahead: int, ks: Sequence[int], rng: Any) -> dict[int, tuple[Node, ...]]:
    """Draft the same tree on a large vocabulary, level by level, with a NumPy Generator: for several widths, one race.

    The law: a node of mass m rings with its first child, a draw of the draft's law there. When children of mass q have
    rung, of 1 in all, the next one rings after an exponential time of rate m (1 − q), and is a draw from the others. So
    only children that ring before the widest beam is full are drawn. Float laws.

    Raises:
        ValueError, TypeError: lookahead or a width is not a positive integer; a law is not a probability distribution.
    """
    beam: list[tuple[float, float, Tokens]] = [(0.0, 1.0, ())]
    beams: list[list[Tokens]] = []
    widest = max(map(count, ks))
    for _ in range(count(lookahead, "lookahead")):
        laws.gather([path for _, _, path in beam if not laws.ends(path)], "draft")
        waiting: list[Any] = [(time, place, mass, path, None) for place, (time, mass, path) in enumerate(beam)]
        heapify(waiting)
        beam = []
        while waiting and len(beam) < widest:
            time, place, mass, path, held = heappop(waiting)
            if laws.ends(path):
                beam.append((time, mass, path))
                continue
            # Some nodes of a beam have no child in the next.
            children = held or _Unrung(np.asarray(laws.draft(path), dtype=np.float64))
            token, own = children.ring(rng)
            beam.append((time, mass * own, (*path, token)))
            if children.left > 0:
                rate = mass * children.left
                later = time + rng.exponential() / rate if rate > 2.0**-1000 else inf
                heappush(waiting, (later, place, mass, path, children))
        beams.append([path for _, _, path in beam])
    return {k: _tree(beams, k) for k in ks}


class _Unrung:
    """The children of a node that have not rung, by the draft's masses [V]; `left` is what they have in all."""

    def __init__(self, masses: Array) -> None:
        self._masses, self.left = masses, 1.0

    def ring(self, rng: Any) -> tuple[int, float]:
        """Draw the next child and its mass."""
        token = _drawn(self._masses, rng.random() * self.left)
        own = float(self._masses[token])
        self._masses = self._masses.copy()
        self._masses[token] = 0.0
        self.left = float(self._masses.sum())
        return token, own


@kernel
def _drawn(masses: Any, mark: float) -> int:
    """Return the first place where the running sum of masses exceeds a mark, or the last that has a mass."""
    last, total = 0, 0.0
    for place in range(len(masses)):
        if masses[place] > 0.0:
            last, total = place, total + masses[place]
        if total > mark:
            break
    return last


def _sequences(laws: Conditionals, lookahead: int) -> tuple[list[Tokens], list[Any]]:
    """Return all sequences of `lookahead` tokens, or up to the end token, with their draft masses, all > 0."""
    level: list[tuple[Tokens, Any]] = [((), laws.target()[0] * 0 + 1)]
    for _ in range(lookahead):
        level = list(a_token_longer(level, laws.ends, laws.draft))
    return [path for path, _ in level], [mass for _, mass in level]
