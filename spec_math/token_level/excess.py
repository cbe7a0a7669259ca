"""`Excess`: E(λ) = Σ (t − λd)+ of two distributions, of which every closed form of i.i.d. drafts is a function.

K-SEQ's γ is here too: the condition f(γ) ≤ 0 for being lossless, and γ*, the least that meets it.

Source: SpecTr, Alg. 2, Theorem 2 and Lemma 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, array_namespace, as_laws, count, exact, is_exact
from spec_math.distribution import excess
from spec_math.remembering import remembering
from spec_math.roots import decreasing_root, least_root

STEPWISE = 32
"""Up to this k powers and sums of powers of floats are taken as they are written."""


@dataclass(frozen=True)
class Excess:
    """E(λ) = Σ (t − λd)+ of distributions [..., V]: convex and decreasing in λ, a number or [...], from E(0) = 1.

    Units: a probability. `at` computes it: from distributions, or from rows by buckets.

    >>> law = Excess.of_laws(exact(["1/4", "3/4"]), exact(["1/2", "1/2"]))
    >>> law.at(1), law.overlap, law.rejections((1, 2))
    (Fraction(1, 4), Fraction(3, 4), [Fraction(1, 4), Fraction(1, 8)])
    """

    at: Callable[[Any], Any]

    @classmethod
    def of_laws(cls, t: Array, d: Array) -> Excess:
        """Take the sum over the distributions themselves, which are checked already."""
        return cls(lambda scale: excess(t, d, scale))

    @property
    def overlap(self) -> Any:
        """Σ min(t, d), what maximal coupling accepts."""
        return 1 - self.at(1)

    def rejections(self, ks: Iterable[int]) -> list[Any]:
        """Return the probabilities that the first k tests of recursive rejection all reject, for ascending ks.

        Every residual is r_i ∝ (t − λ_i d)+, with λ_1 = 0 and λ_{i+1} = λ_i + E(λ_i); their product is E(λ_{k+1}).
        """
        scale, left, done, found = 1, self.at(1), 1, list[Any]()
        for k in ks:
            while done < count(k):
                scale = scale + left
                before, left, done = left, self.at(scale), done + 1
                if isinstance(left, float | np.ndarray) and np.all(before == left):
                    break  # E is convex: it stays where it does not fall
            found.append(left)
        return found

    def f(self, k: Any, gamma: Any) -> Any:
        """Return K-SEQ's f(γ) = E − (1 − (1 − E)/γ)^k, as γβ = 1 − E. It decreases in γ. Source: SpecTr, Lemma 3."""
        left = self.at(gamma)
        return left - none_of((1 - left) / gamma, k)

    def none_accepted(self, k: Any) -> Any:
        """Return (1 − β)^k at K-SEQ's γ*, on floats: the probability that all its tests reject."""
        gamma = self.gamma_star(k)
        return none_of((1 - self.at(gamma)) / gamma, k)

    def gamma_star(self, k: Any, steps: int | None = None) -> Any:
        """Return γ* of floats, k a number or [...]: the upper end of a bracket of 2^-50 of itself.

        With `steps` no value is looked at (`roots.decreasing_root`).
        """
        one = 1 + 0 * self.at(1)
        return decreasing_root(lambda gamma: self.f(k, gamma), one, k * one, steps)


def beta(target: Any, draft: Any, gamma: Any) -> Any:
    """Return β(γ) = Σ min(d, t/γ), the probability that one test accepts. Source: SpecTr, Alg. 2.

    Laws [..., V], γ a number or [...], here and below.

    >>> beta(["1/4", "3/4"], ["1/2", "1/2"], 2)
    Fraction(1, 2)
    """
    t, d = as_laws(target, draft)
    xp = array_namespace(t)
    return xp.sum(xp.minimum(d, t / column(scaled(t, gamma))), axis=-1)


def f(target: Any, draft: Any, k: int, gamma: Any) -> Any:
    """Return f(γ) = 1 − (1 − β)^k − γβ; K-SEQ is lossless where it is ≤ 0. It decreases in γ. Source: SpecTr, Lemma 3.

    Computed from the excess E(γ) = 1 − γβ, as γ* is, so that floats agree with themselves on its sign.

    Laws [..., V].

    Raises:
        TypeError, ValueError: k is not a positive integer.

    >>> f([1, 0], ["1/2", "1/2"], 2, 1)
    Fraction(1, 4)
    """
    t, d = as_laws(target, draft)
    return Excess.of_laws(t, d).f(count(k), scaled(t, gamma))


