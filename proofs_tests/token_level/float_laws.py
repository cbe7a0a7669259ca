"""Pairs of float laws that are hard to sum, to sort or to divide: peaked, nearly tied, truncated, denormal."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from spec_math.arrays import Array, as_laws, exact, proportional_to
from spec_math.token_level.optimum.ratio_order import RatioOrder, ratio_order

TINY = Fraction(1, 2**1000)
"""Below it relative errors are taken as absolute: powers underflow."""

KINDS = ("softmax", "peaked", "very peaked", "nearly tied", "equal", "top 50", "disjoint", "denormal", "float32")


def float_pair(kind: str, size: int, seed: int = 0) -> tuple[Array, Array]:
    """A target and a draft of the named kind on `size` tokens."""
    rng = np.random.default_rng([seed, size, KINDS.index(kind)])
    noise = rng.standard_normal((2, size))
    if kind == "disjoint":
        half = np.arange(size) < size // 2
        return softmax(np.where(half, noise[0], -np.inf)), softmax(np.where(half, -np.inf, noise[1]))
    if kind == "top 50":
        least = np.sort(noise[1])[-min(50, size)]
        return softmax(noise[0]), softmax(np.where(noise[1] >= least, noise[1], -np.inf))
    if kind in ("nearly tied", "equal"):
        draft = softmax(noise[1])
        weights = draft * (1 + 1e-13 * noise[0]) if kind == "nearly tied" else draft
        return weights / weights.sum(), draft
    if kind == "denormal":
        # Half of the tokens share what float64 can only just hold: their target, their draft, or both.
        tiny = 5e-324 * rng.integers(0, 2**20, (2, size))
        masses = np.where(rng.random((2, size)) < 0.5, tiny, np.exp(noise))
        masses[:, -1] = 1.0
        return masses[0] / masses[0].sum(), masses[1] / masses[1].sum()
    if kind == "float32":
        pair = softmax(3 * noise.astype(np.float32))
        return pair[0], pair[1]
    scale = {"softmax": 1, "peaked": 10, "very peaked": 30}[kind]
    return softmax(scale * noise[0]), softmax(scale * noise[1])


def softmax(logits: Array) -> Array:
    """The law ∝ e^logit, row by row."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def as_exact(masses: Array) -> Array:
    """The exact law that a float law stands for: its masses in proportion to their exact sum."""
    return proportional_to(exact(masses))


def both_orders(kind, size) -> tuple[RatioOrder, RatioOrder]:
    """One pair of laws in floats and in Fractions, both in the order that the floats found."""
    floats = ratio_order(*as_laws(*float_pair(kind, size)))
    target, draft = (as_exact(masses)[floats.tokens] for masses in as_laws(*float_pair(kind, size)))
    zero = np.array([Fraction(0)], dtype=object)
    below = [np.concatenate([zero, np.cumsum(masses)]) for masses in (target, draft)]
    return floats, RatioOrder(floats.tokens, target, draft, below[0], below[1], 1 - below[0], 1 - below[1])


def largest_relative_error(found, true):
    """The largest |found − true|/true; absolute below 2^-1000, where powers underflow."""
    return max(abs(Fraction(x) - y) / (y if y > TINY else 1) for x, y in zip(found.tolist(), true, strict=True))


def largest_error(found, true):
    """The largest |found − true|."""
    return max(abs(Fraction(x) - y) for x, y in zip(found.tolist(), true, strict=True))
