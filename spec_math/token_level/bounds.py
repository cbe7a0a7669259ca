"""Bounds on what a verifier accepts: SpecTr's Theorem 1, and a scheme held against the optimum of its own drafts.

Source: SpecTr, Theorem 1 and Appendix B.3.
"""

from __future__ import annotations

from itertools import chain, combinations, combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

from spec_math.arrays import as_laws, count, is_exact
from spec_math.scheme import Scheme
from spec_math.token_level.draft_law import drawn
from spec_math.token_level.transport import acceptance_of, solve
from spec_math.verdict import Bracket, Optimal

TERMS = 2_000_000
"""The most terms, subsets times multisets of drafts, that `theorem_1` sums."""


def theorem_1(target: Any, draft: Any, k: int) -> Any:
    """Return the least right side of SpecTr's Theorem 1 over ALL subsets Ω0, the empty and the full one included.

    The paper has it as a bound; it is the optimum itself, and stays so without the empty or without the full subset,
    but not without both. By brute force over 2^V subsets, so for small V: it is here to be held against the optimum,
    which `optimal.acceptance` computes in O(V log V). Laws [V] of one number type.

    Raises:
        ValueError: more than 2·10^6 terms.

    Source: SpecTr, Theorem 1.

    >>> theorem_1(["2/5", "3/5"], ["3/4", "1/4"], 2)
    Fraction(67, 80)
    """
    t, d = as_laws(target, draft)
    if t.ndim != 1:
        raise ValueError(f"Theorem 1 is about one position, distributions of shape [V]; got {tuple(t.shape)}")
    k = count(k)
    size = len(t)
    multisets = comb(size + k - 1, k)
    if multisets > TERMS >> size:
        raise ValueError(
            f"Theorem 1 at V = {size}, k = {k} is a sum over 2^{size} subsets times C({size + k - 1}, {k}) multisets "
            f"of drafts, more than {TERMS:,}; its least value is the optimum: optimal.acceptance(target, draft, k) "
            "gives it at any V"
        )
    subsets = chain.from_iterable(combinations(range(size), chosen) for chosen in range(size + 1))
    masses = t.tolist(), d.tolist()
    return min(_right_side(*masses, k, frozenset(subset)) for subset in subsets)


def bracket(scheme: Scheme, target: Any, draft: Any, k: int = 1) -> Optimal | Bracket:
    """Say how much more any verifier of a scheme's own drafts could accept: Optimal with its certificate, or Bracket.

    The bracket is [the scheme's acceptance, the optimum of the law of its drafts]; the scheme is Optimal where the two
    are equal as Fractions. Floats give a Bracket, each end with its own rounding. Laws [V] of one number type.

    Raises:
        ValueError: an exact acceptance exceeds the optimum, which no lossless verifier can; as `draft_law.drawn`.

    >>> from spec_math.token_level import SCHEMES
    >>> best, recursive = SCHEMES[0], SCHEMES[4]
    >>> bracket(best, ["1/4", "3/4"], ["1/2", "1/2"]).acceptance
    Fraction(3, 4)
    >>> bracket(recursive, ["1/3", "2/3"], ["1/2", "1/2"], 2)
    Bracket(lower=Fraction(11, 12), upper=Fraction(1, 1))
    """
    t, d = as_laws(target, draft)
    reached, drafts = scheme.acceptance(t, d, k), drawn(scheme.draw, d, k)
    if not is_exact(t):
        return Bracket(reached, acceptance_of(t, drafts))
    certificate = solve(t, drafts)
    if reached > certificate.acceptance:
        raise ValueError(
            f"{scheme.name} is said to emit a draft with probability {reached}, and no lossless verifier of its drafts "
            f"exceeds {certificate.acceptance}; run check_lossless on it, and check its acceptance"
        )
    if reached == certificate.acceptance:
        return Optimal(reached, certificate)
    return Bracket(reached, certificate.acceptance)


def _right_side(t: list[Any], d: list[Any], k: int, subset: frozenset[int]) -> Any:
    inside = sum(min(t[y], 1 - (1 - d[y]) ** k) for y in subset)
    # A tuple's term depends on its tokens alone, in any order: one term for each multiset, times its orders.
    outside = sum(
        _orders(drafts) * min(prod(d[x] for x in drafts), sum(t[y] for y in set(drafts) - subset))
        for drafts in combinations_with_replacement(range(len(t)), k)
    )
    return inside + outside


def _orders(drafts: tuple[int, ...]) -> int:
    return factorial(len(drafts)) // prod(factorial(drafts.count(x)) for x in set(drafts))
