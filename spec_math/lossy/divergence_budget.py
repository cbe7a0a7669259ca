"""The optimum under a budget of Kullback-Leibler divergence: the largest acceptance of a law with KL ≤ D, bracketed.

The problem: maximise P(Y ∈ S) over couplings of k i.i.d. drafts whose emitted law e has KL(e‖t) ≤ D, or KL(t‖e) ≤ D.
For each acceptance the law of the frontier has the least divergence of all, either way, and that divergence grows with
the acceptance. So two of its laws are a certificate: one whose divergence is surely at most D is a rule that reaches
the lower end; one whose divergence is surely at least D shows that nothing exceeds the upper end.

Source: mentored decoding (V. Tran-Thien, 2023) states the problem for one draft and KL(e‖t) or KL(t‖e); the solution
for any number of drafts, and for every divergence at once, is worked out here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.lossy import frontier
from spec_math.lossy.distances import divergence
from spec_math.lossy.logarithm import Interval
from spec_math.lossy.options import at_least
from spec_math.token_level import optimal
from spec_math.token_level.optimum.prefix_law import independent
from spec_math.token_level.optimum.ratio_order import ratio_order

STEPS = 40


@dataclass(frozen=True)
class DivergenceBracket:
    """The largest acceptance under a budget of divergence lies in [lower, upper].

    `law` [V] reaches `lower` with the divergence `reached`, an interval at or below the budget. `beyond` is the
    interval of the least divergence at `upper`, which `closest` [V] has, at or above the budget, or None where all
    drafts can be accepted within it.

    Made by `bracket`. Source: `divergence_budget`.
    """

    lower: Any
    upper: Any
    law: Array
    reached: Interval
    beyond: Interval | None
    closest: Array

    def fault(self, target: Any, draft: Any, k: int, nats: Any, to_target: bool = False) -> str | None:
        """Return the first thing wrong with the claim that this brackets the optimum, or None, by sums and logarithms.

        Below: the law is within the budget, and lets so much be accepted. Above: `closest` is beyond the budget, and
        where its ratio to the target drops, the tokens before have the least mass e(H) = (P(S ⊆ H) − 1 + upper)+ that
        any law has from which so much is accepted, so that none is closer. Exact laws [V].
        """
        t, d = frontier.one_position(target, draft)
        most = at_least(0)(nats, "nats")

        def away(law: Array) -> Interval:
            return divergence(t, law) if to_target else divergence(law, t)

        for law in (self.law, self.closest):
            if bool((law < 0).any()) or law.sum() != 1 or len(law) != len(t):
                return "a distribution of the bracket is not a probability distribution"
        if not away(self.law).high <= most:
            return f"the distribution that is said to reach the lower end is {float(away(self.law)):.6g} nats away"
        if optimal.acceptance(self.law, d, k) < self.lower:
            return f"the distribution lets {optimal.acceptance(self.law, d, k)} be accepted, not {self.lower}"
        if self.upper == 1 and self.beyond is None:
            return None
        if not away(self.closest).low >= most:
            return f"the distribution that is said to be beyond the budget is {float(away(self.closest)):.6g} nats away"
        ratios = [None if there == 0 else mass / there for mass, there in zip(self.closest, t, strict=True)]
        for level in {ratio for ratio in ratios if ratio is not None}:
            inside = np.array([ratio is None or ratio > level for ratio in ratios])
            least = max(0 * self.upper, d[inside].sum() ** k - 1 + self.upper)
            if self.closest[inside].sum() != least:
                return f"the tokens {np.flatnonzero(inside).tolist()} have more than the least mass {least}"
        return None


def bracket(
    target: Any, draft: Any, k: int, nats: Any, to_target: bool = False, steps: int = STEPS
) -> DivergenceBracket:
    """Bracket the largest P(Y ∈ S) of any rule of k i.i.d. drafts whose law is within a divergence of the target's.

    The divergence is KL(e‖t) ≤ nats, or KL(t‖e) ≤ nats if `to_target`. Bisection over the frontier: the bracket is
    (1 − α*)/2^steps wide, with a law for each end. Laws [V]. Exact on Fractions; on floats the two divergences are
    bounded for the laws as they are stored, and acceptances are rounded.

    Raises:
        TypeError, ValueError: the budget is negative; laws of more than one position; as `arrays.as_laws`.

    >>> from fractions import Fraction
    >>> found = bracket(["1/4", "3/4"], ["1/2", "1/2"], 1, "1/10", steps=20)
    >>> round(float(found.lower), 5), float(found.upper - found.lower) < 1e-6, found.reached.high <= Fraction(1, 10)
    (0.95667, True, True)
    """
    most = at_least(0)(nats, "nats")
    t, d = frontier.one_position(target, draft)
    order = ratio_order(t, d)
    prefix = independent(order, k)
    lacking = (prefix.inside - order.target_below).max()
    nothing, one = lacking * 0, lacking * 0 + 1

    def at(rejected: Any) -> tuple[Array, Interval]:
        law = frontier.emitted(t, order, prefix, rejected)
        return law, divergence(t, law) if to_target else divergence(law, t)

    everything, farthest = at(nothing)
    if farthest.high <= most:
        return DivergenceBracket(one, one, everything, farthest, None, everything)
    reached, beyond, closest = at(lacking), farthest, everything
    more, less = lacking, nothing
    for _ in range(steps):
        middle = (more + less) / 2
        found = at(middle)
        if found[1].high <= most:
            more, reached = middle, found
        elif found[1].low >= most:
            less, (closest, beyond) = middle, found
        else:
            break
    return DivergenceBracket(1 - more, 1 - less, reached[0], reached[1], beyond, closest)


def law(target: Any, draft: Any, k: int, nats: Any, to_target: bool = False) -> Array:
    """Return the law [V] of the rule that reaches the lower end of `bracket`.

    Target and draft [V].

    Raises:
        TypeError, ValueError: as `bracket`.

    >>> law(["1/4", "3/4"], ["1/2", "1/2"], 1, 0).tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    """
    return bracket(target, draft, k, nats, to_target).law
