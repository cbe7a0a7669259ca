"""A second way to every number of one position, in decimals of 60 digits: no test, and no formula of the library.

The optimum is by brute force over subsets, K-SEQ's γ* by bisection on SpecTr's own f, recursive rejection test by test;
so V is small. Masses are taken in proportion to their sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations
from typing import Any

DIGITS = 60


def softmax(logits: Sequence[float]) -> list[Decimal]:
    """The softmax of logits as they are stored, to 60 digits."""
    with localcontext() as context:
        context.prec = DIGITS
        largest = max(logits)
        powers = [(Decimal(x) - Decimal(largest)).exp() if x > float("-inf") else Decimal(0) for x in logits]
        total = sum(powers)
        return [power / total for power in powers]


def law_of(masses: Sequence[float]) -> list[Decimal]:
    """Masses in proportion to their exact sum."""
    with localcontext() as context:
        context.prec = DIGITS
        total = sum((Fraction(mass) for mass in masses), Fraction(0))
        shares = [Fraction(mass) / total for mass in masses]
        return [Decimal(share.numerator) / Decimal(share.denominator) for share in shares]


def overlap(t: Any, d: Any) -> Decimal:
    """One draft, coupled maximally."""
    return sum((min(a, b) for a, b in zip(t, d, strict=True)), Decimal(0))


def favourite(t: Any, d: Any) -> Decimal:
    """A one-hot draft: the first maximum of d."""
    return t[max(range(len(d)), key=lambda token: (d[token], -token))]


def match(t: Any, d: Any) -> Decimal:
    """Sample and match."""
    return sum((a * b for a, b in zip(t, d, strict=True)), Decimal(0))


def subsets(size: int) -> Iterator[list[int]]:
    """Every set of tokens."""
    for bits in range(2**size):
        yield [token for token in range(size) if bits >> token & 1]


def optimum(t: Any, d: Any, k: int) -> Decimal:
    """k i.i.d. drafts: 1 − max over all subsets of d(H)^k − t(H)."""
    with localcontext() as context:
        context.prec = DIGITS
        cuts = [_sum(d, inside) ** k - _sum(t, inside) for inside in subsets(len(t))]
        return 1 - max(cuts)


def optimum_without_replacement(t: Any, d: Any, k: int) -> Decimal:
    """Successive drafts, every order of them written out; the whole support where it has fewer than k tokens."""
    with localcontext() as context:
        context.prec = DIGITS
        support = [token for token in range(len(d)) if d[token] > 0]
        law: dict[frozenset[int], Decimal] = {}
        for drawn in permutations(support, min(k, len(support))):
            chance, left = Decimal(1), sum((d[token] for token in support), Decimal(0))
            for token in drawn:
                chance *= d[token] / left
                left = sum((d[other] for other in support if other not in drawn[: drawn.index(token) + 1]), Decimal(0))
            law[frozenset(drawn)] = law.get(frozenset(drawn), Decimal(0)) + chance
        return _optimum_of(t, law)


def _optimum_of(t: Any, law: dict[frozenset[int], Decimal]) -> Decimal:
    return 1 - max(
        sum((mass for drawn, mass in law.items() if drawn <= set(inside)), Decimal(0)) - _sum(t, inside)
        for inside in subsets(len(t))
    )


def greedy(t: Any, d: Any, k: int) -> Decimal:
    """The optimum of the top k − 1 tokens and one draw from the rest, by brute force over subsets."""
    with localcontext() as context:
        context.prec = DIGITS
        order = sorted((token for token in range(len(d)) if d[token] > 0), key=lambda token: (-d[token], token))
        top, rest = order[: min(k, len(order)) - 1], order[min(k, len(order)) - 1 :]
        outside = _sum(d, rest)
        return _optimum_of(t, {frozenset([*top, token]): d[token] / outside for token in rest})


def hub(t: Any, d: Any) -> Decimal:
    """The optimum of SpecHub's drafts, from their law: (x, a) with mass d(x), (a, x) with d(a)·d(x)/(1 − d(a))."""
    with localcontext() as context:
        context.prec = DIGITS
        a = max(range(len(d)), key=lambda token: (d[token], -token))
        others = [token for token in range(len(d)) if token != a and d[token] > 0]
        if not others:
            return t[a]
        rest = _sum(d, others)
        return _optimum_of(t, {frozenset([x, a]): d[x] + d[a] * d[x] / rest for x in others})


def recursive(t: Any, d: Any, k: int) -> Decimal:
    """Recursive rejection, test by test, with the residuals written out."""
    with localcontext() as context:
        context.prec = DIGITS
        rejected, r = Decimal(1), list(t)
        for done in range(1, k + 1):
            gains = [max(a - b, Decimal(0)) for a, b in zip(r, d, strict=True)]
            total = sum(gains)
            rejected *= total
            if total <= 0 or rejected < Decimal(10) ** -40:
                return 1 - rejected
            after = [gain / total for gain in gains]
            if after == r:  # the residual repeats itself, and so do the rejections that are left
                return 1 - rejected * total ** (k - done)
            r = after
        return 1 - rejected


def k_sequential(t: Any, d: Any, k: int) -> Decimal:
    """K-SEQ at γ*: f(γ) = 1 − (1 − β)^k − γβ halved to 60 digits, then 1 − (1 − β)^k."""
    with localcontext() as context:
        context.prec = DIGITS + 20

        def beta(gamma: Decimal) -> Decimal:
            return sum((min(b, a / gamma) for a, b in zip(t, d, strict=True)), Decimal(0))

        def f(gamma: Decimal) -> Decimal:
            return 1 - (1 - beta(gamma)) ** k - gamma * beta(gamma)

        low, high = Decimal(1), Decimal(k)
        if f(low) <= 0:
            high = low
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if f(middle) > 0 else (low, middle)
        return 1 - (1 - beta(high)) ** k


def _sum(masses: Any, tokens: Sequence[int]) -> Decimal:
    return sum((masses[token] for token in tokens), Decimal(0))
