"""The expected number of tokens that a block emits for a given draft, averaged over the verifier's coins exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spec_math.block_level.conditionals import Conditionals
from spec_math.distribution import capped_ratio
from spec_math.scheme import Tokens


def ratios(laws: Conditionals, drafted: Tokens, proposed: Sequence[Any]) -> list[Any]:
    """Return min(1, t/p) for each drafted target token, given those before it: the chance that it is accepted.

    >>> ratios(Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ()), (0, 1), [1, 1])
    [Fraction(1, 4), Fraction(3, 4)]
    """
    return [capped_ratio(mass, chance) for mass, chance in zip(masses(laws, drafted), proposed, strict=False)]


def masses(laws: Conditionals, drafted: Tokens) -> list[Any]:
    """Return the target's mass of each drafted token given those before it, up to the target's end.

    >>> masses(Conditionals(lambda prefix: ["1/4", "3/4"], lambda prefix: ["1/2", "1/2"], ()), (0, 1))
    [Fraction(1, 4), Fraction(3, 4)]
    """
    found: list[Any] = []
    for place, token in enumerate(drafted):
        if laws.ends(drafted[:place]):
            break
        found.append(laws.target(drafted[:place])[token])
    return found


def emitted(laws: Conditionals, drafted: Tokens, chances: Sequence[Any]) -> Any:
    """Return the expected tokens of a block whose drafted tokens are accepted one after another with these chances.

    1 + Σ_j Π_{i≤j} chance_i: a rejection, or the end of the draft, adds one token. After the target's end nothing is.

    >>> from fractions import Fraction
    >>> laws = Conditionals(lambda prefix: ["1/2", "1/2"], lambda prefix: ["1/2", "1/2"], ())
    >>> emitted(laws, (0, 0), [Fraction(1, 2), Fraction(1, 3)])
    Fraction(5, 3)
    """
    total: Any = 1
    weight: Any = 1
    for place, chance in enumerate(chances):
        weight = weight * chance
        if laws.ends(drafted[: place + 1]):
            return total  # accepted, it is the block's last token; rejected, another one is
        total = total + weight
    return total
