"""Watermarks and speculation: what a key that shows in the text costs of the acceptance.

A key ζ, known to whoever detects, changes the target to t_ζ and the draft to d_ζ, without bias: E t_ζ = t, E d_ζ = d.
The strength is E KL(e_ζ‖t) in nats, e_ζ the law of the emitted token given the key; it is at most the entropy of t,
where the key decides the token.

    strength kept    emit t_ζ, draft d_ζ:          accepts E Σ min(t_ζ, d_ζ) ≤ Σ min(t, d), as min is concave
    efficiency kept  draft d_ζ, test against t, d: accepts Σ min(t, d), and the test and the residual see no key

**No-go**, for keys that decide the token: on three tokens no way of choosing tokens x(law, ζ) has
P(x(t, ζ) = x(d, ζ)) = Σ min(t, d) for all pairs of laws. Of (1/2, 1/2, 0), (0, 1/2, 1/2), (1/2, 0, 1/2) at most one
pair agrees at a time, so that three probabilities of 1/2 would sum to at most 1. Shared exponentials reach 1/3 for each
of the three. On two tokens one shared uniform reaches the overlap. Where the key may also drive the test and the
residual, nothing is lost at all.

Source: Hu and Huang 2024 (2410.20418), the no-go theorem, for vocabularies of more than two tokens; 2602.01428, the
strength as a divergence and keyed acceptance; both read as far as abstract and reviews.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from spec_math.arrays import Array, as_laws, divide, is_exact
from spec_math.distribution import one_hot, overlap, residual_of
from spec_math.lossy.distances import divergence
from spec_math.lossy.logarithm import ZERO, Interval
from spec_math.lossy.one_draft import mixed
from spec_math.lossy.options import share


@dataclass(frozen=True)
class Key:
    """One value of a key: its probability, and the target's and the draft's law [V] under it.

    >>> Key(Fraction(1, 2), np.array([1.0]), np.array([1.0])).mass
    Fraction(1, 2)
    """

    mass: Any
    target: Array
    draft: Array


@dataclass(frozen=True)
class Watermarked:
    """The result of a watermarked method: its acceptance, a probability, and its strength in nats, an interval.

    `laws` are the emitted laws [V] under each key. Made by `kept_strength`, `kept_efficiency`, `between`. Source:
    `watermark`.
    """

    acceptance: Any
    strength: Interval
    laws: tuple[Array, ...]


def shared_uniform(target: Any, draft: Any) -> tuple[Key, ...]:
    """Return the keys of inverse transform sampling: one uniform decides the tokens of both laws [V], by quantiles.

    Raises:
        TypeError, ValueError: as `arrays.as_laws`; laws that are not exact.

    >>> [key.mass for key in shared_uniform(["1/4", "3/4"], ["1/2", "1/2"])]
    [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]
    """
    t, d = _exact_pair(target, draft)
    ends = sorted({Fraction(0), *np.cumsum(t).tolist(), *np.cumsum(d).tolist()})
    return tuple(Key(high - low, _quantile(t, low), _quantile(d, low)) for low, high in pairwise(ends))


def kept_strength(target: Any, draft: Any, keys: Sequence[Key]) -> Watermarked:
    """Return what speculation towards t_ζ with drafts of d_ζ reaches: all of the strength, E Σ min(t_ζ, d_ζ) accepted.

    Laws [V] of one position.

    Raises:
        ValueError: the keys are biased: their laws do not average to the target's and the draft's.

    >>> laws = ["1/4", "3/4"], ["1/2", "1/2"]
    >>> kept_strength(*laws, shared_uniform(*laws)).acceptance
    Fraction(3, 4)
    """
    t, _ = _unbiased(target, draft, keys)
    accepted = sum((key.mass * overlap(key.target, key.draft) for key in keys), Fraction(0))
    laws = tuple(key.target for key in keys)
    return Watermarked(accepted, strength(t, keys, laws), laws)


def kept_efficiency(target: Any, draft: Any, keys: Sequence[Key]) -> Watermarked:
    """Return what drafts of d_ζ reach that are tested against t and d themselves: the overlap, and less strength.

    Laws [V] of one position.

    Raises:
        ValueError: as `kept_strength`.

    >>> laws = ["1/4", "3/4"], ["1/2", "1/2"]
    >>> kept_efficiency(*laws, shared_uniform(*laws)).acceptance
    Fraction(3, 4)
    """
    t, d = _unbiased(target, draft, keys)
    passed, residual = divide(np.minimum(t, d), d, d * 0), residual_of(t, d)
    laws = tuple(mixed(key.draft, passed, residual) for key in keys)
    accepted = sum((key.mass * (key.draft * passed).sum() for key in keys), Fraction(0))
    return Watermarked(accepted, strength(t, keys, laws), laws)


def between(target: Any, draft: Any, keys: Sequence[Key], mixing: Any) -> Watermarked:
    """Return what a private coin between the two reaches: the share `mixing` of the first, the rest of the second.

    The acceptance is a straight line between the two, the strength a convex curve below the line. Laws [V].

    Raises:
        ValueError: the share lies outside [0, 1]; as `kept_strength`.

    >>> laws = ["1/4", "3/4"], ["1/2", "1/2"]
    >>> between(*laws, shared_uniform(*laws), "1/2").acceptance
    Fraction(3, 4)
    """
    part = share(mixing, "mixing")
    strong, quick = kept_strength(target, draft, keys), kept_efficiency(target, draft, keys)
    laws = tuple(part * a + (1 - part) * b for a, b in zip(strong.laws, quick.laws, strict=True))
    accepted = part * strong.acceptance + (1 - part) * quick.acceptance
    return Watermarked(accepted, strength(as_laws(target, draft)[0], keys, laws), laws)


def fully_keyed(target: Any, draft: Any) -> Watermarked:
    """Return what speculation reaches whose draft, test and residual are all decided by the key: all of both.

    The emitted token is a function of the key, and the strength the target's entropy. Laws [V] of one position.

    Raises:
        TypeError, ValueError: as `arrays.as_laws`; laws that are not exact.

    >>> found = fully_keyed(["1/4", "3/4"], ["1/2", "1/2"])
    >>> found.acceptance, round(float(found.strength), 6)
    (Fraction(3, 4), 0.562335)
    """
    t, d = _exact_pair(target, draft)
    emitted = mixed(d, divide(np.minimum(t, d), d, d * 0), residual_of(t, d))
    laws = tuple(one_hot(token, t) for token in range(len(t)))
    keys = [Key(mass, law, law) for mass, law in zip(emitted, laws, strict=True)]
    return Watermarked(overlap(t, d), strength(t, keys, laws), laws)


def strength(target: Array, keys: Sequence[Key], laws: Sequence[Array]) -> Interval:
    """Return the strength E KL(e_ζ‖t) in nats, as an interval, for emitted laws [V] under each key.

    >>> from spec_math.arrays import exact
    >>> keys = shared_uniform(["1/2", "1/2"], ["1/2", "1/2"])
    >>> round(float(strength(exact(["1/2", "1/2"]), keys, [key.target for key in keys])), 6)
    0.693147
    """
    used = ((key.mass, law) for key, law in zip(keys, laws, strict=True) if key.mass)
    return sum((divergence(law, target).times(mass) for mass, law in used), ZERO)


def _exact_pair(target: Any, draft: Any) -> tuple[Array, Array]:
    t, d = as_laws(target, draft)
    if not is_exact(t) or t.ndim != 1:
        raise ValueError("keys are listed for exact distributions of one position: write strings, ints or Fractions")
    return t, d


def _quantile(law: Array, u: Fraction) -> Array:
    return one_hot(np.argmax(np.cumsum(law) > u), law)


def _unbiased(target: Any, draft: Any, keys: Sequence[Key]) -> tuple[Array, Array]:
    t, d = _exact_pair(target, draft)
    for name, law in (("target", t), ("draft", d)):
        average: Array = sum((key.mass * getattr(key, name) for key in keys), law * 0)
        if average.tolist() != law.tolist():
            raise ValueError(f"the keys are biased: under them the {name} averages to {average.tolist()}")
    return t, d
