"""K-SEQ: k i.i.d. drafts, each tested against t/(γ d) (SpecTr Alg. 2), at the least γ that is certified valid."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from spec_math.arrays import Array, array_namespace, count, exact, is_exact, laws, ones_like, over
from spec_math.chance import Coin
from spec_math.distribution import capped_ratio, excess
from spec_math.roots import decreasing_root, least_root
from spec_math.scheme import Emission, drafted, draw_independent
from spec_math.token_level.prefix_law import mixed_powers
from spec_math.worlds import remembering

draw = draw_independent

STEPWISE = 32
"""Up to this k powers and sums of powers of floats are taken as they are written."""


def beta(target: Any, draft: Any, gamma: Any) -> Any:
    """Return β(γ) = Σ min(d, t/γ), the probability that one test accepts. Source: SpecTr, Alg. 2.

    Laws [..., V], γ a number or [...], here and below.

    Raises:
        TypeError, ValueError: as `arrays.laws`.

    >>> beta(["1/4", "3/4"], ["1/2", "1/2"], 2)
    Fraction(1, 2)
    """
    t, d = laws(target, draft)
    return _beta(t, d, _scale(t, gamma))


def f(target: Any, draft: Any, k: int, gamma: Any) -> Any:
    """Return f(γ) = 1 − (1 − β)^k − γβ; K-SEQ is lossless where it is ≤ 0. It decreases in γ. Source: SpecTr, Lemma 3.

    Computed from the excess E(γ) = 1 − γβ, as γ* is, so that floats agree with themselves on its sign.

    Laws [..., V].

    Raises:
        TypeError, ValueError: k is no count; as `arrays.laws`.

    >>> f([1, 0], ["1/2", "1/2"], 2, 1)
    Fraction(1, 4)
    """
    t, d = laws(target, draft)
    return _f(t, d, count(k), _scale(t, gamma))


def gamma_star(target: Any, draft: Any, k: int) -> Any:
    """Return γ*, the least γ ≥ 1 with f(γ) ≤ 0, in [1, min(k, max t/d)], for laws [..., V].

    On Fractions it is exact where it is rational, else the upper end of a bracket of width 2^-64, with f ≤ 0 there. On
    floats it is the upper end of a bracket of neighbouring floats, for the f that floats compute.
    Source: SpecTr, Theorem 2 and Lemma 3.

    Raises:
        TypeError, ValueError: k is no count; as `arrays.laws`.

    >>> gamma_star(["1/2", "1/2", 0, 0], ["1/4", "1/4", "1/4", "1/4"], 2)
    Fraction(3, 2)
    """
    return _gamma_star(*laws(target, draft), count(k))


def _gamma_star(t: Array, d: Array, k: int) -> Any:
    if not is_exact(t):
        one = 1 + 0 * excess(t, d, 1)
        return decreasing_root(lambda gamma: _f(t, d, k, gamma), one, k * one)
    if t.ndim == 1:
        return _exact_gamma(tuple(t), tuple(d), k)
    return np.array([_gamma_star(row, other, k) for row, other in zip(t, d, strict=True)], dtype=object)


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
    if k <= STEPWISE or not (isinstance(chance, float) or str(getattr(chance, "dtype", "object")) != "object"):
        return (1 - chance) ** k
    xp = array_namespace(chance) if hasattr(chance, "dtype") else np
    with np.errstate(divide="ignore"):  # a chance of 1: log 0 is −∞, and nothing is left
        # A sum of masses may round to a little above 1, of which there is no logarithm.
        return xp.exp(k * xp.log1p(-xp.minimum(chance, chance * 0 + 1)))


def emit(coin: Coin, tokens: Any, target: Any, draft: Any, gamma: Any = None) -> Emission:
    """Accept the first draft x whose test passes, with chance min(1, t(x)/(γ d(x))), else draw from p_res.

    The law: the emitted token has the target's law, p_res = (t − min(d, t/γ)·p_acc/β) / (1 − p_acc), which is t itself
    where β = 0. Laws [V]. γ None means γ*. Source: SpecTr, Alg. 2 and Theorem 2.

    Raises:
        ValueError: γ below γ*, naming f(γ); a draft without draft mass; a law that is none.

    >>> from spec_math.chance import law
    >>> law(lambda coin: emit(coin, (0, 0), ["1/4", "3/4"], ["1/2", "1/2"], 2))[Emission(0, True)]
    Fraction(7, 16)
    """
    t, d = laws(target, draft)
    listed = drafted(tokens, d)
    gamma, remainder = _prepared(t, d, len(listed), gamma)
    for x in listed:
        if coin.flip(capped_ratio(t[x], gamma * d[x])):
            return Emission(x, accepted=True)
    return Emission(coin.draw(remainder), accepted=False)


def verify(coin: Coin, tokens: Any, target: Any, draft: Any, gamma: Any = None) -> int:
    """Return the token that `emit` emits.

    >>> from spec_math.chance import law
    >>> law(lambda coin: verify(coin, (0, 0), [0, 1], [1, 0]))
    {1: Fraction(1, 1)}
    """
    return emit(coin, tokens, target, draft, gamma).token


def acceptance(target: Any, draft: Any, k: int, gamma: Any = None) -> Any:
    """Return p_acc = 1 − (1 − β(γ))^k, the probability that a test accepts, for laws [..., V]; γ None means γ*.

    Raises:
        ValueError: γ below γ*, naming f(γ); as `arrays.laws`.

    >>> acceptance(["1/2", "1/2"], ["1/2", "1/2"], 2, 2)
    Fraction(3, 4)
    """
    t, d = laws(target, draft)
    k = count(k)
    gamma = _gamma_star(t, d, k) if gamma is None else _valid(t, d, k, gamma)
    return 1 - none_of(_beta(t, d, gamma), k)


def membership(target: Any, draft: Any, k: int, gamma: Any = None) -> Any:
    """Return p_acc + Σ_y p_res(y)·[(1 − β)^k − (1 − β − d(y) + min(d(y), t(y)/γ))^k], for laws [..., V].

    The bracket is the probability that every draft is rejected and y is among them. It adds nothing at γ*.

    Raises:
        ValueError: γ below γ*, naming f(γ); as `arrays.laws`.

    >>> membership(["1/2", "1/2"], ["1/2", "1/2"], 2, 2)
    Fraction(15, 16)
    """
    t, d = laws(target, draft)
    k = count(k)
    xp = array_namespace(t)
    gamma = _column(_gamma_star(t, d, k) if gamma is None else _valid(t, d, k, gamma))
    passed = xp.minimum(d, t / gamma)
    passes = xp.sum(passed, axis=-1, keepdims=True)
    # p_res·(1 − β)^k needs no division: it is the target mass that the tests leave over.
    left = _left_over(t, passed, k)
    among = over(d - passed, 1 - passes, ones_like(passes))
    return 1 - none_of(passes[..., 0], k) + xp.sum(left * (1 - none_of(among, k)), axis=-1)


def is_valid(target: Any, draft: Any, k: int, gamma: Any) -> Any:
    """Say whether K-SEQ at γ is lossless: max over t > 0 of min(d/t, 1/γ) · p_acc ≤ β, which f(γ) ≤ 0 implies.

    Laws [..., V]. The converse of f(γ) ≤ 0 fails only where nothing is gained by it.

    Raises:
        TypeError, ValueError: k is no count; as `arrays.laws`.

    >>> is_valid([1, 0], ["1/2", "1/2"], 2, 1), f([1, 0], ["1/2", "1/2"], 2, 1) <= 0
    (True, False)
    """
    t, d = laws(target, draft)
    passed = array_namespace(t).minimum(d, t / _column(_scale(t, gamma)))
    return bool((_left_over(t, passed, count(k)) >= 0).all())


def _left_over(t: Array, passed: Array, k: int) -> Array:
    """Return t − passed · p_acc/β; p_acc/β = Σ_{j<k} (1 − β)^j needs no division, and serves β = 0 too.

    Floats divide for many drafts: what a small β does to the quotient's digits, passed ≤ β takes back.
    """
    xp = array_namespace(t)
    passes = xp.sum(passed, axis=-1, keepdims=True)
    if is_exact(t):
        return t - passed * mixed_powers(1 - passes, ones_like(passes), k)
    if k <= STEPWISE:
        return t - passed * sum((1 - passes) ** j for j in range(k))
    return t - passed * over(1 - none_of(passes, k), passes, k * ones_like(passes))


def _beta(t: Array, d: Array, gamma: Any) -> Any:
    xp = array_namespace(t)
    return xp.sum(xp.minimum(d, t / _column(gamma)), axis=-1)


def _f(t: Array, d: Array, k: int, gamma: Any) -> Any:
    return f_of_excess(excess(t, d, gamma), k, gamma)


def _scale(t: Array, gamma: Any) -> Any:
    """Return γ in the world of the laws: a float, a string or an int would leak into exact results."""
    if not is_exact(t):
        return gamma
    return exact(gamma) if isinstance(gamma, np.ndarray) else exact([gamma])[0]


def _column(gamma: Any) -> Any:
    return gamma[..., None] if getattr(gamma, "ndim", 0) else gamma


def _valid(t: Array, d: Array, k: int, gamma: Any) -> Any:
    gamma = _scale(t, gamma)
    value = _f(t, d, k, gamma)
    # Floats compute f to within k(V + 4) roundings, so that a γ* from another order of summation is not refused.
    slack = 0 if is_exact(t) else k * (t.shape[-1] + 4) * array_namespace(t).finfo(t.dtype).eps
    valid = (gamma >= 1) & (value <= slack)
    if not (valid.all() if hasattr(valid, "all") else valid):
        raise ValueError(
            f"K-SEQ needs γ ≥ 1 with f(γ) ≤ 0; γ = {gamma} has f(γ) = {value}; take gamma_star(target, draft, {k}), "
            "or None"
        )
    return gamma


def _prepared(t: Array, d: Array, k: int, gamma: Any) -> tuple[Any, Array]:
    if is_exact(t):
        return _exact_preparation(tuple(t), tuple(d), k, gamma)
    gamma = _gamma_star(t, d, k) if gamma is None else _valid(t, d, k, gamma)
    step = 2.0**-50
    while True:
        left = _left_over(t, array_namespace(t).minimum(d, t / gamma), k)
        if bool((left >= 0).all()):
            break
        # f ≤ 0 as floats compute it may miss by a rounding; a larger γ is valid and costs a rounding's acceptance.
        gamma, step = gamma * (1 + step), 2 * step
    total = left.sum()
    return gamma, left / total if total > 0 else t


@remembering(4096)
def _exact_preparation(t: tuple[Fraction, ...], d: tuple[Fraction, ...], k: int, gamma: Any) -> tuple[Any, Array]:
    target, draft = np.array(t, dtype=object), np.array(d, dtype=object)
    gamma = _exact_gamma(t, d, k) if gamma is None else _valid(target, draft, k, gamma)
    left = _left_over(target, np.minimum(draft, target / gamma), k)
    total = left.sum()
    return gamma, left / total if total > 0 else target


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
