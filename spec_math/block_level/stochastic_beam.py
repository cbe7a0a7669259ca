"""Stochastic beams: K sequences drawn without replacement (Gumbel-top-K), as a tree, verified by recursive rejection.

Source: Jeon et al. 2024, "Recursive Speculative Decoding" (RSD-S); Kool et al. 2019 for the beam.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from spec_math.arrays import Array, count
from spec_math.block_level import length
from spec_math.block_level.conditionals import Conditionals, a_token_longer
from spec_math.block_level.lengths.drafted_chains import GatheredLaws
from spec_math.block_level.lengths.given_drafts import first_to_pass
from spec_math.block_level.likeliest_tree import as_tree, first_places
from spec_math.block_level.tree import Node
from spec_math.block_level.without_replacement import verify as verify
from spec_math.chance import Coin
from spec_math.language.model import Model
from spec_math.scheme import Tokens
from spec_math.token_level import without_replacement

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
    a level is its first k prefixes, and their parents are in the beam above, as they ring no later. Siblings are in
    the order they ring: draws without replacement of the draft's law there. V^lookahead sequences.

    Raises:
        ValueError, TypeError: lookahead or k is not a positive integer.

    >>> from spec_math.chance import replay
    >>> laws = Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ())
    >>> replay(lambda coin: grow(coin, laws, 2, 2), [0.0, 0.0, 0.0])
    (Node(token=0, children=(Node(token=0, children=()), Node(token=1, children=()))), Node(token=1, children=()))
    """
    lookahead, k = count(lookahead, "lookahead"), count(k)
    sequences, masses = _sequences(laws, lookahead)
    levels = [{path[:size] for path in sequences if len(path) >= size} for size in range(1, lookahead + 1)]
    wanted = [min(k, len(prefixes)) for prefixes in levels]
    beams: list[list[Tokens]] = [[] for _ in range(lookahead)]
    left = np.array(masses, dtype=object if not isinstance(masses[0], float) else np.float64)
    while any(len(beam) < number for beam, number in zip(beams, wanted, strict=True)):
        drawn = coin.draw((left / left.sum()).tolist())
        left[drawn] = left[drawn] - left[drawn]
        path = sequences[drawn]
        for size, (beam, number) in enumerate(zip(beams, wanted, strict=True), 1):
            if size <= len(path) and len(beam) < number and path[:size] not in beam:
                beam.append(path[:size])
    return as_tree([path for beam in beams for path in beam])


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


def sampled(laws: GatheredLaws, lookahead: int, k: int, rng: Any) -> tuple[Node, ...]:
    """Draft the same tree on a large vocabulary, level by level, with uniforms of a NumPy Generator.

    The law: minus the logarithm of a ringing time is a Gumbel variate; those of the children of a node are drawn given
    that the largest is the node's own. That keeps their order, so that only the first k are worked out. Float laws.
    Source: Kool et al. 2019, Section 3.

    Raises:
        ValueError, TypeError: lookahead or k is not a positive integer; a law is not a probability distribution.
    """
    beam: list[tuple[float, float, Tokens]] = [(float(rng.gumbel()), 0.0, ())]
    kept: list[Tokens] = []
    for _ in range(count(lookahead, "lookahead")):
        growing = [node for node in beam if not laws.ends(node[2])]
        laws.gather([path for _, _, path in growing])
        offered: list[tuple[float, float, Tokens]] = []
        for own, mass, path in growing:
            draft = np.asarray(laws.draft(path), dtype=np.float64)
            tokens = np.flatnonzero(draft > 0)
            masses, uniforms = draft[tokens], rng.random(len(tokens))
            places = first_to_ring(masses, uniforms, k)
            logs = mass + np.log(masses[places])
            free = logs - np.log(_unit_clocks(uniforms[places]))
            # Moved so that the largest is the node's own: −log(e^−own + e^−free − e^−largest), which may not underflow.
            with np.errstate(divide="ignore"):  # the largest itself
                moved = own - free + np.log1p(-np.exp(free - free.max()))
            values = own - np.maximum(0, moved) - np.log1p(np.exp(-np.abs(moved)))
            for value, log, token in zip(values.tolist(), logs.tolist(), tokens[places].tolist(), strict=True):
                offered.append((value, log, (*path, token)))
        beam = sorted(offered, key=lambda node: -node[0])[:k]
        kept += [path for _, _, path in beam]
    return as_tree(kept)


def first_to_ring(masses: Array, uniforms: Array, k: int) -> Array:
    """Return the places of the first k of V clocks to ring, in this order: clock i rings at −ln(1 − u_i)/m_i.

    Masses [V] above 0 that sum to 1, uniforms [V] in [0, 1).
    """
    with np.errstate(over="ignore"):  # a clock that does not ring in any time of float64
        return first_places(_unit_clocks(uniforms) / masses, k)


def _unit_clocks(uniforms: Array) -> Array:
    """Return −ln(1 − u), of a uniform of 0 half the least of all others."""
    return np.maximum(-np.log(1 - uniforms), 2.0**-54)


def chances(laws: Conditionals, tree: tuple[Node, ...], lookahead: int) -> list[Any]:
    """Return a_1..a_L of a drafted tree, the chances that 1, 2, … tokens at least are accepted, as `given_drafts`."""
    total = [laws.target()[0] * 0] * lookahead

    def walk(path: Tokens, siblings: tuple[Node, ...], mass: Any) -> None:
        if not siblings:
            return
        tokens = tuple(node.token for node in siblings)
        target, draft = laws.target(path), laws.draft(path)
        met = first_to_pass(lambda coin: without_replacement.emit(coin, tokens, target, draft), tokens)
        for node in siblings:
            longer, share = (*path, node.token), mass * met[node.token]
            if share > 0 and not laws.ends(longer):
                total[len(path)] += share
                walk(longer, node.children, share)

    walk((), tree, laws.target()[0] * 0 + 1)
    return total


def _sequences(laws: Conditionals, lookahead: int) -> tuple[list[Tokens], list[Any]]:
    """Return all sequences of `lookahead` tokens, or up to the end token, with their draft masses, all > 0."""
    level: list[tuple[Tokens, Any]] = [((), laws.target()[0] * 0 + 1)]
    for _ in range(lookahead):
        level = list(a_token_longer(level, laws.ends, laws.draft))
    return [path for path, _ in level], [mass for _, mass in level]
