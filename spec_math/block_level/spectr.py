"""SpecTr: a tree of i.i.d. drafts, verified node by node with any verifier of one position (SpecTr Alg. 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from spec_math.arrays import Array, divide
from spec_math.block_level.conditionals import Conditionals
from spec_math.block_level.tree import Node, checked_widths, grow
from spec_math.chance import Coin
from spec_math.chance import law as law_of
from spec_math.language.model import Model
from spec_math.scheme import Tokens, draw_independent
from spec_math.token_level import k_sequential, pooled_priority


def generate(
    coin: Coin,
    target_model: Model,
    draft_model: Model,
    prefix: Sequence[int],
    widths: Sequence[int],
    verifier: Verifier = k_sequential.verify,
) -> Tokens:
    """Draft a tree of i.i.d. tokens, widths[i] below each node of level i, and walk down it as far as it is met.

    The law: the tokens, continued by the target, have the target's joint law. At each node the verifier turns the
    drafts that follow it into one token of the target's law; where that token is among them (by a test or by luck) the
    walk goes on with ALL drafts below its copies. They are a multiset: drafts that agree count as often as they were
    drawn. A token that follows the last level is drawn from the target. widths (K, 1, 1, ...) are K paths.

    `verifier` is lossless on any number of i.i.d. drafts: K-SEQ, recursive rejection (`recursive.verify`), or the
    optimal plan (`by_plan`). Source: SpecTr, Alg. 3 and Appendix E, with errata e, r and s mended.

    Raises:
        ValueError, TypeError: widths are not positive integers, a law is not a probability distribution or the prefix
            is not valid, named by its prefix.

    >>> from spec_math.chance import law
    >>> target, draft = (lambda prefix: ["1/4", "3/4"]), (lambda prefix: ["1/2", "1/2"])
    >>> blocks = law(lambda coin: generate(coin, target, draft, (), (2,)))
    >>> sum(mass for block, mass in blocks.items() if block[0] == 0)
    Fraction(1, 4)
    """
    widths = checked_widths(widths)
    laws = Conditionals(target_model, draft_model, prefix)
    return verify(coin, grow(coin, laws, widths, draw_independent), laws, verifier)


def verify(
    coin: Coin, candidates: tuple[Node, ...], laws: Conditionals, verifier: Verifier = k_sequential.verify
) -> Tokens:
    """Walk down a tree of i.i.d. drafts, given the children of its root in the order drawn: Alg. 3 of `generate`.

    >>> from spec_math.chance import replay
    >>> laws = Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ())
    >>> replay(lambda coin: verify(coin, (Node(1), Node(1)), laws), [0, 0])
    (1, 0)
    """
    emitted: Tokens = ()
    while candidates:
        drafts = tuple(node.token for node in candidates)
        token = verifier(coin, drafts, laws.target(emitted), laws.draft(emitted))
        emitted = (*emitted, token)
        if token not in drafts or laws.ends(emitted):
            return emitted
        candidates = agreeing(candidates, token)
    return (*emitted, coin.draw(laws.target(emitted)))


by_plan = pooled_priority.verify
"""The verifier of i.i.d. drafts with the optimal plan for their number, for `generate`; laws [V]."""


def agreeing(candidates: tuple[Node, ...], token: int) -> tuple[Node, ...]:
    """Return the drafts below every candidate that carries the token, as a multiset."""
    return tuple(child for node in candidates if node.token == token for child in node.children)


def expected(
    target_model: Model,
    draft_model: Model,
    prefix: Sequence[int],
    widths: Sequence[int],
    verifier: Verifier = k_sequential.verify,
) -> Any:
    """Compute the expected number of tokens per target call node by node, without walking whole trees.

    The law: E(v, n) = 1 + Σ_{y, m ≥ 1} P(y emitted, m of n drafts are y) · E(vy, m · width of the next level); it is 1
    where v has no drafts, and 0 after the end token. Exact on Fractions. At each node K-SEQ costs V n² terms, any
    other verifier V^n drafts (`law`). Units: tokens per call, as in SpecTr, Tables 2 and 4.

    Raises:
        ValueError, TypeError: as `generate`.

    >>> expected(lambda prefix: [1, 0], lambda prefix: ["1/2", "1/2"], (), (2,))
    Fraction(7, 4)
    """
    widths = checked_widths(widths)
    laws = Conditionals(target_model, draft_model, prefix)

    def tokens_from(path: Tokens, n: int) -> Any:
        total = laws.target(path).sum() * 0 + 1
        if n == 0:
            return total
        for (token, again), mass in law(verifier, laws.target(path), laws.draft(path), n).items():
            longer = (*path, token)
            if not laws.ends(longer):
                drafts = again * widths[len(longer)] if len(longer) < len(widths) else 0
                total = total + mass * tokens_from(longer, drafts)
        return total

    return tokens_from((), widths[0])


Verifier = Callable[[Coin, Tokens, Array, Array], int]
"""A verifier of one position on any number of i.i.d. drafts: verify(coin, tokens, target, draft) -> token."""


def law(verifier: Verifier, target: Array, draft: Array, n: int) -> dict[tuple[int, int], Any]:
    """Compute the law of (token emitted, how many of n i.i.d. drafts carry it), {(token, copies): mass}, copies ≥ 1.

    K-SEQ at γ* has a closed form; any other verifier is enumerated on V^n drafts. Laws [V].

    >>> from spec_math.arrays import exact
    >>> law(k_sequential.verify, exact([1, 0]), exact(["1/2", "1/2"]), 2)
    {(0, 1): Fraction(1, 2), (0, 2): Fraction(1, 4)}
    """
    if verifier is k_sequential.verify:
        return of_k_sequential(target, draft, n)

    def program(coin: Coin) -> tuple[int, int]:
        drafts = draw_independent(coin, draft, n)
        token = verifier(coin, drafts, target, draft)
        return token, drafts.count(token)

    return {met: mass for met, mass in law_of(program).items() if met[1] > 0}


def of_k_sequential(target: Array, draft: Array, n: int) -> dict[tuple[int, int], Any]:
    """Compute that law for K-SEQ at γ* in O(V n²), by a count of copies over the n drafts.

    A draft passes its test with mass min(d, t/γ). target, draft: [V]; the result is {(token, copies): mass}.
    Source: SpecTr, Alg. 2.
    """
    gamma = k_sequential.gamma_star(target, draft, n)
    passed = np.minimum(draft, target / gamma)
    met = copies_emitted(target, draft, [passed] * n, [1 - passed.sum()] * n)
    return {(token, copies): met[token, copies] for token, copies in np.argwhere(met > 0).tolist() if copies}


def copies_emitted(target: Array, draft: Array, passed: Sequence[Array], missed: Sequence[Any]) -> Array:
    """Return P(token emitted, m of n i.i.d. drafts carry it), [..., n + 1], of n tests one after another.

    Test j meets a draft y that passes with mass a_j = `passed[j]`, y that fails with d − a_j, and another token that
    fails with w_j − (d − a_j), w_j = `missed[j]` the chance that it fails. After the first pass each draft is y with
    mass d. Where all fail, y comes from the residual, with what is left of t. Masses [...] of one token each.
    """
    nothing = draft[..., None] * 0
    failing = np.concatenate([nothing + 1] + [nothing] * len(passed), axis=-1)
    passing, left, reached = failing * 0, target, draft * 0 + 1
    for own, rest in zip(passed, missed, strict=True):
        fails = draft - own
        passing = _mixed(1 - draft, passing, draft) + _mixed(nothing[..., 0], failing, own)
        failing = _mixed(rest - fails, failing, fails)
        left, reached = left - own * reached, reached * rest
    return passing + divide(left, reached, left * 0)[..., None] * failing


def _mixed(other: Any, masses: Array, own: Any) -> Array:
    """Return the masses of counts [..., n + 1] after one more draft, which is another token, or the token itself."""
    more = np.concatenate([masses[..., :1] * 0, masses[..., :-1]], axis=-1)
    return np.asarray(other)[..., None] * masses + np.asarray(own)[..., None] * more
