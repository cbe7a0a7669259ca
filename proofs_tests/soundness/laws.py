"""Random laws of every storage type, with zeros, ties, denormals and offsets of logits."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from math import exp
from typing import Any

import ml_dtypes
import numpy as np

Law = tuple[Fraction, ...]
NUMPY_TYPES: dict[str, Any] = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
}
ROUNDOFF = {"fractions": 0.0, "float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
TINY = {"float64": 5e-324, "float32": 2.0**-149, "float16": 2.0**-24, "bfloat16": 2.0**-133}


def drawn_pair(rng: random.Random, size: int) -> tuple[Law, Law]:
    """Draw two exact laws: unrelated, equal, permuted, tied in some tokens, disjoint, or a hair apart."""
    target = drawn_law(rng, size)
    kind = rng.choice(("any", "any", "any", "any", "equal", "permuted", "tied", "disjoint", "near"))
    if kind == "equal":
        return target, target
    if kind == "permuted":
        order = rng.sample(range(size), size)
        return target, tuple(target[i] for i in order)
    if kind == "near":
        by = rng.choice((Fraction(1, 10**6), Fraction(1, 10**9), Fraction(1, 2**40)))
        return target, divided([mass + by * rng.randrange(3) for mass in target])
    if kind == "tied" and size > 2:
        # The first token keeps its mass, the others share theirs out anew.
        rest = drawn_law(rng, size - 1)
        return target, (target[0], *((1 - target[0]) * mass for mass in rest))
    if kind == "disjoint":
        cut = rng.randrange(1, size)
        left, right = drawn_law(rng, cut), drawn_law(rng, size - cut)
        return (*left, *[Fraction(0)] * (size - cut)), (*[Fraction(0)] * cut, *right)
    return target, drawn_law(rng, size)


def drawn_law(rng: random.Random, size: int) -> Law:
    """Draw an exact law: small whole weights with ties and zeros, one-hot, dyadic, or of wide range."""
    kind = rng.choice(("small", "small", "small", "dyadic", "dyadic", "wide", "one-hot"))
    if kind == "one-hot":
        at = rng.randrange(size)
        return tuple(Fraction(int(token == at)) for token in range(size))
    if kind == "dyadic":
        parts = rng.choice((4, 8, 16))
        cuts = sorted(rng.randrange(parts + 1) for _ in range(size - 1))
        return tuple(Fraction(b - a, parts) for a, b in zip([0, *cuts], [*cuts, parts], strict=True))
    most = 4 if kind == "small" else 2
    weights = [Fraction(rng.randrange(most + 1)) for _ in range(size)]
    if kind == "wide":
        weights = [mass * Fraction(10) ** rng.choice((0, 0, -3, -6, -9)) for mass in weights]
    return divided(weights) if any(weights) else drawn_law(rng, size)


def divided(weights: Sequence[Fraction]) -> Law:
    total = sum(weights)
    return tuple(mass / total for mass in weights)


def stored(rng: random.Random, law: Law, kind: str, denormal: bool = True) -> Any:
    """Store a law in a NumPy type: rounded mass by mass, by a softmax of logits with an offset, or with a denormal.

    torch divides by a number as by its reciprocal, which is infinite for denormals: its laws have none.
    """
    dtype = NUMPY_TYPES[kind]
    how = rng.choice(("rounded", "rounded", "softmax", "denormal"))
    masses = np.array([float(mass) for mass in law], dtype=np.float64)
    if how == "softmax":
        offset = rng.choice((0.0, 94.0, -111.0, 1000.0))
        with np.errstate(divide="ignore"):
            logits = (np.log(masses) + offset).astype(dtype).astype(np.float64)
        weights = np.array([exp(logit - logits.max()) if logit > -np.inf else 0.0 for logit in logits])
        return (weights / weights.sum()).astype(dtype)
    result = masses.astype(dtype)
    if how == "denormal" and denormal and (result == 0).any():
        result[rng.choice(np.flatnonzero(result == 0).tolist())] = dtype(TINY[kind])
    return result


def as_stored(law: Law, kind: str) -> Any:
    """Round a law mass by mass, as a function that is explored is given it."""
    return np.array([float(mass) for mass in law], dtype=np.float64).astype(NUMPY_TYPES[kind])


def exactly(masses: Any) -> list[Fraction]:
    """Return what stored masses are, as Fractions."""
    return [mass if isinstance(mass, Fraction) else Fraction(float(mass)) for mass in masses]


def gap(masses: Sequence[Fraction]) -> Fraction:
    return abs(sum(masses) - 1)
