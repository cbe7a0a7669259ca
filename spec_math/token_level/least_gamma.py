"""γ of K-SEQ: what one test accepts at it, the condition f(γ) ≤ 0 for being lossless, and γ*, the least that meets it.

Source: SpecTr, Alg. 2, Theorem 2 and Lemma 3.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, array_namespace, as_laws, count, exact, is_exact
from spec_math.distribution import excess
from spec_math.remembering import remembering
from spec_math.roots import decreasing_root, least_root
from spec_math.token_level.ratio_order import RatioOrder
from spec_math.token_level.selection import UNIT, in_units

STEPWISE = 32
"""Up to this k powers and sums of powers of floats are taken as they are written."""


def beta(target: Any, draft: Any, gamma: Any) -> Any:
    """Return β(γ) = Σ min(d, t/γ), the probability that one test accepts. Source: SpecTr, Alg. 2.

    Laws [..., V], γ a number or [...], here and below.

    Raises:
        TypeError, ValueError: as `arrays.as_laws`.

    >>> beta(["1/4", "3/4"], ["1/2", "1/2"], 2)
    Fraction(1, 2)
    """
    t, d = as_laws(target, draft)
    return _beta(t, d, scaled(t, gamma))


def f(target: Any, draft: Any, k: int, gamma: Any) -> Any:
    """Return f(γ) = 1 − (1 − β)^k − γβ; K-SEQ is lossless where it is ≤ 0. It decreases in γ. Source: SpecTr, Lemma 3.

    Computed from the excess E(γ) = 1 − γβ, as γ* is, so that floats agree with themselves on its sign.

    Laws [..., V].

    Raises:
        TypeError, ValueError: k is not a positive integer; as `arrays.as_laws`.

    >>> f([1, 0], ["1/2", "1/2"], 2, 1)
    Fraction(1, 4)
    """
    t, d = as_laws(target, draft)
    return _f(t, d, count(k), scaled(t, gamma))


def gamma_star(target: Any, draft: Any, k: int) -> Any:
    """Return γ*, the least γ ≥ 1 with f(γ) ≤ 0, in [1, min(k, max t/d)], for laws [..., V].

    On Fractions it is exact where it is rational, else the upper end of a bracket of width 2^-64, with f ≤ 0 there. On
    floats it is the upper end of a bracket of neighbouring floats, for the f that floats compute.
    Source: SpecTr, Theorem 2 and Lemma 3.

    Raises:
        TypeError, ValueError: k is not a positive integer; as `arrays.as_laws`.

    >>> gamma_star(["1/2", "1/2", 0, 0], ["1/4", "1/4", "1/4", "1/4"], 2)
    Fraction(3, 2)
    """
    return least(*as_laws(target, draft), count(k))


def least(t: Array, d: Array, k: int) -> Any:
    """Return γ* of laws that are checked already.

    >>> least(exact(["1/4", "3/4"]), exact(["1/2", "1/2"]), 1)
    Fraction(1, 1)
    """
    if not is_exact(t):
        one = 1 + 0 * excess(t, d, 1)
        return decreasing_root(lambda gamma: _f(t, d, k, gamma), one, k * one)
    if t.ndim == 1:
        return _exact_gamma(tuple(t), tuple(d), k)
    return np.array([least(row, other, k) for row, other in zip(t, d, strict=True)], dtype=object)


def least_in_order(order: RatioOrder, k: int) -> Any:
    """Return γ* of laws in ratio order, or of classes of equal ratio: floats from the sums over its prefixes.

    >>> from spec_math.token_level.ratio_order import ratio_order
    >>> least_in_order(ratio_order(np.array([0.5, 0.5, 0, 0]), np.full(4, 0.25)), 2)
    1.5
    """
    if is_exact(order.draft):
        target = np.append(order.target, order.target_above[-1:])
        return least(target, np.append(order.draft, order.draft_above[-1:]), k)
    ratios = in_units(order.target, order.draft).tolist()
    targets, drafts = order.target_above.tolist(), order.draft_above.tolist()

    def f_at(gamma: float) -> float:
        above = bisect_right(ratios, gamma * UNIT)
        return f_of_excess(targets[above] - gamma * drafts[above], k, gamma)

    return decreasing_root(f_at, 1.0, float(k))


def is_feasible(target: Any, draft: Any, k: int, gamma: Any) -> bool:
    """Say whether γ ≥ 1 has f(γ) ≤ 0, for laws [V]: then `verify` takes it, and is lossless.

    >>> is_feasible([1, 0], ["1/2", "1/2"], 2, 2), is_feasible([1, 0], ["1/2", "1/2"], 2, 1)
    (True, False)
    """
    return not f(target, draft, k, gamma) > 0


def f_of_excess(left: Any, k: int, gamma: Any) -> Any:
    """Return f(γ) from the excess left = E(γ) alone: E − (1 − (1 − E)/γ)^k, as γβ = 1 − E.

    >>> f_of_excess(Fraction(1, 2), 2, Fraction(1))
    Fraction(1, 4)
    """
    return left - none_of((1 - left) / gamma, k)


def none_of(chance: Any, k: int) -> Any:
    """Return (1 − chance)^k, the probability that none of k tests accepts; floats, for many, through log(1 − chance).

    A power of the rounded 1 − chance would be off by k roundings; e^(k·log(1 − chance)) keeps as many digits as the
    chance has.

    >>> none_of(Fraction(1, 4), 2)
    Fraction(9, 16)
    """
    if k <= STEPWISE or (str(getattr(chance, "dtype", "object")) == "object" and not isinstance(chance, float)):
        return (1 - chance) ** k
    xp = array_namespace(chance) if hasattr(chance, "dtype") else np
    with np.errstate(divide="ignore"):  # a chance of 1: log 0 is −∞, and nothing is left
        # A sum of masses may round to a little above 1, of which there is no logarithm.
        return xp.exp(k * xp.log1p(-xp.minimum(chance, chance * 0 + 1)))


def scaled(t: Array, gamma: Any) -> Any:
    """Return γ in the number type of the laws: a float, a string or an int would leak into exact results.

    >>> scaled(exact(["1/4", "3/4"]), "3/2")
    Fraction(3, 2)
    """
    if not is_exact(t):
        return gamma
    return exact(gamma) if isinstance(gamma, np.ndarray) else exact([gamma])[0]


def column(gamma: Any) -> Any:
    """Return γ, a number or [...], so that it goes with laws [..., V].

    >>> column(np.array([1.0, 2.0])).shape, column(1.5)
    ((2, 1), 1.5)
    """
    return gamma[..., None] if getattr(gamma, "ndim", 0) else gamma


def _beta(t: Array, d: Array, gamma: Any) -> Any:
    xp = array_namespace(t)
    return xp.sum(xp.minimum(d, t / column(gamma)), axis=-1)


def _f(t: Array, d: Array, k: int, gamma: Any) -> Any:
    return f_of_excess(excess(t, d, gamma), k, gamma)


@remembering(4096)
def _exact_gamma(t: tuple[Fraction, ...], d: tuple[Fraction, ...], k: int) -> Fraction:
    target, draft = np.array(t, dtype=object), np.array(d, dtype=object)
    one = Fraction(1)
    # Between neighbouring ratios the excess is linear, A − Bγ, and γβ = 1 − A + Bγ. Divided by β > 0, f(γ) ≤ 0 reads
    # Σ_{j<k} (1 − β)^j ≤ γ, a polynomial inequality: Σ_{j<k} γ^(k−1−j) (γ − γβ)^j ≤ γ^k.
    breaks = sorted({one, Fraction(k)} | {a / b for a, b in zip(t, d, strict=True) if b and 1 < a / b < k})
    low = 0
    if _f(target, draft, k, one) <= 0:
        return one
    high = len(breaks) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _f(target, draft, k, breaks[middle]) > 0 else (low, middle)
    above = [i for i in range(len(t)) if t[i] >= breaks[high] * d[i]]
    a, b = sum((t[i] for i in above), Fraction(0)), sum((d[i] for i in above), Fraction(0))
    return least_root(_polynomial([a - 1, 1 - b], k), breaks[low], breaks[high])


def _polynomial(linear: list[Fraction], k: int) -> list[Fraction]:
    """Return the coefficients of Σ_{j<k} x^(k−1−j) · (linear)^j − x^k, in ascending powers."""
    result = [Fraction(0)] * k + [Fraction(-1)]
    power = [Fraction(1)]
    for j in range(k):
        for i, coefficient in enumerate(power):
            result[k - 1 - j + i] += coefficient
        same, shifted = [*(c * linear[0] for c in power), 0], [0, *(c * linear[1] for c in power)]
        power = [a + b for a, b in zip(same, shifted, strict=True)]
    return result