def gamma_star(target: Any, draft: Any, k: int) -> Any:
    """Return γ*, the least γ ≥ 1 with f(γ) ≤ 0, in [1, min(k, max t/d)], for laws [..., V].

    On Fractions it is exact where it is rational, else the upper end of a bracket of width 2^-64, with f ≤ 0 there. On
    floats it is the upper end of a bracket of 2^-50 of itself, for the f that floats compute.
    Source: SpecTr, Theorem 2 and Lemma 3.

    Raises:
        TypeError, ValueError: k is not a positive integer.

    >>> gamma_star(["1/2", "1/2", 0, 0], ["1/4", "1/4", "1/4", "1/4"], 2)
    Fraction(3, 2)
    """
    return least(*as_laws(target, draft), count(k))


def least(t: Array, d: Array, k: int) -> Any:
    """Return γ* of laws that are checked already."""
    if not is_exact(t):
        return Excess.of_laws(t, d).gamma_star(k)
    if t.ndim == 1:
        return _exact_gamma(t, d, k)
    return np.array([least(row, other, k) for row, other in zip(t, d, strict=True)], dtype=object)


def none_of(chance: Any, k: Any) -> Any:
    """Return (1 − chance)^k, the probability that none of k tests accepts; floats, for many, through log(1 − chance).

    A power of the rounded 1 − chance would be off by k roundings; e^(k·log(1 − chance)) keeps as many digits as the
    chance has.
    """
    exactly = str(getattr(chance, "dtype", "object")) == "object" and not isinstance(chance, float)
    if exactly or (isinstance(k, int) and k <= STEPWISE):
        return (1 - chance) ** k
    xp = array_namespace(chance) if hasattr(chance, "dtype") else np
    # A sum of masses may round to a little above 1, of which there is no logarithm; log 0 is −∞, and nothing is left.
    if xp.__name__.endswith("torch"):
        return xp.exp(k * xp.log1p(-xp.minimum(chance, chance * 0 + 1)))
    with np.errstate(divide="ignore"):
        return xp.exp(k * xp.log1p(-xp.minimum(chance, chance * 0 + 1)))


def scaled(t: Array, gamma: Any) -> Any:
    """Return γ in the number type of the laws: a float, a string or an int would leak into exact results."""
    if not is_exact(t):
        return gamma
    return exact(gamma) if isinstance(gamma, np.ndarray) else exact([gamma])[0]


def column(gamma: Any) -> Any:
    """Return γ, a number or [...], so that it goes with laws [..., V]."""
    return gamma[..., None] if getattr(gamma, "ndim", 0) else gamma


@remembering(4096)
def _exact_gamma(t: Array, d: Array, k: int) -> Fraction:
    excess_of = Excess.of_laws(t, d)
    one = Fraction(1)
    # Between neighbouring ratios the excess is linear, A − Bγ, and γβ = 1 − A + Bγ. Divided by β > 0, f(γ) ≤ 0 reads
    # Σ_{j<k} (1 − β)^j ≤ γ, a polynomial inequality: Σ_{j<k} γ^(k−1−j) (γ − γβ)^j ≤ γ^k.
    breaks = sorted({one, Fraction(k)} | {a / b for a, b in zip(t, d, strict=True) if b and 1 < a / b < k})
    low = 0
    if excess_of.f(k, one) <= 0:
        return one
    high = len(breaks) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if excess_of.f(k, breaks[middle]) > 0 else (low, middle)
    above = [i for i in range(len(t)) if t[i] >= breaks[high] * d[i]]
    a, b = sum((t[i] for i in above), Fraction(0)), sum((d[i] for i in above), Fraction(0))
    return least_root(_polynomial([a - 1, 1 - b], k), breaks[low], breaks[high])


def _polynomial(linear: list[Fraction], k: int) -> list[Fraction]:
    """Return the coefficients of Σ_{j<k} x^(k−1−j) · (linear)^j − x^k, in ascending powers."""
    result = np.array([Fraction(0)] * k + [Fraction(-1)], dtype=object)
    power = np.array([Fraction(1)], dtype=object)
    for j in range(k):
        result[k - 1 - j : k] += power
        power = np.convolve(power, np.array(linear, dtype=object))
    return result.tolist()
