"""Repetition-N: how many of the n-grams of generated texts occur more than once (TokenTiming, Alg. 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from spec_math.arrays import count


def rates(texts: Iterable[str], order: int = 3) -> list[Fraction]:
    """Return for n = 1 to `order` how many different n-grams of words occur more than once, in per cent of them all.

    r_n = 100 · |{f in F_n: f > 1}| / |F_n|, counted over all texts together, words cut at blanks; 0 where none is.
    Source: TokenTiming, Alg. 5. Its prose speaks of all n-grams, repeated ones each time (`shares`): another number.

    Raises:
        ValueError, TypeError: order is not a positive integer.

    >>> [str(rate) for rate in rates(["a b a b", "a c"], order=2)]
    ['200/3', '100/3']
    """
    return [_percent(sum(f > 1 for f in found.values()), len(found)) for found in _counts(texts, order)]


def shares(texts: Iterable[str], order: int = 3) -> list[Fraction]:
    """Return, for n = 1 to `order`, how many n-grams are of a kind that occurs more than once, per cent of all.

    Source: TokenTiming, Section 5.1 ("proportion of duplicate n-grams among all n-grams in the output").

    >>> [str(share) for share in shares(["a b a b", "a c"], order=2)]
    ['250/3', '50']
    """
    return [_percent(sum(f for f in found.values() if f > 1), found.total()) for found in _counts(texts, order)]


def _counts(texts: Iterable[str], order: int) -> list[Counter[tuple[str, ...]]]:
    found: list[Counter[tuple[str, ...]]] = [Counter() for _ in range(count(order, "order"))]
    for text in texts:
        words = text.split()
        for n, grams in enumerate(found, 1):
            grams.update(tuple(words[at : at + n]) for at in range(len(words) - n + 1))
    return found


def _percent(part: int, whole: int) -> Fraction:
    return Fraction(100 * part, whole) if whole else Fraction(0)
