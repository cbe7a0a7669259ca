"""The optimum of independent drafts from different drafters, at any vocabulary size, between certified bounds.

P(S ⊆ H) = Π d_j(H) is not a function of one mass, and no order of the tokens serves every problem. But for weights w >
0 with Π w_j = 1 the product is at most ((Σ w_j d_j(H))/k)^k, equal where all w_j d_j(H) are. For each w that is the
problem of k i.i.d. drafts from the mixture Σ w_j d_j / k, solved by a prefix, and its value U is convex in log w.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, inf, log, nextafter, prod
from typing import Any

import numpy as np

from spec_math.arrays import Array, as_law, as_laws, is_exact, stored_law
from spec_math.chance import Coin
from spec_math.distribution import overlap, residual
from spec_math.scheme import Emission, Tokens, drafted
from spec_math.token_level.optimum.ratio_order import by_ratio
from spec_math.token_level.recursive import tried_in_turn
from spec_math.verdict import Bracket

FIXED_POINTS, HALVINGS, SWEEPS = 8, 48, 3

CLOSED = 2.0**-48
"""A bracket this narrow is not narrowed further."""

FARTHEST = 300.0
"""Float weights lie within e^±FARTHEST: their products with masses, and sums of these, are floats then."""


def optimum(target: Any, drafts: Sequence[Any]) -> Bracket:
    """Return a bracket of the optimum of one draft from each of k different laws, 1 − max_H [Π d_j(H) − t(H)].

    Laws [V] of one number type. The upper end is certified by a subset H, the lower one by weights w, as above; on
    floats each is off by at most (V + 8k) unit roundoffs. The bracket closes, up to rounding, where some w has a best
    prefix whose w_j d_j(H) are equal; such a w need not exist, and then the bracket stays open:
    `transport.acceptance_of` is exact on small vocabularies.

    Raises:
        TypeError, ValueError: no draft.

    >>> found = optimum(["2/5", "3/5"], [["3/4", "1/4"], ["3/4", "1/4"]])
    >>> found.lower, found.upper
    (Fraction(67, 80), Fraction(67, 80))
    """
    if not drafts:
        raise ValueError("at least one draft is needed; got none")
    pairs = [as_laws(target, draft) for draft in drafts]
    search = _Search(pairs[0][0], [d for _, d in pairs])
    return Bracket(1 - search.bound, 1 - search.value)


class _Search:
    """The largest Π d_j(H) − t(H) met, and the least bound met, over weights given as their logarithms."""

    def __init__(self, t: Array, rows: list[Array]) -> None:
        self.t, self.rows = t, rows
        self.value: Any = t.sum() - t.sum()
        self.bound: Any = None
        logs = [0.0] * len(rows)
        for _ in range(FIXED_POINTS):
            held = self.look(logs)
            if min(held) <= 0 or self.closed():
                break
            logs = [-_logarithm(mass) for mass in held]
            logs = [x - sum(logs) / len(logs) for x in logs]
        for _ in range(SWEEPS if len(rows) > 2 else 1):
            for first in range(len(rows)):
                for second in range(first):
                    if not self.closed():
                        logs = self.along(logs, first, second)

    def closed(self) -> bool:
        return self.bound is not None and self.bound - self.value <= CLOSED

    def along(self, logs: list[float], first: int, second: int) -> list[float]:
        """Minimise the bound along one direction by halving: its slope has the sign of w_i d_i(H) − w_j d_j(H)."""
        low, high = -32.0, 32.0
        moved = list(logs)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            moved = list(logs)
            moved[first] += middle
            moved[second] -= middle
            held = self.look(moved)
            if self.closed():
                break
            a, b = (moved[i] + _logarithm(held[i]) for i in (first, second))
            low, high = (low, middle) if a > b else (middle, high)
        return moved

    def look(self, logs: list[float]) -> list[Any]:
        """Take in the best prefix for some weights; return what each draft holds of it."""
        weights = _weights(logs, self.t)
        k = len(self.rows)
        mixture = sum((w * d for w, d in zip(weights[1:], self.rows[1:], strict=True)), weights[0] * self.rows[0]) / k
        subset, bound = _best_prefix(self.t, mixture, k)
        held = [d[subset].sum() for d in self.rows] if len(subset) else [self.value - self.value] * k
        if len(subset):
            self.value = max(self.value, prod(held) - self.t[subset].sum())
        self.bound = bound if self.bound is None else min(self.bound, bound)
        self.bound = max(self.bound, self.value)
        return held


def draw(coin: Coin, drafts: Sequence[Any]) -> Tokens:
    """Draw one token from each law [V], independently."""
    return tuple(coin.draw(as_law(draft, "draft")) for draft in drafts)


def emit(coin: Coin, tokens: Any, target: Any, drafts: Sequence[Any]) -> Emission:
    """Test the drafts in turn, each against its own law and what the earlier ones left (recursive rejection).

    The law: the emitted token has the target's law. Laws [V].

    Raises:
        ValueError: a token that its own drafter cannot draw; another number of tokens than drafters.
    """
    if len(tokens) != len(drafts):
        raise ValueError(f"one token from each of {len(drafts)} drafters is needed; got {len(tokens)}")
    laws = (as_laws(target, draft)[1] for draft in drafts)
    tested = ((drafted((token,), d)[0], d) for token, d in zip(tokens, laws, strict=True))
    return tried_in_turn(coin, as_law(target, "target"), tested)


def acceptance(target: Any, drafts: Sequence[Any]) -> Any:
    """Return the probability that a test of `emit` accepts, 1 − Π (1 − Σ min(r_j, d_j)), for laws [..., V]."""
    r = stored_law(target, "target")
    rejected = 1 - (r - r).sum(axis=-1)
    for draft in drafts:
        rejected = rejected * (1 - overlap(r, draft))
        r = residual(r, draft)
    return 1 - rejected


def _best_prefix(t: Array, mixture: Array, k: int) -> tuple[Array, Any]:
    """Return the tokens H of the best prefix by t/mixture, and mixture(H)^k − t(H)."""
    if is_exact(t):
        some = np.flatnonzero(mixture > 0)
        order = some[np.argsort(t[some] / mixture[some], kind="stable")]
    else:
        order = by_ratio(t, mixture)
    zero = t[:1] - t[:1]
    # A power beyond all floats bounds nothing: no probability exceeds 1.
    with np.errstate(over="ignore"):
        values = np.concatenate([zero, np.cumsum(mixture[order]) ** k - np.cumsum(t[order])])
    best = int(np.argmax(values))
    return order[:best], values[best]


def _logarithm(mass: Any) -> float:
    """Return the logarithm of a mass, −∞ of 0; of a Fraction that no float holds too."""
    if mass <= 0:
        return -inf
    return log(mass.numerator) - log(mass.denominator) if isinstance(mass, Fraction) else log(float(mass))


def _weights(logs: list[float], t: Array) -> list[Any]:
    """Return weights with these logarithms, in the number type of t, of a product of at least 1 (a bound stays one)."""
    if not is_exact(t):
        # All logarithms by one factor: their sum stays 0.
        farthest = max(FARTHEST, *map(abs, logs))
        others = [exp(x * (FARTHEST / farthest)) for x in logs[1:]]
        rest = prod([Fraction(1), *map(Fraction, others)])
        first = float(1 / rest)
        while Fraction(first) * rest < 1:
            first = nextafter(first, inf)
        return [first, *others]
    weights: list[Fraction] = []
    others = Fraction(1)
    for x in logs[1:]:
        # An exponent apart, as e^x may be beyond all floats.
        power = round(x / log(2))
        weights.append(Fraction(exp(x - power * log(2))) * Fraction(2) ** power)
        others *= weights[-1]
    return [1 / others, *weights]
