"""What is proved of the verifiers of one position: lossless, with the acceptance that their formulas say, optimal."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from spec_math.arrays import Array
from spec_math.chance import Coin
from spec_math.coupling import joint
from spec_math.scheme import Scheme, Tokens
from spec_math.symbolic.claims import Fails, Holds, equal
from spec_math.symbolic.theorem import Theorem
from spec_math.token_level import SCHEMES, draft_law, k_sequential
from spec_math.verdict import Verdict, check_lossless

BY_NAME = {scheme.name: scheme for scheme in SCHEMES}


def lossless(scheme: Scheme, tokens: int, drafts: int = 1, seconds: float = 1.0) -> Theorem:
    """Return the theorem that a scheme emits the target's law, whatever target and draft are.

    >>> lossless(SCHEMES[0], 3).scope
    'all laws on 3 tokens, 1 draft'
    """

    def statement(target: Array, draft: Array) -> Verdict:
        return check_lossless(scheme, target, draft, drafts)

    return Theorem(f"{scheme.name}: lossless", _scope(tokens, drafts), statement, _pair(tokens), seconds=seconds)


def lossless_k_sequential(tokens: int, drafts: int, seconds: float = 1.0) -> Theorem:
    """Return the theorem that K-SEQ is lossless at every γ ≥ 1 with f(γ) ≤ 0, among them γ*. Source: SpecTr, Theorem 2.

    >>> lossless_k_sequential(2, 3).scalars
    ('γ',)
    """

    def statement(target: Array, draft: Array, gamma: Any) -> Verdict | None:
        if k_sequential.f(target, draft, drafts, gamma) > 0:
            return None

        def verify(coin: Coin, drafted: Tokens, t: Array, d: Array) -> int:
            return k_sequential.verify(coin, drafted, t, d, gamma)

        return check_lossless(verify, target, draft, drafts)

    scope = f"{_scope(tokens, drafts)}, every γ with f(γ) ≤ 0"
    return Theorem("K-SEQ: lossless", scope, statement, _pair(tokens), ("γ",), seconds)


def formula_k_sequential(tokens: int, drafts: int, seconds: float = 1.0) -> Theorem:
    """Return the theorem that K-SEQ accepts with 1 − (1 − β)^k, and that its closed form of membership holds.

    >>> formula_k_sequential(2, 2).name
    'K-SEQ: as its formula says'
    """

    def statement(target: Array, draft: Array, gamma: Any) -> Holds | Fails | None:
        if k_sequential.f(target, draft, drafts, gamma) > 0:
            return None
        found = joint(
            lambda coin: k_sequential.draw(coin, draft, drafts),
            lambda coin, drafted: k_sequential.emit(coin, drafted, target, draft, gamma),
        )
        accepted = k_sequential.acceptance(target, draft, drafts, gamma)
        member = k_sequential.membership(target, draft, drafts, gamma)
        return equal({"acceptance": (found.acceptance(), accepted), "membership": (found.membership(), member)})

    scope = f"{_scope(tokens, drafts)}, every γ with f(γ) ≤ 0"
    return Theorem("K-SEQ: as its formula says", scope, statement, _pair(tokens), ("γ",), seconds)


def as_its_formula(scheme: Scheme, tokens: int, drafts: int = 1, seconds: float = 1.0) -> Theorem:
    """Return the theorem that a scheme accepts, and emits a draft, with the probabilities of its closed forms.

    >>> as_its_formula(SCHEMES[0], 2).name
    'maximal coupling: as its formula says'
    """

    def statement(target: Array, draft: Array) -> Holds | Fails:
        found = _joint(scheme, target, draft, drafts)
        return equal(
            {
                "acceptance": (found.acceptance(), scheme.acceptance(target, draft, drafts)),
                "membership": (found.membership(), scheme.membership(target, draft, drafts)),
            }
        )

    return Theorem(
        f"{scheme.name}: as its formula says", _scope(tokens, drafts), statement, _pair(tokens), seconds=seconds
    )


def optimal(scheme: Scheme, tokens: int, drafts: int = 1, seconds: float = 1.0) -> Theorem:
    """Return the theorem that no verifier of a scheme's drafts emits one of them more often than the scheme.

    The bound is min-cut, min over all sets H of tokens of 1 − P(S ⊆ H) + t(H), S the drafted set: all 2^n sets are
    enumerated, prefix rule and plan are not asked. Source: SpecTr, Eq. 4.

    >>> optimal(SCHEMES[0], 2).name
    'maximal coupling: optimal for its drafts'
    """

    def statement(target: Array, draft: Array) -> Holds | Fails:
        sets = draft_law.drawn(scheme.draw, draft, drafts)
        cuts = [
            1 - sum(mass for drafted, mass in sets.items() if set(drafted) <= set(chosen)) + sum(target[list(chosen)])
            for size in range(tokens + 1)
            for chosen in combinations(range(tokens), size)
        ]
        least = min(cuts)  # first: it splits the laws by polynomials of a lower degree than the scheme does
        return equal({"membership": (_joint(scheme, target, draft, drafts).membership(), least)})

    return Theorem(
        f"{scheme.name}: optimal for its drafts", _scope(tokens, drafts), statement, _pair(tokens), seconds=seconds
    )


def _joint(scheme: Scheme, target: Array, draft: Array, drafts: int) -> Any:
    emit = scheme.emit
    if emit is None:
        raise ValueError(f"{scheme.name} does not say which drafts its tests accept: a Scheme with emit is needed")
    return joint(
        lambda coin: scheme.draw(coin, draft, drafts), lambda coin, drafted: emit(coin, drafted, target, draft)
    )


def _pair(tokens: int) -> Mapping[str, int]:
    return {"t": tokens, "d": tokens}


def _scope(tokens: int, drafts: int) -> str:
    return f"all laws on {tokens} tokens, {drafts} draft{'s' if drafts > 1 else ''}"
