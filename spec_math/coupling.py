"""The joint law of (drafts, emitted token) that a verifier of one position has.

Source: SpecTr, Definition 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spec_math.chance import Coin, law
from spec_math.masses import by_outcome
from spec_math.notebook import card, joint_table
from spec_math.scheme import Emission, Tokens


@dataclass(frozen=True)
class Coupling:
    """A joint law of drafts, emitted token and the test's answer, {(tokens, emission): mass}.

    >>> from fractions import Fraction
    >>> half = Fraction(1, 2)
    >>> coupling = Coupling({((0,), Emission(0, True)): half, ((0,), Emission(1, False)): half})
    >>> coupling.emitted() == {0: half, 1: half}, coupling.acceptance(), coupling.test_acceptance()
    (True, Fraction(1, 2), Fraction(1, 2))
    """

    masses: dict[tuple[Tokens, Emission], Any]

    def drafts(self) -> dict[Tokens, Any]:
        """Return the marginal law of the drafts."""
        return by_outcome((tokens, mass) for (tokens, _), mass in self.masses.items())

    def emitted(self) -> dict[int, Any]:
        """Return the marginal law of the emitted token: the target's, where the verifier is lossless."""
        return by_outcome((emission.token, mass) for (_, emission), mass in self.masses.items())

    def acceptance(self) -> Any:
        """Return the probability that the emitted token is among the drafts, which optimal transport maximises."""
        return _total(self.masses, lambda tokens, emission: emission.token in tokens)

    def test_acceptance(self) -> Any:
        """Return the probability that a test accepted a draft: at most the acceptance."""
        return _total(self.masses, lambda _, emission: emission.accepted)

    def _repr_html_(self) -> str:
        rows: dict[Tokens, dict[int, Any]] = {}
        for (tokens, emission), mass in self.masses.items():
            row = rows.setdefault(tokens, {})
            row[emission.token] = row.get(emission.token, 0) + mass
        facts = {"acceptance": self.acceptance(), "test acceptance": self.test_acceptance()}
        return card("Coupling of drafts and emitted token", facts, joint_table(rows))


def joint(draw: Callable[[Coin], Tokens], emit: Callable[[Coin, Tokens], Emission]) -> Coupling:
    """Compute the joint law of drafts and emission by walking every path of both programs.

    Raises:
        ChanceError: as `chance.law`.

    >>> from fractions import Fraction
    >>> def draw(coin):
    ...     return (coin.draw([Fraction(1, 2), Fraction(1, 2)]),)
    >>> joint(draw, lambda coin, tokens: Emission(tokens[0], True)).acceptance()
    Fraction(1, 1)
    """

    def program(coin: Coin) -> tuple[Tokens, Emission]:
        tokens = draw(coin)
        return tokens, emit(coin, tokens)

    return Coupling(law(program))


def _total(masses: dict[tuple[Tokens, Emission], Any], counted: Callable[[Tokens, Emission], bool]) -> Any:
    zero = 0 * next(iter(masses.values()), 0)  # of the masses' own kind: an exact acceptance of 0 is a Fraction
    return sum((mass for (tokens, emission), mass in masses.items() if counted(tokens, emission)), zero)
