"""Theorems about verifiers of one position, for all laws: lossless, with the acceptance of their formulas, optimal."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from operator import itemgetter
from typing import Any

from spec_math.arrays import Array
from spec_math.chance import Coin
from spec_math.distribution import overlap
from spec_math.scheme import Emission, Scheme, Tokens
from spec_math.symbolic.theorem import AsFormulas, Fails, Theorem, equal
from spec_math.token_level import draft_law, shared_noise
from spec_math.verdict import Verdict, check_lossless
from spec_math.wording import counted


def lossless(scheme: Scheme, tokens: int, drafts: int = 1, seconds: float = 1.0) -> Theorem:
    """Return the theorem that a scheme emits the target's law, whatever target and draft are.

    Of a scheme with a parameter: at every value that it takes. Source: of K-SEQ's γ, SpecTr, Theorem 2.
    """

    def statement(target: Array, draft: Array, *value: Any) -> Verdict | None:
        if not _allowed(scheme, target, draft, drafts, value):
            return None
        if not value:
            return check_lossless(scheme, target, draft, drafts)

        def verify(coin: Coin, tokens: Tokens, target: Array, draft: Array) -> int:
            return scheme.verify(coin, tokens, target, draft, *value)

        return check_lossless(verify, target, draft, drafts)

    return _theorem(scheme, "lossless", statement, tokens, drafts, seconds)


def as_its_formula(scheme: Scheme, tokens: int, drafts: int = 1, seconds: float = 1.0) -> Theorem:
    """Return the theorem that a scheme accepts, and its tests do, with the probabilities of its closed forms."""

    def statement(target: Array, draft: Array, *value: Any) -> AsFormulas | Fails | None:
        if not _allowed(scheme, target, draft, drafts, value):
            return None
        program = _accepting(scheme, target, draft, drafts, value)
        formulas = {
            "acceptance": (itemgetter(0), scheme.acceptance(target, draft, drafts, *value)),
            "test acceptance": (itemgetter(1), scheme.test_acceptance(target, draft, drafts, *value)),
        }
        return equal(program, formulas)

    return _theorem(scheme, "as its formula says", statement, tokens, drafts, seconds)


def optimal(scheme: Scheme, tokens: int, drafts: int = 1, seconds: float = 1.0) -> Theorem:
    """Return the theorem that no verifier of a scheme's drafts emits one of them more often than the scheme.

    The bound is min-cut, min over all sets H of tokens of 1 − P(S ⊆ H) + t(H), S the drafted set: all 2^n sets are
    enumerated, prefix rule and plan are not asked. Source: SpecTr, Eq. 4.

    >>> from spec_math import SCHEMES
    >>> optimal(SCHEMES[0], 2).name
    'maximal coupling: optimal for its drafts'
    """

    def statement(target: Array, draft: Array) -> AsFormulas | Fails:
        sets = draft_law.drawn(scheme.draw, draft, drafts)
        cuts = [
            1 - sum(mass for drafted, mass in sets.items() if set(drafted) <= set(chosen)) + sum(target[list(chosen)])
            for size in range(tokens + 1)
            for chosen in combinations(range(tokens), size)
        ]
        least = min(cuts)  # first: it splits the laws by polynomials of a lower degree than the scheme does
        return equal(_accepting(scheme, target, draft, drafts), {"acceptance": (itemgetter(0), least)})

    return _theorem(scheme, "optimal for its drafts", statement, tokens, drafts, seconds)


def _theorem(
    scheme: Scheme, said: str, statement: Callable[..., Any], tokens: int, drafts: int, seconds: float
) -> Theorem:
    scope = f"all distributions on {tokens} tokens, {counted(drafts, 'draft')}"
    laws = {"t": tokens, "d": tokens}
    if scheme.parameter is None or said.startswith("optimal"):
        return Theorem(f"{scheme.name}: {said}", scope, statement, laws, seconds=seconds)
    about = scheme.parameter
    name, scope = f"{scheme.short_name}: {said}", f"{scope}, {about.scope}"

    def excess(target: Array, draft: Array, value: Any) -> Any:
        return about.excess(target, draft, drafts, value)

    return Theorem(name, scope, statement, laws, (about.name,), seconds, hypothesis=excess)


def _allowed(scheme: Scheme, target: Array, draft: Array, drafts: int, value: tuple[Any, ...]) -> bool:
    return scheme.parameter is None or not scheme.parameter.excess(target, draft, drafts, *value) > 0


def _accepting(
    scheme: Scheme, target: Array, draft: Array, drafts: int, value: tuple[Any, ...] = ()
) -> Callable[[Coin], tuple[bool, bool]]:
    """Return the program that says whether a draft is emitted, and whether a test accepted one."""
    emit: Callable[..., Emission] | None = scheme.emit
    if emit is None:
        raise ValueError(f"{scheme.name} does not say which drafts its tests accept: a Scheme with emit is needed")

    def program(coin: Coin) -> tuple[bool, bool]:
        drafted = scheme.draw(coin, draft, drafts)
        emission = emit(coin, drafted, target, draft, *value)
        return emission.token in drafted, bool(emission.accepted)

    return program


def theorems() -> tuple[Theorem, ...]:
    """Return the theorem for one and two drafts on two tokens."""
    return at_least(2, 1), at_least(2, 2)


def at_least(tokens: int, drafts: int) -> Theorem:
    """Return the theorem: a draft is emitted with (1 − TV)/(1 + TV) at least, and one draft with 1 − TV at most."""

    def statement(target: Array, draft: Array) -> AsFormulas | Fails:
        shared, found = overlap(target, draft), shared_noise.least(target, draft, drafts)
        if found * (2 - shared) < shared:
            return Fails("the acceptance", found, shared / (2 - shared))
        if drafts == 1 and found > shared:
            return Fails("the acceptance", found, shared)
        # A coin with a chance exists if and only if the chance lies between 0 and 1.
        bounds = {"acceptance · (1 + TV) − (1 − TV), in [0, 1]": found * (2 - shared) - shared}
        if drafts == 1:
            bounds["1 − TV − acceptance, in [0, 1]"] = shared - found
        formulas = {what: (itemgetter(at), bound) for at, (what, bound) in enumerate(bounds.items())}
        return equal(lambda coin: tuple(map(coin.flip, bounds.values())), formulas)

    scope = f"all distributions on {tokens} tokens, {counted(drafts, 'draft')}"
    return Theorem("shared noise: at least (1 − TV)/(1 + TV)", scope, statement, {"t": tokens, "d": tokens})
