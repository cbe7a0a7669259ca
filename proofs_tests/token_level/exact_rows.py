"""One pair of float rows as integers over a common denominator: every closed form of the schemes, summed exactly."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from heapq import nsmallest
from itertools import accumulate
from math import frexp

SCALE = 2**120
"""Recursive rejection's λ is kept to 120 bits: E falls with slope 1 at most, so that as little is lost of it."""


def exponentials(logits):
    """Return integers in proportion to e^logit, to sixty digits of the largest."""
    with localcontext() as context:
        context.prec = 60
        numbers = [Decimal(float(logit)) for logit in logits]
        top = max(numbers)
        return [int((number - top).exp().scaleb(60)) for number in numbers]


def whole_numbers(masses):
    """Return integers in exact proportion to floats; integers as they are."""
    if all(isinstance(mass, int) for mass in masses):
        return masses
    parts = [frexp(float(mass)) for mass in masses]
    least = min((exponent for mantissa, exponent in parts if mantissa), default=0)
    return [int(mantissa * 2**53) << (exponent - least) if mantissa else 0 for mantissa, exponent in parts]


class ExactRow:
    """A target and a draft [V] that are still to be divided by their sums: t = a/A, d = b/B, in whole numbers."""

    def __init__(self, target, draft):
        a, b = whole_numbers(target), whole_numbers(draft)
        self.a, self.b, self.sum_a, self.sum_b = a, b, sum(a), sum(b)
        self.one = self.sum_a * self.sum_b

    def excess(self, scale):
        """Σ (t − λd)+: of the tokens above λ, the ends of a prefix of the others in the order of t/d."""
        scale = Fraction(scale)
        keys, prefixes = self.keys, self.prefixes
        # A key is the ratio a/b in steps of 2^-shift, rounded down: where it is that of λ, each token is looked at.
        there = scale * self.sum_a / self.sum_b
        wanted = (there.numerator << self.shift) // there.denominator
        first, last = bisect_left(keys, wanted), bisect_right(keys, wanted)
        drafted, kept = self.sum_b - prefixes[last][0], self.sum_a - prefixes[last][1]
        for token in self.order[first:last]:
            if self.a[token] * there.denominator > self.b[token] * there.numerator:
                drafted, kept = drafted + self.b[token], kept + self.a[token]
        return Fraction(kept, self.sum_a) - scale * Fraction(drafted, self.sum_b)

    @cached_property
    def overlap(self):
        least = sum(min(a * self.sum_b, b * self.sum_a) for a, b in zip(self.a, self.b, strict=True))
        return Fraction(least, self.one)

    @cached_property
    def match(self):
        return Fraction(sum(a * b for a, b in zip(self.a, self.b, strict=True)), self.one)

    def best(self, k):
        """The k best tokens of the draft that have mass, the lowest index first among equals."""
        return nsmallest(k, (token for token, mass in enumerate(self.b) if mass), key=lambda token: -self.b[token])

    def recursive(self, k):
        """1 − P(k tests in a row reject): λ grows by what is left, and E(λ) is left."""
        scale, left = Fraction(0), Fraction(1)
        for _ in range(k):
            scale = Fraction(round((scale + left) * SCALE), SCALE)
            left = self.excess(scale)
        return 1 - left

    def f(self, gamma, k):
        """K-SEQ's condition: γ is large enough where it is 0 or less."""
        left = self.excess(gamma)
        return left - (1 - (1 - left) / gamma) ** k

    def k_sequential(self, gamma, k):
        return 1 - (1 - (1 - self.excess(gamma)) / gamma) ** k

    @cached_property
    def shift(self):
        """Ratios are rounded down to 2^-100 of the ratio of two sums: what that may exchange are as near as that."""
        return 100 + self.sum_b.bit_length() + self.sum_a.bit_length()

    @cached_property
    def key_of(self):
        """a/b of each token, in steps of 2^-shift; −1 where it is not drafted."""
        shift = self.shift
        return [(a << shift) // b if b else -1 for a, b in zip(self.a, self.b, strict=True)]

    @cached_property
    def order(self):
        """The tokens that are drafted, by their keys."""
        return sorted((token for token, mass in enumerate(self.b) if mass), key=self.key_of.__getitem__)

    @cached_property
    def keys(self):
        return [self.key_of[token] for token in self.order]

    @cached_property
    def prefixes(self):
        """The ends (P, T) of all prefixes in the order of t/d, as whole numbers over B and A."""
        drafted = accumulate((self.b[token] for token in self.order), initial=0)
        return list(zip(drafted, accumulate((self.a[token] for token in self.order), initial=0), strict=True))

    def optimum(self, k):
        """1 − max over prefixes of P^k − T."""
        power = self.sum_b**k
        best = max(drafted**k * self.sum_a - wanted * power for drafted, wanted in self.prefixes)
        return 1 - Fraction(best, power * self.sum_a)

    def greedy(self, k):
        """(acceptance, that by the drawn draft's test): k − 1 best tokens are fixed, one more is drawn."""
        top = self.best(k - 1)
        if len(top) == sum(mass > 0 for mass in self.b):
            top = top[:-1]
        fixed = set(top)
        scale = Fraction(self.sum_b, self.sum_b - sum(self.b[token] for token in fixed))
        # Σ min(t, λd) of all tokens is 1 − E(λ), and the fixed ones are taken out.
        tested = 1 - self.excess(scale)
        for token in fixed:
            tested -= min(Fraction(self.a[token], self.sum_a), scale * Fraction(self.b[token], self.sum_b))
        return tested + Fraction(sum(self.a[token] for token in fixed), self.sum_a), tested
