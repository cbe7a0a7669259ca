"""Dirichlet mixture evidence: alternatives learnt from the draws while they are tested; and pools of tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from spec_math.arrays import Array, count, is_exact
from spec_math.arrays import as_law as checked
from spec_math.kernels import inner_kernel, kernel

KAPPAS: tuple[int, ...] = tuple(round(10 ** (halves / 2)) for halves in range(2, 21))
"""Concentrations of the priors κt, two a decade. On few tokens a prior is best where κ is about half the draws that an
alternative takes to be found, so 10 serves gross errors and 10^7 a total variation of 10^-3; on 152k tokens it is best
at forty times the draws, and 10^10 serves 0.002. With one a decade some distances would take a seventh more draws."""

_STIRLING_FROM = 16.0


def step(kappa: Any, inverse: Any, count: Any, samples: Any) -> Any:
    """Return what a draw multiplies the evidence by: (κt + c)/(κ + n) over t, as (κ + c/t)/(κ + n), `inverse` = 1/t.

    The law: c of the n draws so far were this token, whose mass in the target is t; its mean over the target is 1.

    >>> from fractions import Fraction
    >>> t, c = [Fraction(1, 4), Fraction(3, 4)], [2, 1]
    >>> sum(t[x] * step(10, 1 / t[x], c[x], 3) for x in range(2))
    Fraction(1, 1)
    """
    return (kappa + count * inverse) / (kappa + samples)


def evidence(target: Any, tokens: Sequence[int], kappas: Sequence[int] = KAPPAS) -> Any:
    """Return the evidence of tokens against a target [V], exactly where the target is exact.

    The law: the mean over κ of Γ(κ)/Γ(κ+n) · Π Γ(κt_i+c_i)/Γ(κt_i) / Π t_i^{c_i}. This is the sequence form, without a
    multinomial coefficient: its mean over the sequences of the target is 1. math.inf once a token of mass 0 is drawn.

    Raises:
        TypeError, ValueError: the target is not a probability distribution.

    >>> evidence(["1/4", "3/4"], (0, 0), kappas=[2])
    Fraction(2, 1)
    """
    t = checked(target, "target").tolist()
    products: list[Any] = [t[0] - t[0] + 1 for _ in kappas]
    counts = [0] * len(t)
    for n, x in enumerate(tokens):
        if t[x] == 0:
            return math.inf
        products = [old * step(k, 1 / t[x], counts[x], n) for k, old in zip(kappas, products, strict=True)]
        counts[x] += 1
    return sum(products) / len(kappas)


def log_evidences(shares: Any, counts: Any, kappas: Any = KAPPAS) -> Array:
    """Return the log of the evidence for each κ [K], from counts [V] and a law [V]; +inf on a token of mass 0.

    The law: Σ_i g(κt_i, c_i) − g(κ, n), where g(a, c) = log Γ(a+c)/Γ(a) − c·log a: the powers of t cancel against κ.

    >>> from fractions import Fraction
    >>> exactly = evidence(["1/4", "3/4"], (0, 1, 0), kappas=[10])
    >>> abs(float(log_evidences([0.25, 0.75], [2, 1], [10])[0]) - math.log(exactly)) < 1e-14
    True
    """
    law, drawn = np.asarray(shares, dtype=float), np.asarray(counts)
    met = np.flatnonzero(drawn)
    if (law[met] == 0).any():
        return np.full(len(kappas), np.inf)
    return _log_evidences(law[met], drawn[met].astype(float), np.asarray(kappas, dtype=float))


@kernel
def _log_evidences(shares: Any, counts: Any, kappas: Any) -> Any:
    result = np.empty(kappas.shape[0])
    for k in range(kappas.shape[0]):
        total = 0.0
        for i in range(shares.shape[0]):
            total += _rising(kappas[k] * shares[i], counts[i])
        result[k] = total - _rising(kappas[k], counts.sum())
    return result


@inner_kernel
def _rising(a: float, c: float) -> float:
    """Return log Γ(a+c)/Γ(a) − c·log a: 0 at c = 0 and c = 1, where a difference of two log Γ would leave rounding."""
    if c <= 1:
        return 0.0
    if c <= 32:
        total = 0.0
        for j in range(1, int(c)):
            total += math.log1p(j / a)
        return total
    if a < _STIRLING_FROM:
        return math.lgamma(a + c) - math.lgamma(a) - c * math.log(a)
    return (a + c - 0.5) * math.log1p(c / a) - c + _stirling(a + c) - _stirling(a)


@inner_kernel
def _stirling(a: float) -> float:
    """Return log Γ(a) − (a − 1/2)·log a + a − log √2π for a ≥ 16; the first term left out is below 2e-14."""
    square = 1.0 / (a * a)
    return (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - square / 1680.0) * square) * square) / a


def shares_of(target: Any, name: str = "target") -> Array:
    """Return a law [V] as float64 masses divided by their sum: the law that drawing from the masses has.

    A coin draws token i from masses v with probability v_i/Σv, so a float law whose sum is off by what its type allows
    is tested as what is drawn from it; an off sum left in would add up to an alarm in time.

    Raises:
        TypeError, ValueError: no law of shape [V].

    >>> shares_of(["1/4", "3/4"]).tolist()
    [0.25, 0.75]
    """
    masses = drawn_law(checked(target, name))
    if masses.ndim != 1:
        raise ValueError(f"{name} must be one distribution, of shape [V]; got shape {tuple(masses.shape)}")
    return masses.astype(float)


def shares_like(law: Any, name: str, target: Array) -> Array:
    """Return the shares of a law, as `shares_of`, where it has the target's shape [V].

    Raises:
        ValueError: it has another shape.

    >>> shares_like(["1/4", "3/4"], "draft", np.array([0.5, 0.5])).tolist()
    [0.25, 0.75]
    """
    found = shares_of(law, name)
    if found.shape != target.shape:
        raise ValueError(f"{name} must have the target's shape {target.shape}; got {found.shape}")
    return found


def drawn_law(masses: Array) -> Array:
    """Return the law that drawing from checked masses [V] has: exact ones as they are, floats over their float64 sum.

    >>> drawn_law(np.array([0.5, 0.25])).sum()
    np.float64(1.0)
    """
    if is_exact(masses):
        return masses
    wide = np.asarray(masses if isinstance(masses, np.ndarray) else masses.detach().cpu().numpy(), dtype=np.float64)
    return wide / wide.sum(axis=-1, keepdims=True)


def pools(target: Any, draft: Any = None, groups: int = 32) -> Array:
    """Return a pool for each token [V], 0, 1, …, at most `groups` of them, from the laws alone.

    Half of the pools are the target's likeliest tokens, one each. The others go through the rest in the order of t/d
    (without a draft, of t), cut into pieces of about equal target mass: what a verifier does wrong depends on t/d, so
    it moves mass between these pools rather than within them. Floats are ordered as they are; ties by the index.

    A test on pools needs the draws of that many tokens and not of V, and sees the total variation between pools,
    `pooled_variation`. As pools are settled before the draws, its false-alarm rate is what it was.

    Raises:
        TypeError, ValueError: a law is not a probability distribution, the shapes differ, or groups is not an integer
            of at least 2.

    >>> pools(["1/2", "1/8", "1/8", "1/8", "1/8"], ["1/4", "1/4", "1/4", "1/8", "1/8"], groups=3).tolist()
    [0, 1, 1, 2, 2]
    """
    t = shares_of(target)
    d = t if draft is None else shares_of(draft, "draft")
    if d.shape != t.shape:
        raise ValueError(f"target and draft must have one shape; target has {t.shape}, draft has {d.shape}")
    if count(groups, "groups") < 2:
        raise ValueError(f"groups must be at least 2, so that there is something to compare; got {groups}")
    labels = np.empty(len(t), dtype=np.int64)
    order = np.argsort(-t, kind="stable")
    singles = min(groups // 2, len(t))
    labels[order[:singles]] = np.arange(singles)
    rest = np.sort(order[singles:])
    with np.errstate(divide="ignore", invalid="ignore"):
        keys = t[rest] if draft is None else np.where(d[rest] > 0, t[rest] / d[rest], np.inf)
    rest = rest[np.argsort(keys, kind="stable")]
    # A token belongs to the piece that the middle of its own mass falls into.
    masses = t[rest]
    middles = np.cumsum(masses) - masses / 2
    pieces = groups - singles
    total = masses.sum()
    labels[rest] = singles + (np.minimum(middles * pieces // total, pieces - 1).astype(np.int64) if total > 0 else 0)
    return labels


def pooled_variation(target: Any, law: Any, labels: Any) -> float:
    """Return the total variation of a law from the target that pools [V] leave to be seen.

    Raises:
        TypeError, ValueError: a law is not a probability distribution, or the shapes differ.

    >>> pooled_variation(["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], [0, 1, 1])
    0.25
    >>> pooled_variation(["1/2", "1/4", "1/4"], ["1/2", "1/2", 0], [0, 1, 1])
    0.0
    """
    t, a, given = shares_of(target), shares_of(law, "distribution"), np.asarray(labels)
    if not t.shape == a.shape == given.shape:
        raise ValueError(f"target, draws and pools must have one shape; got {t.shape}, {a.shape} and {given.shape}")
    return float(np.abs(np.bincount(given, a) - np.bincount(given, t)).sum() / 2)
