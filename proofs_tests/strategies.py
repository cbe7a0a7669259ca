"""Hypothesis strategies for laws and pairs: zeros, ties, equal, permuted, disjoint, one-hot, masses of 2^-60."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from spec_math.arrays import Array, exact
from spec_math.testing import laws, pairs

__all__ = ["SMALL", "WIDE", "counts", "dyadic_laws", "dyadic_pairs", "laws", "pairs", "vocabularies"]

SMALL = st.integers(0, 6)
WIDE = st.one_of(SMALL, st.sampled_from([Fraction(1, 2**60), Fraction(1, 10**9), 10**9]))


@st.composite
def vocabularies(draw: st.DrawFn, letters: str = "ab", longest: int = 3, most: int = 5) -> list[str]:
    """The tokens of a vocabulary over a few letters: prefixes of one another, in any order, some letters missing."""
    words = st.text(letters, min_size=1, max_size=longest)
    return draw(st.lists(words, min_size=1, max_size=most, unique=True))


def counts(largest: int = 3) -> st.SearchStrategy[int]:
    """A number of drafts."""
    return st.integers(1, largest)


@st.composite
def dyadic_laws(draw: st.DrawFn, size: int, bits: int = 40) -> Array:
    """A law whose masses are multiples of 2^-bits: floats hold it exactly, so only arithmetic rounds."""
    whole = 1 << bits
    cuts = sorted(
        draw(st.lists(st.one_of(st.integers(0, whole), st.just(whole // 4)), min_size=size - 1, max_size=size - 1))
    )
    return exact([Fraction(b - a, whole) for a, b in zip([0, *cuts], [*cuts, whole], strict=True)])


@st.composite
def dyadic_pairs(draw: st.DrawFn, largest: int = 4, bits: int = 40) -> tuple[Array, Array]:
    """A target and a draft that floats hold exactly: unrelated, equal, or a unit apart."""
    size = draw(st.integers(1, largest))
    target = draw(dyadic_laws(size, bits))
    kind = draw(st.sampled_from(["any", "any", "equal", "near"]))
    if kind == "any":
        return target, draw(dyadic_laws(size, bits))
    draft = target.copy()
    if kind == "near" and size > 1 and draft[0] > 0:
        draft[0], draft[-1] = draft[0] - Fraction(1, 1 << bits), draft[-1] + Fraction(1, 1 << bits)
    return target, draft
