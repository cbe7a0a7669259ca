"""A certificate of the optimum under a budget of total variation: a coupling that reaches it, a cut that bounds it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from spec_math.scheme import is_index


@dataclass(frozen=True)
class BudgetCertificate:
    """The claim: no rule of these drafts whose law is within `total_variation` of the target emits a draft more often.

    target: the masses [V]. draft_law: {tokens: mass}. acceptance: P(emitted token is a draft). coupling:
    {(tokens, emitted): mass}, which reaches it within the budget. subset: tokens H, which bound every rule by
    1 − P(S ⊆ H) + t(H) + total_variation; drafts of no token bound it by 1 − P(no draft). Every number is a Fraction.

    Source: worked out here; `budget` has the proof.

    >>> half, one = Fraction(1, 2), Fraction(1)
    >>> coupling, drafts = {((1,), 0): half, ((1,), 1): half}, {(1,): one}
    >>> claim = BudgetCertificate((one, 0 * one), drafts, half, half, coupling, frozenset({1}))
    >>> claim.check()
    True
    >>> BudgetCertificate((one, 0 * one), {(1,): one}, half / 2, half, claim.coupling, claim.subset).fault()
    'what the coupling emits is 1/2 away from the target in total variation, and the budget is 1/4'
    """

    target: tuple[Fraction, ...]
    draft_law: dict[Any, Fraction]
    total_variation: Fraction
    acceptance: Fraction
    coupling: dict[tuple[Any, int], Fraction]
    subset: frozenset[int]

    def check(self) -> bool:
        """Say whether the claim is shown; never raises."""
        return self.fault() is None

    def fault(self) -> str | None:
        """Return the first thing wrong with the claim, or None; never raises."""
        try:
            return self._not_laws() or self._not_reached() or self._not_bounded()
        except Exception as error:  # what is no certificate at all
            return f"this is no certificate: {type(error).__name__}: {error}"

    def _not_laws(self) -> str | None:
        numbers = [
            *self.target,
            *self.draft_law.values(),
            *self.coupling.values(),
            self.total_variation,
            self.acceptance,
        ]
        if any(type(value) is not Fraction for value in numbers):
            return "a certificate's numbers are Fractions"
        for name, masses in (("target", self.target), ("law of drafts", self.draft_law.values())):
            if any(mass < 0 for mass in masses) or sum(masses) != 1:
                return f"the {name} is not a probability distribution"
        if self.total_variation < 0 or any(mass < 0 for mass in self.coupling.values()):
            return "a mass or the budget is negative"
        if not all(is_index(token) and 0 <= token < len(self.target) for _, token in self.coupling):
            return f"the coupling emits something that is no token of 0..{len(self.target) - 1}"
        return None

    def _not_reached(self) -> str | None:
        drafts: dict[Any, Fraction] = {}
        emitted = [Fraction(0)] * len(self.target)
        accepted = Fraction(0)
        for (tokens, token), mass in self.coupling.items():
            drafts[tokens] = drafts.get(tokens, Fraction(0)) + mass
            emitted[token] += mass
            accepted += mass if token in tokens else 0
        if {key: mass for key, mass in drafts.items() if mass} != {k: m for k, m in self.draft_law.items() if m}:
            return "the coupling's drafts have another law"
        away = sum((max(e - t, Fraction(0)) for e, t in zip(emitted, self.target, strict=True)), Fraction(0))
        if away > self.total_variation:
            return (
                f"what the coupling emits is {away} away from the target in total variation, and the budget is "
                f"{self.total_variation}"
            )
        if accepted != self.acceptance:
            return f"the coupling accepts {accepted}, not {self.acceptance}"
        return None

    def _not_bounded(self) -> str | None:
        zero = Fraction(0)
        nothing = sum((mass for tokens, mass in self.draft_law.items() if not tokens), zero)
        inside = sum((mass for tokens, mass in self.draft_law.items() if self.subset.issuperset(tokens)), zero)
        cut = 1 - inside + sum((self.target[token] for token in self.subset), zero) + self.total_variation
        bound = min(1 - nothing, cut)
        return None if bound == self.acceptance else f"the cut bounds the acceptance by {bound}, not {self.acceptance}"
