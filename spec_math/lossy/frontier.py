"""The frontier of lossy rules: for each acceptance the law that is closest to the target, in every distance at once.

From drafts with prefix law g a rule can emit a law e and accept with probability 1 − m exactly if e(H) ≥ g(H) − m for
every set H of tokens, g(H) = P(S ⊆ H) (max-flow = min-cut). Among these laws one is the closest to the target t in
every f-divergence Σ t f(e/t), f convex: in total variation, in both Kullback-Leibler divergences, in the largest
likelihood ratio. Its cumulative law, over the tokens by t/d ascending, is the least concave majorant of the points
(T_i, max(0, g_i − m)) and (1, 1), T_i the target mass of the first i tokens.

Why: let s_1 > s_2 > … be the slopes of the majorant and V_1 ⊂ V_2 ⊂ … the prefixes at its vertices. A prefix is where
g(H) − s·t(H) is largest, so V_j is where (g − m)+ − s·t is largest for s between its two slopes, and as g is
supermodular, e(H) = Σ_j s_j t(H ∩ V_j \\ V_{j−1}) ≥ (g(H) − m)+ for every H: e is allowed. For another law e' that is
allowed, Σ t f(e'/t) − Σ t f(e/t) ≥ Σ f'(e/t) (e' − e) = Σ_j (f'(s_j) − f'(s_{j+1})) (e'(V_j) − e(V_j)) ≥ 0, as f' does
not decrease, and e(V_j) = (g(V_j) − m)+ is the least that any allowed law has there.

Source: worked out here. For one draft e is clip(d, A·t, B·t).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, is_exact
from spec_math.chance import Coin
from spec_math.kernels import kernel
from spec_math.lossy.options import share
from spec_math.remembering import remembering
from spec_math.scheme import Emission, drafted, token_of
from spec_math.token_level import plan as plans
from spec_math.token_level.optimum.pools import gains
from spec_math.token_level.optimum.prefix_law import PrefixLaw, independent
from spec_math.token_level.optimum.ratio_order import RatioOrder, ratio_order
from spec_math.token_level.plan import Plan


def law(target: Any, draft: Any, k: int, acceptance: Any) -> Array:
    """Return the law [V] closest to the target from which k i.i.d. drafts can be accepted so often: O(V log V).

    The target itself where the acceptance is no more than the lossless optimum. Target and draft [V], of one number
    type; acceptance a probability; a Fraction law is exact.

    Raises:
        TypeError, ValueError: the acceptance is no probability; laws of more than one position; as `arrays.as_laws`.

    >>> law(["1/4", "3/4"], ["1/2", "1/2"], 1, "7/8").tolist(), law(["1/4", "3/4"], ["1/2", "1/2"], 1, 1).tolist()
    ([Fraction(3, 8), Fraction(5, 8)], [Fraction(1, 2), Fraction(1, 2)])
    """
    t, d = one_position(target, draft)
    order = ratio_order(t, d)
    return emitted(t, order, independent(order, k), 1 - share(acceptance, "acceptance"))


def emitted(target: Array, order: RatioOrder, prefix: PrefixLaw, rejected: Any) -> Array:
    """Return the law of the frontier [V] for drafts of a prefix law, i.i.d. or without replacement.

    `rejected` is 1 less the acceptance; target [V], checked, and in the order.

    >>> from spec_math.arrays import exact
    >>> t, d = exact(["1/4", "3/4"]), exact(["1/2", "1/2"])
    >>> order = ratio_order(t, d)
    >>> emitted(t, order, independent(order, 2), Fraction(0)).tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    """
    rejected = rejected if is_exact(target) else float(rejected)
    if not rejected < (prefix.inside - order.target_below).max():
        return target.copy()
    raised = np.maximum(prefix.inside - rejected, rejected * 0)
    # Where both ends are above, the gain itself and not a difference of two sums.
    steps = np.where(raised[:-1] > 0, gains(order, prefix), raised[1:])
    masses, raises = np.append(order.target, order.target_above[-1]), np.append(steps, rejected)
    slopes = _slopes(masses, raises)
    found = target * slopes[-1]
    # A token of target mass 0 keeps its own step: there is nothing to pool it with.
    alone = order.target == 0
    found[order.tokens] = np.where(alone, steps, order.target * np.where(alone, steps, slopes[:-1]))
    return found


def emit(coin: Coin, tokens: Any, target: Any, draft: Any, acceptance: Any) -> Emission:
    """Verify k i.i.d. drafts, k the length of the tuple, by the optimal plan for the law of the frontier.

    The law: `law(target, draft, k, acceptance)`; a draft is accepted with that probability, or the lossless optimum
    where that is more. Laws [V].

    Raises:
        TypeError, ValueError: as `law`; a drafted token that the draft cannot draw.

    >>> from spec_math.chance import law as law_of
    >>> law_of(lambda coin: emit(coin, (1,), ["1/4", "3/4"], ["1/2", "1/2"], "7/8"))[Emission(1, True)]
    Fraction(1, 1)
    """
    t, d = one_position(target, draft)
    listed = drafted(tokens, d)
    return plans.emit(coin, listed, _plan_of(t, d, len(listed), share(acceptance, "acceptance")))


verify = token_of(emit)
"""The verifier: it returns the token that `emit` emits."""


def one_position(target: Any, draft: Any) -> tuple[Array, Array]:
    """Check two laws of one position, and return them on NumPy.

    Raises:
        ValueError: laws of more than one position. TypeError, ValueError: as `arrays.as_laws`.

    >>> one_position([["1/2", "1/2"]], [["1/2", "1/2"]])
    Traceback (most recent call last):
    ValueError: a lossy rule is judged at one position, distributions of shape [V]; got (1, 2)
    """
    return plans.one_position(target, draft, "a lossy rule is judged at one position")


def _slopes(masses: Array, steps: Array) -> Array:
    """Pool adjacent violators, so that slopes steps/masses do not increase: the slope of each entry's pool.

    A pool without mass keeps the slope 0, which its entries do not use; the last one has none only if the target is on
    the tokens before.
    """
    found = np.empty_like(masses)
    (_pool if is_exact(masses) else _pool_floats)(masses, steps, found)
    return found


def _pool(masses: Any, steps: Any, found: Any) -> None:
    size = len(masses)
    mass, step, length, last = np.empty_like(masses), np.empty_like(masses), np.empty(size, dtype=np.int64), -1
    for i in range(size):
        last += 1
        mass[last], step[last], length[last] = masses[i], steps[i], 1
        while last > 0 and step[last] * mass[last - 1] > step[last - 1] * mass[last]:
            mass[last - 1] += mass[last]
            step[last - 1] += step[last]
            length[last - 1] += length[last]
            last -= 1
    place = 0
    for pool in range(last + 1):
        slope = step[pool] / mass[pool] if mass[pool] > 0 else mass[pool]
        found[place : place + length[pool]] = slope
        place += length[pool]


_pool_floats = kernel(_pool)


@remembering(1024)
def _plan_of(target: Array, draft: Array, k: int, acceptance: Fraction) -> Plan:
    return plans.plan(law(target, draft, k, acceptance), draft, k)
