"""Float plans under stress: hard pairs of laws, and how far a plan's law is from the target and from the optimum.

The emitted law is computed in closed form, in long doubles, from what the plan holds: with σ the law that its pools
select by, recomputed from their weights and deaths alone, token y is emitted with the probability
σ(y)·kept(y) + (1 − Σ σ·kept)·residual(y).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from proofs_tests.oracles import successive_drafts
from proofs_tests.token_level.float_laws import as_exact, softmax
from proofs_tests.token_level.pools_oracle import selected_by_merging
from spec_math.token_level import optimal
from spec_math.token_level.optimum import pools, prefix_law
from spec_math.token_level.plan import Plan, plan, plan_without_replacement

LONG = np.longdouble
"""64 bits of significand on x86; where it is float64 the checks still hold, the errors seen are then of the oracle."""

UNIT = 2.0**-53
PROMISED = 1e-11
WIDTHS = (0.1, 1.0, 3.0, 10.0, 30.0)


# In units of 2^-53, to first order, against the laws in proportion to their own sums.
# The plan's selection law c' against the true law σ of its pools: masses and prefixes of the ratio order 6, slopes 20k,
# a gain slope·mass 7 more, sums and quotient of a pool 3 and its mass 6, lifetime (exact) times slope 1, the sum over
# lifetimes 1, times mass 7: e = 20k + 25. A draft passes with min(t, c')/c', 1 more, so that Σ |σ·kept − min(t, c')| is
# at most e + 1. Target masses are off by 6, or 31 where d = 0 (NumPy's pairwise sum of 2^18 terms: 30). What is left,
# (t − c')+ with 1, is drawn in proportion with 4 and weighted with the true chance of rejection, which differs from its
# sum by e + 1 + 31. In all 2(e + 1) + 31 + 31 + 5 = 40k + 119 ≤ 40k + 120.
def law_bound(k: int) -> float:
    return (40 * k + 120) * UNIT


class Errors(NamedTuple):
    """Of one plan: the L1 distance of its law from the target's, and the acceptance that it misses."""

    law: float
    acceptance: float


class Case(NamedTuple):
    target: Any
    draft: Any
    k: int
    replaced: bool

    def plan(self) -> Plan:
        return (plan if self.replaced else plan_without_replacement)(self.target, self.draft, self.k)

    def errors(self, prepared: Plan | None = None) -> Errors:
        made = self.plan() if prepared is None else prepared
        value = optimal.acceptance if self.replaced else optimal.acceptance_without_replacement
        missed = abs(float(value(self.target, self.draft, self.k)) - float(made.acceptance))
        return Errors(float(np.abs(self.emitted(made) - in_long(self.target)).sum()), missed)

    def emitted(self, made: Plan) -> Any:
        draft = in_long(self.draft)[made.order.tokens]
        gains = independent_gains(draft, made.drafts) if self.replaced else self.gains(draft, made)
        return closed_form(made, selected_by_merging(made.pools.weights, made.pools.dies, draft, gains))

    def gains(self, draft: Any, made: Plan) -> Any:
        """Without replacement: by tuples, for two drafts in closed form, else from the library's law of prefixes."""
        if len(draft) <= 6 and made.drafts <= 3:
            return gains_by_tuples(as_exact(self.draft)[made.order.tokens], made.drafts)
        if made.drafts == 2:
            return pair_gains(draft)
        law = prefix_law.without_replacement(made.order, made.drafts)
        return pools.gains(made.order, law).astype(LONG)


class Left:
    """What is left for a residual draw, where no coin will be asked to draw it."""

    def __init__(self, masses: Any) -> None:
        self.masses = masses


def closed_form(made: Plan, selected: Any) -> Any:
    pools = np.zeros(len(made.selection), dtype=selected.dtype)
    pools[made.order.tokens] = selected
    passed = pools * made.kept
    left = np.array(made.residual.masses, dtype=selected.dtype)
    return passed + (1 - passed.sum()) * (left / left.sum())


def in_long(masses: Any) -> Any:
    wide = np.asarray(masses).astype(LONG)
    return wide / wide.sum()


def sums(masses: Any) -> Any:
    return np.concatenate([masses[:1] - masses[:1], np.cumsum(masses)])


def independent_gains(draft: Any, k: int) -> Any:
    """P_{i+1}^k − P_i^k, as d_i times a sum of terms ≥ 0."""
    below = sums(draft)
    return draft * sum(below[:-1] ** j * below[1:] ** (k - 1 - j) for j in range(k))


def gains_by_tuples(draft: Any, k: int) -> Any:
    gains = [LONG(0)] * len(draft)
    for tokens, mass in successive_drafts(draft, k).items():
        gains[max(tokens)] += LONG(mass.numerator) / LONG(mass.denominator)
    return np.array(gains)


def pair_gains(draft: Any) -> Any:
    """P(both drafts in prefix i + 1, token i among them) = d_i·(Σ_B d/(1 − d) + d(B)/(1 − d_i))."""
    below, above = sums(draft)[:-1], sums(draft[::-1])[::-1][1:]
    odds = draft / (below + above)
    return draft * sums(odds)[:-1] + odds * below


def cases(number: int, seed: int, largest: int = 200, replaced: tuple[bool, ...] = (True, False)) -> Iterator[Case]:
    """Seeded pairs of every hard kind and any mixture of two, with 1 to 8 drafts."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        size = int(rng.integers(1, largest + 1)) if rng.random() < 0.8 else int(rng.integers(1, 7))
        draft = masses(rng, size)
        target = masses(rng, size) if rng.random() < 0.6 else near(rng, draft)
        yield Case(target, draft, int(rng.integers(1, 9)), bool(rng.choice(replaced)))


def masses(rng: Any, size: int) -> Any:
    kind = rng.integers(6)
    noise = rng.standard_normal(size)
    if kind <= 1:
        return softmax(noise * rng.choice(WIDTHS))
    if kind == 2:
        return softmax(np.where(noise >= np.sort(noise)[-min(50, size)], noise, -np.inf))
    if kind == 3:
        return softmax(np.where(np.arange(size) == rng.integers(size), 0.0, -np.inf))
    if kind == 4:
        few = rng.integers(0, 4, size).astype(float)
        few[rng.integers(size)] += 1
        return few / few.sum()
    tiny = np.where(rng.random(size) < 0.5, 5e-324 * rng.integers(0, 2**20, size), np.exp(noise))
    tiny[rng.integers(size)] = 1.0
    return tiny / tiny.sum()


def near(rng: Any, draft: Any) -> Any:
    weights = draft * (1 + rng.choice([0, 1e-15, 1e-13, 1e-6]) * rng.standard_normal(len(draft)))
    return weights / weights.sum()
