"""The judge of what an adapter returns: is the law of the emitted tokens the target's, to within a stated bound?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from spec_math.block_level.emitted import Text, continued, target_law
from spec_math.language.model import Model
from spec_math.verdict import UNIT, Allowance, Verdict
from spec_math.verdict import judged as judge

FLOAT32 = UNIT["float32"]
"""The unit roundoff of float32."""


def judged(emitted: Mapping[Text, Any], target_model: Model, horizon: int, bound: float) -> Verdict:
    """Decide whether a law of emitted tokens, continued by the target, is the target's joint law of `horizon` tokens.

    `emitted` is what an adapter returns, {tokens: probability}; longer texts are cut at the horizon. `bound` is the
    total variation that the engine's arithmetic may be off by, as `float32_bound` has it.

    >>> fair = lambda prefix: [0.5, 0.5]
    >>> judged({(0,): 0.75, (1,): 0.25}, fair, 2, bound=0).total_variation
    0.25
    """
    cut: dict[Text, Any] = {}
    for text, mass in emitted.items():
        cut[text[:horizon]] = cut.get(text[:horizon], 0) + mass
    law, wanted = continued(cut, target_model, horizon), target_law(target_model, horizon)
    return judge(law, wanted, Allowance(bound), getattr(emitted, "paths", len(emitted)))


def total_variation(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> float:
    """Return half the sum of |one − other| over all outcomes of two laws {outcome: mass}.

    >>> total_variation({0: 0.5, 1: 0.5}, {0: 0.75, 2: 0.25})
    0.5
    """
    return float(sum(abs(one.get(outcome, 0) - other.get(outcome, 0)) for outcome in one.keys() | other.keys()) / 2)


def float32_bound(rows: Sequence[Sequence[float]]) -> float:
    """Return the total variation that a float32 verifier may be off by, emitting one token for each target row [V].

    With u = 2^-24 and D the largest |log| of a positive mass: a logit log t is off by D·u, the difference to the
    largest logit by D·u more, exp by 2u, the sum by V·u and the quotient by u, so that a mass is off by a factor 1 ± e
    with e = (4D + V + 5)·u, the first two counting in the sum as well. A row of such masses sums to 1 ± (V + 2)·u; so
    does the draft's, and drawing divides by those sums: 3(V + 2)·u at most. The ratio of the test, the difference of
    the residual and its sum are rounded once each: 3u. Draft rows need no bound of their own: any law does that is both
    sampled and reported. Together (4D + 4V + 14)·u a token, first order in u; twice that leaves room for the rest.

    >>> float32_bound([[0.5, 0.5]]) < 4e-6
    True
    """
    total = 0.0
    for row in rows:
        largest = max(-log(mass) for mass in row if mass > 0)
        total += 2 * (4 * largest + 4 * len(row) + 14) * FLOAT32
    return total
