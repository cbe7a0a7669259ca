"""The optimum under a budget: how often can a rule emit a draft that may stray so far from the target's law?

The problem, for a target t, drafts with law P and sets S(x), and a budget ε of total variation:

    maximise   Σ π(x, y) over y ∈ S(x)
    subject to Σ_y π(x, y) = P(x),   e(y) = Σ_x π(x, y),   Σ (e − t)+ ≤ ε,   π ≥ 0.

Its value is min(1, α* + ε), where α* is the optimum of the lossless: a unit of bias buys a unit of acceptance, and
never more. From above: e(H) ≤ t(H) + ε for every set H of tokens, so that every cut of the lossless problem is a cut
here with ε added. From below: take a lossless coupling that is optimal, and wherever it emits a token that was not
drafted, emit a drafted one instead with probability ε/(1 − α*); no more mass than ε moves. Where there is no draft at
all with probability p, 1 − p stands in the place of 1.

Source: SpecTr, Eq. 4, for the lossless problem; the theorem and both proofs are worked out here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, array_namespace, as_law, asarray, is_exact, number_type
from spec_math.chance import Coin
from spec_math.lossy import frontier
from spec_math.lossy.options import share
from spec_math.scheme import Emission, is_index, token_of
from spec_math.token_level import optimal, transport
from spec_math.token_level.draft_law import checked


def acceptance(target: Any, draft: Any, k: int, total_variation: Any) -> Any:
    """Return the largest P(Y ∈ S) of any rule of k i.i.d. drafts whose law is within so much of the target's.

    The value: min(1, α* + ε), ε the total variation in [0, 1]. Laws [..., V] of one number type, or two `Counts`; a
    probability [...]. O(V log V), and exact, or as accurate as `token_level.optimal.acceptance`.

    Raises:
        TypeError, ValueError: the total variation is no number in [0, 1]; as `token_level.optimal.acceptance`.

    >>> acceptance(["2/5", "3/5"], ["3/4", "1/4"], 2, "1/20"), acceptance(["2/5", "3/5"], ["3/4", "1/4"], 2, "1/2")
    (Fraction(71, 80), Fraction(1, 1))
    """
    spent = share(total_variation, "total_variation")
    return _at_most_one(optimal.acceptance(target, draft, k), spent)


def acceptance_of(target: Any, draft_law: Mapping[Any, Any], total_variation: Any) -> Any:
    """Return the largest P(Y ∈ S) of any rule of these drafts whose law is within so much of the target's.

    Target [V]; draft_law {tuple or frozenset of tokens: mass}, exact or floats, as `transport.acceptance_of`.

    Raises:
        TypeError, ValueError: the total variation is no number in [0, 1]; as `transport.acceptance_of`.

    >>> acceptance_of(["1/4", "3/4"], {(0, 1): "1/2", (0, 0): "1/2"}, "1/8")
    Fraction(7, 8)
    """
    spent = share(total_variation, "total_variation")
    lossless = transport.acceptance_of(target, draft_law)
    undrafted = sum(mass for tokens, mass in checked(draft_law, as_law(target, "target")).items() if not tokens)
    return min(_at_most_one(lossless, spent), 1 - undrafted)


def solve(target: Any, draft_law: Mapping[Any, Any], total_variation: Any) -> BudgetCertificate:
    """Return a rule that reaches the optimum under the budget, as a coupling, with the cut that none exceeds.

    Target [V]; draft_law {tuple or frozenset of tokens: mass}; all exact.

    Raises:
        TypeError: the laws are floats, or of two number types. ValueError: either is not a probability distribution.

    >>> certificate = solve(["1/4", "3/4"], {(0, 0): "1/2", (0, 1): "1/2"}, "1/8")
    >>> certificate.acceptance, certificate.check()
    (Fraction(7, 8), True)
    """
    spent = share(total_variation, "total_variation")
    lossless = transport.solve(target, draft_law)
    undrafted = sum((mass for tokens, mass in lossless.draft_law.items() if not tokens), Fraction(0))
    lacking = 1 - undrafted - lossless.acceptance
    moved = min(Fraction(1), spent / lacking) if lacking else Fraction(0)
    coupling: dict[tuple[Any, int], Fraction] = {}

    for (tokens, token), mass in lossless.coupling.items():
        left = mass if token in tokens or not tokens else (1 - moved) * mass
        for emitted, part in ((token, left), (min(tokens, default=token), mass - left)):
            if part:
                coupling[tokens, emitted] = coupling.get((tokens, emitted), Fraction(0)) + part
    accepted = sum((mass for (tokens, token), mass in coupling.items() if token in tokens), Fraction(0))
    return BudgetCertificate(lossless.target, lossless.draft_law, spent, accepted, coupling, lossless.subset)


def law(target: Any, draft: Any, k: int, total_variation: Any) -> Array:
    """Return the law [V] that an optimal rule under the budget emits: the best of them in every other distance too.

    Of all laws from which k i.i.d. drafts can be accepted so often it has the least Kullback-Leibler divergence to and
    from the target, and the least largest likelihood ratio (`frontier.law`). Target and draft [V].

    Raises:
        TypeError, ValueError: as `acceptance`; laws of more than one position.

    >>> law(["2/5", "3/5"], ["3/4", "1/4"], 2, "1/20").tolist()
    [Fraction(9, 20), Fraction(11, 20)]
    """
    t, d = frontier.one_position(target, draft)
    return frontier.law(t, d, k, acceptance(t, d, k, total_variation))


def emit(coin: Coin, tokens: Any, target: Any, draft: Any, total_variation: Any) -> Emission:
    """Verify k i.i.d. drafts, k the length of the tuple, by the optimal plan for the law of the budget.

    The law: `law(target, draft, k, total_variation)`, and a draft is accepted with `acceptance(…)`. Laws [V].

    Raises:
        TypeError, ValueError: as `acceptance`; a drafted token that the draft cannot draw.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (0,), ["1/4", "3/4"], ["1/2", "1/2"], "1/8"))[Emission(0, True)]
    Fraction(3, 4)
    """
    t, d = frontier.one_position(target, draft)
    return frontier.emit(coin, tokens, t, d, acceptance(t, d, len(tokens), total_variation))


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def _at_most_one(lossless: Any, spent: Fraction) -> Any:
    if isinstance(lossless, Fraction):
        return min(Fraction(1), lossless + spent)
    values = asarray(lossless) if not hasattr(lossless, "dtype") else lossless
    if number_type(values) != "torch" and is_exact(values):
        return np.minimum(values + spent, np.full(values.shape, Fraction(1), dtype=object))
    # A float sum that rounds to above 1 is 1.
    raised = values + float(spent)
    found = array_namespace(raised).minimum(raised, raised * 0 + 1)
    return float(found) if isinstance(lossless, float) and found.ndim == 0 else found


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
        numbers = [*self.target, *self.draft_law.values(), *self.coupling.values()]
        numbers += [self.total_variation, self.acceptance]
        if any(type(value) is not Fraction for value in numbers):
            return "a certificate's numbers are Fractions"
        for name, masses in (("target", self.target), ("distribution of drafts", self.draft_law.values())):
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
            return "the coupling's drafts have another distribution"
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
