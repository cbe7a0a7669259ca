"""The verifier that draws from the conditional distribution of a coupling."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from spec_math.arrays import exact as exactly
from spec_math.chance import Coin, Cumulative
from spec_math.coupling import Coupling
from spec_math.scheme import Tokens, is_index
from spec_math.token_level.certificate import Certificate
from spec_math.token_level.draft_law import Drafts


def verifier_from_coupling(
    coupling: Certificate | Coupling | Mapping[Any, Any],
) -> Callable[[Coin, Tokens, Any, Any], int]:
    """Turn any coupling {(tokens, emitted): mass} into the verifier that draws from its conditional law π(y | tokens).

    The law: the emitted token has the coupling's own emitted law, so the verifier is lossless for the drafts and the
    target of the coupling, and accepts what the coupling accepts. It refuses other targets and other drafts.

    Raises:
        TypeError: a mass is no Fraction. ValueError: a mass is negative, or the masses do not sum to 1.
    """
    joint = dict(_pairs(coupling))
    if any(type(mass) is not Fraction for mass in joint.values()):
        raise TypeError("a coupling to draw from has Fractions for masses; solve returns one")
    if any(mass < 0 for mass in joint.values()) or sum(joint.values()) != 1:
        raise ValueError("a coupling has masses >= 0 that sum to exactly 1")
    if any(not is_index(token) or token < 0 for _, token in joint):
        raise ValueError("a coupling emits token indices, whole numbers >= 0")
    size = 1 + max(token for _, token in joint)
    rows: dict[Drafts, list[Fraction]] = {}
    for (tokens, token), mass in joint.items():
        rows.setdefault(tokens, [Fraction(0)] * size)[token] += mass
    emitted = [sum(masses, Fraction(0)) for masses in zip(*rows.values(), strict=True)]
    laws = {tokens: Cumulative([m / sum(row) for m in row]) for tokens, row in rows.items() if any(row)}
    by_sets = any(isinstance(tokens, frozenset) for tokens in laws)

    def verify(coin: Coin, tokens: Tokens, target: Any, draft: Any = None) -> int:  # noqa: ARG001
        wanted = exactly(target).tolist()
        if wanted[:size] != emitted or any(wanted[size:]):
            raise ValueError("this verifier was made for the target of its coupling, and is lossy for any other")
        key = frozenset(tokens) if by_sets else tuple(tokens)
        if key not in laws:
            raise ValueError(f"the coupling gives the drafts {tokens} no mass; its law of drafts is another")
        return coin.draw(laws[key])

    return verify


def _pairs(coupling: Certificate | Coupling | Mapping[Any, Any]) -> Iterator[tuple[tuple[Any, int], Any]]:
    if isinstance(coupling, Coupling):
        summed: dict[tuple[Any, int], Any] = {}
        for (tokens, emission), mass in coupling.masses.items():
            summed[tokens, emission.token] = summed.get((tokens, emission.token), 0) + mass
        return iter(summed.items())
    return iter((coupling.coupling if isinstance(coupling, Certificate) else coupling).items())
